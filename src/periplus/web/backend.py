"""What the web room needs from a collection: a protocol that ``app.Collection`` fulfils and tests can play.

All calls block and may be made from several threads at once; the app runs them off the event loop. They raise only
``periplus.errors``. Shapes of the dictionaries (keys beyond these are shown too, absent ones are left out):

* ``status``: ``collection`` (name), ``crawl`` (fields of ``CrawlStatus``), ``index`` (``generation``, ``documents``,
  ``segments``, ``published`` as ISO time …), ``ranks`` or None, ``hosts``, ``disk`` (bytes), ``version``,
  ``last_write`` (ISO time), ``examples`` (queries to show on the landing page).
* ``site``: ``host``, and any of ``pages``, ``documents``, ``fetched``, ``rank``, ``language``, ``robots``,
  ``links_in``, ``links_out``, ``best`` (list of ``{"url", "title"}``).
* ``bot_report``: ``host``, and what the journal knows of our visits there.
* ``cached``: ``title``, ``text`` (paragraphs parted by newlines), ``fetched``, ``language``; None when the page is
  unknown or asks not to be kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from periplus.records import Explanation, Inspection, SearchAnswer, SearchRequest, Suggestion

COMMANDS = ("pause", "resume", "stop")


class Backend(Protocol):
    def search(self, request: SearchRequest) -> SearchAnswer: ...
    def suggest(self, text: str, limit: int = 8) -> list[Suggestion]: ...
    def explain(self, query: str, url: str, profile: str = "") -> Explanation: ...
    def inspect(self, url: str) -> Inspection: ...
    def analyze(self, text: str, language: str = "") -> list[dict[str, Any]]: ...
    def status(self) -> dict[str, Any]: ...
    def site(self, host: str) -> dict[str, Any] | None: ...
    def bot_report(self, host: str) -> dict[str, Any] | None: ...
    def cached(self, url: str) -> dict[str, Any] | None: ...
    def ready(self) -> bool: ...
    def command(self, name: str) -> None: ...
