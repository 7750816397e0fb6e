"""What a ``Collection`` is made of, and what its methods hand on to. Here it is known by its type alone."""
