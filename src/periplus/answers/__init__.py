"""Instant answers: what can be computed of a query, without an index and without asking anybody."""

from periplus.answers.answering import Answerer
from periplus.answers.currencies import read_rates

__all__ = ["Answerer", "read_rates"]
