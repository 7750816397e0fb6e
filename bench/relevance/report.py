"""``docs/relevance.md``: the tables of a relevance run, as Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.relevance import sets

from periplus.evaluation import Scores, compare, randomisation_test

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SIGNIFICANT = 0.05
CHANGES = Path(__file__).with_name("changes.md")


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def _cell(scores: Scores, baseline: Scores) -> str:
    value = f"{scores.mean('ndcg@10'):.3f}"
    if scores.profile == baseline.profile:
        return value
    found = compare(baseline, scores)
    mark = ("▲" if found.difference > 0 else "▼") if found.p < SIGNIFICANT else ""
    return f"{value}{mark}"


def profiles_table(results: Mapping[str, Mapping[str, Scores]], names: Sequence[str], measure: str = "ndcg@10") -> str:
    """A row a profile, a column a set; marks against bm25."""
    rows = []
    for profile in next(iter(results.values())):
        cells = [_cell(results[name][profile], results[name]["bm25"]) for name in names]
        average = sum(results[name][profile].mean(measure) for name in names) / len(names)
        rows.append([f"`{profile}`", *cells, f"{average:.3f}"])
    return table(["profile", *names, "mean"], rows)


def published_table(results: Mapping[str, Mapping[str, Scores]]) -> str:
    rows = []
    for name, figure in sets.PUBLISHED.items():
        ours = results[name]["bm25"].mean("ndcg@10")
        rows.append([name, f"{figure:.3f}", f"{ours:.3f}", f"{ours - figure:+.3f}"])
    return table(["set", "published BM25", "`bm25`", "difference"], rows)


def ours_table(results: Mapping[str, Mapping[str, Scores]], held: Mapping[str, Sequence[float]]) -> str:
    """`periplus` against `bm25`: as shipped and with weights learnt on the other queries."""
    rows = []
    for name, values in held.items():
        baseline, shipped = results[name]["bm25"], results[name]["periplus"]
        found = compare(baseline, shipped)
        mean = sum(values) / len(values)
        p = randomisation_test(list(values), baseline.values("ndcg@10"))
        rows.append(
            [
                name,
                str(len(baseline.by_query)),
                f"{baseline.mean('ndcg@10'):.3f}",
                f"{mean:.3f}",
                f"{mean - baseline.mean('ndcg@10'):+.3f}",
                f"{p:.3f}",
                f"{shipped.mean('ndcg@10'):.3f}",
                f"{found.p:.3f}",
            ]
        )
    header = ["set", "queries", "`bm25`", "`periplus`, held out", "difference", "p", "`periplus`, shipped", "p"]
    return table(header, rows)


def known_table(results: Mapping[str, Mapping[str, Scores]]) -> str:
    names = list(results)
    rows = []
    for profile in next(iter(results.values())):
        cells = [f"{results[name][profile].mean('mrr@10'):.3f}" for name in names]
        gains = [results[name][profile].mean("mrr@10") / results[name]["bm25"].mean("mrr@10") - 1 for name in names]
        rows.append([f"`{profile}`", *cells, f"{100 * sum(gains) / len(gains):+.0f} %"])
    return table(["profile", *names, "mean gain over `bm25`"], rows)


def known_section(results: Mapping[str, Mapping[str, Scores]], few: Mapping[str, Mapping[str, Scores]]) -> str:
    """Known items: all of them by our profiles, a few by every one."""
    counts = ", ".join(f"{len(found['bm25'].by_query)} {kind}" for kind, found in results.items())
    count = max(len(found["bm25"].by_query) for found in few.values())
    references = "\n" + REFERENCES.format(table=known_table(few), count=count).rstrip("\n")
    return KNOWN.format(table=known_table(results), counts=counts, references=references)


def page(parts: Mapping[str, Any]) -> str:
    """The page, with what is told of changes and features in a text of its own."""
    return TEXT.format(changes=CHANGES.read_text(encoding="utf-8"), **parts)


TEXT = """\
# Relevance

How good the orderings are on judged queries. Made by

    make relevance

from `../shared/data/relevance` (five classic sets with human judgements); each set is imported with `periplus import`,
indexed with `periplus index` and asked as `periplus evaluate` asks. A set can be scored by hand:

    periplus import ../shared/data/relevance/cacm/docs.jsonl --dir /tmp/cacm && periplus index --dir /tmp/cacm
    periplus evaluate --dir /tmp/cacm --queries ../shared/data/relevance/cacm/queries.tsv \\
        --qrels ../shared/data/relevance/cacm/qrels.tsv --profile bm25 --profile periplus

{changes}
## Each feature left out

nDCG@10 on the judged sets, MRR@10 on known items of sites that nothing was learnt from; ▲ and ▼: significantly better
or worse than the whole (`python -m bench.relevance.ablations --web FOLDER`).

{ablations}

`fresh`, `language` and `navigational` say nothing here: these queries ask for nothing new, in no language, and name no
address. One source wished for a cosine or Euclidean normalisation for niche queries: the last two rows.

## Every profile on every set

nDCG@10; ▲ and ▼: significantly better or worse than `bm25` (paired randomisation test, p < 0.05).

{profiles}

`bm25f` is the text part of `periplus` alone: BM25F over weighted fields with its learnt constants, without links and
features of order, nearness and place. These documents have no links, so the profiles that multiply with PageRank are
shown at their best: every page has the mean rank. `bm25-pagerank` then is `bm25`, and is cut at its 100 results.
References score the best 2,000 of a first pass; scored over every page with a word of the query (`periplus evaluate
--exhaustive`), `grs2`, `cosine-bonus`, `tfidf-pagerank` and `multiplicative` had the same figures on `cacm`, to the
fourth place, and on 60 known items 0.361, 0.532, 0.378 and 0.453 became 0.361, 0.532, 0.377 and 0.449 (measured
before titles and passages counted as they do now, which these profiles do not read).

## Ours, with weights it has not seen

The weights of `periplus` (`ranking/weights.toml`) were learnt by `python -m bench.relevance.learn`: coordinate ascent
on nDCG@10 and nDCG@30. Those of titles, passages, `fresh` and `language` were set afterwards, as decisions 0078,
0079, 0096, 0097 and 0130 say. *Held out* is five-fold cross-validation over the queries of these sets and of the known
items to learn from: each query is scored with weights that were learnt on the other four folds, from
`bench/relevance/start.toml` on. *Shipped* are the weights in the file.

{ours}

## Plain BM25 against published figures

{published}

Published: BM25 with k1 = 1.2, b = 0.75, Porter stemmer and a list of 33 stop words. Ours: the same constants over title
and body as one text, the newer English Snowball stemmer, 130 stop words, and of a topic with more than {longest}
telling words only those. What differs on `cisi` is the longer stop list: its topics are whole abstracts, and with
the 33 words it is .379 there (adi .486, cranfield .366, cacm .506, med .701).
{known}"""

KNOWN = """
## Known items on a web of manuals

Made by `make relevance ARGS="--web FOLDER"` from a local web of 16 documentation sites (11,000 pages): the text of a
link from another site, an entry of a back-of-the-book index, a title with a third of its words left out or a whole
title that no other page has, and the one page that it means. What gave a query away is taken out before anything is
scored: those links are in neither anchors nor graph, index pages are not in the collection. Weights were learnt from
eight of the sites; these are queries for pages of the other eight ({counts}). MRR@10:

{table}

`bm25f` knows no links but what they say: beside it the link prior and the features of order, nearness and place show.
Equal scores of one profile keep the order of the first pass.{references}
"""

REFERENCES = """
All profiles on the first {count} queries of each kind; the references read our ranks here, not those of their own
policies:

{table}
"""
