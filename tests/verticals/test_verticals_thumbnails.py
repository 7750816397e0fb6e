"""Small copies of pictures: made apart from us, bounded, and forgotten when something is taken down."""

from __future__ import annotations

import io
import struct
import zlib

import pytest
from PIL import Image

from periplus.verticals import Thumbnails, fetched_picture
from periplus.verticals.decoding import MOST_PIXELS, SIDE
from periplus.verticals.thumbnails import LARGEST, MOST_SOURCE
from support.services import PlayedServices


def drawn(kind: str = "PNG", size: tuple[int, int] = (800, 400), mode: str = "RGB", colour: object = "teal") -> bytes:
    written = io.BytesIO()
    Image.new(mode, size, colour).save(written, kind)
    return written.getvalue()


def bomb() -> bytes:
    """A PNG that says it has far more points than it sends."""
    head = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(b"\0" * 1_000)), (b"IEND", b"")]
    whole = (struct.pack(">I", len(d)) + n + d + struct.pack(">I", zlib.crc32(n + d)) for n, d in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(whole)


def test_a_picture_becomes_a_small_jpeg_once(tmp_path):
    asked = []

    def source() -> bytes:
        asked.append(1)
        return drawn("PNG", mode="RGBA", colour=(255, 0, 0, 0))

    made = Thumbnails(tmp_path / "t")
    copy = made.get("http://a.test/one.png", source)
    with Image.open(io.BytesIO(copy)) as shown:
        assert (shown.format, shown.size, shown.getpixel((5, 5))) == ("JPEG", (SIDE, SIDE // 2), (255, 255, 255))
    assert made.get("http://a.test/one.png", source) == copy
    assert len(asked) == 1
    assert len(copy) <= LARGEST
    made.forget()
    made.get("http://a.test/one.png", source)
    assert len(asked) == 2


@pytest.mark.parametrize(
    "data", [b"", b"<svg onload=alert(1)>", drawn()[:60], bomb(), b"GIF89a" + b"\xff" * 99, b"x" * (MOST_SOURCE + 1)]
)
def test_what_is_no_picture_has_no_copy_and_is_not_tried_again(tmp_path, data):
    asked = []

    def source() -> bytes:
        asked.append(1)
        return data

    made = Thumbnails(tmp_path / "t")
    assert made.get("http://a.test/x", source) == b""
    assert made.get("http://a.test/x", source) == b""
    assert len(asked) == 1
    assert MOST_PIXELS < 30_000**2


def test_the_folder_has_a_bound_and_the_oldest_leave(tmp_path):
    made = Thumbnails(tmp_path / "t", most=1)
    for number in range(3):
        made.get(f"http://a.test/{number}", lambda: drawn("JPEG"))
    assert sum(path.stat().st_size for path in (tmp_path / "t").iterdir()) <= 1


def test_pictures_of_services_are_fetched_bounded():
    with PlayedServices() as services:
        services.answers["/p.jpg"] = (200, drawn("JPEG"))
        assert fetched_picture(f"{services.base}/p.jpg") is None  # it says that it is JSON
        services.answers["/p.jpg"] = (404, b"")
        assert fetched_picture(f"{services.base}/p.jpg") is None
    assert fetched_picture("http://127.0.0.1:1/p.jpg") is None
