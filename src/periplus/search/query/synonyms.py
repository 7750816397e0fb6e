"""Synonyms of the operator's file, added to a plan: what is also found, at a share of the weight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from periplus.index import Group
from periplus.search.query.plan import QueryWord
from periplus.search.query.syntax import TypedWord
from periplus.search.query.text import folded
from periplus.text import TermForm, analyze

if TYPE_CHECKING:
    from periplus.search.query.plan import QueryPlan
    from periplus.search.query.rules import Rules
    from periplus.search.query.syntax import ParsedQuery

SYNONYM_SHARE = 0.8  # of the weight of what was typed
MAX_ADDED = 16  # groups and forms that one query is given


def with_synonyms(plan: QueryPlan, reading: ParsedQuery, rules: Rules, language: str) -> QueryPlan:
    """``plan`` that also finds what its words and phrases are called otherwise.

    A single word for a single word joins its forms, so that either counts once. Phrases become groups of their own.
    Only words at the top level of a query are given synonyms; who quotes or signs a word means that word.
    """
    words = [node.text for node in reading.nodes if isinstance(node, TypedWord)]
    room = MAX_ADDED
    for size in range(1, min(rules.longest, len(words)) + 1):
        for first in range(len(words) - size + 1):
            phrase = folded(" ".join(words[first : first + size]))
            for other in rules.synonyms.get(phrase, ())[:room]:
                plan = _added(plan, words[first] if size == 1 else "", other, language)
                room -= 1
    return plan


def _added(plan: QueryPlan, word: str, other: str, language: str) -> QueryPlan:
    tokens = analyze(other, language)
    if not tokens:
        return plan
    if word and len(tokens) == 1:
        typed = analyze(word, language)
        more = tuple(TermForm(form.term, form.share * SYNONYM_SHARE) for form in tokens[0].forms)
        if len(typed) == 1 and any(known.text == typed[0].text for known in plan.words):
            return _joined(plan, typed[0].text, more)
    group = (
        Group(forms=tokens[0].forms, weight=SYNONYM_SHARE)
        if len(tokens) == 1
        else Group(phrase=tuple(token.text for token in tokens), weight=SYNONYM_SHARE)
    )
    query = plan.query
    words = (*plan.words, *(QueryWord(token.text, token.forms, SYNONYM_SHARE) for token in tokens[:1] if group.forms))
    return structs.replace(plan, words=words, query=structs.replace(query, should=(*query.should, group)))


def _joined(plan: QueryPlan, text: str, more: tuple[TermForm, ...]) -> QueryPlan:
    def wider(forms: tuple[TermForm, ...]) -> tuple[TermForm, ...]:
        known = {form.term for form in forms}
        return (*forms, *(form for form in more if form.term not in known))

    own = next(word.forms for word in plan.words if word.text == text)
    words: tuple[QueryWord, ...] = tuple(
        structs.replace(word, forms=wider(word.forms)) if word.text == text else word for word in plan.words
    )
    should = tuple(
        structs.replace(group, forms=wider(group.forms)) if group.forms == own else group for group in plan.query.should
    )
    return structs.replace(plan, words=words, query=structs.replace(plan.query, should=should))
