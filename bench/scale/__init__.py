"""How building, memory and search grow with the corpus."""
