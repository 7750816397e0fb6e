"""Products, by Amazon's Creators API (``searchItems``, version 1 of the catalogue).

The Product Advertising API 5 before it was deprecated on 30 April 2026 and retired on 15 May 2026.
https://affiliate-program.amazon.com/creatorsapi/docs/en-us/introduction

A credential is five parts with colons between them: id, secret, version, partner tag and marketplace, such as
``ID:SECRET:3.2:tag-21:www.amazon.de``. The version says where tokens come from: 2.x from Cognito, 3.x from Login with
Amazon, each for the Americas (.1), Europe (.2) and the Far East (.3).
"""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from periplus.errors import SettingError
from periplus.records import PanelCard
from periplus.verticals.provider import HOUR, ServiceFailed
from periplus.verticals.reading import at, items, link, number, text
from periplus.verticals.requests import post_json, send

if TYPE_CHECKING:
    from periplus.verticals.provider import Question

MOST = 5
EARLY = 60.0  # seconds before its end that a token is asked for anew
LONGEST = 200  # characters of a query that may be sent
RESOURCES = ("itemInfo.title", "itemInfo.byLineInfo", "images.primary.medium", "offersV2.listings.price",
             "offersV2.listings.availability")  # fmt: skip
TOKENS = {
    "2.1": "https://creatorsapi.auth.us-east-1.amazoncognito.com/oauth2/token",
    "2.2": "https://creatorsapi.auth.eu-south-2.amazoncognito.com/oauth2/token",
    "2.3": "https://creatorsapi.auth.us-west-2.amazoncognito.com/oauth2/token",
    "3.1": "https://api.amazon.com/auth/o2/token",
    "3.2": "https://api.amazon.co.uk/auth/o2/token",
    "3.3": "https://api.amazon.co.jp/auth/o2/token",
}


class AmazonProducts:
    name, kind, home = "Amazon", "products", "https://www.amazon.com/"
    keeps = HOUR  # prices may be shown for as long, by its terms
    hourly = 300
    picture_hosts: tuple[str, ...] = ("m.media-amazon.com",)

    def __init__(self, credential: str, base: str = "https://creatorsapi.amazon", token_address: str = "") -> None:
        parts = credential.split(":")
        if len(parts) != 5 or not all(parts) or parts[2] not in TOKENS:
            raise SettingError(
                f"verticals.amazon_key: give ID:SECRET:VERSION:TAG:MARKETPLACE, with a version of {', '.join(TOKENS)}"
            )
        self._id, self._secret, self._version, self._tag, self._marketplace = parts
        self._base = base
        self._token_address = token_address or TOKENS[self._version]
        self._lock = threading.Lock()
        self._token, self._ends = "", 0.0

    def key(self, question: Question) -> tuple[object, ...] | None:
        subject = question.subject
        return (subject.casefold(),) if subject and len(subject) <= LONGEST else None

    def ask(self, question: Question, deadline: float) -> tuple[PanelCard, ...]:
        token = self._fresh_token(deadline)
        headers = {"authorization": f"Bearer {token}", "x-marketplace": self._marketplace}
        if self._version.startswith("2"):
            headers["authorization"] += f", Version {self._version}"
        wanted = {
            "keywords": question.subject,
            "partnerTag": self._tag,
            "marketplace": self._marketplace,
            "searchIndex": "All",
            "itemCount": MOST,
            "resources": list(RESOURCES),
        }
        try:
            found = post_json(f"{self._base}/catalog/v1/searchItems", wanted, deadline, headers)
        except ServiceFailed as error:
            if error.is_refusal:
                self._token = ""  # perhaps only the token was taken back
            raise
        listed = items(found, "searchResult", "items", most=MOST)
        return tuple(_card(one) for one in listed if text(one, "itemInfo", "title", "displayValue"))

    def _fresh_token(self, deadline: float) -> str:
        with self._lock:
            if self._token and time.monotonic() < self._ends - EARLY:
                return self._token
            given = {"grant_type": "client_credentials", "client_id": self._id, "client_secret": self._secret}
            if self._version.startswith("2"):
                given["scope"] = "creatorsapi/default"
                body, kind = urlencode(given).encode(), "application/x-www-form-urlencoded"
            else:
                given["scope"] = "creatorsapi::default"
                body, kind = json.dumps(given).encode(), "application/json"
            reply = send("POST", self._token_address, deadline, {"content-type": kind}, body)
            if reply.status != 200:
                refused = reply.status in (400, 401, 403)  # invalid_client is a 400 by Cognito
                raise ServiceFailed(f"no token was given ({reply.status})", reply.retry_after, is_refusal=refused)
            try:
                found = json.loads(reply.body)
            except ValueError as error:
                raise ServiceFailed("the token is not JSON") from error
            self._token = text(found, "access_token", limit=10_000)
            self._ends = time.monotonic() + (number(found, "expires_in") or HOUR)
            if not self._token:
                raise ServiceFailed("no token was given")
            return self._token


def _card(one: Any) -> PanelCard:
    offer = at(one, "offersV2", "listings", 0)
    return PanelCard(
        title=text(one, "itemInfo", "title", "displayValue"),
        url=link(one, "detailPageURL"),
        source=text(one, "itemInfo", "byLineInfo", "brand", "displayValue") or "Amazon",
        image=link(one, "images", "primary", "medium", "url"),
        price=text(offer, "price", "money", "displayAmount", limit=40),
        stock=text(offer, "availability", "message", limit=80),
    )
