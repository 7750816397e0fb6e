"""Quality signals of a document, each a number that ranking and the inspector can use."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from periplus.documents.reading import Reading
    from periplus.records import Page


def measure(page: Page, reading: Reading) -> tuple[int, dict[str, float]]:
    """The number of words in the main text, and all signals."""
    return len(reading.text.split()), dict(reading.signals)
