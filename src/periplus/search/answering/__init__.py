"""From a request to its answer: the engine, one search, the page of results, and why a page has its score."""
