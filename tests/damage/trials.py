"""One trial: a copy of the collection, one damaged file in it, and everything asked in a process of its own.

A forked process answers, so that a signal or an endless loop is an outcome like any other. What is checked:

* nothing but an error of our own, of one line, that names the damaged file (or the thing that it is part of);
* no answer differs in silence where the file carries a checksum: it is the same as before, or says ``degraded``;
* the server answers no 500;
* ``doctor`` sees the damage, and ``doctor --repair`` mends what can be made again.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from damage.asking import LONGEST, Outcome, ask, asked, keep_templates
from damage.specimen import build, files_of
from periplus import Collection

MEMORY = Path("/dev/shm")  # where thousands of copies and flushes cost no disk
WAYS = ("flip", "cut", "empty", "swap", "missing")

# Kinds without a checksum: what is wrong in them shows only by what they say.
WITHOUT_CHECKSUM = {
    "settings", "rules", "keys", "console key", "past queries", "judgements", "state", "state's log", "locks", "slots",
}  # fmt: skip
# Files that, swapped for an earlier or other one as a whole, are another state of the collection: the doctor tells.
WHOLE_BY_THEMSELVES = {"manifest", "rank pointer", "documents", "links"}
# Batches made again are new batches: the same pages are found, and imported documents are in the index alone.
APPENDED = {"documents", "links"}
# Kinds that are made again from others.
MENDABLE = {
    "manifest", "generation", "segment header", "terms", "postings", "positions", "columns", "texts", "live overlay",
    "prior overlay", "words of the whole", "titles of the whole", "rank pointer", "rank table", "links of the graph",
    "rank columns", "runs", "documents", "links", "identity", "takedown plan", "state", "state's log",
}  # fmt: skip
# A state that is built again does not know when pages were asked for, so the story of an address is another one.
REBUILT = {"state", "state's log"}


class Verdict(NamedTuple):
    """How a damage was met: ``changed`` where there was any, ``seen`` by the doctor or whoever asked."""

    changed: bool = False
    seen: bool = False
    wrong: tuple[str, ...] = ()


class Mutation(NamedTuple):
    kind: str
    file: str
    way: str
    seed: int

    def __str__(self) -> str:
        return f"{self.way} {self.file} (seed {self.seed})"


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


# Judging


class Judge:
    """Tries mutations of one collection against what it answered while it was whole."""

    def __init__(self, sound: Path, before: Path, work: Path) -> None:
        self.sound, self.before, self.work = sound, before, work
        self.kinds = files_of(sound)
        folder = self._copy()  # to open it would fold the state's log in
        with Collection.existing(folder) as collection:
            self.urls = tuple(hit.url for hit in collection.search("tide", k=2))
        shutil.rmtree(folder)
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
        asked(folder, self.urls, Outcome(), repair=False)
        gc.collect()  # the threads of pages end with their pool, which is part of a cycle
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

    def try_one(self, mutation: Mutation, *, mend: bool = True) -> Verdict:
        folder = self._copy()
        try:
            if not damage(folder, self.before, mutation):
                return Verdict()
            found = ask(folder, self.urls)
            wrong = self._judged(mutation, found)
            if mend:
                after = ask(folder, self.urls, repair=True)
                wrong += self._mended(mutation, after) if mutation.kind in MENDABLE else self._judged(mutation, after)
            return Verdict(changed=True, seen=_is_seen(found), wrong=tuple(wrong))
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
            if self._changed(found, degraded=True) or found.errors:
                wrong += [] if _is_found(found) else ["doctor does not see it"]
        return wrong

    def _mended(self, mutation: Mutation, found: Outcome) -> list[str]:
        wrong = [f"after repair, {line}" for line in _broken(found)]
        wrong += [f"after repair, {what}: {message}" for what, (_, message) in found.errors.items()]
        wrong += [
            f"after repair, {what} is changed: {_difference(self.whole.answers[what], found.answers[what])}"
            for what in self._changed(found, degraded=True)
            if not self._is_known(what, found.answers[what], loosely=mutation.kind in APPENDED | REBUILT)
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


def _says_so(answer: Any) -> bool:
    is_step = isinstance(answer, list) and any(isinstance(step, list) and "failed" in step for step in answer)
    is_said = isinstance(answer, dict) and bool(answer.get("degraded"))
    return is_step or is_said


def _is_seen(found: Outcome) -> bool:
    return bool(found.errors or found.damage or found.ended) or _is_found(found)


def _is_found(found: Outcome) -> bool:
    """Whether the doctor found something, besides kernels that are not compiled."""
    return any(one["state"] in ("failed", "warning", "mended") and one["check"] != "kernels" for one in found.findings)


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
    if path.suffix == ".parquet":
        names.append(f"batch {int(path.stem.rpartition('-')[2])}")
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
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as temporary:
        home = Path(options.keep or temporary)
        if not (home / "sound").exists():
            home.mkdir(exist_ok=True)
            build(home / "sound", home / "before", pages=options.pages)
        keep_templates()
        run(Judge(home / "sound", home / "before", Path(temporary)), options)


def run(judge: Judge, options: Any) -> None:
    """Try them all, in several processes; each says what it met."""
    kinds = [kind.strip() for kind in options.kinds.split(",") if kind.strip()] or None
    if missing := [kind for kind, files in judge.kinds.items() if not files]:
        sys.exit(f"the collection has no file of these kinds: {missing}")
    if _broken(judge.whole) or judge.whole.errors or judge.whole.damage:
        sys.exit(f"the sound collection is not: {judge.whole.errors} {_broken(judge.whole)}")
    began, mutations = time.monotonic(), judge.mutations(options.mutations, options.seed, kinds)
    tallies = judge.work / "tallies"
    tallies.mkdir()
    children = [_started(judge, mutations[job :: options.jobs], job, options.mend) for job in range(options.jobs)]
    bad = sum(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0 for child in children)
    _tell([json.loads(path.read_text()) for path in sorted(tallies.iterdir())])
    _say(f"{len(mutations)} mutations over {len(judge.kinds)} kinds of files in {time.monotonic() - began:.0f} s")
    sys.exit(f"{bad} of {len(children)} processes met something badly" if bad else 0)


def _started(judge: Judge, mutations: list[Mutation], job: int, every: int) -> int:
    child = os.fork()
    if child:
        return child
    tally: dict[str, Counter[str]] = {}
    tallies, judge.work = judge.work / "tallies", Path(tempfile.mkdtemp(dir=judge.work))
    for number, mutation in enumerate(mutations, 1):
        mends = every > 0 and number % every == 0
        verdict = judge.try_one(mutation, mend=mends)
        counts = {"tried": 1, "changed": verdict.changed, "seen": verdict.seen, "bad": bool(verdict.wrong),
                  "mended": mends and verdict.changed and mutation.kind in MENDABLE and not verdict.wrong}  # fmt: skip
        tally.setdefault(mutation.kind, Counter()).update(counts)
        for line in verdict.wrong[:2]:
            _say(f"{mutation}: {line[:300]}")
        if number % 50 == 0 or number == len(mutations):
            whole = sum(tally.values(), Counter())
            _say(f"process {job}: {number} mutations, {whole['mended']} mended, {whole['bad']} badly met")
    (tallies / f"{job}.json").write_text(json.dumps(tally))
    os._exit(bool(sum(counts["bad"] for counts in tally.values())))


def _tell(tallies: list[dict[str, dict[str, int]]]) -> None:
    """A table of what was tried: of the files that did change, how many were noticed, and how many mended."""
    _say("| kind | tried | changed | noticed | mended | badly met |\n|---|--:|--:|--:|--:|--:|")
    for kind in dict.fromkeys(kind for tally in tallies for kind in tally):
        counts = sum((Counter(tally.get(kind, {})) for tally in tallies), Counter[str]())
        mended = counts["mended"] if kind in MENDABLE else "-"
        _say(f"| {kind} | {counts['tried']} | {counts['changed']} | {counts['seen']} | {mended} | {counts['bad']} |")


if __name__ == "__main__":
    main()
