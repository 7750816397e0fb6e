-- What a host's pages were worth lately: bodies that were judged, and those of them that became documents of their own.
ALTER TABLE hosts ADD COLUMN judged {int} NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN findable {int} NOT NULL DEFAULT 0;
