"""Run as a program of its own: a picture on standard input, a small JPEG on standard output; nothing where it is none.

Decoders are where pictures attack. So this process may use little memory and time, writes no file, and is begun anew
for every picture. It imports nothing of ours.
"""

from __future__ import annotations

import io
import resource
import sys

SIDE = 240  # points, at most
MOST_PIXELS = 40_000_000
MEMORY = 1_000_000_000  # bytes of address space
SECONDS = 5  # of the processor
QUALITY = 72
FORMATS = ("JPEG", "PNG", "GIF", "WEBP")


def small(data: bytes) -> bytes:
    from PIL import Image, ImageOps

    Image.MAX_IMAGE_PIXELS = MOST_PIXELS
    with Image.open(io.BytesIO(data), formats=FORMATS) as opened:
        if opened.width * opened.height > MOST_PIXELS:
            return b""
        opened.draft("RGB", (2 * SIDE, 2 * SIDE))
        turned = ImageOps.exif_transpose(opened).convert("RGBA")
        turned.thumbnail((SIDE, SIDE))
        ground = Image.new("RGB", turned.size, "white")
        ground.paste(turned, mask=turned.getchannel("A"))
        written = io.BytesIO()
        ground.save(written, "JPEG", quality=QUALITY, optimize=True)
        return written.getvalue()


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    sys.stdout.buffer.write(small(sys.stdin.buffer.read()))


if __name__ == "__main__":
    try:
        main()
    except Exception:  # noqa: BLE001 - what is no picture has no thumbnail
        sys.exit(1)
