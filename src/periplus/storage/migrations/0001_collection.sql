-- What every collection has, whichever rooms use it.

-- Facts about the collection itself: its id, format version, time of creation …
CREATE TABLE meta (
    key {text} PRIMARY KEY,
    value {text} NOT NULL
);

-- Numbers handed out in commit order (Transaction.next_number).
CREATE TABLE counters (
    name {text} PRIMARY KEY,
    value {int} NOT NULL
);

-- Who owns a thing until when; the token grows with every new owner and fences off late writes of the old one.
-- A released lease keeps its row, so that tokens never repeat.
CREATE TABLE leases (
    name {text} PRIMARY KEY,
    owner {text} NOT NULL,
    token {int} NOT NULL,
    expires {real} NOT NULL
);

-- The log of batches of documents and links; the number names their files.
CREATE TABLE batches (
    number {int} PRIMARY KEY,
    documents {int} NOT NULL,
    links {int} NOT NULL,
    created {real} NOT NULL
);

-- What an operator asked of running processes: pause, resume, stop …
CREATE TABLE control (
    name {text} PRIMARY KEY,
    value {text} NOT NULL,
    at {real} NOT NULL
);

-- Things an operator should know, newest last.
CREATE TABLE events (
    id {identity},
    at {real} NOT NULL,
    room {text} NOT NULL,
    level {text} NOT NULL,
    text {text} NOT NULL
);
CREATE INDEX events_at ON events (at);
