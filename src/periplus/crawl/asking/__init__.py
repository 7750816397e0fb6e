"""What others ask of a crawl and tell it: its state, commands, settings, one address, one host."""
