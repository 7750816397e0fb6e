"""How many searches a server answers over HTTP, and how quickly. Run ``make bench-serve``."""
