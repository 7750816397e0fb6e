-- Addresses are found by their host and key: the links of a page lead to few hosts, so what one commit looks up and
-- writes lies on few pages of the index, however large the table is. By key alone only visited ones are found.
ALTER TABLE urls RENAME TO urls_by_key;
DROP INDEX urls_queue;
DROP INDEX urls_revisit;
DROP INDEX urls_body;
DROP INDEX urls_pending;
DROP INDEX urls_refused;
CREATE TABLE urls (
    host {int} NOT NULL,
    key {int} NOT NULL,
    url {text} NOT NULL,
    kind {int} NOT NULL DEFAULT 0,
    depth {int} NOT NULL,
    priority {int} NOT NULL,
    state {int} NOT NULL,
    next_at {real} NOT NULL DEFAULT 0,
    attempts {int} NOT NULL DEFAULT 0,
    reason {text} NOT NULL DEFAULT '',
    detail {text} NOT NULL DEFAULT '',
    status {int} NOT NULL DEFAULT 0,
    parent {int} NOT NULL DEFAULT 0,
    hops {int} NOT NULL DEFAULT 0,
    chain {text} NOT NULL DEFAULT '',
    found_at {real} NOT NULL DEFAULT 0,
    tried_at {real} NOT NULL DEFAULT 0,
    fetched_at {real} NOT NULL DEFAULT 0,
    etag {text} NOT NULL DEFAULT '',
    last_modified {text} NOT NULL DEFAULT '',
    body_hash {int} NOT NULL DEFAULT 0,
    fingerprint {int} NOT NULL DEFAULT 0,
    file {text} NOT NULL DEFAULT '',
    place {int} NOT NULL DEFAULT 0,
    length {int} NOT NULL DEFAULT 0,
    visits {int} NOT NULL DEFAULT 0,
    changes {int} NOT NULL DEFAULT 0,
    missing {int} NOT NULL DEFAULT 0,
    refusal {text} NOT NULL DEFAULT '',
    same_as {int} NOT NULL DEFAULT 0,
    pending {int} NOT NULL DEFAULT 0,
    batch {int} NOT NULL DEFAULT 0,
    PRIMARY KEY (host, key)
);
INSERT INTO urls (
    host, key, url, kind, depth, priority, state, next_at, attempts, reason, detail, status, parent, hops, chain,
    found_at, tried_at, fetched_at, etag, last_modified, body_hash, fingerprint, file, place, length, visits, changes,
    missing, refusal, same_as, pending, batch
) SELECT
    host, key, url, kind, depth, priority, state, next_at, attempts, reason, detail, status, parent, hops, chain,
    found_at, tried_at, fetched_at, etag, last_modified, body_hash, fingerprint, file, place, length, visits, changes,
    missing, refusal, same_as, pending, batch
FROM urls_by_key ORDER BY host, key;
DROP TABLE urls_by_key;
CREATE INDEX urls_queue ON urls (host, priority) WHERE state = 0;
CREATE INDEX urls_revisit ON urls (host, next_at) WHERE state > 0;
CREATE INDEX urls_visited ON urls (key) WHERE state > 0;
CREATE INDEX urls_body ON urls (body_hash) WHERE body_hash <> 0;
CREATE INDEX urls_pending ON urls (key) WHERE pending = 1;
CREATE INDEX urls_refused ON urls (reason) WHERE state = 3;
