"""Import of what others made: archives, ``.jsonl``, Parquet, folders of HTML files.

Everything becomes rows of the document log, as if it had been crawled; the index then takes it in like any batch. What
is left out is counted by its reason, and what is damaged or no record at all is named; the rest is taken in.
"""

from typing import TYPE_CHECKING, Any

from periplus.app.importing.report import ImportProblem, ImportReport

if TYPE_CHECKING:
    from periplus.app.importing.leader import import_paths

__all__ = ["ImportProblem", "ImportReport", "import_paths"]


def __getattr__(name: str) -> Any:
    """What leads an import loads Arrow and the log, which the processes that read files need not."""
    if name != "import_paths":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from periplus.app.importing.leader import import_paths

    return import_paths
