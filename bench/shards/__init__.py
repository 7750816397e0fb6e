"""What shards cost the writer."""
