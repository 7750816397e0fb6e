-- Which address gave a body first and counts as the page itself; others that give it are its copies. One row a body,
-- so that of two workers only one can be first. A row whose address has another body by now is free to be taken.
CREATE TABLE bodies (
    body_hash {int} PRIMARY KEY,
    host {int} NOT NULL,
    key {int} NOT NULL
) {clustered};
INSERT INTO bodies (body_hash, host, key) SELECT body_hash, host, key FROM (
    SELECT body_hash, host, key,
        ROW_NUMBER() OVER (PARTITION BY body_hash
            ORDER BY CASE refusal WHEN '' THEN 0 WHEN 'duplicate' THEN 2 ELSE 1 END, found_at, key) AS place
    FROM urls WHERE body_hash <> 0 AND state = 1 AND same_as = 0
) AS firsts WHERE place = 1;
DROP INDEX urls_body;
