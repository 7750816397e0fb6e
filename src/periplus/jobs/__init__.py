"""The batch steps of a collection: what is due, and doing it."""

from periplus.jobs.pipeline import Due, Pipeline, RankSummary
from periplus.jobs.status import CollectionStatus, IndexStatus, RankStatus, collection_status
from periplus.jobs.watching import ErrorGroup, Event, HostQueue, OperatorView, operator_view, seconds_left

__all__ = [
    "CollectionStatus",
    "Due",
    "ErrorGroup",
    "Event",
    "HostQueue",
    "IndexStatus",
    "OperatorView",
    "Pipeline",
    "RankStatus",
    "RankSummary",
    "collection_status",
    "operator_view",
    "seconds_left",
]
