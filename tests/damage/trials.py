"""One trial: a copy of the collection, one damaged file in it, and everything asked in a process of its own.

A forked process answers, so that a signal or an endless loop is an outcome like any other. What is checked:

* nothing but an error of our own, of one line, that names the damaged file (or the thing that it is part of);
* no answer differs in silence where the file carries a checksum: it is the same as before, or says ``degraded``;
* the server answers no 500;
* ``doctor`` sees the damage, and ``doctor --repair`` mends what can be made again.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from damage.specimen import build, files_of, questions
from periplus import Collection
from periplus.app import doctor
from periplus.app.backend import CollectionBackend
from periplus.errors import PeriplusError
from periplus.web import create_app
from web_app.asgi_client import Client

LONGEST = 120.0  # seconds of one trial
PAGES = ("/", "/search?q=tide", "/api/v1/search?q=harbour", "/api/v1/status", "/api/v1/suggest?q=li", "/readyz",
         "/healthz", "/metrics", "/inspect?url={url}", "/site/{host}", "/cached?url={url}", "/console",
         "/console/index", "/console/ranks", "/console/hosts")  # fmt: skip
WAYS = ("flip", "cut", "empty", "swap", "missing")

# Kinds without a checksum: what is wrong in them shows only by what they say.
WITHOUT_CHECKSUM = {"settings", "rules", "keys", "console key", "past queries", "state"}
# Files that, swapped for an earlier or other one as a whole, are another state of the collection: the doctor tells.
WHOLE_BY_THEMSELVES = {"manifest", "rank pointer", "documents", "links"}
# Batches made again are new batches: the same pages are found, and imported documents are in the index alone.
APPENDED = {"documents", "links"}
# Kinds that are made again from others.
MENDABLE = {
    "manifest", "generation", "segment header", "terms", "postings", "positions", "columns", "texts", "live overlay",
    "prior overlay", "rank pointer", "rank table", "rank columns", "runs", "documents", "links",
}  # fmt: skip


class Mutation(NamedTuple):
    kind: str
    file: str
    way: str
    seed: int

    def __str__(self) -> str:
        return f"{self.way} {self.file} (seed {self.seed})"


class Outcome(Struct):
    """What a process said, or how it ended."""

    answers: dict[str, Any] = {}
    errors: dict[str, tuple[str, str]] = {}  # type, message
    statuses: dict[str, tuple[int, str]] = {}
    findings: list[dict[str, str]] = []
    damage: list[str] = []  # as the status tells it
    ended: str = ""  # by which signal, or why


def damage(folder: Path, before: Path, mutation: Mutation) -> bool:
    """Do it; false when it would change nothing."""
    chance = random.Random(mutation.seed)
    path = folder / mutation.file
    body = bytearray(path.read_bytes())
    if mutation.way == "missing":
        path.unlink()
        return True
    if mutation.way == "swap":
        other = _other(folder, before, mutation, chance)
        changed = other.read_bytes() if other else bytes(body)
    elif mutation.way == "empty":
        changed = b""
    elif not body:
        return False
    elif mutation.way == "cut":
        changed = bytes(body[: chance.randrange(len(body))])
    else:
        body[chance.randrange(len(body))] ^= 1 << chance.randrange(8)
        changed = bytes(body)
    if changed == path.read_bytes():
        return False
    path.write_bytes(changed)
    return True


def _other(folder: Path, before: Path, mutation: Mutation, chance: random.Random) -> Path | None:
    """Another file of the same kind: the same from an earlier generation, or a neighbour."""
    earlier = before / mutation.file
    if earlier.exists() and earlier.read_bytes() != (folder / mutation.file).read_bytes():
        return earlier
    kind = mutation.kind
    found = [root / name for root in (before, folder) for name in files_of(root)[kind] if name != mutation.file]
    same = [path for path in found if path.name == Path(mutation.file).name] or found
    return chance.choice(same) if same else None


# Asking


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
            _asked(folder, urls, outcome, repair=repair)
        except Exception as error:  # noqa: BLE001 - an outcome like any other
            _note(outcome, "all", error)
    with os.fdopen(writing, "w") as pipe:
        json.dump(
            {name: getattr(outcome, name) for name in ("answers", "errors", "statuses", "findings", "damage")},
            pipe,
            default=str,
        )
    os._exit(0)


def _asked(folder: Path, urls: tuple[str, ...], outcome: Outcome, *, repair: bool) -> None:
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
    for page in PAGES:
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


# Judging


class Judge:
    """Tries mutations of one collection against what it answered while it was whole."""

    def __init__(self, sound: Path, before: Path, work: Path) -> None:
        self.sound, self.before, self.work = sound, before, work
        with Collection.existing(sound) as collection:
            self.urls = tuple(hit.url for hit in collection.search("tide", k=2))
        self.kinds = files_of(sound)
        self._warm()
        self.whole = self._reference(rebuild=False)
        self.rebuilt = self._reference(rebuild=True)
        self.ranked = self._reference(rebuild=False, rank=True)

    def _reference(self, *, rebuild: bool, rank: bool = False) -> Outcome:
        """What the sound collection answers: as it is, or with its ranks, or all, made from nothing."""
        folder = self._copy()
        try:
            with Collection.existing(folder) as collection:
                if rebuild or rank:
                    shutil.rmtree(folder / "ranks")
                    collection.rank()
                if rebuild:
                    collection.index(rebuild=True)
            return ask(folder, self.urls)
        finally:
            shutil.rmtree(folder)

    def _warm(self) -> None:
        """Load what is asked with once, here, so that every forked process has it."""
        folder = self._copy()
        before = set(threading.enumerate())
        _asked(folder, self.urls, Outcome(), repair=False)
        for thread in set(threading.enumerate()) - before:
            thread.join(LONGEST)
        shutil.rmtree(folder)

    def mutations(self, count: int, seed: int, kinds: list[str] | None = None) -> list[Mutation]:
        """So many of them, over every kind and way in turn."""
        chance = random.Random(seed)
        names = [kind for kind in (kinds or self.kinds) if self.kinds[kind]]
        pairs = [(kind, way) for way in WAYS for kind in names]
        made = []
        for place in range(count):
            kind, way = pairs[place % len(pairs)]
            made.append(Mutation(kind, chance.choice(self.kinds[kind]), way, chance.randrange(1 << 30)))
        return made

    def try_one(self, mutation: Mutation, *, mend: bool = True) -> list[str]:
        """What is wrong with how this damage was met; empty when all is well."""
        folder = self._copy()
        try:
            if not damage(folder, self.before, mutation):
                return []
            wrong = self._judged(mutation, ask(folder, self.urls))
            if mend and mutation.kind in MENDABLE:
                wrong += self._mended(mutation, ask(folder, self.urls, repair=True))
            return wrong
        finally:
            shutil.rmtree(folder)

    def _copy(self) -> Path:
        return Path(shutil.copytree(self.sound, self.work / "c"))

    def _judged(self, mutation: Mutation, found: Outcome) -> list[str]:
        wrong = _broken(found)
        named = _names(mutation.file)
        for what, (kind, message) in found.errors.items():
            if not kind and not any(name in message for name in named):
                wrong.append(f"{what}: the error does not name the file: {message}")
            if "\n" in message and not kind:
                wrong.append(f"{what}: more than one line: {message}")
        if mutation.kind not in WITHOUT_CHECKSUM:
            is_older = mutation.way == "swap" and mutation.kind in WHOLE_BY_THEMSELVES
            if not found.damage and not is_older:
                wrong += [f"{what}: changed in silence" for what in self._changed(found)]
            seen = any(one["state"] == "failed" or (one["state"] == "warning" and one["check"] != "kernels")
                       for one in found.findings)  # fmt: skip
            if self._changed(found, degraded=True) or found.errors:
                wrong += [] if seen else ["doctor does not see it"]
        return wrong

    def _mended(self, mutation: Mutation, found: Outcome) -> list[str]:
        wrong = [f"after repair, {line}" for line in _broken(found)]
        wrong += [f"after repair, {what}: {message}" for what, (_, message) in found.errors.items()]
        wrong += [
            f"after repair, {what} is changed: {_difference(self.whole.answers[what], found.answers[what])}"
            for what in self._changed(found, degraded=True)
            if not self._is_known(what, found.answers[what], loosely=mutation.kind in APPENDED)
        ]
        failed = [one for one in found.findings if one["state"] == "failed"]
        return wrong + [f"after repair, doctor says {one}" for one in failed]

    def _is_known(self, what: str, answer: Any, *, loosely: bool) -> bool:
        """Whether a sound collection gives this answer, however its index and ranks came to be."""
        known = [one.answers[what] for one in (self.whole, self.rebuilt, self.ranked)]
        return answer in known or (loosely and _pages(answer) in map(_pages, known))

    def _changed(self, found: Outcome, *, degraded: bool = False) -> list[str]:
        """Questions whose answer is another than it was; those that say so only count with ``degraded``."""
        return [
            what
            for what, answer in found.answers.items()
            if answer != self.whole.answers[what] and (degraded or not _says_so(answer))
        ]


def _pages(answer: Any) -> Any:
    """The pages that an answer names, in any order; of one that names none, that there is one."""
    if isinstance(answer, dict) and "results" in answer:
        return sorted(result["url"] for result in answer["results"])
    return type(answer).__name__


def _difference(before: Any, after: Any) -> str:
    if isinstance(before, dict) and isinstance(after, dict):
        names = [name for name in before if before[name] != after.get(name)]
        return "; ".join(f"{name}: {_difference(before[name], after.get(name))}" for name in names)
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return "; ".join(_difference(*pair) for pair in zip(before, after, strict=True) if pair[0] != pair[1])
    return f"{str(before)[:80]} is {str(after)[:80]}"


def _rounded(value: Any) -> Any:
    """Ranks that are computed from nothing differ by less than their tolerance."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return {name: _rounded(one) for name, one in value.items()} if isinstance(value, dict) else value


def _says_so(answer: Any) -> bool:
    is_step = isinstance(answer, list) and any(isinstance(step, list) and "failed" in step for step in answer)
    is_said = isinstance(answer, dict) and bool(answer.get("degraded") or answer.get("links_whole") is False)
    return is_step or is_said


def _broken(found: Outcome) -> list[str]:
    wrong = [f"ended by {found.ended}"] if found.ended else []
    wrong += [f"{what}: {kind}: {message}" for what, (kind, message) in found.errors.items() if kind]
    return wrong + [f"{what}: {status} {text}" for what, (status, text) in found.statuses.items() if status == 500]


def _names(file: str) -> list[str]:
    """What a message may call a file: its name, or the folder of a generation or segment."""
    path = Path(file)
    names = [path.name]
    if path.parts[0] == "ranks":
        names += ["of the ranks", "current.json"]
    if path.name == "periplus.toml":
        names.append("correct the setting")  # which names another file now
    if path.suffix == ".parquet":
        names.append(f"batch {int(path.stem)}")
    if path.parts[0] == "index" and len(path.parts) > 2:
        names += [path.parts[2], "manifest.json"]
    if path.name == "manifest.json":
        names.append("index/generations/")
    return names


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--mutations", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default="")
    parser.add_argument("--keep", default="", help="a folder for the collection, to be used again")
    parser.add_argument("--mend", type=int, default=4, help="mend after one in so many; 0 is never")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--pages", type=int, default=30, help="of the collection")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(options.keep or temporary)
        if not (home / "sound").exists():
            home.mkdir(exist_ok=True)
            build(home / "sound", home / "before", pages=options.pages)
        run(Judge(home / "sound", home / "before", Path(temporary)), options)


def run(judge: Judge, options: Any) -> None:
    """Try them all, in several processes; each says what it met."""
    kinds = [kind.strip() for kind in options.kinds.split(",") if kind.strip()] or None
    if missing := [kind for kind, files in judge.kinds.items() if not files]:
        sys.exit(f"the collection has no file of these kinds: {missing}")
    if _broken(judge.whole) or judge.whole.errors or judge.whole.damage:
        sys.exit(f"the sound collection is not: {judge.whole.errors} {_broken(judge.whole)}")
    began, mutations = time.monotonic(), judge.mutations(options.mutations, options.seed, kinds)
    children = [_started(judge, mutations[job :: options.jobs], job, options.mend) for job in range(options.jobs)]
    bad = sum(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0 for child in children)
    _say(f"{len(mutations)} mutations over {len(judge.kinds)} kinds of files in {time.monotonic() - began:.0f} s")
    sys.exit(f"{bad} of {len(children)} processes met something badly" if bad else 0)


def _started(judge: Judge, mutations: list[Mutation], job: int, every: int) -> int:
    child = os.fork()
    if child:
        return child
    judge.work = Path(tempfile.mkdtemp(dir=judge.work))
    bad = mended = 0
    for number, mutation in enumerate(mutations, 1):
        mends = every > 0 and number % every == 0
        mended += mends and mutation.kind in MENDABLE
        wrong = judge.try_one(mutation, mend=mends)
        bad += bool(wrong)
        for line in wrong[:2]:
            _say(f"{mutation}: {line[:300]}")
        if number % 100 == 0 or number == len(mutations):
            _say(f"process {job}: {number} mutations, {mended} mended, {bad} badly met")
    os._exit(bool(bad))


if __name__ == "__main__":
    main()
