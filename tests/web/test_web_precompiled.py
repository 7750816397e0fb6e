"""Precompiled templates: the same page as the template makes of the values themselves."""

from __future__ import annotations

import jinja2
import markupsafe
import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.web.rendering.highlights import escaped
from periplus.web.rendering.precompiled import MOST, PrecompiledTemplates, all_escaped

SOURCES = {
    "item": """<li class="{{ kind }}">{% if title %}<a href="{{ link }}" title="{{ title }}">{{ title }}</a>{% endif %}
    100 % {{ note }}{% for part in parts %}{% if part %}<b>{{ part }}</b>{% else %}-{% endif %}{% endfor %}</li>""",
    "compares": "{% if title == 'x' %}y{% endif %}",
    "filters": "{{ title|upper }}",
}
TEXT = st.text("<>&\"'%s(){}ab\x1f\ue000\ue001é ", max_size=12)


def precompiled():
    environment = jinja2.Environment(
        loader=jinja2.DictLoader(SOURCES), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.extend(catalogue={})
    return PrecompiledTemplates(environment)


@given(st.sampled_from(["port", "quay"]), TEXT, TEXT, st.lists(TEXT, max_size=3), TEXT)
def test_a_precompiled_template_says_what_the_template_says(kind, title, link, parts, note):
    made = precompiled()
    ready = {"note": markupsafe.escape(note)}
    texts, lists, plain = {"title": title, "link": link}, {"parts": parts}, {"kind": kind}
    expected = made.render("item", {**texts, **lists, **plain, **ready})
    for _ in range(2):  # as it is compiled, and out of what was kept
        assert made.fill("item", texts, plain=plain, lists=lists, ready=ready) == expected


def test_one_mould_serves_all_values_of_a_shape():
    made = precompiled()
    shown = [
        made.fill("item", {"title": title, "link": "/"}, plain={"kind": "a"}, lists={"parts": []}, ready={"note": ""})
        for title in ("one", "two", "")
    ]
    assert ["one" in shown[0], "two" in shown[1], "<a" in shown[2]] == [True, True, False]
    assert len(made) == 2


def test_precompiled_templates_are_bounded():
    made = precompiled()
    for number in range(MOST + 50):
        made.fill("item", {"title": "t", "link": "/"}, plain={"kind": number}, lists={"parts": []}, ready={"note": ""})
    assert len(made) == MOST


@pytest.mark.parametrize("template", ["compares", "filters"])
def test_a_template_can_do_nothing_with_a_field_but_show_it(template):
    with pytest.raises(TypeError):
        precompiled().fill(template, {"title": "x"})


def test_what_is_not_marked_as_ready_is_escaped():
    made = precompiled()
    said = made.fill(
        "item",
        {"title": markupsafe.Markup("<script>"), "link": '"><script>'},
        plain={"kind": "a"},
        lists={"parts": ["<img onerror=x>"]},
        ready={"note": ""},
    )
    assert "<script" not in said
    assert "<img" not in said


@given(st.text())
def test_texts_are_escaped_as_the_library_does_it(text):
    assert escaped(text) == str(markupsafe.escape(text))


@given(st.lists(TEXT, max_size=6))
def test_many_texts_are_escaped_as_one_by_one(texts):
    assert all_escaped(texts) == [str(markupsafe.escape(text)) for text in texts]
