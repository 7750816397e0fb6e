"""A small made-up harbour town on the mock web: shops, a paper, a chandler, pictures, all as pages describe themselves.

Each page carries schema.org data as real sites write them, and a drawn picture with a text, so that a crawl of the town
has pages for every tab and panel. Days of news are counted back from the day that is given.
"""

from __future__ import annotations

import io
import json
import random
from datetime import date, timedelta
from typing import TYPE_CHECKING, NamedTuple

from PIL import Image, ImageDraw

if TYPE_CHECKING:
    from mockweb.mock_web import MockWeb

PLACES, PAPER, SHOP, GUIDE = "http://places.test", "http://paper.test", "http://shop.test", "http://guide.test"
SEEDS = (f"{GUIDE}/",)
HERE = "47.3700,8.5400"  # the quay
FLAGS = {
    "crawl.delay": 0.0, "crawl.ip_delay": 0.0, "crawl.allow_private": True, "crawl.workers": 1, "crawl.scope": "any",
    "crawl.pictures": True,
}  # fmt: skip
SKIES = ((238, 196, 138), (148, 190, 214), (96, 128, 168), (224, 150, 120), (176, 206, 206))
SEAS = ((32, 84, 110), (22, 60, 88), (44, 110, 122), (30, 70, 70))


CAPTIONED = "The lighthouse at dusk"  # of this picture the text is a caption, and that is part of the name of its file
FILE = "windfile-and-foam"


class Business(NamedTuple):
    name: str
    kind: str
    words: str
    street: str
    where: tuple[float, float]
    hours: str
    rating: float
    reviews: int
    price: str
    cuisine: str
    picture: str


BUSINESSES = (
    Business("The Anchor", "Restaurant", "A restaurant for fish on the quay: plaice, mussels, and soup from noon.",
             "1 Quay", (47.3701, 8.5402), "Mo-Su 00:00-24:00", 4.6, 1523, "$$", "Seafood", "The terrace of the Anchor"),
    Business("Gull and Ladle", "Restaurant", "A small restaurant with one long table and the catch of the day.",
             "9 Rope Lane", (47.3742, 8.5455), "Mo-Fr 11:00-22:00; Sa 17:00-23:00", 4.2, 318, "$$", "Seafood, Stews",
             "The long table of Gull and Ladle"),
    Business("Moorings Kitchen", "Restaurant", "A restaurant above the boat yard; its oven is fired with driftwood.",
             "22 Yard Road", (47.3840, 8.5290), "Tu-Su 18:00-23:30", 4.8, 87, "$$$", "Grill", "The driftwood oven"),
    Business("Lee Shore Noodles", "Restaurant", "A restaurant for noodles, open late, with eight stools at the window.",
             "3 Custom House Steps", (47.3695, 8.5610), "Mo-Su 17:00-02:00", 3.9, 204, "$", "Noodles",
             "Eight stools at the window"),
    Business("Quayside Bakery", "Bakery", "The bakery bakes from two in the morning; ship's biscuit on Saturdays.",
             "5 Quay", (47.3704, 8.5409), "Mo-Sa 06:00-13:00", 4.7, 640, "$", "Bread", "Loaves in the bakery window"),
    Business("Harbour Museum", "Museum", "The museum keeps logs, lamps and the bell of a lost ferry.",
             "40 Mole Road", (47.3610, 8.5330), "We-Su 10:00-17:00", 4.4, 96, "", "", "The bell of the ferry"),
)  # fmt: skip

NEWS = (
    ("Spring tide floods the mole", "Water stood a metre deep on the mole when the spring tide came with a gale.",
     "A. Pilot", 1, "The mole under water"),
    ("Ferry returns to the northern islands", "The ferry sails again after weeks in dock; the harbour cheered.",
     "B. Mate", 3, "The ferry leaves the harbour"),
    ("Lamp of Cape Lantern goes electric", "The lighthouse keeper lit the last oil lamp in the harbour on Sunday.",
     "A. Pilot", 8, "The lamp room of Cape Lantern"),
    ("Fish market keeps its old hall", "The harbour council will mend the fish market's roof and not sell it.",
     "C. Purser", 15, "The old hall of the fish market"),
    ("Ropewalk closes after two hundred years", "The last rope was laid in the harbour ropewalk on Friday.",
     "B. Mate", 26, "The last rope of the ropewalk"),
    ("Harbour wall rebuilt", "The old harbour wall was rebuilt with stone from the same quarry.", "C. Purser", 75,
     "Stones of the harbour wall"),
)  # fmt: skip

GOODS = (
    ("Brass tide clock", "A clock with one hand that shows the tide at your harbour, made of brass.", "CHF", "189.00",
     "InStock", 4.5, 62, "Quayside", "A tide clock of brass"),
    ("Tide clock for boats", "A tide clock that keeps time on a moving boat; runs a year on one battery.", "CHF",
     "129.00", "LimitedAvailability", 4.1, 28, "Lee Works", "A tide clock at the helm"),
    ("Paper tide clock", "A tide clock to cut out and fold, for a class or a wet afternoon.", "CHF", "9.50", "InStock",
     3.8, 11, "Paper Harbour", "A folded tide clock"),
    ("Storm lantern", "A lantern that burns for twenty hours and is not blown out.", "CHF", "54.00", "OutOfStock", 4.9,
     140, "Quayside", "A lantern on a hook"),
    ("Harbour bell", "A bell of bronze with a rope of hemp.", "CHF", "310.00", "PreOrder", 0.0, 0, "Lee Works",
     "A bell with its rope"),
)  # fmt: skip

GUIDES = (
    ("How to read a tide table", "A tide table says when the harbour has most water.", "A tide table"),
    ("Where to stand at spring tide", "Stand behind the wall: the harbour overflows.", "Waves over the wall"),
    ("The lighthouse walk", "The walk from the harbour to the lighthouse takes an hour.", "The lighthouse at dusk"),
    ("Knots for a day on the quay", "A bowline and a cleat are enough in the harbour.", "A bowline in hemp"),
    ("Birds of the harbour", "Gulls, terns and one heron that stands on the slipway.", "A heron on the slipway"),
    ("Contact", "Write to us about the harbour and the town.", ""),
    ("Privacy", "The harbour guide keeps nothing about its readers.", ""),
)  # fmt: skip


def build(web: MockWeb, today: date) -> None:
    """The whole town; the guide's first page links to all of it."""
    addresses = [*_places(web), *_news(web, today), *_goods(web), *_guides(web)]
    links = "".join(f'<li><a href="{address}">{title}</a>' for address, title in addresses)
    body = f"<p>The harbour town of Dunsey: where to eat, what is new, and when the tide comes.<ul>{links}</ul>"
    page = _page("Dunsey, a harbour town", "The guide to a harbour town", body, "")
    web.text(f"{GUIDE}/", page, "text/html; charset=utf-8")


def _places(web: MockWeb) -> list[tuple[str, str]]:
    made = []
    for number, one in enumerate(BUSINESSES):
        data = {
            "@type": one.kind, "name": one.name, "telephone": f"+41 44 123 45 {10 + number}",
            "address": {"@type": "PostalAddress", "streetAddress": one.street, "postalCode": "8000",
                        "addressLocality": "Dunsey", "addressCountry": "CH"},
            "geo": {"@type": "GeoCoordinates", "latitude": one.where[0], "longitude": one.where[1]},
            "openingHours": one.hours.split("; "), "priceRange": one.price, "servesCuisine": one.cuisine,
            "aggregateRating": {"ratingValue": one.rating, "reviewCount": one.reviews},
        }  # fmt: skip
        body = f"<p>{one.words} {one.name} in Dunsey is a walk of minutes from the harbour."
        made.append(_put(web, f"{PLACES}/{_slug(one.name)}", one.name, body, one.picture, data))
    return made


def _news(web: MockWeb, today: date) -> list[tuple[str, str]]:
    made = []
    for title, words, author, age, picture in NEWS:
        data = {
            "@type": "NewsArticle", "headline": title, "datePublished": str(today - timedelta(days=age)),
            "author": {"@type": "Person", "name": author}, "publisher": {"@type": "Organization", "name": "The Log"},
        }  # fmt: skip
        body = f"<p>{words} People who were there told The Log what they saw, and the council will meet on Tuesday."
        made.append(_put(web, f"{PAPER}/{_slug(title)}", title, body, picture, data))
    return made


def _goods(web: MockWeb) -> list[tuple[str, str]]:
    made = []
    for title, words, currency, price, stock, rating, reviews, brand, picture in GOODS:
        offer = {"@type": "Offer", "price": price, "priceCurrency": currency,
                 "availability": f"https://schema.org/{stock}"}  # fmt: skip
        data = {"@type": "Product", "name": title, "brand": {"@type": "Brand", "name": brand}, "offers": offer}
        if reviews:
            data["aggregateRating"] = {"ratingValue": rating, "reviewCount": reviews}
        body = f"<p>{words} Sent from the chandler in the harbour within two days."
        made.append(_put(web, f"{SHOP}/{_slug(title)}", title, body, picture, data))
    return made


def _guides(web: MockWeb) -> list[tuple[str, str]]:
    return [
        _put(web, f"{GUIDE}/{_slug(title)}", title, f"<p>{words} More of it is in the guide to the town.", picture, {})
        for title, words, picture in GUIDES
    ]


def _put(web: MockWeb, address: str, title: str, body: str, picture: str, data: dict[str, object]) -> tuple[str, str]:
    host = address.split("/", 3)[2]
    if picture:
        name = f"/pictures/{FILE if picture == CAPTIONED else _slug(picture)}.jpg"
        web.text(f"http://{host}{name}", drawn(picture), "image/jpeg")
        size = 'width="800" height="500"'
        image = f'<img src="{name}" alt="{picture}" {size}>'
        if picture == CAPTIONED:
            image = f'<img src="{name}" {size}><figcaption>{picture}, a caption of the walk</figcaption>'
        body = f"<figure>{image}</figure>{body}"
    script = f'<script type="application/ld+json">{json.dumps({"@context": "https://schema.org", **data})}</script>'
    web.text(address, _page(title, f"{title}, in Dunsey.", body, script if data else ""), "text/html; charset=utf-8")
    return address, title


def _page(title: str, description: str, body: str, head: str) -> str:
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="description" content="{description}">{head}</head><body><main><h1>{title}</h1>{body}</main>'
        f'<footer><a href="{GUIDE}/">The guide</a> <a href="{GUIDE}/contact">Contact</a> '
        f'<a href="{GUIDE}/privacy">Privacy</a></footer></body></html>'
    )


def drawn(text: str) -> bytes:
    """A sky, a sea and a mark on it, the same for the same text."""
    chance = random.Random(text)
    image = Image.new("RGB", (800, 500), chance.choice(SKIES))
    pen = ImageDraw.Draw(image)
    sun = chance.randint(60, 700)
    pen.ellipse((sun, 60, sun + 90, 150), fill=(250, 236, 190))
    horizon = chance.randint(240, 330)
    pen.rectangle((0, horizon, 800, 500), fill=chance.choice(SEAS))
    for _ in range(14):
        left, top = chance.randint(0, 700), chance.randint(horizon + 10, 490)
        pen.line((left, top, left + chance.randint(40, 120), top), fill=(210, 226, 230), width=3)
    mast = chance.randint(150, 600)
    if chance.random() < 0.5:
        pen.polygon([(mast - 26, horizon + 20), (mast + 26, horizon + 20), (mast + 16, 110), (mast - 16, 110)],
                    fill=(240, 240, 236))  # fmt: skip
        pen.rectangle((mast - 18, 80, mast + 18, 110), fill=(170, 48, 40))
    else:
        pen.polygon([(mast - 110, horizon), (mast + 110, horizon), (mast + 70, horizon + 50),
                     (mast - 70, horizon + 50)], fill=(70, 46, 34))  # fmt: skip
        pen.polygon([(mast, 120), (mast, horizon - 10), (mast + 95, horizon - 10)], fill=(244, 238, 222))
    into = io.BytesIO()
    image.save(into, "JPEG", quality=85)
    return into.getvalue()


def _slug(text: str) -> str:
    return "-".join("".join(sign if sign.isalnum() else " " for sign in text.lower()).split())
