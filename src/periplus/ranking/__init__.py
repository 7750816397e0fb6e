"""Ranking: formulas as pure functions, the evidence they read, and the profiles that put them together."""

from periplus.ranking.evidence import Evidence, FormEvidence
from periplus.ranking.parts import Part
from periplus.ranking.profiles import DEFAULT, PROFILES, Profile, profile
from periplus.ranking.references import Ranked
from periplus.ranking.word_places import Sightings, WordPlaces

__all__ = [
    "DEFAULT",
    "PROFILES",
    "Evidence",
    "FormEvidence",
    "Part",
    "Profile",
    "Ranked",
    "Sightings",
    "WordPlaces",
    "profile",
]
