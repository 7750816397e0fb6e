"""A collection over HTTP: its pages, its tools for agents, and the shard servers that search it."""
