"""``make bench-words``: spelling of a collection, and completion over a million entries; one thread, CPU time.

    make bench-words ARGS="--collection FOLDER"

Spelling: how long the speller takes to build, and for both of Norvig's sets the share of misspellings whose right form
occurs in the collection and is put first, the share of right words that are changed, and the time a word. The costs of
mistakes were chosen on the first set; the second shows them. With ``--list FILE`` (a line a mistake, ``wrong->right``,
as the dictionary of the package codespell has them) misspellings whose right form occurs are asked as whole queries:
the share whose right form is offered first and searched at once, by edits, and the share of right words for which
another is offered. Completion: a million entries of two to six words of the collection with heavy-tailed weights;
beginnings typed rightly and with a mistake.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from periplus.index import IndexStore
from periplus.records import SearchRequest
from periplus.search import Engine
from periplus.search.query.lexicon import lexicon_of
from periplus.search.suggesting.completion import Completion
from periplus.search.suggesting.dictionary import dictionary_of
from periplus.search.suggesting.spelling import Speller
from periplus.settings import SearchSettings, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from periplus.index import Snapshot

ROOT = Path(__file__).resolve().parents[2]
SETS = ROOT.parent / "shared" / "data" / "spelling"
SHARES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "most": 1.0}
SEED = 3
LETTERS = "abcdefghijklmnopqrstuvwxyz"
TYPED, LONGEST_TYPED, SHOWN = 3_000, 14, 8
VOCABULARY = 60_000
PATIENT = Settings(search=SearchSettings(budget_ms=120_000))  # nothing goes uncorrected for want of time
LISTED = 1_200  # misspellings of a list that are asked, for each number of edits


def pairs(path: Path) -> list[tuple[str, str]]:
    """(right, wrong) of one of Norvig's sets."""
    source = path.read_text(encoding="utf-8")
    table = ast.literal_eval(source[source.index("{") : source.rindex("}") + 1])
    return [(right.lower(), wrong.lower()) for right, wrongs in table.items() for wrong in wrongs.split()]


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What ``work`` gives, and the milliseconds that this thread computed for it."""
    started = time.thread_time()
    result = work()
    return result, (time.thread_time() - started) * 1000


def shares(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    found = {name: ordered[min(len(ordered) - 1, int(share * len(ordered)))] for name, share in SHARES.items()}
    return {"mean": sum(times) / len(times), **found}


def speller_of(snapshot: Snapshot) -> Speller:
    return Speller(dictionary_of(snapshot), lexicon_of(snapshot), lambda query: snapshot.top(query, 1).total.value)


def spelling(snapshot: Snapshot, folder: Path) -> dict[str, Any]:
    speller_of(snapshot).word("tezt", [])  # kernels are loaded, and the files of the index are in memory
    speller, built = timed(lambda: speller_of(snapshot))
    found: dict[str, Any] = {"built_ms": built}
    for name in ("spell-testset1", "spell-testset2"):
        given = [(right, wrong) for right, wrong in pairs(folder / f"{name}.txt") if snapshot.frequency(right)]
        answers = [timed(lambda wrong=wrong: speller.word(wrong, [])) for _, wrong in given]  # type: ignore[misc]
        rights = sorted({right for right, _ in given})
        changed = [right for right in rights if speller.word(right, []) not in ("", right)]
        good = sum(answer == right for (right, _), (answer, _) in zip(given, answers, strict=True))
        found[name] = {
            "misspellings": len(given),
            "first": good / len(given),
            "right_words": len(rights),
            "changed": len(changed) / len(rights),
            "ms": shares([ms for _, ms in answers]),
        }
    return found


def edits(one: str, other: str) -> int:
    """Letters to insert, to leave out, to change or to swap with the next one."""
    above, before = list(range(len(other) + 1)), list[int]()
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, meant in enumerate(other, 1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (letter != meant)))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == meant:
                row[j] = min(row[j], before[j - 2] + 1)
        above, before = row, above
    return above[-1]


def listed(path: Path, occurs: Callable[[str], int]) -> dict[int, list[tuple[str, str]]]:
    """(right, wrong) of a list whose right form occurs, by edits; a sample of them."""
    lines = [line.lower().split("->") for line in path.read_text(encoding="utf-8").splitlines() if "->" in line]
    both = [(right.strip().rstrip(","), wrong) for wrong, right in lines]
    plain = [(right, wrong) for right, wrong in both if right.isascii() and right.isalpha() and wrong.isalpha()]
    random.Random(SEED).shuffle(plain)
    found: dict[int, list[tuple[str, str]]] = {1: [], 2: []}
    for right, wrong in plain:
        chosen = found.get(edits(wrong, right))
        if chosen is not None and len(chosen) < LISTED and occurs(right):
            chosen.append((right, wrong))
    return found


def asked(folder: Path, snapshot: Snapshot, path: Path, words: Path | None) -> dict[str, Any]:
    """Misspellings of a list as whole queries, and right words: those that occur, and those of a list that do not."""
    engine = Engine(folder, PATIENT)
    engine.warm()
    found: dict[str, Any] = {}
    rights: set[str] = set()
    for distance, given in listed(path, snapshot.frequency).items():
        answers = [engine.search(SearchRequest(wrong)) for _, wrong in given]
        first = [(right,) == answer.corrections[:1] for (right, _), answer in zip(given, answers, strict=True)]
        once = [right == answer.query.corrected for (right, _), answer in zip(given, answers, strict=True)]
        rights.update(right for right, _ in given)
        found[f"{distance} edits"] = {"asked": len(given), "first": _share(first), "at once": _share(once)}
    changed = [bool(engine.search(SearchRequest(right)).corrections) for right in sorted(rights)]
    found["right words"] = {"asked": len(changed), "changed": _share(changed)}
    if words is not None:
        answers = [engine.search(SearchRequest(word)) for word in lacking(words, snapshot)]
        found["right words that no page has"] = {
            "asked": len(answers),
            "changed": _share([bool(answer.query.corrected) for answer in answers]),
            "offered": _share([bool(answer.corrections) for answer in answers]),
        }
    engine.close()
    return found


def lacking(path: Path, snapshot: Snapshot) -> list[str]:
    """A sample of the words of a list that no document has as they are written."""
    words = [word for word in path.read_text(encoding="utf-8").splitlines() if word.isalpha() and word.islower()]
    random.Random(SEED).shuffle(words)
    return list(islice((word for word in words if len(word) > 3 and not snapshot.frequency(word)), LISTED))


def _share(true: Iterable[bool]) -> float:
    several = list(true)
    return sum(several) / max(1, len(several))


def completion(words: list[str], entries: int) -> dict[str, Any]:
    chance = random.Random(SEED)
    made: dict[str, tuple[str, float]] = {}
    while len(made) < entries:
        text = " ".join(chance.choices(words, k=chance.randint(2, 6)))[:70].strip()
        made[text] = (text, chance.paretovariate(1.2))
    typed = [beginning(text, chance) for text in chance.sample(list(made), min(TYPED, len(made)))]
    built, ms = timed(lambda: Completion(made))
    asked = {
        "one letter": chance.choices(LETTERS, k=TYPED // 4),
        "typed rightly": typed,
        "with a mistake": [mistaken(text, chance) for text in typed if len(text) > 3],
    }
    built.complete("warm", SHOWN)
    return {
        "entries": entries,
        "built_ms": ms,
        "ms": {name: shares([timed(lambda text=text: built.complete(text, SHOWN))[1] for text in texts])  # type: ignore[misc]
               for name, texts in asked.items()},
    }  # fmt: skip


def beginning(text: str, chance: random.Random) -> str:
    words = text.split(" ")
    rest = " ".join(words[chance.randrange(len(words)) :])
    return rest[: chance.randint(1, min(len(rest), LONGEST_TYPED))]


def mistaken(text: str, chance: random.Random) -> str:
    place = chance.randrange(1, len(text))
    return text[:place] + chance.choice(LETTERS) + text[place + 1 :]


def table(rows: dict[str, dict[str, float]]) -> str:
    names = ["mean", *SHARES]
    lines = [f"| ms | {' | '.join(names)} |", "|---|" + "---|" * len(names)]
    lines += [f"| {title} | {' | '.join(f'{row[name]:.2f}' for name in names)} |" for title, row in rows.items()]
    return "\n".join(lines)


def main() -> None:
    options = argparse.ArgumentParser(prog="bench-words", description=__doc__)
    options.add_argument("--collection", type=Path, required=True, help="a collection that is indexed already")
    options.add_argument("--sets", type=Path, default=SETS, help="folder of Norvig's sets")
    options.add_argument("--list", type=Path, help="misspellings, a line each: wrong->right")
    options.add_argument("--words", type=Path, help="with --list: right words, a line each, as of Debian's wamerican")
    options.add_argument("--entries", type=int, default=1_000_000)
    options.add_argument("--json", type=Path, default=ROOT / "build" / "bench-words" / "result.json")
    chosen = options.parse_args()
    with IndexStore(chosen.collection / "index").open() as snapshot:
        spelt = spelling(snapshot, chosen.sets)
        words = [word for word, _ in snapshot.words(VOCABULARY) if word.isalpha()]
        told = asked(chosen.collection, snapshot, chosen.list, chosen.words) if chosen.list else {}
    print(f"The speller of {snapshot.live:,} documents was built in {spelt['built_ms'] / 1000:.1f} s.\n")
    for name in ("spell-testset1", "spell-testset2"):
        row = spelt[name]
        print(f"{name}: {row['first']:.3f} of {row['misspellings']} put first,", end=" ")
        print(f"{row['changed']:.1%} of {row['right_words']} right words changed")
    print("\n" + table({name: spelt[name]["ms"] for name in ("spell-testset1", "spell-testset2")}))
    for name, row in told.items():
        print(f"{name}: " + ", ".join(f"{key} {value:.4g}" for key, value in row.items()))
    completed = completion(words, chosen.entries)
    print(f"\nCompletion over {chosen.entries:,} entries was built in {completed['built_ms'] / 1000:.1f} s.\n")
    print(table(completed["ms"]))
    chosen.json.parent.mkdir(parents=True, exist_ok=True)
    chosen.json.write_text(
        json.dumps({"spelling": spelt, "list": told, "completion": completed}, indent=2), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
