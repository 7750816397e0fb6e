"""Spelling and completion, measured alone."""
