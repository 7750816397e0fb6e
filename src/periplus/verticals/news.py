"""Articles of the last month, by News API (version 2, ``everything``).

https://newsapi.org/docs/endpoints/everything. Pictures of articles lie anywhere on the web; they are left out.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from periplus.records import PanelCard
from periplus.verticals.provider import ServiceFailed
from periplus.verticals.reading import at, items, link, text
from periplus.verticals.requests import get_json

if TYPE_CHECKING:
    from periplus.verticals.provider import Question

MOST = 5
DAYS = 30
LONGEST = 200  # characters of a query that may be sent; the service takes 500
REMOVED = "[Removed]"  # what stands in the place of an article that was taken back
_LANGUAGES = frozenset(["ar", "de", "en", "es", "fr", "he", "it", "nl", "no", "pt", "ru", "sv", "ud", "zh"])
_REFUSED = frozenset({"apiKeyDisabled", "apiKeyExhausted", "apiKeyInvalid", "apiKeyMissing"})


class NewsApi:
    name, kind, home = "News API", "news", "https://newsapi.org/"
    keeps = 900.0
    hourly = 4  # of 100 a day that a developer's key has
    picture_hosts: tuple[str, ...] = ()

    def __init__(self, key: str, base: str = "https://newsapi.org") -> None:
        self._headers, self._base = {"x-api-key": key}, base

    def key(self, question: Question) -> tuple[object, ...] | None:
        subject = question.subject
        return (subject.casefold(), question.language) if subject and len(subject) <= LONGEST else None

    def ask(self, question: Question, deadline: float) -> tuple[PanelCard, ...]:
        since = datetime.now(UTC) - timedelta(days=DAYS)
        parameters = {
            "q": question.subject,
            "from": since.date().isoformat(),
            "sortBy": "publishedAt",
            "pageSize": MOST,
            "language": question.language if question.language in _LANGUAGES else "",
        }
        found = get_json(f"{self._base}/v2/everything", parameters, deadline, self._headers)
        if text(found, "status") != "ok":
            code = text(found, "code", limit=60)
            raise ServiceFailed(f"it says {code or 'that something is wrong'}", is_refusal=code in _REFUSED)
        return tuple(_card(one) for one in items(found, "articles", most=MOST) if _is_shown(one))


def _is_shown(one: Any) -> bool:
    return text(one, "title") not in ("", REMOVED) and bool(link(one, "url"))


def _card(one: Any) -> PanelCard:
    return PanelCard(
        title=text(one, "title"),
        url=link(one, "url"),
        text=text(one, "description"),
        source=text(one, "source", "name"),
        published=_moment(at(one, "publishedAt")),
    )


def _moment(value: Any) -> str:
    """A time as it came, if it is one."""
    try:
        return datetime.fromisoformat(value).astimezone(UTC).isoformat(timespec="seconds")
    except (TypeError, ValueError, OverflowError):
        return ""
