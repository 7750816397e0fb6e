-- When it was last looked at what an archive file holds, and the places of responses that were superseded then: what
-- still is at the next look goes. One row a file that is old enough to be looked at.
CREATE TABLE archive_looks (
    file {text} PRIMARY KEY,
    at {real} NOT NULL,
    superseded {blob} NOT NULL
);
