"""How an answer becomes a page: templates and what they are filled with, languages, looks, errors in words."""
