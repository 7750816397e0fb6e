"""The query language: text to ``ParsedQuery``. It never fails.

    word word      any of them, best match first     "a phrase"    these words side by side
    +word  -word   must, must not occur              a OR b        at least one
    ( )            brackets                          pre*          words that begin so
    intitle: inurl: site: filetype: lang: before: after: link:

A sign or an opening bracket counts only at the beginning of a word, and only with something behind it, so ``C++``,
``--flag``, ``f(x)``, ``std::sort`` and addresses are words. An operator whose value makes no sense
(``before:soon``), an unclosed quote and a stray ``OR`` are searched as words.
Bounds: ``MAX_CHARACTERS``, ``MAX_WORDS``, ``MAX_DEPTH``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from periplus.search.query.conditions import understood
from periplus.search.query.syntax import (
    FIELD_OPERATORS,
    FILTER_OPERATORS,
    AnyOf,
    Condition,
    InField,
    ParsedQuery,
    Phrase,
    Prefix,
    Sequence,
    Signed,
    TypedWord,
)
from periplus.search.query.text import clean

if TYPE_CHECKING:
    from periplus.search.query.syntax import Node

MAX_CHARACTERS = 4_000
MAX_WORDS = 400
MAX_DEPTH = 10
LEAST_PREFIX = 2

_QUOTES = {'"': '"', "“": "”", "„": "“”", "«": "»", "”": "”"}
_OPERATOR = re.compile(rf"({'|'.join((*FIELD_OPERATORS, *FILTER_OPERATORS))}):(?=\S)", re.IGNORECASE)
_QUOTE_SIGNS = frozenset('"“”„«»')
_SIGNS = re.compile(r"[\"“”„«»()|*:]|(?:^|\s)[+-]")  # operators, or words that only look like them
_OPTION = re.compile(r"[^\W_][.,;:?!]*$")  # of a command, as in "git commit -m": nobody excludes a letter
_OR = ("OR", "|", "||")
_TOO_DEEP = re.compile(r"[+\-(]*\(")  # brackets inside of as many as count, and the signs before them


def words_alone(text: str) -> list[str] | None:
    """The words of a query that is ASCII letters and digits and nothing else, as most are; of any other nothing."""
    words = text.split()
    letters = "".join(words)
    if not (letters.isascii() and letters.isalnum()) or "OR" in words or len(words) > MAX_WORDS:
        return None
    return words if len(letters) + len(words) <= MAX_CHARACTERS else None


def _reading_of(words: list[str]) -> ParsedQuery:
    return ParsedQuery(tuple(map(TypedWord, words)))


def read(text: str) -> ParsedQuery:
    """How ``text`` is understood as a query."""
    words = words_alone(text)
    if words is not None:
        return _reading_of(words)
    whole = clean(text)
    plain = _plain(whole)
    if plain is not None:
        return plain
    reader = _QueryReader(_without_loose_quotes(whole[:MAX_CHARACTERS]))
    nodes = reader.sequence(depth=0)
    return ParsedQuery(nodes, reader.cut or len(whole) > MAX_CHARACTERS)


def _plain(text: str) -> ParsedQuery | None:
    """The reading of a query without anything that may be a sign."""
    if len(text) > MAX_CHARACTERS or _SIGNS.search(text):
        return None
    words = text.split()
    if len(words) > MAX_WORDS or "OR" in words:
        return None
    return ParsedQuery(tuple(map(TypedWord, words)))


def prose(text: str) -> ParsedQuery:
    """``text`` as words and nothing else: topics of judged sets are sentences, and their signs are no operators."""
    whole = clean(text)
    found = whole[:MAX_CHARACTERS].split()
    words = tuple(TypedWord(word) for word in found[:MAX_WORDS])
    return ParsedQuery(words, len(found) > MAX_WORDS or len(whole) > MAX_CHARACTERS)


def _closing(text: str, at: int) -> int:
    """Where the quote that opens at ``at`` closes; 0 when none opens there or it never closes."""
    places = [text.find(end, at + 1) for end in _QUOTES.get(text[at : at + 1], "")]
    return min((place for place in places if place > 0), default=0)


def _without_loose_quotes(text: str) -> str:
    """``text`` without the quotes that open nothing or hold nothing: every quote left is half of a phrase."""
    kept: list[str] = []
    at = 0
    while at < len(text):
        end = _closing(text, at)
        if end and _inside(text, at, end):
            kept.append(text[at : end + 1])
        elif text[at] not in _QUOTE_SIGNS:
            kept.append(text[at])
        elif end or (kept and kept[-1][-1] not in " +-:("):
            kept.append(" ")
        at = end + 1 if end else at + 1
    return "".join(kept)


def _inside(text: str, at: int, end: int) -> str:
    """The words between two quotes, without quotes of another kind."""
    return " ".join("".join(" " if sign in _QUOTE_SIGNS else sign for sign in text[at + 1 : end]).split())


class _QueryReader:
    """A hand-written descent over the text; every step moves ``at`` forward, so it always ends."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.words = 0
        self.cut = False

    # clauses

    def sequence(self, depth: int) -> tuple[Node, ...]:
        """Clauses up to the end of the text or, inside brackets, up to the closing one."""
        nodes: list[Node] = []
        while self._skip_spaces() and not (depth and self._here(")")):
            node = self._clause(depth)
            if node is not None:
                nodes.append(node)
        return tuple(nodes)

    def _clause(self, depth: int) -> Node | None:
        first = self._unit(depth)
        choices = [first] if first is not None else []
        while choices and self._takes_or(depth):
            choice = self._unit(depth)
            if choice is not None:
                choices.append(choice)
        return choices[0] if len(choices) == 1 else AnyOf(tuple(choices)) if choices else None

    def _takes_or(self, depth: int) -> bool:
        """Step over an ``OR`` that has something to join on its right."""
        start = self.at
        joins = self._skip_spaces() and self._bare_word(depth) in _OR and self._skip_spaces()
        if joins and self._begins_unit(depth):
            return True
        self.at = start
        return False

    def _begins_unit(self, depth: int) -> bool:
        start = self.at
        joins_again = self._bare_word(depth) in _OR
        self.at = start
        return not joins_again and not (depth and self._here(")"))

    def _unit(self, depth: int) -> Node | None:
        if depth == MAX_DEPTH and (deep := _TOO_DEEP.match(self.text, self.at)):
            self.at = deep.end()
        sign = self._sign()
        node = self._atom(depth)
        if node is None or not sign:
            return node
        if isinstance(node, Signed):
            return node
        if sign == "-" and isinstance(node, TypedWord) and _OPTION.match(node.text):
            return TypedWord(sign + node.text)
        return Signed(sign, node)

    def _sign(self) -> str:
        here, following = self.text[self.at : self.at + 1], self.text[self.at + 1 : self.at + 2]
        if here in ("+", "-") and following and not following.isspace() and following not in "+-)":
            self.at += 1
            return here
        return ""

    # atoms

    def _atom(self, depth: int) -> Node | None:
        if self._here("(") and depth < MAX_DEPTH:
            return self._brackets(depth)
        if self._at_quote():
            phrase = self._phrase()
            return self._counted(Phrase(phrase)) if phrase else None
        operator = _OPERATOR.match(self.text, self.at)
        if operator:
            return self._operated(operator, depth)
        return self._word(self._bare_word(depth))

    def _brackets(self, depth: int) -> Node | None:
        self.at += 1
        nodes = self.sequence(depth + 1)
        if self._here(")"):
            self.at += 1
        if not nodes:
            return None
        alone = len(nodes) == 1 and not isinstance(nodes[0], AnyOf | Signed) and str(nodes[0])[0] not in "+-"
        return nodes[0] if alone else Sequence(nodes)

    def _operated(self, match: re.Match[str], depth: int) -> Node | None:
        name, start = match.group(1).lower(), self.at
        self.at = match.end()
        quoted = self._phrase() if self._at_quote() else ""
        value = quoted or self._bare_word(depth)
        node = self._with_operator(name, value, bool(quoted))
        if node is None and quoted:  # the operator is a word, and the phrase is read next
            self.at = match.end()
        return node or self._word(self.text[start : self.at])

    def _with_operator(self, name: str, value: str, quoted: bool) -> Node | None:
        if name in FIELD_OPERATORS:
            node = Phrase(value) if quoted else self._prefix_or_word(value)
            return None if node is None else self._counted(InField(name, node))
        spelled = understood(name, value)
        return Condition(name, spelled) if spelled else None

    def _word(self, text: str) -> Node | None:
        node = self._prefix_or_word(text)
        return self._counted(node) if node is not None else None

    def _prefix_or_word(self, text: str) -> TypedWord | Prefix | None:
        stem = text.rstrip("*")
        if not stem.strip("+-|()"):
            return None
        if stem == "OR":  # joins nothing, so it is a word
            return TypedWord("or")
        if stem != text and len(stem) >= LEAST_PREFIX:
            return Prefix(stem)
        return TypedWord(stem)

    def _counted(self, node: Node) -> Node | None:
        """``node`` while the query is not too long; after that nothing, and ``cut`` says so."""
        self.words += len(node.text.split()) if isinstance(node, Phrase) else 1
        if self.words <= MAX_WORDS:
            return node
        self.cut = True
        return None

    # characters

    def _here(self, character: str) -> bool:
        return self.text.startswith(character, self.at)

    def _skip_spaces(self) -> bool:
        """Move to the next character that is not a space; False at the end of the text."""
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        return self.at < len(self.text)

    def _at_quote(self) -> bool:
        return _closing(self.text, self.at) > 0

    def _phrase(self) -> str:
        end = _closing(self.text, self.at)
        inside = _inside(self.text, self.at, end)
        self.at = end + 1
        return inside

    def _bare_word(self, depth: int) -> str:
        """Up to the next space, quote or bracket that is not the word's own; those of ``f(x)`` are."""
        start, opened = self.at, 0
        while self.at < len(self.text) and not self.text[self.at].isspace():
            character = self.text[self.at]
            ends_group = character == ")" and depth > 0 and opened == 0
            opens_group = character == "(" and opened == 0 and not self._closes_in_word()
            if ends_group or opens_group or character in _QUOTE_SIGNS:
                break
            opened = max(0, opened + (character == "(") - (character == ")"))
            self.at += 1
        return self.text[start : self.at]

    def _closes_in_word(self) -> bool:
        """Is the bracket here closed before the next space or quote?"""
        opened = 0
        for character in self.text[self.at :]:
            if character.isspace() or character in _QUOTE_SIGNS:
                return False
            opened += (character == "(") - (character == ")")
            if opened == 0:
                return True
        return False
