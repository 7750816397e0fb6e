"""A PDF of plain text: one font, A4 pages, a title; enough for a reader to extract real text from it.

Only characters of windows-1252 can be shown (the built-in fonts know no others). The output depends on the
arguments alone.
"""

from __future__ import annotations

import textwrap

LINE_CHARACTERS = 82
LINES_A_PAGE = 46
FONT_SIZE = 11
LEADING = 16
LEFT, TOP = 64, 770
PAGE = "0 0 595 842"  # A4 in points


def make_pdf(title: str, author: str, paragraphs: list[str]) -> bytes:
    pages = _pages([title, "", *_lines(paragraphs)])
    first_page = 5
    kids = " ".join(f"{first_page + 2 * at} 0 R" for at in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R /Lang (en) >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman /Encoding /WinAnsiEncoding >>",
        b"<< /Title " + _string(title) + b" /Author " + _string(author) + b" /Producer (Periplus demo) >>",
    ]
    for at, lines in enumerate(pages):
        objects += [_page(first_page + 2 * at + 1), _content(lines)]
    return _file(objects)


def _lines(paragraphs: list[str]) -> list[str]:
    return [line for text in paragraphs for line in (*textwrap.wrap(text, LINE_CHARACTERS), "")]


def _pages(lines: list[str]) -> list[list[str]]:
    return [lines[at : at + LINES_A_PAGE] for at in range(0, len(lines), LINES_A_PAGE)]


def _page(content: int) -> bytes:
    return (
        f"<< /Type /Page /Parent 2 0 R /MediaBox [{PAGE}] "
        f"/Resources << /Font << /F1 3 0 R >> >> /Contents {content} 0 R >>"
    ).encode()


def _content(lines: list[str]) -> bytes:
    shown = b"".join(_string(line) + b" Tj T*\n" for line in lines)
    stream = f"BT /F1 {FONT_SIZE} Tf {LEADING} TL {LEFT} {TOP} Td\n".encode() + shown + b"ET"
    return f"<< /Length {len(stream)} >>\nstream\n".encode() + stream + b"\nendstream"


def _string(text: str) -> bytes:
    escaped = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return b"(" + escaped.encode("windows-1252", "replace") + b")"


def _file(objects: list[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    table = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{offset:010d} 00000 n \n".encode() for offset in offsets)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info 4 0 R >>\nstartxref\n{table}\n%%EOF\n".encode()
    return bytes(out)
