-- Generations of the index and of the ranks that are published for all machines, where files are in an object store.
-- manifest is what the room that wrote it opens it by; files names the object of each file, with bytes and checksum.
-- replaced: when a newer one was published, by the database's clock; 0 for the newest.
CREATE TABLE generations (
    kind {text} NOT NULL,
    number {int} NOT NULL,
    manifest {text} NOT NULL,
    files {text} NOT NULL,
    token {int} NOT NULL,
    created {real} NOT NULL,
    replaced {real} NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, number)
);

-- Who needs the objects of a generation for now, by the database's clock.
CREATE TABLE holds (
    kind {text} NOT NULL,
    generation {int} NOT NULL,
    holder {text} NOT NULL,
    until {real} NOT NULL,
    PRIMARY KEY (kind, generation, holder)
);
