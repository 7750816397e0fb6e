-- Several workers share one frontier: hosts belong to partitions, partitions are leased.

-- active is 0, or the number of the worker that has the host. part is 0 to 63, so that a worker can ask each of its
-- partitions for the host that is due first.
DROP INDEX hosts_next;
DROP INDEX hosts_active;
UPDATE hosts SET part = part % 64;
CREATE INDEX hosts_next ON hosts (part, level, next_at) WHERE active = 0;
CREATE INDEX hosts_active ON hosts (active) WHERE active > 0;

-- How many other sites are known to link to a host; its page budget grows with them.
ALTER TABLE hosts ADD COLUMN linked {int} NOT NULL DEFAULT 0;
CREATE TABLE site_links (
    host {int} NOT NULL,
    site {int} NOT NULL,
    PRIMARY KEY (host, site)
) {clustered};

-- One row a worker of the newest crawl: its newest figures and what its slots are doing, as JSON. places: how many new
-- pages it may still fetch, out of the crawl's.
CREATE TABLE workers (
    number {int} PRIMARY KEY,
    address {text} NOT NULL,
    state {text} NOT NULL,
    started {real} NOT NULL,
    at {real} NOT NULL,
    places {int} NOT NULL DEFAULT 0,
    figures {text} NOT NULL DEFAULT '{}',
    slots {text} NOT NULL DEFAULT '[]'
);

-- New pages that a crawl may still fetch and that no worker has yet.
ALTER TABLE crawls ADD COLUMN places {int} NOT NULL DEFAULT 0;

-- Hosts that another worker needs for one request (a robots.txt that redirects there).
CREATE TABLE wanted_hosts (
    host {int} NOT NULL,
    worker {int} NOT NULL,
    PRIMARY KEY (host, worker)
);
