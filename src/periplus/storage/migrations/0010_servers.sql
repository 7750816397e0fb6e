-- Shard servers, as they report themselves: which shard, where, the newest generation that it is ready with.
CREATE TABLE servers (
    shard {int} NOT NULL,
    address {text} NOT NULL,
    generation {int} NOT NULL,
    documents {int} NOT NULL,
    load {int} NOT NULL,
    seen {real} NOT NULL,
    PRIMARY KEY (shard, address)
);
