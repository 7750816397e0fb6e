"""What is offered to people: completions, corrections of queries, pages like a page."""
