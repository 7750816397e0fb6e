-- What a crawl remembers: hosts, addresses, robots files, the journal of requests.

-- One row a host. next_at is the earliest time at which it has something to do (its queue and its politeness both
-- considered), so that the hosts to visit next are one index range.
CREATE TABLE hosts (
    key {int} PRIMARY KEY,
    name {text} NOT NULL,
    site {text} NOT NULL,
    part {int} NOT NULL,
    level {int} NOT NULL,
    rank {real} NOT NULL DEFAULT 0,
    active {int} NOT NULL DEFAULT 0,
    activated_at {real} NOT NULL DEFAULT 0,
    ready_at {real} NOT NULL DEFAULT 0,
    next_at {real} NOT NULL,
    last_at {real} NOT NULL DEFAULT 0,
    delay {real} NOT NULL DEFAULT 0,
    failures {int} NOT NULL DEFAULT 0,
    reason {text} NOT NULL DEFAULT '',
    ip {text} NOT NULL DEFAULT '',
    queued {int} NOT NULL DEFAULT 0,
    pages {int} NOT NULL DEFAULT 0,
    requests {int} NOT NULL DEFAULT 0
);
CREATE INDEX hosts_next ON hosts (level, next_at) WHERE active = 0;
CREATE INDEX hosts_active ON hosts (key) WHERE active = 1;

-- One row an address. state: 0 queued, 1 fetched, 2 failed, 3 refused; the last three have a next visit in next_at.
-- kind: 0 page, 1 sitemap, 2 feed.
-- pending is 1 while its newest document is in no batch yet. BIGINT instead of a row number as key: rows are appended.
CREATE TABLE urls (
    key BIGINT PRIMARY KEY,
    url {text} NOT NULL,
    host {int} NOT NULL,
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
    batch {int} NOT NULL DEFAULT 0
);
CREATE INDEX urls_queue ON urls (host, priority) WHERE state = 0;
CREATE INDEX urls_revisit ON urls (host, next_at) WHERE state > 0;
CREATE INDEX urls_body ON urls (body_hash) WHERE body_hash <> 0;
CREATE INDEX urls_pending ON urls (key) WHERE pending = 1;
CREATE INDEX urls_refused ON urls (reason) WHERE state = 3;

-- Where the crawl began; scope is measured from here.
CREATE TABLE seeds (
    key BIGINT PRIMARY KEY,
    url {text} NOT NULL,
    added_at {real} NOT NULL
);

-- The robots.txt of an origin (scheme and host) as it was read.
CREATE TABLE robots (
    origin {text} PRIMARY KEY,
    host {int} NOT NULL,
    fetched_at {real} NOT NULL,
    expires_at {real} NOT NULL,
    status {int} NOT NULL,
    reason {text} NOT NULL,
    body {text} NOT NULL
);
CREATE INDEX robots_host ON robots (host);

-- Every request: when, to whom, which rule allowed it, the gap kept since the end of the last one, the delay that was
-- in force, how it ended, and the time before which the host must not be asked again.
CREATE TABLE journal (
    id {identity},
    at {real} NOT NULL,
    host {text} NOT NULL,
    ip {text} NOT NULL,
    exempt {int} NOT NULL,
    url {text} NOT NULL,
    rule {text} NOT NULL,
    gap {real} NOT NULL,
    delay {real} NOT NULL,
    ip_delay {real} NOT NULL,
    outcome {text} NOT NULL,
    status {int} NOT NULL,
    bytes {int} NOT NULL,
    ms {real} NOT NULL,
    not_before {real} NOT NULL
);
CREATE INDEX journal_host ON journal (host, at);
CREATE INDEX journal_ip ON journal (ip, at) WHERE exempt = 0;

-- How far each archive file is part of the committed state; what lies behind is replayed on the next start.
CREATE TABLE archive_marks (
    file {text} PRIMARY KEY,
    place {int} NOT NULL
);

-- Path patterns of hosts that turned out to be traps.
CREATE TABLE closed_patterns (
    host {int} NOT NULL,
    pattern {text} NOT NULL,
    reason {text} NOT NULL,
    at {real} NOT NULL,
    PRIMARY KEY (host, pattern)
);

-- What was taken down: an address, or a host with everything on it. The frontier refuses it for good.
CREATE TABLE removed (
    target {text} PRIMARY KEY,
    at {real} NOT NULL
);

-- One row a crawl, with its newest counters as JSON.
CREATE TABLE crawls (
    id {identity},
    started {real} NOT NULL,
    ended {real} NOT NULL DEFAULT 0,
    state {text} NOT NULL,
    status {text} NOT NULL,
    at {real} NOT NULL
);
