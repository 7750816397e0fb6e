"""What small pictures beside ten results cost a page: ``PYTHONPATH=tests python -m bench.serve.thumbnails``.

Twelve pages with a picture each (1,600 × 1,000, drawn by chance and blurred) are crawled twice, with and without
``crawl.pictures``. Pages are asked for over ASGI; their times are of the server's CPU, the median of 300.
"""

from __future__ import annotations

import io
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
from PIL import Image

from mockweb.mock_web import MockWeb
from periplus import Collection
from periplus.app.serving.backend import CollectionBackend
from periplus.web import create_app
from web.asgi_client import Client

PAGES, ROUNDS = 12, 300
QUERY = "/search?q=lighthouse"


def photograph(seed: int) -> bytes:
    drawn = np.random.default_rng(seed).integers(0, 255, (50, 80, 3), dtype=np.uint8)
    made = io.BytesIO()
    Image.fromarray(drawn).resize((1_600, 1_000), Image.Resampling.BICUBIC).save(made, "JPEG", quality=88)
    return made.getvalue()


def crawled(folder: Path, web: MockWeb, *, pictures: bool) -> Collection:
    flags = {"crawl.delay": 0.0, "crawl.ip_delay": 0.0, "crawl.allow_private": True, "crawl.workers": 1}
    flags |= {"crawl.resolve": list(web.resolve), "crawl.pictures": pictures}
    collection = Collection(folder, flags=flags)
    collection.crawl([f"http://p{number}.test/" for number in range(PAGES)])
    collection.index()
    return collection


def timed(client: Client) -> tuple[int, float]:
    """Bytes of the page, and milliseconds of CPU."""
    for _ in range(20):
        page = client.get(QUERY)
    taken = []
    for _ in range(ROUNDS):
        started = time.process_time()
        client.get(QUERY)
        taken.append(1_000 * (time.process_time() - started))
    return len(page.body), median(taken)


def main() -> None:
    with MockWeb() as web, tempfile.TemporaryDirectory() as folder:
        for number in range(PAGES):
            words = f"The lighthouse of port {number} is lit every evening by keeper {number}. " * 3
            image = '<img src="/a.jpg" alt="The lighthouse at dusk" width=800 height=500>'
            web.page(
                f"http://p{number}.test/",
                f"<main><h1>Port {number}</h1>{image}<p>{words}</main>",
                title=f"Port {number}",
            )
            web.text(f"http://p{number}.test/a.jpg", photograph(number), "image/jpeg")
        for pictures in (False, True):
            with crawled(Path(folder, str(pictures)), web, pictures=pictures) as collection:
                client = Client(create_app(CollectionBackend(collection), collection.settings))
                size, milliseconds = timed(client)
                print(f"pictures {pictures}: page {size} bytes, {milliseconds:.2f} ms")
        with Collection.existing(Path(folder, "True")) as collection:
            client = Client(create_app(CollectionBackend(collection), collection.settings))
            for what in ("first", "again"):
                sizes, taken = [], []
                for number in range(10):
                    started = time.perf_counter()
                    sizes.append(len(client.get(f"/picture?url=http%3A%2F%2Fp{number}.test%2Fa.jpg").body))
                    taken.append(1_000 * (time.perf_counter() - started))
                print(f"{what}: {sum(sizes)} bytes of ten copies, {median(taken):.1f} ms each")


if __name__ == "__main__":
    main()
