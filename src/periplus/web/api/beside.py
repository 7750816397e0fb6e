"""What comes along with a list, for pages and programs alike: panels on their way, cards of a tab, pictures."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import quote

from periplus.verticals import SECONDS, Question, card_of, picture_card

if TYPE_CHECKING:
    from periplus.records import PanelCard, SearchAnswer, SidePanel
    from periplus.verticals import PendingPanels, Position


async def finished(pending: PendingPanels) -> tuple[SidePanel, ...]:
    """All that comes in ``SECONDS``; the event loop goes on meanwhile."""
    if pending.coming:
        await asyncio.wait([asyncio.wrap_future(future) for future in pending.futures], timeout=SECONDS)
    return pending.now()


def tab_cards(
    answer: SearchAnswer, facts: dict[str, dict[str, str]], tab: str, position: Position | None
) -> dict[str, PanelCard]:
    """By the id of a result: what is known of a page in a tab."""
    question = Question(tab, answer.query.text, "", position)
    known = [(result, facts.get(result.id)) for result in answer.results]
    if tab == "images":
        drawn = ((result.id, picture_card(result, told or {}, answer.query.text)) for result, told in known)
        return {name: card for name, card in drawn if card is not None}
    return {result.id: card_of(tab, result, told, question) for result, told in known if told}


def picture_address(root: str, address: str) -> str:
    """Where a reader finds a picture: at our origin, or nowhere."""
    return f"{root}/picture?url={quote(address, safe='')}" if address else ""
