"""PageRank of Periplus against the libraries that people use for it."""
