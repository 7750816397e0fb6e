"""Shard servers and the broker's way to them. Nothing of the embedded default imports this room."""
