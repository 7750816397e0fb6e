"""What a query is made of, once read: a small tree of clauses, and filters beside it.

``str()`` of a reading is the query in its plainest spelling. Reading that spelling again gives the same tree
(a property that the tests hold), so ``parsed`` shows exactly how a query was understood.
"""

from __future__ import annotations

from msgspec import Struct

FIELD_OPERATORS = {"intitle": "title", "inurl": "address"}
FILTER_OPERATORS = ("site", "filetype", "lang", "before", "after", "link")


class TypedWord(Struct, frozen=True):
    """One word as typed; the analysis may find several terms in it."""

    text: str

    def __str__(self) -> str:
        return self.text


class Phrase(Struct, frozen=True):
    text: str

    def __str__(self) -> str:
        return f'"{self.text}"'


class Prefix(Struct, frozen=True):
    """All words that begin so."""

    text: str

    def __str__(self) -> str:
        return f"{self.text}*"


class InField(Struct, frozen=True):
    """A word, phrase or prefix that must stand in one field."""

    operator: str  # intitle or inurl
    node: TypedWord | Phrase | Prefix

    def __str__(self) -> str:
        return f"{self.operator}:{self.node}"


class Signed(Struct, frozen=True):
    """``+`` must occur, ``-`` must not."""

    sign: str
    node: Node

    def __str__(self) -> str:
        return f"{self.sign}{self.node}"


class AnyOf(Struct, frozen=True):
    """``a OR b``: at least one of them."""

    nodes: tuple[Node, ...]

    def __str__(self) -> str:
        return " OR ".join(str(node) for node in self.nodes)


class Sequence(Struct, frozen=True):
    """What stands side by side, in brackets when inside another clause."""

    nodes: tuple[Node, ...]

    def __str__(self) -> str:
        return f"({' '.join(str(node) for node in self.nodes)})"


class Condition(Struct, frozen=True):
    """A filter: ``site:``, ``filetype:``, ``lang:``, ``before:``, ``after:`` or ``link:``."""

    operator: str
    value: str

    def __str__(self) -> str:
        return f"{self.operator}:{self.value}"


Node = TypedWord | Phrase | Prefix | InField | Signed | AnyOf | Sequence | Condition


class ParsedQuery(Struct, frozen=True):
    """A whole query as read; ``cut`` says that its end was left out because it was too long."""

    nodes: tuple[Node, ...] = ()
    cut: bool = False

    def __str__(self) -> str:
        return " ".join([node.text if type(node) is TypedWord else str(node) for node in self.nodes])
