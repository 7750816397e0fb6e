-- What an import was told to read, on each batch that came of it; empty for batches of a crawl.
ALTER TABLE batches ADD COLUMN source {text} NOT NULL DEFAULT '';
