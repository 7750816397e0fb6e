"""One worker: its loop over hosts, each visit and request, and the group commits that write down what came."""
