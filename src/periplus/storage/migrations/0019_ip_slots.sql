-- Up to when each slot of IP addresses is reserved; windows of workers, on whichever machines, follow one another.
CREATE TABLE ip_slots (
    slot {int} PRIMARY KEY,
    free_at {real} NOT NULL
) {clustered};
