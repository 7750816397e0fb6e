"""How the frontier bears millions of addresses: speed of inserting and selecting, memory."""
