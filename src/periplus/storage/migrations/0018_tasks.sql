-- Tasks of batch work: what each is made of, what came of it, and who has it until when. One that is done is not done
-- again while its job goes on; one that failed stays listed with its error until its job is run again.
CREATE TABLE tasks (
    id {identity},
    job {text} NOT NULL,
    kind {text} NOT NULL,
    input {text} NOT NULL,
    output {blob},
    state {text} NOT NULL,
    owner {text} NOT NULL DEFAULT '',
    token {int} NOT NULL DEFAULT 0,
    tries {int} NOT NULL DEFAULT 0,
    expires {real} NOT NULL DEFAULT 0,
    error {text} NOT NULL DEFAULT '',
    changed {real} NOT NULL,
    UNIQUE (job, kind, input)
);
