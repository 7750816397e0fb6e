"""How good the orderings are: every profile on every judged set, and the learning of our weights."""
