"""One HTTP request and its bounds: where it may go, how it is sent, how much may come back, how fast."""
