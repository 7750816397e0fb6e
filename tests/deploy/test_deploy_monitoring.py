"""What is watched exists: every metric that the dashboard and the alarms name, every section that an alarm leads to."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from periplus.web.serving.metric_table import METRICS

ROOT = Path(__file__).resolve().parent.parent.parent
MONITORING = ROOT / "deploy" / "monitoring"
NAMED = re.compile(r"\b((?:periplus|process)_[a-z0-9_]+)\b")


def exposed() -> set[str]:
    """Names as Prometheus has them."""
    names = set()
    for metric in METRICS:
        if metric.kind == "counter":
            names.add(f"{metric.name}_total")
        elif metric.kind == "histogram":
            names |= {f"{metric.name}_{part}" for part in ("bucket", "sum", "count")}
        else:
            names.add(metric.name)
    return names


def rules() -> list[dict]:
    groups = yaml.safe_load((MONITORING / "alerts.yml").read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def panels() -> list[dict]:
    return json.loads((MONITORING / "grafana-dashboard.json").read_text(encoding="utf-8"))["panels"]


def expressions() -> list[str]:
    return [target["expr"] for panel in panels() for target in panel["targets"]] + [rule["expr"] for rule in rules()]


def test_every_metric_that_is_watched_exists():
    named = {name for expression in expressions() for name in NAMED.findall(expression)}

    assert len(named) > 25
    assert named - exposed() == set()


def test_labels_that_are_asked_for_exist():
    labels = {metric.name: set(metric.labels) for metric in METRICS}
    for expression in expressions():
        for name, given in re.findall(r"((?:periplus)_[a-z0-9_]+)\{([^}]*)\}", expression):
            metric = re.sub(r"_(total|bucket|sum|count)$", "", name)
            asked = set(re.findall(r"(\w+)(?:=~|!~|!=|=)", given))
            assert asked <= labels[metric] | {"le", "job"}, expression


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule["alert"])
def test_an_alarm_says_what_it_is_and_leads_to_the_handbook(rule):
    page, _, anchor = rule["annotations"]["runbook"].partition("#")
    headings = re.findall(r"^### (\w+)$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)

    assert rule["annotations"]["summary"]
    assert rule["labels"]["severity"] in ("page", "ticket")
    assert anchor == rule["alert"].lower()
    assert rule["alert"] in headings


def test_the_handbook_has_no_alarm_that_is_not_there():
    handbook = (ROOT / "docs" / "handbook.md").read_text(encoding="utf-8")

    assert set(re.findall(r"^### (\w+)$", handbook, re.MULTILINE)) == {rule["alert"] for rule in rules()}


def test_every_metric_is_documented_and_shown_or_watched():
    page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")

    assert [metric.name for metric in METRICS if f"`{metric.name}" not in page] == []


def test_brackets_of_expressions_close():
    for expression in expressions():
        for opening, closing in ("()", "{}", "[]"):
            assert expression.count(opening) == expression.count(closing), expression


def test_the_panels_do_not_overlap():
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels()]

    assert len(set(places)) == len(places)
    assert len({panel["id"] for panel in panels()}) == len(places)
