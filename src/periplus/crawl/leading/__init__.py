"""A crawl as a whole: begun or joined, its workers led, those that died healed, a lost state built again."""
