"""What is decided without asking anybody: when to ask a host, for which addresses, and what an answer means."""
