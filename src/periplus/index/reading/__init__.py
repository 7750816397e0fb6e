"""A published generation as readers have it open: its documents, and what is known of all of them together."""
