"""What a request says: who asks, from where, by which address of ours, for what, and whether they may."""
