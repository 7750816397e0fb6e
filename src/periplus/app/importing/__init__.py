"""Import of what others made: archives, ``.jsonl``, Parquet, folders of HTML files.

Everything becomes rows of the document log, as if it had been crawled; the index then takes it in like any batch. What
is left out is counted by its reason, and what is damaged or no record at all is named; the rest is taken in.
"""

from periplus.app.importing.leader import import_paths
from periplus.app.importing.report import ImportProblem, ImportReport

__all__ = ["ImportProblem", "ImportReport", "import_paths"]
