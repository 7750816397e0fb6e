"""What differs between two answers to one request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ORDER, SCORES, TEXTS, TOTALS, REST = "ids and order", "scores", "texts", "totals", "the rest"
ASPECTS = (ORDER, SCORES, TEXTS, TOTALS, REST)
TEXT_FIELDS = ("url", "display_url", "title", "snippet", "highlights", "language", "published", "fetched", "type")
RELATIVE = 1e-9  # by which the parts of an explanation may miss their sum, of the largest part


def differences(before: Any, after: Any) -> set[str]:
    """Which aspects of the two answers differ."""
    if isinstance(before, dict) and "results" in before and isinstance(after, dict) and "results" in after:
        return set(_lists(before, after))
    if isinstance(before, list) and len(before) == 2 and isinstance(before[0], dict) and "results" in before[0]:
        return differences(before[0], after[0]) | ({REST} if before[1] != after[1] else set())  # a tab, with its facts
    return set() if before == after else {REST}


def _lists(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    if _all(before, "id") != _all(after, "id"):
        yield ORDER
        return
    if _all(before, "score") != _all(after, "score"):
        yield SCORES
    if any(_all(before, name) != _all(after, name) for name in TEXT_FIELDS):
        yield TEXTS
    if not totals_agree(before["total"], after["total"]):
        yield TOTALS
    if _others(before) != _others(after):
        yield REST


def totals_agree(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Exact totals are equal; a lower bound is not above an exact one."""
    match before["relation"], after["relation"]:
        case "eq", "eq":
            return bool(before["value"] == after["value"])
        case "gte", "eq":
            return bool(before["value"] <= after["value"])
        case "eq", "gte":
            return bool(after["value"] <= before["value"])
    return True


def _all(answer: dict[str, Any], name: str) -> list[Any]:
    return [result[name] for result in answer["results"]]


def _others(answer: dict[str, Any]) -> Any:
    known = {"id", "score", *TEXT_FIELDS}
    results = [{name: value for name, value in result.items() if name not in known} for result in answer["results"]]
    return results, {name: value for name, value in answer.items() if name not in ("results", "total", "coverage")}


def bad_sums(answer: Any) -> list[str]:
    """The parts of explanations that are sums and do not add up."""
    found: list[str] = []
    trees = [result.get("explain") for result in answer.get("results", [])] if isinstance(answer, dict) else []
    if isinstance(answer, dict) and "formula" in answer:
        trees.append(answer)
    for tree in trees:
        _check(tree, found)
    return found


def _check(part: dict[str, Any] | None, found: list[str]) -> None:
    if not part or not part["parts"]:
        return
    if part["formula"] == "sum":
        values = [one["value"] for one in part["parts"]]
        if abs(sum(values) - part["value"]) > RELATIVE * max(1.0, *map(abs, values)):
            found.append(part["name"])
    for one in part["parts"]:
        _check(one, found)
