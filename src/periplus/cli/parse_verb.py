"""``periplus parse``: what the parser makes of an address or a file."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import msgspec
import typer

from periplus import addresses
from periplus.cli import options as opt
from periplus.cli.output import data, facts, number, print_json
from periplus.errors import UnfitFile
from periplus.records import Page

if TYPE_CHECKING:
    from periplus.records import Document


def parse(
    source: Annotated[str, typer.Argument(help="an address to fetch, or a file", metavar="URL|FILE")],
    base_url: Annotated[str, typer.Option("--base-url", help="address of the file, for its links")] = "",
    resolve: opt.Resolve = None,
    allow_private: opt.AllowPrivate = None,
    json: opt.Json = False,
) -> None:
    """Show the document that a page becomes: title, text, language, dates, links, signals."""
    from periplus.documents import parse as parse_page

    page = _page(source, base_url, resolve, allow_private)
    document = parse_page(page)
    if json:
        print_json(msgspec.to_builtins(document))
    else:
        _show(document)


def _page(source: str, base_url: str, resolve: list[str] | None, allow_private: bool | None) -> Page:
    if source.startswith(("http://", "https://")):
        from periplus.cli.fetch_verb import fetch_page

        return fetch_page(source, resolve, allow_private)
    path = Path(source)
    url = addresses.canonical(base_url) if base_url else f"http://file.invalid/{quote(path.name, errors='replace')}"
    try:
        body = path.read_bytes()
    except OSError as error:
        raise UnfitFile(f"{source} cannot be read: {error.strerror}; give an http(s) address or a file") from error
    kind = mimetypes.guess_type(path.name)[0] or ""
    return Page(url=url, body=body, content_type=kind)


def _show(document: Document) -> None:
    console = data()
    console.print(
        facts(
            [
                ("title", document.title),
                ("address", document.url),
                ("type", document.content_type),
                ("refused", document.refusal or "no"),
                ("language", f"{document.language or 'unknown'} (declared {document.declared_language or 'nothing'})"),
                ("charset", document.charset + ("" if document.charset_sure else " (a guess)")),
                ("description", document.description),
                ("words", number(document.word_count)),
                ("links", number(len(document.links))),
                ("headings", " | ".join(heading.text for heading in document.headings[:8])),
            ]
        )
    )
    console.print()
    console.print(document.text[:2000], markup=False)
