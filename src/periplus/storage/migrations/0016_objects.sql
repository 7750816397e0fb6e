-- On many machines files are objects of one store. The two files of a batch: name, bytes and checksum as JSON; empty
-- where they are numbered files of the collection's folder.
ALTER TABLE batches ADD COLUMN documents_file {text} NOT NULL DEFAULT '';
ALTER TABLE batches ADD COLUMN links_file {text} NOT NULL DEFAULT '';

-- The archive files of a collection on many machines, by the name that places of records give them, and the object that
-- has the content of each now: name, bytes and checksum as JSON. A takedown puts another object in its place. Up to
-- where the state knows its records, who wrote it, and the keys of the hosts whose records it holds (8 bytes each; empty
-- where they are not known).
CREATE TABLE archive_parts (
    name {text} PRIMARY KEY,
    file {text} NOT NULL,
    bytes {int} NOT NULL,
    settled {int} NOT NULL,
    worker {int} NOT NULL,
    hosts {blob} NOT NULL
) {clustered};
CREATE INDEX archive_parts_unsettled ON archive_parts (worker) WHERE settled < bytes;

-- Objects that no row names any more and that are to be removed, and since when.
CREATE TABLE retired_objects (
    name {text} PRIMARY KEY,
    at {real} NOT NULL
) {clustered};
