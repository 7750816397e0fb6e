"""The batch steps of a collection: what is due, and doing it."""

from periplus.jobs.pipeline import Due, Pipeline, RankSummary
from periplus.jobs.status import CollectionStatus, IndexStatus, RankStatus, collection_status

__all__ = [
    "CollectionStatus",
    "Due",
    "IndexStatus",
    "Pipeline",
    "RankStatus",
    "RankSummary",
    "collection_status",
]
