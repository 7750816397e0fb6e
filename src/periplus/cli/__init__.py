"""The command line: one file a verb, wired in ``verbs.py``; ``main`` is what ``periplus`` runs."""

from periplus.cli.main import main

__all__ = ["main"]
