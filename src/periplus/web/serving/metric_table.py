"""Every metric by name: what it counts, its labels and what bounds them. ``docs/metrics.md`` is made from it.

Names are stable: a metric is added or dropped with a line in the changelog, never renamed. No label holds what a
visitor or a page wrote.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from periplus.reasons import REASONS

CRAWL_STATES: Final = ("idle", "running", "paused", "stalled", "stopped", "done")
JOBS: Final = ("crawl", "build", "merge", "backup", "takedown")
PARTS: Final = ("archive", "documents", "links", "index", "ranks", "state", "other")
OPERATIONS: Final = ("search", "counts", "explain", "suggest", "similar")
LACKS: Final = ("budget", "index", "links", "ranks", "shard", "spelling", "other")
OUTCOMES: Final = ("ok", *sorted(REASONS), "other")
BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)  # seconds


class MetricInfo(NamedTuple):
    """One metric; a counter's samples end in ``_total``, those of a histogram in ``_bucket``, ``_sum``, ``_count``."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    help: str
    labels: tuple[str, ...] = ()
    bound: str = ""  # what the labels can be


METRICS: Final = (
    MetricInfo("periplus_info", "gauge", "1; the version that runs", ("version",), "one"),
    MetricInfo(
        "periplus_http_requests",
        "counter",
        "Requests answered",
        ("route", "method", "status"),
        "patterns of routes, five methods, classes of status",
    ),
    MetricInfo("periplus_http_seconds", "histogram", "Time to the end of the answer", ("route",), "patterns of routes"),
    MetricInfo("periplus_http_running", "gauge", "Requests being answered now"),
    MetricInfo("periplus_http_connections", "gauge", "Connections that are kept now"),
    MetricInfo("periplus_http_refused", "counter", "Connections refused or ended early", ("reason",), "some twenty"),
    MetricInfo("periplus_http_process", "gauge", "1; the server process that answers", ("pid",), "one"),
    MetricInfo("periplus_overloaded", "counter", "Searches refused because too much was asked"),
    MetricInfo("periplus_memory_refused", "counter", "Searches refused because the server had no memory left"),
    MetricInfo("periplus_searches", "counter", "Searches answered by this process"),
    MetricInfo("periplus_search_seconds", "histogram", "Time in the engine", ("operation",), ", ".join(OPERATIONS)),
    MetricInfo("periplus_search_zero_results", "counter", "First pages without a result, an instant answer or a panel"),
    MetricInfo("periplus_search_degraded", "counter", "Answers that lack something", ("what",), ", ".join(LACKS)),
    MetricInfo("periplus_search_cached", "counter", "Answers that were kept from before"),
    MetricInfo("periplus_search_failures", "counter", "Searches that raised an error"),
    MetricInfo("periplus_shard_questions", "counter", "Questions to shard servers", ("server", "kind"), "servers × 5"),
    MetricInfo("periplus_shard_seconds", "gauge", "Time of the last answers", ("server", "quantile"), "servers × 2"),
    MetricInfo("periplus_shard_load", "gauge", "Questions that a server has to answer", ("server",), "servers"),
    MetricInfo("periplus_shard_ready", "gauge", "Whether a server is asked", ("server",), "servers"),
    MetricInfo(
        "periplus_crawl_state", "gauge", "1 for the state of the crawl, else 0", ("state",), ", ".join(CRAWL_STATES)
    ),
    MetricInfo("periplus_crawl_pages", "gauge", "Pages that are stored, whichever crawl brought them"),
    MetricInfo("periplus_crawl_queue", "gauge", "Addresses that wait"),
    MetricInfo("periplus_crawl_hosts", "gauge", "Hosts that are known"),
    MetricInfo("periplus_crawl_hosts_failing", "gauge", "Hosts whose last request failed"),
    MetricInfo("periplus_crawl_active", "gauge", "Requests under way"),
    MetricInfo(
        "periplus_crawl_requests",
        "counter",
        "Requests made since this process was first asked, by what came of them",
        ("outcome",),
        "`ok`, the reason codes (docs/reasons.md), `other`",
    ),
    MetricInfo("periplus_crawl_bytes", "counter", "Bytes received since this process was first asked"),
    MetricInfo("periplus_crawl_short_gaps", "counter", "Requests sent before their host's delay was over; must be 0"),
    MetricInfo("periplus_crawl_write_timestamp_seconds", "gauge", "When a crawl wrote last"),
    MetricInfo("periplus_index_documents", "gauge", "Documents that can be found"),
    MetricInfo("periplus_index_segments", "gauge", "Segments of the published generation"),
    MetricInfo("periplus_index_generation", "gauge", "Number of the published generation"),
    MetricInfo("periplus_index_published_timestamp_seconds", "gauge", "When it was published"),
    MetricInfo("periplus_index_newest_page_timestamp_seconds", "gauge", "When the newest page in it was stored"),
    MetricInfo("periplus_index_waiting_batches", "gauge", "Batches of documents that it has not taken in"),
    MetricInfo("periplus_index_backlog_pages", "gauge", "Fetched pages whose documents are still to be made"),
    MetricInfo("periplus_ranks_pages", "gauge", "Pages with a rank"),
    MetricInfo("periplus_ranks_published_timestamp_seconds", "gauge", "When ranks were published"),
    MetricInfo("periplus_job_running", "gauge", "1 while some process does it", ("job",), ", ".join(JOBS)),
    MetricInfo("periplus_disk_bytes", "gauge", "Bytes of the collection", ("part",), ", ".join(PARTS)),
    MetricInfo("periplus_disk_free_bytes", "gauge", "Bytes that are free on its disk"),
    MetricInfo("periplus_damaged_files", "gauge", "Files known to be damaged; must be 0"),
    MetricInfo("periplus_backup_timestamp_seconds", "gauge", "When the last backup was made; absent without one"),
    MetricInfo("periplus_state_lost", "gauge", "1 where the state database is lost and something stands in for it"),
    MetricInfo("process_resident_memory_bytes", "gauge", "Resident memory of the server process"),
    MetricInfo("process_virtual_memory_bytes", "gauge", "Virtual memory of the server process, with all mapped files"),
    MetricInfo("process_cpu_seconds", "counter", "Processor time of the server process"),
    MetricInfo("process_open_fds", "gauge", "Open files of the server process"),
    MetricInfo("process_max_fds", "gauge", "Files that it may open"),
    MetricInfo("process_start_time_seconds", "gauge", "When the server process began"),
)
BY_NAME: Final = {metric.name: metric for metric in METRICS}
