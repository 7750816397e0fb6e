"""``periplus serve`` whose services are played ones: ``python -m bench.panels.server FOLDER [SERVICES] [--unguarded]``.

Prints its address once it answers. Without SERVICES it has none. The hourly limits of services are lifted, so that each
query asks them; ``--unguarded`` takes away the circuit breaker as well, so that a bad service is asked again and again.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from periplus.app import Collection
from periplus.app.pages import side_panels
from periplus.app.serving.backend import CollectionBackend
from periplus.app.serving.server import Reloader
from periplus.app.warming import warm_kernels
from periplus.verticals.amazon import AmazonProducts
from periplus.verticals.guard import Guard
from periplus.verticals.news import NewsApi
from periplus.verticals.weather import OpenMeteo
from periplus.verticals.yelp import YelpPlaces
from periplus.web import WebServer, create_app
from support.services import AMAZON, NEWS_KEY, YELP_KEY

if TYPE_CHECKING:
    from periplus.verticals import Provider

UNLIMITED = 10**9  # requests an hour


def providers(base: str) -> tuple[Provider, ...]:
    for kind in (OpenMeteo, YelpPlaces, NewsApi, AmazonProducts):
        kind.hourly = UNLIMITED
    return (
        OpenMeteo(base, base),
        YelpPlaces(YELP_KEY, base),
        NewsApi(NEWS_KEY, base),
        AmazonProducts(AMAZON, base, f"{base}/auth/o2/token"),
    )


def main() -> None:
    folder, *rest = sys.argv[1:]
    base = next((word for word in rest if word.startswith("http")), "")
    side_panels.services = lambda _: providers(base) if base else ()
    if "--unguarded" in rest:
        Guard.admits = lambda _: True
    warm_kernels(lambda *_: None)
    flags = {"serve.rate": 0.0, "verticals.position": "47.37,8.54"}
    with Collection.existing(Path(folder), flags=flags) as collection, Reloader(collection, settles=True):
        backend = CollectionBackend(collection)
        while not backend.ready():
            time.sleep(0.05)
        app = create_app(backend, collection.settings)
        WebServer(app).run(lambda address: print(json.dumps({"address": address}), flush=True))


if __name__ == "__main__":
    main()
