"""Panels beside the results: places, weather, news, products, images. ``README.md`` says how they come about."""

from periplus.verticals.hours import is_open, open_now, read_hours, today
from periplus.verticals.own_index import (
    OwnIndex,
    card_of,
    fitting_picture,
    picture_card,
    pictures_of,
    place_of,
    rating_of,
)
from periplus.verticals.positions import GIVEN, Position, Whereabouts, distance, read_position
from periplus.verticals.provider import KINDS, Provider, Question, ServiceFailed
from periplus.verticals.rules import ChosenPanel, choose
from periplus.verticals.services import services
from periplus.verticals.side_panels import SECONDS, PendingPanels, Verticals
from periplus.verticals.thumbnails import Thumbnails, can_decode, fetched_picture

__all__ = [
    "GIVEN",
    "KINDS",
    "SECONDS",
    "ChosenPanel",
    "OwnIndex",
    "PendingPanels",
    "Position",
    "Provider",
    "Question",
    "ServiceFailed",
    "Thumbnails",
    "Verticals",
    "Whereabouts",
    "can_decode",
    "card_of",
    "choose",
    "distance",
    "fetched_picture",
    "fitting_picture",
    "is_open",
    "open_now",
    "picture_card",
    "pictures_of",
    "place_of",
    "rating_of",
    "read_hours",
    "read_position",
    "services",
    "today",
]
