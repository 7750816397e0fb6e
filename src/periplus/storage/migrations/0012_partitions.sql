-- Which worker has a partition of the frontier, 0 for none; there are as many partitions as rows, made by the first
-- crawl. A worker has one lease for all of them: who takes that over frees its partitions.
CREATE TABLE partitions (
    part {int} PRIMARY KEY,
    worker {int} NOT NULL DEFAULT 0
);
CREATE INDEX partitions_worker ON partitions (worker);
DELETE FROM leases WHERE name LIKE 'crawl.part.%';

-- By which the machine that runs a worker can tell that it is dead: boot, process and when it began.
ALTER TABLE workers ADD COLUMN process {text} NOT NULL DEFAULT '';
