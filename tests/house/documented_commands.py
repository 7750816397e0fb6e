"""The ``periplus`` commands that pages show: in fences, as somebody would type them, and in lines of text."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(path for path in (ROOT / "docs").glob("*.md") if path.name != "command-line.md"),  # generated
    ROOT / "deploy" / "README.md",
    *sorted((ROOT / "src").rglob("README.md")),
]
# What may stand before a command: a prompt, variables, the key of a service's file, another user, output that names it.
_BEFORE = r"(?:\w+\$ )?(?:[A-Z_]+=\S+ )*(?:ExecStart=)?(?:runuser -u \w+ -- )?(?:next: )?"
_TYPED = re.compile(rf"{_BEFORE}(?:\S*/)?periplus (?P<words>[a-z].*)")
_INLINE = re.compile(r"`(?:\./)?periplus (?P<words>[a-z][^`]*)`")
_VARIABLES = re.compile(r"([A-Z_]+)=(\S+) ")
PLACEHOLDERS = re.compile(r"[A-Z]{2,}(?::[A-Z]+)?|…|%i")


class DocumentedCommand(NamedTuple):
    page: str
    line: int
    words: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]
    is_fenced: bool

    @property
    def text(self) -> str:
        return shlex.join(self.words)

    @property
    def has_placeholders(self) -> bool:
        return any(PLACEHOLDERS.search(word) for word in self.words)


def commands_of(page: Path) -> Iterator[DocumentedCommand]:
    """All commands of a page, in its order."""
    name = str(page.relative_to(ROOT))
    is_fenced = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_fenced = not is_fenced
        elif is_fenced:
            for part in re.split(r"\s(?:;|&&|\|)\s", re.sub(r"(^|\s)#.*", "", line)):
                if found := _TYPED.fullmatch(part.strip()):
                    variables = tuple(_VARIABLES.findall(part[: found.start("words")]))
                    yield DocumentedCommand(name, number, tuple(shlex.split(found["words"])), variables, is_fenced=True)
        else:
            for found in _INLINE.finditer(line):
                yield DocumentedCommand(name, number, tuple(shlex.split(found["words"])), (), is_fenced=False)


def all_commands() -> list[DocumentedCommand]:
    return [command for page in PAGES for command in commands_of(page)]
