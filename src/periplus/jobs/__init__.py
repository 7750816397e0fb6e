"""The batch steps of a collection: what is due, and doing it."""

from typing import TYPE_CHECKING, Any

from periplus.jobs.status import CollectionStatus, IndexStatus, RankStatus, collection_status, index_status, rank_status
from periplus.jobs.tasks import FailedTask
from periplus.jobs.watching import ErrorGroup, Event, HostQueue, OperatorView, operator_view, seconds_left

if TYPE_CHECKING:
    from periplus.jobs.damage import DamagedBatch, damaged_batches, remake
    from periplus.jobs.pipeline import DueSteps, Pipeline, RankSummary
    from periplus.jobs.runners import ProcessRunner

__all__ = [
    "CollectionStatus",
    "DamagedBatch",
    "DueSteps",
    "ErrorGroup",
    "Event",
    "FailedTask",
    "HostQueue",
    "IndexStatus",
    "OperatorView",
    "Pipeline",
    "ProcessRunner",
    "RankStatus",
    "RankSummary",
    "collection_status",
    "damaged_batches",
    "index_status",
    "operator_view",
    "rank_status",
    "remake",
    "seconds_left",
]


def __getattr__(name: str) -> Any:
    """The steps load Arrow, without which a server can tell how a collection stands."""
    if name in ("DamagedBatch", "damaged_batches", "remake"):
        from periplus.jobs import damage

        return getattr(damage, name)
    if name == "ProcessRunner":
        from periplus.jobs import runners

        return runners.ProcessRunner
    if name in ("DueSteps", "Pipeline", "RankSummary"):
        from periplus.jobs import pipeline

        return getattr(pipeline, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
