"""robots.txt after RFC 9309, with the number of the line that decided.

The longest matching pattern wins, ``allow`` wins a tie; ``*`` stands for any text and ``$`` at the end for the end of
the address. Both sides are compared in one spelling of percent-escapes. Groups that name our product token are
merged; without one, those for ``*`` count. One rule is matched in time linear in the length of the address, whatever
the pattern (no backtracking); ``robots_matcher`` keeps the number of rules that are tried small.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple
from urllib.parse import quote, unquote_to_bytes

from periplus.crawl.robots_matcher import Matcher

SIZE_LIMIT = 500 * 1024  # bytes that are read, RFC 9309 2.5
SITEMAPS_LIMIT = 1_000  # that a file may announce
RULE_SHOWN = 200  # characters of a rule that are repeated: it goes into the journal with every request

_FIELD = re.compile(r"^\s*([A-Za-z][A-Za-z _-]*?)\s*:\s*(.*?)\s*$")
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
        groups, sitemaps = _read_groups(_text(body))
        wanted = token.lower()
        chosen = wanted if wanted in groups else "*" if "*" in groups else ""
        rules, delay = groups.get(chosen, ([], None))
        return cls(rules, delay, tuple(sitemaps), chosen)

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

_Group = tuple[list[Rule], "float | None"]


def _text(body: bytes | str) -> str:
    if isinstance(body, str):
        body = body.encode()
    return body[:SIZE_LIMIT].decode("utf-8", "replace").removeprefix("\ufeff")


def _read_groups(text: str) -> tuple[dict[str, _Group], list[str]]:
    groups: dict[str, _Group] = {}
    sitemaps: list[str] = []
    current: list[str] = []
    in_rules = True  # the next user-agent line starts a new group
    for number, raw in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        line = raw.partition("#")[0]
        match = _FIELD.match(line)
        name = _NAMES.get(match[1].lower(), "") if match else ""
        if not match or not name:
            continue
        value = match[2]
        if name == "sitemap":
            if value and len(sitemaps) < SITEMAPS_LIMIT:
                sitemaps.append(value)
        elif name == "agent":
            current = current if not in_rules else []
            in_rules = False
            current.extend(_open_group(groups, value))
        else:
            in_rules = True
            _add(groups, current, name, value, number, _shown(line))
    return groups, sitemaps


def _shown(line: str) -> str:
    """A line as people may see it: not too long, and nothing in it that steers a terminal."""
    text = "".join([character if character.isprintable() else " " for character in line[:RULE_SHOWN]]).strip()
    return text if len(line) <= RULE_SHOWN else f"{text}…"


def _open_group(groups: dict[str, _Group], value: str) -> list[str]:
    token = "*" if value.startswith("*") else _first_token(value)
    if not token:
        return []
    groups.setdefault(token, ([], None))
    return [token]


def _first_token(value: str) -> str:
    match = _TOKEN.match(value)
    return match[0].lower() if match else ""


def _add(groups: dict[str, _Group], agents: list[str], name: str, value: str, line: int, text: str) -> None:
    if not value or not agents:
        return
    for agent in agents:
        rules, delay = groups[agent]
        if name == "delay":
            groups[agent] = (rules, _seconds(value, delay))
        else:
            rules.append(_rule(name == "allow", value, line, text))


def _seconds(value: str, before: float | None) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        return before
    return seconds if math.isfinite(seconds) and seconds >= 0 else before


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
