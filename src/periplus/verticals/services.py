"""The outside services that the settings name a key for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus.verticals.amazon import AmazonProducts
from periplus.verticals.news import NewsApi
from periplus.verticals.weather import OpenMeteo, OpenWeather
from periplus.verticals.yelp import YelpPlaces

if TYPE_CHECKING:
    from periplus.settings import VerticalsSettings
    from periplus.verticals.provider import Provider


def services(chosen: VerticalsSettings) -> tuple[Provider, ...]:
    """Without a key a service is off. Of two for the weather the one with a key is asked."""
    found: list[Provider] = []
    if chosen.openweather_key:
        found.append(OpenWeather(chosen.openweather_key))
    elif chosen.open_meteo:
        found.append(OpenMeteo())
    if chosen.yelp_key:
        found.append(YelpPlaces(chosen.yelp_key))
    if chosen.newsapi_key:
        found.append(NewsApi(chosen.newsapi_key))
    if chosen.amazon_key:
        found.append(AmazonProducts(chosen.amazon_key))
    return tuple(found)
