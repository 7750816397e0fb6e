"""The index beside tantivy, bm25s and PISA."""
