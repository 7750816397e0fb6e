-- Addresses whose newest row in the log of batches names another one as the page itself: by a redirect, or as canonical.
-- Made from the log by the index step, up to the batch in meta 'aliases.batch', and made again from it when lost.
CREATE TABLE aliases (
    key {int} PRIMARY KEY,
    target {int} NOT NULL,
    target_host {int} NOT NULL,
    is_page {int} NOT NULL,  -- 1: has words of its own, which may stand in for the target's
    body {int} NOT NULL,     -- hash of its bytes
    batch {int} NOT NULL
);
