-- What an operator wants of a shard server ('drain', or nothing); it reads that when it reports itself.
ALTER TABLE servers ADD COLUMN wanted {text} NOT NULL DEFAULT '';
