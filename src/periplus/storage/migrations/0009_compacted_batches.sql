-- A compacted batch holds what is left of the batches first to number; 0 for one as it was appended.
ALTER TABLE batches ADD COLUMN first {int} NOT NULL DEFAULT 0;
