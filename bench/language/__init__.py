"""How often the language of a page is found. Run ``make bench-language``."""
