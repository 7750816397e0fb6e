"""What operators see of a collection, and what they do to it from its pages."""
