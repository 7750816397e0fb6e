"""Everything that is asked of a collection, in a process of its own: a signal is an outcome like any other."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import traceback
from typing import TYPE_CHECKING, Any

import jinja2
from msgspec import Struct

from damage.specimen import questions
from periplus import Collection
from periplus.app import doctor
from periplus.app.serving.backend import CollectionBackend
from periplus.errors import PeriplusError
from periplus.web import create_app
from web.asgi_client import Client

if TYPE_CHECKING:
    from pathlib import Path

LONGEST = 120.0  # seconds of one trial
PAGES = ("/", "/search?q=tide", "/api/v1/search?q=harbour", "/api/v1/status", "/api/v1/suggest?q=li", "/readyz",
         "/healthz", "/metrics", "/inspect?url={url}", "/site/{host}", "/cached?url={url}", "/console",
         "/console/index", "/console/ranks", "/console/hosts")  # fmt: skip
PAGES_AFTER_REPAIR = ("/search?q=tide", "/api/v1/search?q=harbour", "/api/v1/status", "/readyz")


class Outcome(Struct):
    """What a process said, or how it ended."""

    answers: dict[str, Any] = {}
    errors: dict[str, tuple[str, str]] = {}  # type, message
    statuses: dict[str, tuple[int, str]] = {}
    findings: list[dict[str, str]] = []
    damage: list[str] = []  # as the status tells it
    ended: str = ""  # by which signal, or why


def keep_templates() -> None:
    """Have templates compiled once, for all processes that are forked from now on: a third of what a trial costs."""
    compiled, kept = jinja2.Environment.compile, dict[Any, Any]()

    def once(self: jinja2.Environment, source: Any, name: str | None = None, *rest: Any) -> Any:
        key = (self.globals.get("language"), name, source)
        if key not in kept:
            kept[key] = compiled(self, source, name, *rest)
        return kept[key]

    jinja2.Environment.compile = once  # type: ignore[method-assign]


def ask(folder: Path, urls: tuple[str, ...], *, repair: bool = False) -> Outcome:
    """Everything asked of the collection in ``folder``, in a process of its own; mended first with ``repair``."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _child(folder, urls, writing, repair=repair)
    os.close(writing)
    return _waited(child, reading)


def _child(folder: Path, urls: tuple[str, ...], writing: int, *, repair: bool) -> None:
    signal.alarm(int(LONGEST))
    outcome = Outcome()
    with contextlib.suppress(BaseException):
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 2)
        os.dup2(quiet, 1)
        try:
            asked(folder, urls, outcome, repair=repair)
        except Exception as error:  # noqa: BLE001 - an outcome like any other
            _note(outcome, "all", error)
    with os.fdopen(writing, "w") as pipe:
        json.dump(
            {name: getattr(outcome, name) for name in ("answers", "errors", "statuses", "findings", "damage")},
            pipe,
            default=str,
        )
    os._exit(0)


def asked(folder: Path, urls: tuple[str, ...], outcome: Outcome, *, repair: bool) -> None:
    try:
        collection = Collection.existing(folder)
    except PeriplusError as error:
        _note(outcome, "opening", error)
        return
    try:
        if repair:
            outcome.findings = [_row(one) for one in doctor.repair(collection)]
        else:
            outcome.findings = [_row(one) for one in doctor.examine(collection)]
    except Exception as error:  # noqa: BLE001
        _note(outcome, "doctor", error)
    backend = CollectionBackend(collection)
    for name, question in questions(folder, urls).items():
        try:
            outcome.answers[name] = _rounded(json.loads(json.dumps(question(collection, backend), default=str)))
        except Exception as error:  # noqa: BLE001
            _note(outcome, name, error)
    try:
        outcome.damage = backend.status()["damage"]
    except Exception as error:  # noqa: BLE001
        _note(outcome, "status", error)
    client = Client(create_app(backend, collection.settings, operator_key=""))
    for page in PAGES_AFTER_REPAIR if repair else PAGES:
        target = page.format(url=urls[0], host=urls[0].split("/")[2])
        try:
            answer = client.get(target)
            outcome.statuses[target] = (answer.status, answer.text[-300:] if answer.status >= 500 else "")
            if answer.raised is not None:
                _note(outcome, target, answer.raised)
        except Exception as error:  # noqa: BLE001
            _note(outcome, target, error)
    collection.close()


def _row(finding: Any) -> dict[str, str]:
    return {"check": finding.check, "state": finding.state, "detail": finding.detail}


def _note(outcome: Outcome, what: str, error: Exception) -> None:
    own = isinstance(error, PeriplusError)
    where = "" if own else "".join(traceback.format_exception(error)[-4:])
    outcome.errors[what] = ("" if own else type(error).__name__, f"{error}{where}")


def _waited(child: int, reading: int) -> Outcome:
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return Outcome(ended=signal.Signals(os.WTERMSIG(status)).name)
    if not text:
        return Outcome(ended="said nothing")
    return Outcome(**json.loads(text))


def _rounded(value: Any) -> Any:
    """Ranks that are computed from nothing differ by less than their tolerance."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return {name: _rounded(one) for name, one in value.items()} if isinstance(value, dict) else value
