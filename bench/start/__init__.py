"""How long a person waits for a command, and how much memory a server holds."""
