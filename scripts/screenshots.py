"""Takes the pictures of docs/screenshots.md anew: ``make screenshots``, or with ``ARGS=FOLDER`` into another folder.

A made-up harbour town (``tests/support/harbour_town.py``) is crawled, indexed, ranked and served; only the weather
comes from a played service. Pages are photographed by Debian's Chromium, put side by side and written with few colours.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from contextlib import contextmanager
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from PIL import Image
from playwright.sync_api import sync_playwright

from browser.browser_tools import ARGUMENTS, CHROMIUM
from mockweb.mock_web import MockWeb
from periplus import Collection
from periplus.app.pages import side_panels
from periplus.app.serving.server import operator_key, web_server
from periplus.verticals.weather import OpenMeteo
from support import harbour_town
from support.services import PlayedServices

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
SIZES = {"wide": (1280, 860), "phone": (390, 844)}
COLUMNS = {"wide": 2, "phone": 5}
SCALE = {"wide": 0.62, "phone": 0.72}
GAP, GROUND = 14, (128, 128, 128)
COLOURS = 128
SOON = 1_500  # milliseconds in which a page has settled

PANELS = (
    f"/search?q=restaurant+near+me&near={harbour_town.HERE}",
    "/search?q=weather+z%C3%BCrich",
    "/search?q=buy+tide+clock",
    "/search?q=harbour+news",
    "/search?q=pictures+of+harbour",
)
TABS = (
    f"/search?q=harbour&tab=places&near={harbour_town.HERE}",
    "/search?q=harbour&tab=news",
    "/search?q=harbour&tab=products",
    "/search?q=harbour&tab=images",
)
PAGES = (
    "/search?q=harbour#time",
    "/cached?url=http://guide.test/the-lighthouse-walk&q=lighthouse",
    "/nowhere/at-all",
    "/site/guide.test",
    "/sites",
    "/preferences?lens=pin:guide.test,block:shop.test",
    "/api",
    "/console/queries",
)


class Look(NamedTuple):
    name: str
    paths: tuple[str, ...]
    size: str
    scheme: str
    scripts: bool = True


LOOKS = (
    Look("panels-phone-plain", PANELS, "phone", "light", scripts=False),  # first: nothing is known of the weather yet
    *(
        Look(f"panels-{size}-{scheme}", (*PANELS, *TABS), size, scheme)
        for size in SIZES
        for scheme in ("light", "dark")
    ),
    Look("panels-wide-plain", PANELS, "wide", "light", scripts=False),
    *(Look(f"pages-{size}-{scheme}", PAGES, size, scheme) for size, scheme in (("wide", "light"), ("phone", "dark"))),
)


@contextmanager
def town() -> Iterator[tuple[str, str, threading.Event]]:
    """The address of the served town, the operator's key, and what the weather waits for."""
    with MockWeb() as web, PlayedServices() as played, tempfile.TemporaryDirectory() as folder:
        gate = played.answers["/v1/forecast"] = threading.Event()
        side_panels.services = lambda _: [OpenMeteo(played.base, played.base)]  # the outside service is played
        harbour_town.build(web, datetime.now(UTC).date())
        flags = {**harbour_town.FLAGS, "crawl.resolve": list(web.resolve), "serve.port": 0, "serve.access_log": "off"}
        with Collection(Path(folder, "town"), flags=flags) as collection:
            collection.crawl(list(harbour_town.SEEDS))
            collection.index()
            collection.rank()
            with web_server(collection) as server:
                yield server.address.rstrip("/"), operator_key(collection), gate


def photographed(browser: Browser, look: Look, address: str, key: str, gate: threading.Event) -> list[Image.Image]:
    width, height = SIZES[look.size]
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=look.scheme,
        java_script_enabled=look.scripts,
        base_url=address,
    )
    page = context.new_page()
    page.goto(f"/console?key={key}")
    pictures = [_picture(page, path, look, gate) for path in look.paths]
    context.close()
    return pictures


def _picture(page: Page, path: str, look: Look, gate: threading.Event) -> Image.Image:
    page.goto(path)
    if "weather" in path:
        gate.set()  # it comes after the first page that wants it
    page.wait_for_load_state("networkidle")
    if look.scripts and look.size == "phone":
        for panel in page.locator("details.panel").all():
            panel.evaluate("node => { node.open = true }")
    if path.endswith("#time"):
        page.locator(".filters summary").first.click()
    page.wait_for_timeout(SOON)  # pictures that are made when they are first shown
    return Image.open(BytesIO(page.screenshot())).convert("RGB")


def side_by_side(pictures: list[Image.Image], size: str) -> Image.Image:
    columns = min(COLUMNS[size], len(pictures))
    small = [one.resize((int(one.width * SCALE[size]), int(one.height * SCALE[size]))) for one in pictures]
    width, height = small[0].size
    rows = -(-len(small) // columns)
    whole = Image.new("RGB", (columns * (width + GAP) - GAP, rows * (height + GAP) - GAP), GROUND)
    for place, one in enumerate(small):
        whole.paste(one, (place % columns * (width + GAP), place // columns * (height + GAP)))
    return whole.quantize(COLOURS, dither=Image.Dither.NONE)


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES
    with town() as (address, key, gate), sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        for look in LOOKS:
            target = folder / f"{look.name}.png"
            side_by_side(photographed(browser, look, address, key, gate), look.size).save(target, optimize=True)
            print(f"{target.name}: {target.stat().st_size:,} bytes")
        browser.close()


if __name__ == "__main__":
    main()
