"""tantivy doing the same work: parse the string, search, fetch ten stored documents, make ten snippets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

HEAP = 400_000_000


class Tantivy:
    """Title and text as two fields, both searched and stored; English stems; one thread."""

    def __init__(self, folder: Path, documents: Path) -> None:
        import tantivy

        self._tantivy = tantivy
        builder = tantivy.SchemaBuilder()
        for name in ("title", "body"):
            builder.add_text_field(name, stored=True, tokenizer_name="en_stem", index_option="position")
        builder.add_text_field("url", stored=True, tokenizer_name="raw", index_option="basic")
        self._schema = builder.build()
        if not (folder / "meta.json").exists():
            folder.mkdir(parents=True, exist_ok=True)
            self._build(folder, documents)
        self._index = tantivy.Index.open(str(folder))
        self._searcher = self._index.searcher()

    def _build(self, folder: Path, documents: Path) -> None:
        writer = self._tantivy.Index(self._schema, str(folder)).writer(heap_size=HEAP, num_threads=1)
        with documents.open(encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                document = self._tantivy.Document()
                document.add_text("title", row.get("title", ""))
                document.add_text("body", row.get("text", ""))
                document.add_text("url", row.get("url", ""))
                writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()

    def ask(self, text: str) -> list[tuple[str, str, str, Any]]:
        query, _ = self._index.parse_query_lenient(text, ["title", "body"])
        hits = self._searcher.search(query, 10).hits
        generator = self._tantivy.SnippetGenerator.create(self._searcher, query, self._schema, "body")
        found = []
        for _, address in hits:
            document = self._searcher.doc(address)
            snippet = generator.snippet_from_doc(document)
            marks = [(mark.start, mark.end) for mark in snippet.highlighted()]
            found.append((document.get_first("url"), document.get_first("title"), snippet.fragment(), marks))
        return found
