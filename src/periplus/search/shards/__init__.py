"""The cut: a broker that asks all shards, the records between them, and one shard with its postings and texts."""
