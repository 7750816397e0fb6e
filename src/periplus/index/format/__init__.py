"""What lies on the disk: the parts of a segment, each with its writer and its reader, and what a generation names."""
