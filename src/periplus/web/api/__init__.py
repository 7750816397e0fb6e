"""What programs ask: the table of operations, answers to it, its descriptions, feeds, and tools for agents."""
