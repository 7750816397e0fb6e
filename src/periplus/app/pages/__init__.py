"""What a collection knows of one page, one picture or one site."""
