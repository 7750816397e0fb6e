"""Scores as whole numbers: ``UNIT`` points are a score of 1.0."""

from __future__ import annotations

FIXED_POINT = 1024
LARGEST_IMPACT = 255
UNIT = FIXED_POINT * LARGEST_IMPACT
PASSAGE = 30  # positions of a body that are one passage
