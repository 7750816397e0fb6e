"""A collection for other programs: its index as CIFF, its archive as WARC, all of it as tables of PostgreSQL."""
