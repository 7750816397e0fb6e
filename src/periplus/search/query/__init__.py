"""What was typed, and how it is read: the language of queries, words of queries and of the collection, and the plan."""
