"""The documentation as a site: ``python scripts/site.py build/site [--search http://127.0.0.1:8080]``.

Every page of the repository (``*.md``) becomes a page of HTML beside its pictures, with a list of all pages.
``--search`` names a Periplus that has the site in its collection: then every page has a field that asks it. Nothing is
loaded from elsewhere.
"""

from __future__ import annotations

import argparse
import itertools
import re
import shutil
from html import escape
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from string import Template
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

ROOT = Path(__file__).resolve().parent.parent
# Parts of the list, with the pages that belong to them.
PARTS = {
    "Start": ("README.md", "CHANGELOG.md"),
    "Use and run": ("docs/*.md", "deploy/README.md", "SECURITY.md"),
    "Understand and change": ("ARCHITECTURE.md", "CONTRIBUTING.md", "src/periplus/**/README.md", "bench/README.md"),
    "Decisions": ("docs/decisions/*.md",),
}
PICTURES = "docs/images"
STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.55 system-ui, sans-serif; margin: 0; display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
nav { padding: 1rem; border-right: 1px solid #8884; font-size: .9rem; height: 100vh; overflow: auto; position: sticky;
  top: 0; box-sizing: border-box; }
nav form { margin-bottom: 1rem; }
nav ul { list-style: none; margin: .2rem 0 1rem; padding: 0; }
nav a { text-decoration: none; }
nav a[aria-current] { font-weight: bold; }
main { padding: 1rem 2rem 4rem; max-width: 62rem; box-sizing: border-box; }
pre, code { font: .9em/1.45 ui-monospace, monospace; }
pre { overflow-x: auto; padding: .8rem; background: #8881; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid #8884; padding: .3rem .6rem; text-align: left; vertical-align: top; }
img { max-width: 100%; }
.to-pages { display: none; }
@media (max-width: 50rem) {
  body { display: flex; flex-direction: column; }
  nav { order: 2; position: static; height: auto; border: 0; }
  main { padding: 1rem; }
  .to-pages { display: block; padding: .8rem 1rem 0; }
}
"""
WHOLE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>$title · Periplus</title>
<meta name="viewport" content="width=device-width">
<link rel="stylesheet" href="$style">
<link rel="icon" href="data:,">
</head>
<body>
<a class="to-pages" href="#pages">All pages</a>
<nav id="pages">$navigation</nav>
<main>
$content</main>
</body>
</html>
""")


class Page(NamedTuple):
    source: str  # its path in the repository
    title: str
    part: str

    @property
    def target(self) -> str:
        """Its path in the site."""
        path = PurePosixPath(self.source)
        return str(path.with_name("index.html") if path.name == "README.md" else path.with_suffix(".html"))


def pages() -> list[Page]:
    """All pages, by part."""
    found: dict[str, Page] = {}
    for part, patterns in PARTS.items():
        for path in itertools.chain.from_iterable(sorted(ROOT.glob(pattern)) for pattern in patterns):
            source = path.relative_to(ROOT).as_posix()
            found.setdefault(source, Page(source, _title(path), part))
    return list(found.values())


def build(target: Path, search: str = "") -> int:
    """The whole site below a folder; how many pages it has."""
    every = pages()
    for page in every:
        file = target / page.target
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_written(page, every, search), encoding="utf-8")
    shutil.copytree(ROOT / PICTURES, target / PICTURES, dirs_exist_ok=True)
    (target / "style.css").write_text(STYLE, encoding="utf-8")
    return len(every)


def _title(path: Path) -> str:
    heading = re.search(r"^# (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return heading[1].replace("`", "") if heading else path.stem


def _written(page: Page, every: Sequence[Page], search: str) -> str:
    reader = MarkdownIt("commonmark").enable("table")
    tokens = reader.parse((ROOT / page.source).read_text(encoding="utf-8"))
    _name_headings(tokens)
    known = {other.source: other.target for other in every}
    for token in tokens:
        if token.children:
            token.children = _relinked(token.children, page, known)
    return WHOLE.substitute(
        title=escape(page.title),
        style=_way(page, "style.css"),
        navigation=_form(search) + "".join(_list(page, every)),
        content=reader.renderer.render(tokens, reader.options, {}),
    )


def _relinked(tokens: Sequence[Token], page: Page, known: dict[str, str]) -> list[Token]:
    """A line of text whose links lead to pages of the site; what led to another file stays as text."""
    kept, shown = [], list[bool]()
    for token in tokens:
        if token.type == "link_open":
            address = _linked(page, str(token.attrs["href"]), known)
            shown.append(bool(address))
            token.attrs["href"] = address
        if token.type not in ("link_open", "link_close") or shown[-1]:
            kept.append(token)
        if token.type == "link_close":
            shown.pop()
    return kept


def _name_headings(tokens: Sequence[Token]) -> None:
    """Headings get the names by which links of the pages know them: those that GitHub gives them."""
    taken: dict[str, int] = {}
    for opening, inner in itertools.pairwise(tokens):
        if opening.type == "heading_open":
            text = "".join(child.content for child in inner.children or ())
            name = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            count = taken[name] = taken.get(name, -1) + 1
            opening.attrs["id"] = f"{name}-{count}" if count else name


def _linked(page: Page, address: str, known: dict[str, str]) -> str:
    """Where a link leads in the site; empty for a file that is no page of it."""
    path, mark, fragment = address.partition("#")
    if "://" in address or address.startswith("mailto:") or not path:
        return address
    source = normpath(str(PurePosixPath(page.source).parent / path))
    for candidate in (source, f"{source}/README.md"):
        if candidate in known:
            return _way(page, known[candidate]) + mark + fragment
    return address if source.startswith(PICTURES) else ""


def _way(page: Page, target: str) -> str:
    return quote(relpath(target, str(PurePosixPath(page.target).parent)))


def _form(search: str) -> str:
    if not search:
        return ""
    return (
        f'<form action="{escape(search.rstrip("/"))}/search"><input type="search" name="q" aria-label="Search">'
        "<button>Search</button></form>"
    )


def _list(page: Page, every: Sequence[Page]) -> Iterator[str]:
    for part in PARTS:
        links = [
            f'<li><a href="{_way(page, other.target)}"{" aria-current=page" if other == page else ""}>'
            f"{escape(other.title)}</a></li>"
            for other in every
            if other.part == part
        ]
        yield f"<strong>{part}</strong><ul>{''.join(links)}</ul>"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--search", default="", help="the address of a Periplus that searches the site")
    chosen = options.parse_args()
    print(f"{build(chosen.folder, chosen.search)} pages in {chosen.folder}")


if __name__ == "__main__":
    main()
