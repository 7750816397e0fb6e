"""A voyage over a generated web: crawled, parsed, indexed, ranked and searched, with what each step took."""
