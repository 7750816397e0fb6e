-- Machines of a cluster, by the heartbeats of their agents; `leaving` is what is wanted of one: '', 'drain' or 'leave'.
CREATE TABLE nodes (
    id {text} NOT NULL PRIMARY KEY,
    address {text} NOT NULL,
    cores {int} NOT NULL,
    memory {int} NOT NULL,
    folder {text} NOT NULL,
    head {int} NOT NULL,
    process {text} NOT NULL,
    joined {real} NOT NULL,
    seen {real} NOT NULL,
    leaving {text} NOT NULL DEFAULT ''
);

-- Long processes of a cluster, as their keepers report them; who may run one is said by its lease.
CREATE TABLE slots (
    name {text} NOT NULL PRIMARY KEY,
    node {text} NOT NULL,
    state {text} NOT NULL,
    process {int} NOT NULL,
    starts {int} NOT NULL,
    since {real} NOT NULL,
    seen {real} NOT NULL,
    note {text} NOT NULL
);
