"""From pages to a searchable generation, and an index that is searched while it grows."""
