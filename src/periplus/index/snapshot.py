"""Snapshot: one generation, open for searching."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from periplus.errors import NotFound
from periplus.index.analysis import STEM_MARK, token_forms
from periplus.index.fields import PIECE_GAP, field_pieces
from periplus.index.norms import Epoch, impacts
from periplus.index.query import FIELDS, STRONG_SHARE
from periplus.index.stored import StoredDocument, identifier, place_of
from periplus.index.weights import UNIT, fixed, idf
from periplus.records import Anchor, Document, Total

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.index.manifest import Manifest
    from periplus.index.query import Filters, Group, IndexQuery


class Entry(Struct, frozen=True):
    document: Document
    anchors: tuple[Anchor, ...] = ()
    prior: float | None = None


class TopHits(Struct, frozen=True):
    """The best documents, best first: global numbers, scores, and how many match in all."""

    numbers: NDArray[np.int64]
    scores: NDArray[np.float64]
    total: Total


class Snapshot:
    def __init__(self, manifest: Manifest, entries: list[Entry]) -> None:
        self.generation = manifest.generation
        self.live = len(entries)
        self._documents = [entry.document for entry in entries]
        self._places = [place_of(document) for document in self._documents]
        self._priors = [entry.prior or 0.0 for entry in entries]
        self.degraded: tuple[str, ...] = () if any(e.prior is not None for e in entries) else ("ranks",)
        # term -> document -> field -> positions
        self._postings: dict[str, dict[int, dict[int, list[int]]]] = defaultdict(dict)
        self._lengths = np.zeros((len(entries), len(FIELDS)), np.uint32)
        for number, entry in enumerate(entries):
            self._index(number, entry)
        self.average_lengths = self._lengths.mean(axis=0) if entries else np.ones(len(FIELDS))
        self._epoch = Epoch(averages=tuple(self.average_lengths))
        self._hosts = sorted({place.host for place in self._places})
        self._sites = sorted({place.site for place in self._places})
        self._languages = sorted({document.language for document in self._documents})
        self._types = sorted({document.content_type for document in self._documents})

    def _index(self, number: int, entry: Entry) -> None:
        for field, pieces in enumerate(field_pieces(entry.document, entry.anchors)):
            position = 0
            for piece in pieces:
                found = token_forms(piece, entry.document.language)
                self._lengths[number, field] += len(found)
                for forms in found:
                    for form in forms:
                        fields = self._postings[form.term].setdefault(number, {})
                        fields.setdefault(field, []).append(position)
                    position += 1
                position += PIECE_GAP

    # Searching

    def top(self, query: IndexQuery, k: int, *, prior_weight: float = 1.0, order: str = "score") -> TopHits:
        parts = [self._scored(g) for g in (*query.should, *query.must, *(g for c in query.any_of for g in c))]
        numbers = [number for number in range(self.live) if self._matches(query, number)]
        weight = fixed(prior_weight)
        scores = {
            number: sum(part.get(number, 0) for part in parts) + weight * round(255 * self._priors[number])
            for number in numbers
        }
        if order == "date":
            numbers.sort(key=lambda n: (-self._date(n), self._documents[n].key))
        else:
            numbers.sort(key=lambda n: (-scores[n], self._documents[n].key))
        best = numbers[:k]
        return TopHits(
            np.array(best, np.int64), np.array([scores[n] / UNIT for n in best], np.float64), Total(len(numbers))
        )

    def matches(self, query: IndexQuery, number: int) -> bool:
        return self._matches(query, number)

    def _matches(self, query: IndexQuery, number: int) -> bool:
        if not self._admitted(query.filters, number):
            return False
        if any(self._has(group, number) for group in query.must_not):
            return False
        if query.must or query.any_of:
            return all(self._has(group, number) for group in query.must) and all(
                any(self._has(group, number) for group in clause) for clause in query.any_of
            )
        return any(self._has(group, number) for group in query.should)

    def _has(self, group: Group, number: int) -> bool:
        return number in self._occurrences(group)

    def _scored(self, group: Group) -> dict[int, int]:
        best: dict[int, int] = {}
        for weight, found in self._lists(group):
            for number, impact in found.items():
                best[number] = max(best.get(number, 0), weight * impact)
        return best

    def _occurrences(self, group: Group) -> set[int]:
        return {number for _, found in self._lists(group) for number in found}

    def _lists(self, group: Group) -> list[tuple[int, dict[int, int]]]:
        if group.phrase:
            total = sum(idf(self.live, self.frequency(term)) for term in group.phrase)
            return [(fixed(group.weight * total), self._impacts(self._phrase(group.phrase), group.field))]
        if group.prefix:
            terms = [
                term for term in self._postings if term.startswith(group.prefix) and not term.startswith(STEM_MARK)
            ]
            most = max((self.frequency(term) for term in terms), default=0)
            weight = fixed(group.weight * idf(self.live, most))
            return [(weight, self._impacts(self._postings[term], group.field)) for term in terms]
        strong = max((self.frequency(f.term) for f in group.forms if f.share >= STRONG_SHARE), default=0)
        return [
            (
                fixed(group.weight * form.share * idf(self.live, max(strong, self.frequency(form.term)))),
                self._impacts(self._postings.get(form.term, {}), group.field),
            )
            for form in group.forms
        ]

    def _impacts(self, postings: dict[int, dict[int, list[int]]], field: str) -> dict[int, int]:
        found = {}
        for number, fields in postings.items():
            counts = [len(fields.get(f, ())) if not field or FIELDS[f] == field else 0 for f in range(len(FIELDS))]
            if any(counts):
                row = np.array([counts], np.uint32)
                found[number] = int(impacts(self._epoch, row, self._lengths[number : number + 1])[0])
        return found

    def _phrase(self, phrase: tuple[str, ...]) -> dict[int, dict[int, list[int]]]:
        lists = [self._postings.get(term, {}) for term in phrase]
        found: dict[int, dict[int, list[int]]] = {}
        for number in set(lists[0]).intersection(*lists[1:]):
            for field in range(len(FIELDS)):
                starts = set(lists[0][number].get(field, ()))
                for distance, postings in enumerate(lists):
                    starts &= {position - distance for position in postings[number].get(field, ())}
                if starts:
                    found.setdefault(number, {})[field] = sorted(starts)
        return found

    def _date(self, number: int) -> float:
        document = self._documents[number]
        return document.published or document.fetched

    def _admitted(self, filters: Filters, number: int) -> bool:
        document, place = self._documents[number], self._places[number]
        host = place.host.split(":")[0]
        return (
            (not filters.sites or any(s in (host, place.host) or host.endswith(f".{s}") for s in filters.sites))
            and (not filters.languages or document.language in filters.languages)
            and (not filters.types or document.content_type in filters.types)
            and (not filters.before or self._date(number) < filters.before)
            and (not filters.after or self._date(number) >= filters.after)
        )

    # Looking up

    def frequency(self, term: str) -> int:
        return len(self._postings.get(term, ()))

    def prefix(self, text: str, limit: int) -> list[tuple[str, int]]:
        found = [
            (term, len(postings))
            for term, postings in self._postings.items()
            if term.startswith(text) and not term.startswith(STEM_MARK)
        ]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:limit]

    def find(self, key: int) -> int | None:
        return next((number for number, document in enumerate(self._documents) if document.key == key), None)

    def numbers(self) -> NDArray[np.int64]:
        return np.arange(self.live, dtype=np.int64)

    def stored(self, number: int) -> StoredDocument:
        if not 0 <= number < self.live:
            raise NotFound(f"no document {number} in generation {self.generation}")
        document, place = self._documents[number], self._places[number]
        return StoredDocument(
            document.url,
            identifier(document),
            document.title,
            document.description,
            document.text,
            document.headings,
            document.language,
            document.content_type,
            document.published,
            document.fetched,
            place.host,
            place.site,
            document.author,
            document.noarchive,
        )

    def column(self, name: str, numbers: NDArray[np.int64]) -> NDArray[np.float64] | NDArray[np.int64]:
        return np.array([self._cell(name, int(number)) for number in numbers])

    def _cell(self, name: str, number: int) -> float:
        document, place = self._documents[number], self._places[number]
        cells = {
            "key": lambda: document.key,
            "page_key": lambda: place.page_key,
            "host": lambda: self._hosts.index(place.host),
            "site": lambda: self._sites.index(place.site),
            "language": lambda: self._languages.index(document.language),
            "type": lambda: self._types.index(document.content_type),
            "published": lambda: document.published,
            "fetched": lambda: document.fetched,
            "words": lambda: int(self._lengths[number, FIELDS.index("body")]),
            "title_length": lambda: int(self._lengths[number, FIELDS.index("title")]),
            "prior": lambda: round(255 * self._priors[number]) / 255,
        }
        if name not in cells:
            raise NotFound(f"no column {name}; known are {', '.join(cells)}")
        return cells[name]()

    def host_names(self) -> list[str]:
        return self._hosts

    def site_names(self) -> list[str]:
        return self._sites

    def language_names(self) -> list[str]:
        return self._languages

    def type_names(self) -> list[str]:
        return self._types

    def frequencies(self, number: int, terms: Sequence[str]) -> NDArray[np.int64]:
        table = np.zeros((len(terms), len(FIELDS)), np.int64)
        for row, term in enumerate(terms):
            for field, places in self._postings.get(term, {}).get(number, {}).items():
                table[row, field] = len(places)
        return table

    def lengths(self, number: int) -> NDArray[np.int64]:
        return self._lengths[number].astype(np.int64)

    def max_frequency(self, number: int) -> int:
        """The largest frequency of one exact term in the document, all fields together."""
        counts = (
            sum(map(len, postings[number].values()))
            for term, postings in self._postings.items()
            if number in postings and not term.startswith(STEM_MARK)
        )
        return max(counts, default=0)

    def positions(self, number: int, term: str, field: str = "body") -> NDArray[np.int64]:
        found = self._postings.get(term, {}).get(number, {}).get(FIELDS.index(field), [])
        return np.array(found, np.int64)

    def close(self) -> None:
        """Let go of the generation's files."""

    def __enter__(self) -> Snapshot:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
