"""From batches to a published generation: the store, sessions of its one writer, due merges, files that are kept."""
