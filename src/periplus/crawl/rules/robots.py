"""robots.txt after RFC 9309, with the number of the line that decided.

The longest matching pattern wins, ``allow`` wins a tie; ``*`` stands for any text and ``$`` at the end for the end of
the address. Both sides are compared in one spelling of percent-escapes. Groups that name our product token are
merged; without one, those for ``*`` count. Only a rule ends the list of a group's agents: a ``Crawl-delay`` or an
unknown line among them does not (2.2.4). A line without its colon is read as meant.

One rule is matched in time linear in the length of the address, whatever the pattern (no backtracking);
``robots_matcher`` keeps the number of rules that are tried small.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple
from urllib.parse import quote, unquote_to_bytes

from periplus.crawl.rules.robots_matcher import Matcher

SIZE_LIMIT = 500 * 1024  # bytes that are read, RFC 9309 2.5
SITEMAPS_LIMIT = 1_000  # that a file may announce
ANYONE = "*"
MOST_WORDS = 3  # of a line without its colon: "user agent *"
RULE_SHOWN = 200  # characters of a rule that are repeated: it goes into the journal with every request

_TOKEN = re.compile(r"[A-Za-z_-]+")
_STARS = re.compile(r"\*+")
_PLAIN = re.compile(r"[A-Za-z0-9_.~/=?&+,;:@!'()-]*").fullmatch
_PLAIN_RULE = re.compile(r"[A-Za-z0-9_.~/=?&+,;:@!'()*-]*").fullmatch
_NAMES = {
    "user-agent": "agent",
    "useragent": "agent",
    "user agent": "agent",
    "allow": "allow",
    "disallow": "disallow",
    "dissallow": "disallow",
    "dissalow": "disallow",
    "disalow": "disallow",
    "crawl-delay": "delay",
    "crawl delay": "delay",
    "sitemap": "sitemap",
    "sitemaps": "sitemap",
    "site-map": "sitemap",
}
_SAFE = "/=?&+,;:@!'()"  # stand for themselves in paths and queries, so that escapes of them compare equal


class Verdict(NamedTuple):
    """Whether an address may be fetched, and the rule that said so."""

    allowed: bool
    line: int = 0  # 0: no rule matched
    text: str = ""

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}" if self.line else self.text


class Rule(NamedTuple):
    allow: bool
    parts: tuple[str, ...]  # the texts between the stars
    anchored: bool
    length: int
    line: int
    text: str

    def matches(self, path: str) -> bool:
        first = self.parts[0]
        if not path.startswith(first):
            return False
        if len(self.parts) == 1:
            return not self.anchored or len(path) == len(first)
        place = len(first)
        for part in self.parts[1:-1]:
            found = path.find(part, place)
            if found < 0:
                return False
            place = found + len(part)
        last = self.parts[-1]
        if self.anchored:
            return len(path) - len(last) >= place and path.endswith(last)
        return path.find(last, place) >= 0


class RobotsFile:
    """The rules of one robots.txt for one product token."""

    def __init__(self, rules: list[Rule], delay: float | None, sitemaps: tuple[str, ...], group: str) -> None:
        self._rules = sorted(rules, key=lambda rule: (-rule.length, not rule.allow))
        self._matcher = Matcher(self._rules)
        self.delay = delay
        self.sitemaps = sitemaps
        self.group = group  # the token of the group in force: ours, "*", or "" when none applies

    @classmethod
    def parse(cls, body: bytes | str, token: str) -> RobotsFile:
        """Read ``body`` (cut at the size limit) for the crawler called ``token``."""
        wanted = token.lower()
        reading = _read(_text(body), {wanted, ANYONE})
        chosen = next((name for name in (wanted, ANYONE) if name in reading.groups), "")
        group = reading.groups.get(chosen) or _Group()
        return cls(group.rules, group.delay, tuple(reading.sitemaps), chosen)

    def __len__(self) -> int:
        return len(self._rules)

    def lines(self, most: int) -> tuple[str, ...]:
        """The rules in the order of the file, with the numbers of their lines; the first ``most``."""
        listed = sorted(self._rules, key=lambda rule: rule.line)[:most]
        return tuple(f"line {rule.line}: {rule.text}" for rule in listed)

    def verdict(self, url: str) -> Verdict:
        """May this canonical address be fetched?"""
        path = _path(url)
        if path == "/robots.txt":
            return Verdict(allowed=True, text="robots.txt itself")
        rule = self._matcher.find(path)
        if rule is None:
            return Verdict(allowed=True, text="no rule matches")
        return Verdict(rule.allow, rule.line, rule.text)


ALLOW_ALL = RobotsFile([], None, (), "")


def _text(body: bytes | str) -> str:
    if isinstance(body, str):
        body = body.encode()
    return body[:SIZE_LIMIT].decode("utf-8", "replace").removeprefix("\ufeff")


def _read(text: str, tokens: set[str]) -> _RobotsReading:
    reading = _RobotsReading(tokens)
    for number, raw in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        line = raw.partition("#")[0]
        name, value = _field(line)
        if name == "sitemap":
            reading.sitemap(value)
        elif name == "agent":
            reading.agent(value)
        elif name == "delay":
            reading.delay(value)
        elif name:
            reading.rule(name == "allow", value, number, line)
    return reading


def _field(line: str) -> tuple[str, str]:
    """What a line sets and its value; ("", "") when it says nothing that we know. Linear: lines may be long."""
    before, _, after = line.partition(":")
    name = _NAMES.get(before.strip().lower(), "")
    return (name, after.strip()) if name else _without_colon(line)


def _without_colon(line: str) -> tuple[str, str]:
    """Name and value of a line without a colon: a name and one word behind it; more words are prose."""
    words = line.split(maxsplit=MOST_WORDS)
    if not 2 <= len(words) <= MOST_WORDS:
        return "", ""
    name = _NAMES.get(" ".join(words[:-1]).lower(), "")
    return (name, words[-1]) if name else ("", "")


class _Group:
    """What was said to one user agent."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []
        self.delay: float | None = None


class _RobotsReading:
    """What the lines of a file said so far to some ``tokens``; thousands of others may be named, and cost nothing."""

    def __init__(self, tokens: set[str]) -> None:
        self._tokens = tokens
        self.groups: dict[str, _Group] = {}
        self.sitemaps: list[str] = []
        self._agents: set[str] = set()  # that the next rule is for
        self._delayed: set[str] = set()  # that the next delay is for: those of them named since the last one
        self._has_rules = False  # the next agent begins a new group
        self._has_delay = False  # the next agent begins a new list of those that a delay is for

    def sitemap(self, value: str) -> None:
        if value and len(self.sitemaps) < SITEMAPS_LIMIT:
            self.sitemaps.append(value)

    def agent(self, value: str) -> None:
        if self._has_rules:
            self._agents = set()
        if self._has_rules or self._has_delay:
            self._delayed = set()
        self._has_rules = self._has_delay = False
        token = ANYONE if value.startswith(ANYONE) else _first_token(value)
        if token in self._tokens:
            self.groups.setdefault(token, _Group())
            self._agents.add(token)
            self._delayed.add(token)

    def delay(self, value: str) -> None:
        """For the agents that were named right above it; of several the longest."""
        self._has_delay = True
        seconds = _seconds(value)
        if seconds is None:
            return
        for agent in self._delayed:
            group = self.groups[agent]
            group.delay = max(group.delay or 0.0, seconds)

    def rule(self, allow: bool, value: str, number: int, line: str) -> None:
        self._has_rules = True
        if value and self._agents:
            rule = _rule(allow, value, number, _shown(line))
            for agent in self._agents:
                self.groups[agent].rules.append(rule)


def _shown(line: str) -> str:
    """A line as people may see it: not too long, and nothing in it that steers a terminal."""
    text = "".join([character if character.isprintable() else " " for character in line[:RULE_SHOWN]]).strip()
    return text if len(line) <= RULE_SHOWN else f"{text}…"


def _first_token(value: str) -> str:
    match = _TOKEN.match(value)
    return match[0].lower() if match else ""


def _seconds(value: str) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _rule(allow: bool, value: str, line: int, text: str) -> Rule:
    anchored = value.endswith("$")
    pattern = value[:-1] if anchored else value
    normal = _normal(pattern, keep="*")
    parts = tuple(_STARS.sub("*", normal).split("*"))
    return Rule(allow, parts, anchored, len(normal) + anchored, line, text)


def _path(url: str) -> str:
    """Path and query of an address, in the spelling in which rules are compared."""
    start = url.find("/", url.find("://") + 3)
    path = url[start:] if start > 0 else "/"
    return _normal(path.partition("#")[0])


def _normal(path: str, keep: str = "") -> str:
    """One spelling of percent-escapes: only "/", "%" and wildcards stay escaped where they were, upper case."""
    if (_PLAIN_RULE if keep else _PLAIN)(path):
        return path
    pieces = re.split(r"(%2[Ff]|%25|%2[Aa]|%24)", path)
    pieces[0::2] = [quote(unquote_to_bytes(piece), safe=_SAFE + keep + "%") for piece in pieces[0::2]]
    pieces[1::2] = [escape.upper() for escape in pieces[1::2]]
    return "".join(pieces)
