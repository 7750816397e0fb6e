"""The weather now: by OpenWeather (current weather data 2.5, with a key) or by Open-Meteo (version 1, without one).

https://openweathermap.org/api/current and /api/geocoding-api; https://open-meteo.com/en/docs and /docs/geocoding-api
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from periplus.records import PanelCard
from periplus.verticals.provider import ServiceFailed
from periplus.verticals.reading import at, link, number, place, text
from periplus.verticals.requests import get_json

if TYPE_CHECKING:
    from periplus.verticals.provider import Question

LONGEST_NAME = 80  # characters of a subject that may be the name of a place
# WMO code table 4677, as far as Open-Meteo uses it.
_SKIES = {
    0: "clear sky", 1: "mainly clear", 2: "partly cloudy", 3: "overcast", 45: "fog", 48: "rime fog",
    51: "light drizzle", 53: "drizzle", 55: "dense drizzle", 56: "freezing drizzle", 57: "dense freezing drizzle",
    61: "light rain", 63: "rain",
    65: "heavy rain", 66: "freezing rain", 67: "heavy freezing rain", 71: "light snow", 73: "snow", 75: "heavy snow",
    77: "snow grains", 80: "light showers", 81: "showers", 82: "violent showers", 85: "light snow showers",
    86: "heavy snow showers", 95: "thunderstorm", 96: "thunderstorm with hail", 99: "thunderstorm with heavy hail",
}  # fmt: skip


class OpenWeather:
    name, kind, home = "OpenWeather", "weather", "https://openweathermap.org/"
    keeps = 600.0  # it is measured anew every ten minutes
    hourly = 500
    picture_hosts: tuple[str, ...] = ()

    def __init__(self, key: str, base: str = "https://api.openweathermap.org") -> None:
        self._key, self._base = key, base

    def key(self, question: Question) -> tuple[object, ...] | None:
        return _asked(question)

    def ask(self, question: Question, deadline: float) -> tuple[PanelCard, ...]:
        where, name = self._place(question, deadline)
        if where is None:
            return ()
        parameters = {
            "lat": where[0],
            "lon": where[1],
            "appid": self._key,
            "units": "metric",
            "lang": question.language,
        }
        found = get_json(f"{self._base}/data/2.5/weather", parameters, deadline)
        temperature = number(found, "main", "temp")
        if temperature is None:
            raise ServiceFailed("there is no temperature in the answer")
        return (
            PanelCard(
                title=name or text(found, "name"),
                text=text(found, "weather", 0, "description"),
                url=_city(number(found, "id")),
                source=self.name,
                position=where,
                facts=_facts(
                    temperature,
                    number(found, "main", "feels_like"),
                    number(found, "main", "humidity"),
                    _in_kilometres(number(found, "wind", "speed")),
                ),
            ),
        )

    def _place(self, question: Question, deadline: float) -> tuple[tuple[float, float] | None, str]:
        if not question.subject:
            return (question.position.shared if question.position else None), ""
        parameters = {"q": question.subject, "limit": 1, "appid": self._key}
        found = get_json(f"{self._base}/geo/1.0/direct", parameters, deadline)
        where = place(at(found, 0, "lat"), at(found, 0, "lon"))
        return where, _named(text(found, 0, "name"), text(found, 0, "country"))


class OpenMeteo:
    name, kind, home = "Open-Meteo", "weather", "https://open-meteo.com/"
    keeps = 600.0
    hourly = 400  # of 10,000 a day that are free
    picture_hosts: tuple[str, ...] = ()

    def __init__(
        self, base: str = "https://api.open-meteo.com", geocoding: str = "https://geocoding-api.open-meteo.com"
    ) -> None:
        self._base, self._geocoding = base, geocoding

    def key(self, question: Question) -> tuple[object, ...] | None:
        return _asked(question)

    def ask(self, question: Question, deadline: float) -> tuple[PanelCard, ...]:
        where, name = self._place(question, deadline)
        if where is None:
            return ()
        wanted = "temperature_2m,apparent_temperature,relative_humidity_2m,weather_code,wind_speed_10m"
        parameters = {"latitude": where[0], "longitude": where[1], "current": wanted, "timezone": "auto"}
        found = get_json(f"{self._base}/v1/forecast", parameters, deadline)
        temperature = number(found, "current", "temperature_2m")
        if temperature is None:
            raise ServiceFailed("there is no temperature in the answer")
        code = number(found, "current", "weather_code")
        return (
            PanelCard(
                title=name,
                text=_SKIES.get(int(code), "") if code is not None else "",
                url=link(self.home),
                source=self.name,
                position=where,
                facts=_facts(
                    temperature,
                    number(found, "current", "apparent_temperature"),
                    number(found, "current", "relative_humidity_2m"),
                    number(found, "current", "wind_speed_10m"),
                ),
            ),
        )

    def _place(self, question: Question, deadline: float) -> tuple[tuple[float, float] | None, str]:
        if not question.subject:
            return (question.position.shared if question.position else None), ""
        parameters = {"name": question.subject, "count": 1, "language": question.language}
        found = get_json(f"{self._geocoding}/v1/search", parameters, deadline)
        first = at(found, "results", 0)
        where = place(at(first, "latitude"), at(first, "longitude"))
        return where, _named(text(first, "name"), text(first, "country_code"))


def _asked(question: Question) -> tuple[object, ...] | None:
    """The place by its name, else where the visitor is; None where neither is known."""
    if question.subject:
        named = len(question.subject) <= LONGEST_NAME
        return (question.subject.casefold(), question.language) if named else None
    shared = question.position.shared if question.position else None
    return (shared, question.language) if shared else None


def _named(name: str, country: str) -> str:
    return f"{name}, {country}" if name and country else name


def _city(number_of: float | None) -> str:
    return f"https://openweathermap.org/city/{int(number_of)}" if number_of and number_of > 0 else ""


def _in_kilometres(metres_a_second: float | None) -> float | None:
    return None if metres_a_second is None else 3.6 * metres_a_second


def _facts(
    temperature: float, feels: float | None, humidity: float | None, wind: float | None
) -> tuple[tuple[str, str], ...]:
    told: list[tuple[str, Any, str]] = [
        ("temperature", temperature, "°C"), ("feels like", feels, "°C"), ("humidity", humidity, "%"),
        ("wind", wind, "km/h"),
    ]  # fmt: skip
    return tuple((name, f"{round(value)} {unit}") for name, value, unit in told if value is not None)
