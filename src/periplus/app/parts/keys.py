"""The keys that open the pages of a collection, for as many servers as it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from periplus.app.collection import Collection


class SharedKeys:
    """The keys that open a collection's pages."""

    def __init__(self, collection: Collection) -> None:
        from periplus.web import KeyRing, Operator  # whose room knows how to serve, which a search need not

        self.programs = KeyRing(collection.sound_state, collection.files)
        self.operator = Operator(collection.sound_state, collection.files)
