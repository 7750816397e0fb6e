"""Documents become segments, in bounded memory, in this process or by tasks in several."""
