"""What browser tests share. Importable without playwright, so that its absence is a skip with a reason."""

from __future__ import annotations

from pathlib import Path

try:
    from playwright.sync_api import expect

    expect.set_options(timeout=30_000)  # generous, for busy machines; a passing test never waits so long
except ModuleNotFoundError:
    expect = None  # every test asks for a browser first and is skipped there

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

__all__ = ["ARGUMENTS", "CHROMIUM", "ROOT", "SCREENSHOTS", "SIZES", "expect"]
