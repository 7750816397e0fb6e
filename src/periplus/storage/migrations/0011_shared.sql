-- What several servers of one collection share. A number in counters (shared.keys …) rises with every change, so that
-- a look at a few numbers tells whether there is anything to read.

-- Keys that programs show to the API: of each only its digest.
CREATE TABLE api_keys (
    name {text} PRIMARY KEY,
    digest {text} NOT NULL,
    scopes {text} NOT NULL, -- with spaces between them
    created {real} NOT NULL
);

-- Queries that several people asked, with how often; nothing of who asked.
CREATE TABLE past_queries (
    query {text} PRIMARY KEY,
    asked {int} NOT NULL
);

-- Files of the operator as they were when one of them was last changed on some machine.
CREATE TABLE published (
    name {text} PRIMARY KEY,
    content {text} NOT NULL,
    changed {real} NOT NULL
);

-- Hosts and addresses that the operator hides; blocked.json in each folder is a copy.
CREATE TABLE blocked (
    target {text} PRIMARY KEY,
    since {real} NOT NULL
);

-- How well a document answers a query, by the operator.
CREATE TABLE judgements (
    query {text} NOT NULL,
    document {text} NOT NULL,
    grade {int} NOT NULL,
    PRIMARY KEY (query, document)
);
