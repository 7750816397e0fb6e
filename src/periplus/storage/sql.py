"""One SQL dialect for both databases: a small scanner that tells code from quoted text and comments.

Statements are written for SQLite with ``?`` placeholders; PostgreSQL gets ``$1, $2 …``. Column types that differ
stand in braces in migrations (``{int}``, ``{real}``, ``{text}``, ``{blob}`` …) and are filled in for each dialect.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from periplus.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Quoted text (a doubled quote stays inside), line comments, block comments; what remains is code.
_OPAQUE = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)
_TYPE = re.compile(r"\{([a-z_]+)\}")


def pieces(sql: str) -> Iterator[tuple[bool, str]]:
    """``(is_code, text)`` in order; together they are the whole statement."""
    end = 0
    for match in _OPAQUE.finditer(sql):
        if match.start() > end:
            yield True, sql[end : match.start()]
        yield False, match.group()
        end = match.end()
    if end < len(sql):
        yield True, sql[end:]


@lru_cache(maxsize=1024)
def numbered(sql: str) -> str:
    """The statement with each ``?`` outside quotes and comments turned into ``$1``, ``$2`` …"""
    number = 0
    parts = []
    for is_code, text in pieces(sql):
        if not is_code:
            parts.append(text)
            continue
        first, *rest = text.split("?")
        parts.append(first)
        for piece in rest:
            number += 1
            parts.append(f"${number}{piece}")
    return "".join(parts)


def statements(script: str) -> list[str]:
    """The statements of a script, split at semicolons outside quotes and comments; comments are dropped."""
    found: list[str] = []
    current = ""
    for is_code, text in pieces(script):
        if not is_code:
            current += "" if text.startswith(("--", "/*")) else text
            continue
        *ended, rest = text.split(";")
        for part in ended:
            found.append(current + part)
            current = ""
        current += rest
    found.append(current)
    return [statement.strip() for statement in found if statement.strip()]


def with_types(template: str, types: Mapping[str, str]) -> str:
    """Fill ``{name}`` in from ``types``."""

    def fill(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in types:
            raise StorageError(f"migration uses unknown type {{{name}}}; known are {', '.join(sorted(types))}")
        return types[name]

    return _TYPE.sub(fill, template)
