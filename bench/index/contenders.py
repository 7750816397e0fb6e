"""The engines: how each builds its index of the passages, and how it is asked.

Every engine uses its own tokeniser, English Snowball stems and no stop words. A question is prepared first (words cut,
terms looked up, query objects made) and then asked, and only the asking is timed; the kind ``string`` times both. Each
is asked on one thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path  # noqa: TC003
from typing import Any

from bench.index.corpus import PRIORS, Passage

from periplus import addresses
from periplus.records import Document

KINDS = ("any-10", "prior-10", "all-10", "phrase-10", "any-1000", "string-10")
Ask = Callable[[], Any]
FETCHED = 1_700_000_000.0
BATCH = 5_000


class Periplus:
    """Stems alone, as the others have them. The index holds everything that the shipped one does."""

    name = "periplus"
    kinds = KINDS

    def build(self, passages: Iterator[Passage], folder: Path) -> None:
        from periplus.index import IndexStore

        store = IndexStore(folder)
        store.update(self._batches(passages), prior=_periplus_prior)

    def open(self, folder: Path) -> None:
        from periplus.index import Group, IndexQuery, IndexStore
        from periplus.text import TermForm, analyze

        self._snapshot = IndexStore(folder).open()
        self._analyze, self._query, self._group, self._form = analyze, IndexQuery, Group, TermForm

    def prepare(self, kind: str, text: str) -> Ask | None:
        top, k = self._snapshot.top, 1000 if kind == "any-1000" else 10
        weight = 1.0 if kind == "prior-10" else 0.0
        if kind == "string-10":
            return lambda: top(self.query(kind, self._analyze(text, "en")), 10, prior_weight=0.0)
        query = self.query(kind, self._analyze(text, "en"))
        return (lambda: top(query, k, prior_weight=weight)) if query else None

    def query(self, kind: str, tokens: list[Any]) -> Any:
        if kind == "phrase-10":
            terms = tuple(form.term for token in tokens for form in self.forms(token))
            return self._query(must=(self._group(phrase=terms),)) if len(tokens) > 1 else None
        groups = tuple([self._group(forms=self.forms(token)) for token in tokens])
        return self._query(must=groups) if kind == "all-10" else self._query(should=groups)

    def forms(self, token: Any) -> tuple[Any, ...]:
        """The stem of a word, or the word itself when it has none."""
        for form in token.forms:
            if form.term.startswith("~"):
                return (self._form(form.term),)
        return (self._form(token.text),)

    def sizes(self, folder: Path) -> dict[str, int]:
        sizes: dict[str, int] = {}
        for path in (folder / "segments").rglob("*.bin"):
            sizes[path.stem] = sizes.get(path.stem, 0) + path.stat().st_size
        return sizes

    def kinds_of_terms(self, folder: Path) -> dict[str, int]:
        """What stems take, which the others have, too, and what all other forms take."""
        from bench.index.sizes import by_kind

        return by_kind(folder)

    def _batches(self, passages: Iterator[Passage]) -> Iterator[tuple[int, Iterator[Any]]]:
        yield 1, (as_document(passage) for passage in passages)


class PeriplusForms(Periplus):
    """All forms of a word (exact, folded, stem, parts), as the search page asks."""

    name = "periplus, all forms"
    kinds = ("any-10", "prior-10", "all-10", "any-1000", "string-10")

    def forms(self, token: Any) -> tuple[Any, ...]:
        return token.forms


class Tantivy:
    """One field for title and text, which is the quickest for tantivy; positions, stored texts, a fast field."""

    name = "tantivy"
    kinds = KINDS
    field = "all"

    def build(self, passages: Iterator[Passage], folder: Path) -> None:
        import tantivy

        folder.mkdir(parents=True)
        index = tantivy.Index(self._schema(), str(folder))
        writer = index.writer(heap_size=400_000_000, num_threads=1)
        for passage in passages:
            document = tantivy.Document()
            document.add_text("all", f"{passage['title']}\n{passage['text']}")
            document.add_text("url", passage["url"])
            document.add_unsigned("prior", passage["prior"])
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()

    def open(self, folder: Path) -> None:
        import tantivy

        self._index = tantivy.Index.open(str(folder))
        self._searcher = self._index.searcher()
        self._tantivy = tantivy
        builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(tantivy.Filter.lowercase())
        self._analyzer = builder.filter(tantivy.Filter.stemmer("english")).build()

    def prepare(self, kind: str, text: str) -> Ask | None:
        search, parse = self._searcher.search, self._index.parse_query
        if kind == "string-10":
            return lambda: search(parse(text, ["all"]), 10, count=False).hits
        query = self._query(kind, text)
        if query is None:
            return None
        if kind == "prior-10":
            return lambda: search(query, 10, count=False, weight_by_field="prior").hits
        k = 1000 if kind == "any-1000" else 10
        return lambda: search(query, k, count=False).hits

    def sizes(self, folder: Path) -> dict[str, int]:
        names = {"idx": "postings", "pos": "positions", "term": "terms", "store": "texts"}
        sizes: dict[str, int] = {}
        for path in folder.iterdir():
            name = names.get(path.suffix[1:], "columns")
            sizes[name] = sizes.get(name, 0) + path.stat().st_size
        return sizes

    def _query(self, kind: str, text: str) -> Any:
        if kind == "phrase-10":
            words = self._analyzer.analyze(text)
            schema = self._index.schema
            return self._tantivy.Query.phrase_query(schema, "all", words) if len(words) > 1 else None
        return self._index.parse_query(text, ["all"], conjunction_by_default=kind == "all-10")

    @staticmethod
    def _schema() -> Any:
        import tantivy

        builder = tantivy.SchemaBuilder()
        builder.add_text_field("all", stored=True, tokenizer_name="en_stem", index_option="position")
        builder.add_text_field("url", stored=True, tokenizer_name="raw", index_option="basic")
        builder.add_unsigned_field("prior", fast=True)
        return builder.build()


class TantivyFields(Tantivy):
    """What Periplus keeps of a passage: fields apart, columns by which is filtered and sorted. Stems; built only."""

    name = "tantivy, fields"
    words = ("en_stem",)

    def build(self, passages: Iterator[Passage], folder: Path) -> None:
        import tantivy

        folder.mkdir(parents=True)
        writer = tantivy.Index(self._fields(), str(folder)).writer(heap_size=400_000_000, num_threads=1)
        for passage in passages:
            document, url = tantivy.Document(), passage["url"]
            host = url.split("/", 3)[2]
            texts = {"title": passage["title"], "text": passage["text"], "address": url}
            for words in self.words:
                for name, text in texts.items():
                    document.add_text(f"{name} {words}", text)
            for name, value in (("id", passage["id"]), ("host", host), ("site", host), ("url", url)):
                document.add_text(name, value)
            document.add_text("language", "en")
            document.add_text("type", "text/html")
            document.add_integer("key", hash(url))
            document.add_float("published", 0.0)
            document.add_float("fetched", FETCHED)
            document.add_unsigned("prior", passage["prior"])
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()

    def _fields(self) -> Any:
        import tantivy

        builder = tantivy.SchemaBuilder()
        for place, words in enumerate(self.words):
            for name in ("title", "text", "address"):
                stored = not place and name != "address"
                builder.add_text_field(f"{name} {words}", stored=stored, tokenizer_name=words, index_option="position")
        for name in ("host", "site", "language", "type"):
            builder.add_text_field(name, stored=True, fast=True, tokenizer_name="raw", index_option="basic")
        for name in ("id", "url"):
            builder.add_text_field(name, stored=True, tokenizer_name="raw", index_option="basic")
        builder.add_integer_field("key", fast=True)
        builder.add_float_field("published", stored=True, fast=True)
        builder.add_float_field("fetched", stored=True, fast=True)
        builder.add_unsigned_field("prior", fast=True)
        return builder.build()


class TantivyContent(TantivyFields):
    """The same with words as they are written beside their stems: the two forms that every word of ours has."""

    name = "tantivy, content"
    words = ("en_stem", "default")


class Bm25s:
    name = "bm25s"
    kinds = ("any-10", "any-1000", "string-10")

    def build(self, passages: Iterator[Passage], folder: Path) -> None:
        import bm25s

        texts = [f"{passage['title']}\n{passage['text']}" for passage in passages]
        tokens = self._tokenized(texts)
        engine = bm25s.BM25(k1=1.2, b=0.75, backend="numba")
        engine.index(tokens, show_progress=False)
        engine.save(folder)

    def open(self, folder: Path) -> None:
        import bm25s

        self._engine = bm25s.BM25.load(folder, mmap=False)
        self._engine.backend = "numba"
        self._engine.activate_numba_scorer()

    def prepare(self, kind: str, text: str) -> Ask | None:
        k = 1000 if kind == "any-1000" else 10
        if kind == "string-10":
            return lambda: self._retrieve(self._words(text), 10)
        tokens = self._words(text)
        return lambda: self._retrieve(tokens, k)

    def sizes(self, folder: Path) -> dict[str, int]:
        return {"postings": sum(path.stat().st_size for path in folder.iterdir())}

    def _retrieve(self, tokens: list[list[str]], k: int) -> Any:
        return self._engine.retrieve(tokens, k=k, show_progress=False, n_threads=1)

    def _words(self, text: str) -> list[list[str]]:
        import bm25s

        return bm25s.tokenize(text, stopwords=[], stemmer=_stemmer(), return_ids=False, show_progress=False)

    @staticmethod
    def _tokenized(texts: list[str]) -> Any:
        import bm25s

        return bm25s.tokenize(texts, stopwords=[], stemmer=_stemmer(), show_progress=False)


class Pisa:
    """Block-max WAND over SIMD-BP lists, with impacts computed beforehand; no positions, no texts."""

    name = "PISA"
    kinds = ("any-10", "all-10", "any-1000", "string-10")

    def build(self, passages: Iterator[Passage], folder: Path) -> None:
        from pyterrier_pisa import PisaIndex

        index = PisaIndex(str(folder), text_field="text", stemmer="porter2", stops="none", threads=1)
        index.index({"docno": str(number), "text": _plain(passage)} for number, passage in enumerate(passages))

    def open(self, folder: Path) -> None:
        import numpy as np
        from pyterrier_pisa import PisaIndex, _pisathon

        index = PisaIndex(str(folder), stops="none", threads=1)
        self._context = index.bm25(k1=1.2, b=0.75, num_results=10, precompute_impact=True)
        self._call = _pisathon.retrieve
        self._arrays = {
            k: {
                "result_qidxs": np.empty(k, np.int32),
                "result_docnos": np.empty(k, object),
                "result_ranks": np.empty(k, np.int32),
                "result_scores": np.empty(k, np.float32),
            }
            for k in (10, 1000)
        }

    def prepare(self, kind: str, text: str) -> Ask | None:
        k = 1000 if kind == "any-1000" else 10
        algorithm = "block_max_ranked_and" if kind == "all-10" else "block_max_wand"
        arrays, context, call = self._arrays[k], self._context._ctxt, self._call
        question = [(0, text)]
        return lambda: call(
            context, algorithm, question, k=k, threads=1, query_weighted=0, pretokenised=False, **arrays
        )

    def sizes(self, folder: Path) -> dict[str, int]:
        names = {"inv.block_simdbp": "postings", "fwd.termlex": "terms"}
        return {
            names.get(path.name, "other"): path.stat().st_size
            for path in folder.iterdir()
            if path.name in names or path.name.startswith("inv.bmw")
        }


CONTENDERS: dict[str, Any] = {made.name: made for made in (Periplus, PeriplusForms, Tantivy, Bm25s, Pisa)}
BUILDERS = ("periplus", "tantivy", "bm25s", "PISA")
BUILT_ONLY: dict[str, Any] = {made.name: made for made in (TantivyFields, TantivyContent)}


def folder_of(name: str, cache: Path) -> Path:
    return cache / ("periplus" if name.startswith("periplus") else name.lower())


def as_document(passage: Passage) -> Any:
    url = passage["url"]
    return Document(
        url, addresses.key(url), FETCHED, title=passage["title"], text=passage["text"], language="en", id=passage["id"]
    )


def _periplus_prior(pages: Any, hosts: Any) -> Any:
    import numpy as np

    return np.array([PRIORS[page] for page in pages.tolist()]) / 255


def _plain(passage: Passage) -> str:
    return f"{passage['title']} {passage['text']}".replace("\n", " ")


def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


def single_thread() -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "TBB_NUM_THREADS"):
        os.environ[name] = "1"
