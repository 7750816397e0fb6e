"""What browser tests share. Importable without playwright, so that its absence is a skip with a reason."""

from __future__ import annotations

from pathlib import Path

try:
    from playwright.sync_api import Error, expect

    expect.set_options(timeout=30_000)  # generous, for busy machines; a passing test never waits so long
except ModuleNotFoundError:
    Error, expect = Exception, None  # every test asks for a browser first and is skipped there

ROOT = Path(__file__).resolve().parent.parent.parent
CHROMIUM = Path("/usr/bin/chromium")
SCREENSHOTS = ROOT / "screenshots"
SIZES = {"wide": {"width": 1280, "height": 860}, "phone": {"width": 390, "height": 800}}
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
]

ATTEMPTS = 3

__all__ = ["ARGUMENTS", "CHROMIUM", "ROOT", "SCREENSHOTS", "SIZES", "expect", "take_picture"]


def take_picture(page, name: str) -> None:
    """A picture for people to look at. On a very busy machine Chromium says now and then that it cannot take one."""
    SCREENSHOTS.mkdir(exist_ok=True)
    for attempt in range(ATTEMPTS):
        try:
            page.screenshot(path=SCREENSHOTS / f"{name}.png")
        except Error as error:
            if "Unable to capture screenshot" not in str(error) or attempt == ATTEMPTS - 1:
                raise
        else:
            return
