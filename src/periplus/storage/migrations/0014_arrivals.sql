-- What workers found for hosts of others: an inbox a partition, appended to by anybody, emptied by the partition's
-- worker. A message holds what one commit found for one partition.
CREATE TABLE arrivals (
    id {identity},
    part {int} NOT NULL,
    message {blob} NOT NULL
);
CREATE INDEX arrivals_part ON arrivals (part, id);
