"""Panels beside the results: places, weather, news, products, images. ``README.md`` says how they come about."""

from periplus.verticals.own_index import (
    OwnIndex,
    card_of,
    fitting_picture,
    picture_card,
    pictures_of,
)
from periplus.verticals.positions import Position, Whereabouts, read_position
from periplus.verticals.provider import KINDS, Provider, Question, ServiceFailed
from periplus.verticals.rules import ChosenPanel, choose
from periplus.verticals.services import services
from periplus.verticals.side_panels import SECONDS, PendingPanels, Verticals
from periplus.verticals.thumbnails import Thumbnails, can_decode, fetched_picture

__all__ = [
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
    "fetched_picture",
    "fitting_picture",
    "picture_card",
    "pictures_of",
    "read_position",
    "services",
]
