"""Many machines; see this room's README for what it will hold."""
