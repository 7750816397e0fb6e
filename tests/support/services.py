"""A server on loopback that plays the outside services in the form that each of them documents.

* Yelp business search v3: docs.developer.yelp.com/reference/v3_business_search; fields as in the client
  yelp_fusion_client 1.0 (pub.dev).
* OpenWeather: current weather data 2.5 and geocoding 1.0, openweathermap.org/api/current and /api/geocoding-api.
* Open-Meteo v1: open-meteo.com/en/docs and /en/docs/geocoding-api; errors as recorded by the R client openmeteo 0.2.4.
* News API v2: newsapi.org/docs/endpoints/everything and /docs/errors.
* Amazon Creators API, catalog/v1/searchItems: affiliate-program.amazon.com/creatorsapi/docs; requests and answers as in
  python-amazon-paapi 6 (module amazon_creatorsapi).

All names and numbers are made up here.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

YELP_KEY, WEATHER_KEY, NEWS_KEY = "yelp-key", "weather-key", "news-key"
AMAZON = "amzn-id:amzn-secret:3.2:harbour-21:www.amazon.de"
TOKEN = "amzn-token"

BUSINESS = {
    "id": "Xy1", "alias": "the-anchor-dunsey", "name": "The Anchor", "image_url": "http://127.0.0.1/anchor.jpg",
    "is_closed": False, "url": "https://www.yelp.com/biz/the-anchor-dunsey", "review_count": 1523,
    "categories": [{"alias": "seafood", "title": "Seafood"}, {"alias": "pubs", "title": "Pubs"}], "rating": 4.5,
    "coordinates": {"latitude": 47.3701, "longitude": 8.5402}, "transactions": ["delivery", "restaurant_reservation"],
    "price": "$$", "phone": "+41441234567", "display_phone": "+41 44 123 45 67", "distance": 153.2,
    "location": {"address1": "1 Quay", "city": "Dunsey", "zip_code": "8000", "country": "CH",
                 "display_address": ["1 Quay", "8000 Dunsey", "Switzerland"]},
    "business_hours": [{"open": [{"is_overnight": False, "start": "0900", "end": "1800", "day": 0}],
                        "hours_type": "REGULAR", "is_open_now": True}],
}  # fmt: skip
ARTICLE = {
    "source": {"id": None, "name": "The Log"}, "author": "A. Pilot", "title": "Spring tide floods the mole",
    "description": "Water stood a metre deep.", "url": "https://log.example/tide",
    "urlToImage": "https://log.example/tide.jpg", "publishedAt": "2026-11-17T06:30:00Z", "content": "Water…",
}  # fmt: skip
ITEM = {
    "asin": "B0TIDE", "detailPageURL": "https://www.amazon.de/dp/B0TIDE?tag=harbour-21",
    "images": {"primary": {"medium": {"url": "https://m.media-amazon.com/images/I/x.jpg", "height": 160}}},
    "itemInfo": {"title": {"displayValue": "Tide clock, brass", "label": "Title", "locale": "de_DE"},
                 "byLineInfo": {"brand": {"displayValue": "Quayside", "label": "Brand", "locale": "de_DE"}}},
    "offersV2": {"listings": [{"price": {"money": {"amount": 89.9, "currency": "EUR", "displayAmount": "89,90 €"}},
                               "availability": {"type": "IN_STOCK", "message": "Auf Lager"}}]},
}  # fmt: skip


class PlayedServices:
    """``answers`` changes what a path says: a status with a body, bytes as they are, or an event to wait for."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, Any], dict[str, str]]] = []  # path, parameters or body, headers
        self.answers: dict[str, Any] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> PlayedServices:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for answer in self.answers.values():
            if isinstance(answer, threading.Event):
                answer.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def paths(self) -> list[str]:
        return [path for path, _, _ in self.requests]

    def answer(self, path: str, given: dict[str, Any], headers: dict[str, str]) -> tuple[int, Any]:
        played = {
            "/v3/businesses/search": self._yelp, "/geo/1.0/direct": self._direct, "/data/2.5/weather": self._weather,
            "/v1/search": self._geocoding, "/v1/forecast": self._forecast, "/v2/everything": self._news,
            "/auth/o2/token": self._token, "/catalog/v1/searchItems": self._items,
        }  # fmt: skip
        return played[path](given, headers)

    def _yelp(self, given: dict[str, Any], headers: dict[str, str]) -> tuple[int, Any]:
        if headers.get("authorization") != f"Bearer {YELP_KEY}":
            return 401, {"error": {"code": "TOKEN_INVALID", "description": "Invalid access token."}}
        if not given.get("location") and not given.get("latitude"):
            return 400, {"error": {"code": "VALIDATION_ERROR", "description": "Please specify a location"}}
        closed = {**BUSINESS, "name": "The Wreck", "is_closed": True}
        return 200, {
            "businesses": [BUSINESS, closed],
            "total": 2,
            "region": {"center": {"latitude": 47, "longitude": 8}},
        }

    def _direct(self, given: dict[str, Any], _: dict[str, str]) -> tuple[int, Any]:
        if given.get("appid") != WEATHER_KEY:
            return 401, {"cod": 401, "message": "Invalid API key. Please see https://openweathermap.org/faq#error401"}
        if given["q"].casefold() != "zürich":
            return 200, []
        return 200, [{"name": "Zurich", "local_names": {"de": "Zürich"}, "lat": 47.37, "lon": 8.54, "country": "CH"}]

    def _weather(self, given: dict[str, Any], _: dict[str, str]) -> tuple[int, Any]:
        if given.get("appid") != WEATHER_KEY:
            return 401, {"cod": 401, "message": "Invalid API key."}
        return 200, {
            "coord": {"lon": float(given["lon"]), "lat": float(given["lat"])},
            "weather": [{"id": 500, "main": "Rain", "description": "light rain", "icon": "10d"}], "base": "stations",
            "main": {"temp": 7.4, "feels_like": 4.1, "pressure": 1015, "humidity": 81}, "visibility": 10000,
            "wind": {"speed": 5.0, "deg": 240, "gust": 9.1}, "dt": 1763420000, "timezone": 3600, "id": 2657896,
            "name": "Zurich", "cod": 200,
        }  # fmt: skip

    def _geocoding(self, given: dict[str, Any], _: dict[str, str]) -> tuple[int, Any]:
        if given["name"].casefold() != "zürich":
            return 200, {"generationtime_ms": 0.3}
        place = {"id": 2657896, "name": "Zürich", "latitude": 47.36667, "longitude": 8.55, "country_code": "CH"}
        return 200, {"results": [place], "generationtime_ms": 0.7}

    def _forecast(self, given: dict[str, Any], _: dict[str, str]) -> tuple[int, Any]:
        return 200, {
            "latitude": 47.38, "longitude": 8.56, "timezone": "Europe/Zurich", "elevation": 408.0,
            "current_units": {"temperature_2m": "°C", "wind_speed_10m": "km/h"},
            "current": {"time": "2026-11-18T03:00", "interval": 900, "temperature_2m": -0.3,
                        "apparent_temperature": -4.4, "relative_humidity_2m": 93, "weather_code": 71,
                        "wind_speed_10m": 11.2},
        }  # fmt: skip

    def _news(self, given: dict[str, Any], headers: dict[str, str]) -> tuple[int, Any]:
        if headers.get("x-api-key") != NEWS_KEY:
            return 401, {"status": "error", "code": "apiKeyInvalid", "message": "Your API key is invalid."}
        removed = {**ARTICLE, "title": "[Removed]", "url": "https://removed.com"}
        return 200, {"status": "ok", "totalResults": 2, "articles": [ARTICLE, removed]}

    def _token(self, given: dict[str, Any], _: dict[str, str]) -> tuple[int, Any]:
        wanted = {"grant_type": "client_credentials", "client_id": "amzn-id", "client_secret": "amzn-secret"}
        if {name: given.get(name) for name in wanted} != wanted or not given["scope"].startswith("creatorsapi"):
            return 400, {"error": "invalid_client"}
        return 200, {"access_token": TOKEN, "token_type": "bearer", "expires_in": 3600}

    def _items(self, given: dict[str, Any], headers: dict[str, str]) -> tuple[int, Any]:
        if not headers.get("authorization", "").startswith(f"Bearer {TOKEN}"):
            return 401, {"type": "UnauthorizedException", "message": "The token is not valid."}
        if given["partnerTag"] != "harbour-21" or headers.get("x-marketplace") != "www.amazon.de":
            return 403, {"type": "AccessDeniedException", "reason": "AssociateNotEligible"}
        return 200, {"searchResult": {"totalResultCount": 1, "searchURL": "https://www.amazon.de/s", "items": [ITEM]}}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        services = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._play(dict(parse_qsl(urlsplit(self.path).query)))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                is_json = "json" in self.headers["content-type"]
                self._play(json.loads(body) if is_json else dict(parse_qsl(body.decode())))

            def _play(self, given: dict[str, Any]) -> None:
                path = urlsplit(self.path).path
                headers = {name.lower(): value for name, value in self.headers.items()}
                services.requests.append((path, given, headers))
                changed = services.answers.get(path)
                if isinstance(changed, threading.Event):
                    changed.wait(10)
                    changed = None
                status, content, *more = changed or services.answer(path, given, headers)
                body = content if isinstance(content, bytes) else json.dumps(content).encode()
                try:
                    self.send_response(status)
                    for name, value in (more[0] if more else {}).items():
                        self.send_header(name, value)
                    self.send_header("content-type", "application/json")
                    self.send_header("content-length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    pass  # who asked is gone

            def log_message(self, *_: object) -> None: ...

        return Handler
