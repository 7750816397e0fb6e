"""The inspector: one address from discovery to rank, and the first stop that keeps it from being found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from periplus import addresses
from periplus.app.pages.imported import find_imported
from periplus.crawl import inspect as inspect_crawl
from periplus.errors import NotReady, StorageError
from periplus.reasons import REASONS, sentence
from periplus.records import Inspection, StepRecord
from periplus.storage import Blocklist

if TYPE_CHECKING:
    from periplus.app.collection import Collection
    from periplus.app.pages.imported import Imported

POINTING = ("canonical-elsewhere", "redirected")  # the page names another address as its own
REPEATED = ("duplicate",)
MEND = "periplus doctor --repair"

_WHY = REASONS["blocked"]
_BLOCKED = StepRecord("index", "refused", _WHY.code, _WHY.sentence, advice=_WHY.advice)


def inspect_address(collection: Collection, url: str) -> Inspection:
    """Everything known about ``url``; raises ``InvalidAddress`` when it is none."""
    canonical = addresses.canonical(url)
    steps = inspect_crawl(collection.database, canonical, collection.in_force().values)
    imported = find_imported(collection, canonical) if _is_unread(steps) else None
    if imported is not None:
        steps = _with_import(steps, imported)
    steps = _with_choices(collection, canonical, steps)
    blocked = Blocklist(collection.files).targets() & {canonical, addresses.host(canonical)}
    key = imported.document.key if imported else addresses.key(canonical)
    steps.append(_BLOCKED if blocked else _index_step(collection, key))
    steps = _with_stand_in(_with_delay(collection, steps))
    steps.append(_rank_step(collection, canonical))
    return Inspection(url=canonical, verdict=_verdict(steps), steps=tuple(steps))


def _is_unread(steps: list[StepRecord]) -> bool:
    """Whether the crawl has no document of the page."""
    return any(step.step == "parse" and step.state == "unknown" for step in steps)


def _with_import(steps: list[StepRecord], imported: Imported) -> list[StepRecord]:
    """The story of an imported page; a crawl that knows its address, too, goes on with its own."""
    is_known = any(step.step == "discovered" and step.state != "unknown" for step in steps)
    if not is_known:
        return imported.steps()
    return [imported.parsed() if step.step == "parse" else step for step in steps]


def _with_choices(collection: Collection, url: str, steps: list[StepRecord]) -> list[StepRecord]:
    """The steps of the crawl, and after parsing: is the page itself meant, and is its text its own?"""
    parsed = next(step for step in steps if step.step == "parse")
    moved = "canonical" if parsed.reason in POINTING else "duplicate" if parsed.reason in REPEATED else ""
    made = {
        name: StepRecord(name, parsed.state if parsed.state in ("ok", "waiting") else "unknown")
        for name in ("canonical", "duplicate")
    }
    if moved:
        named = parsed.detail if moved == "canonical" else _original(collection, url) or parsed.detail
        made[moved] = replace(parsed, step=moved, detail=named)
        made["canonical"] = made["canonical"] if moved == "canonical" else StepRecord("canonical", "ok")
        parsed = StepRecord("parse", "ok", at=parsed.at)
    before = [parsed if step.step == "parse" else step for step in steps]
    return [*before, made["canonical"], made["duplicate"]]


def _with_delay(collection: Collection, steps: list[StepRecord]) -> list[StepRecord]:
    """A page that was read and is not in the index waits, while there are batches that the index has not seen."""
    is_read = any(step.step == "parse" and step.state == "ok" for step in steps)
    manifest = collection.stores.index.manifest() if is_read else None
    if steps[-1].state != "unknown" or manifest is None:
        return steps
    with collection.database.read() as tx:
        behind = int(tx.value("SELECT COUNT(*) FROM batches WHERE number > ?", (manifest.last_batch,)))
    if not behind:
        return steps
    detail = f"{behind} {'batch is' if behind == 1 else 'batches are'} not in the index yet"
    return [*steps[:-1], StepRecord("index", "waiting", detail=detail, advice="periplus index")]


def _with_stand_in(steps: list[StepRecord]) -> list[StepRecord]:
    """A page that is found although it names another address stands in for that one."""
    if not any(step.step == "index" and step.state == "ok" for step in steps):
        return steps
    return [_standing(step) if step.step == "canonical" and step.reason in POINTING else step for step in steps]


def _standing(step: StepRecord) -> StepRecord:
    detail = f"stands in for {step.detail}, which is not in the index"
    return replace(step, state="ok", reason="", advice="", detail=detail)


def _original(collection: Collection, url: str) -> str:
    """The address whose text was seen first, as far as it is known."""
    sql = (
        "SELECT first.url FROM urls AS here JOIN urls AS first ON first.key = here.same_as AND first.state > 0"
        " WHERE here.host = ? AND here.key = ? AND here.same_as <> 0"
    )
    with collection.database.read() as tx:
        found = tx.value(sql, (addresses.host_key(addresses.host(url)), addresses.key(url)))
    return f"the same as {found}" if found else ""


def _served_step(collection: Collection, key: int) -> StepRecord:
    """As shard servers tell it: the segments may be on other machines."""
    try:
        is_found = collection.engine.holds(key)
    except NotReady as error:
        return StepRecord("index", "waiting", detail=str(error))
    number = collection.engine.generation
    if is_found:
        return StepRecord("index", "ok", detail=f"found by search, generation {number}")
    return StepRecord("index", "unknown", detail=f"not in generation {number}")


def _index_step(collection: Collection, key: int) -> StepRecord:
    if collection.source is not None:
        return _served_step(collection, key)
    try:
        snapshot = collection.stores.index.open(partial=True)
    except NotReady:
        return StepRecord("index", "waiting", detail="no generation is published yet", advice="periplus index")
    except StorageError as error:
        return StepRecord("index", "failed", detail=str(error), advice=MEND)
    try:
        if snapshot.find(key) is not None:
            return StepRecord("index", "ok", detail=f"found by search, generation {snapshot.generation}")
        damage = snapshot.losses.damage
        if damage:
            return StepRecord("index", "failed", detail=f"perhaps in what is damaged: {damage[0]}", advice=MEND)
        return StepRecord("index", "unknown", detail=f"not in generation {snapshot.generation}")
    finally:
        snapshot.close()


def _rank_step(collection: Collection, url: str) -> StepRecord:
    try:
        table = collection.stores.ranks.current()
    except StorageError as error:
        return StepRecord("rank", "failed", detail=str(error), advice=MEND)
    if table is None:
        return StepRecord("rank", "waiting", detail="no ranks are published yet", advice="periplus rank")
    rank = table.page_rank(addresses.page_key(url))
    if rank is None:
        return StepRecord("rank", "unknown", detail="no link leads to or from it")
    sites = table.page_sites(addresses.page_key(url))
    detail = f"PageRank {rank:.3g}, linked from {sites} other {'site' if sites == 1 else 'sites'}"
    note = table.host_note(addresses.host_key(addresses.host(url)))
    if note is None or not note.reason:
        return StepRecord("rank", "ok", detail=detail)
    lost = f"links from this host to others count {note.spam:.0%} less"
    return StepRecord("rank", "ok", note.reason, f"{detail}; {lost}", advice=REASONS[note.reason].advice)


def _verdict(steps: list[StepRecord]) -> str:
    """One sentence: found, or the first stop that is not ok."""
    index = next(step for step in steps if step.step == "index")
    if index.state == "ok":
        return "found by search"
    stop = next((step for step in steps if step.state in ("refused", "failed")), None)
    if stop is not None:
        reason = REASONS.get(stop.reason)
        why = reason.sentence if reason else sentence(stop.reason) or stop.detail
        return f"not found by search: {why}"
    waiting = next((step for step in steps if step.state == "waiting"), None)
    return f"not found by search yet: {waiting.detail or waiting.step}" if waiting else "not known here"
