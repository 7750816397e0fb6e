"""The stated limits of parsing, in one place.

Two kinds: past a *cut* the rest of the page is left out and the document carries the signal ``truncated``; past a
*stop* the page gives no document and ``ParseError("parse-bound")`` names the limit. Nothing here is a guess of what
is normal: each is far above honest pages and far below what would hurt a worker.
"""

from __future__ import annotations

from typing import Final

# Input
BODY_BYTES: Final = 64 * 2**20  # stop: no reader is given more
MARKUP_CHARS: Final = 8 * 2**20  # cut: characters of HTML, XML, Markdown and plain text that are read

# Work on one page
ELEMENTS: Final = 400_000  # cut
SECONDS: Final = 10.0  # cut for HTML, stop for the others; looked at between elements or pages
CLOCK_EVERY: Final = 4096  # elements between two looks at the clock

# Output
TEXT_CHARS: Final = 2 * 2**20  # cut: main text, and as much boilerplate
TITLE_CHARS: Final = 500
HEADINGS: Final = 500
HEADING_CHARS: Final = 500
DESCRIPTION_CHARS: Final = 1000
LINKS: Final = 5000  # cut: distinct links kept, in page order
LINK_TEXT_CHARS: Final = 300
ADDRESS_CHARS: Final = 2048  # a longer href is no address of ours
IMAGES: Final = 100
ALT_CHARS: Final = 300
DEFINITIONS: Final = 5  # terms that a page defines
TERM_CHARS: Final = 80
DEFINITION_CHARS: Final = 400
FEEDS: Final = 20
ALTERNATES: Final = 200  # hreflang entries
TIMES: Final = 50  # time elements
METADATA: Final = 500  # distinct meta names that are kept
METADATA_CHARS: Final = 4000

# JSON-LD and Open Graph
JSON_CHARS: Final = 512 * 1024  # cut: of all JSON-LD on a page
JSON_DEPTH: Final = 8  # cut: deeper values are dropped
JSON_ITEMS: Final = 30  # structured items a page
JSON_VALUES: Final = 2000  # values in all items of a page
JSON_STRING_CHARS: Final = 1000

# Containers (DOCX, ODT, EPUB) and PDF
ZIP_ENTRIES: Final = 10_000  # stop
ZIP_BYTES: Final = 64 * 2**20  # stop: unpacked bytes that are read
ZIP_RATIO: Final = 200  # stop: unpacked to packed, for entries over one MiB
PDF_PAGES: Final = 500  # cut
PDF_STREAM_BYTES: Final = 16 * 2**20  # a stream that unpacks to more leaves its page unread
PDF_TOKENS: Final = 300_000  # operators and operands of a page; likewise
EPUB_CHAPTERS: Final = 500  # cut

# Sitemaps (the protocol's own limits)
SITEMAP_ENTRIES: Final = 50_000  # cut
SITEMAP_BYTES: Final = 50 * 2**20  # stop: unpacked
