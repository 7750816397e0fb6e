"""What is kept of what was fetched: documents made later or again, old responses, pages taken down or gone."""
