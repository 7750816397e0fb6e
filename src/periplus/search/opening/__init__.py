"""The published generation, open for searches: what is known of the whole, what is built in the background, reloads."""
