"""What a visitor sees: the search page with its list and panels, pages about one page or site, preferences."""
