"""Ranking: formulas as pure functions, the evidence they read, and the profiles that put them together."""

from periplus.ranking.evidence import Evidence, FormEvidence
from periplus.ranking.parts import Part, check
from periplus.ranking.places import Places, Sightings
from periplus.ranking.profiles import DEFAULT, PROFILES, Profile, profile
from periplus.ranking.quick import Candidates
from periplus.ranking.references import Ranked

__all__ = [
    "DEFAULT",
    "PROFILES",
    "Candidates",
    "Evidence",
    "FormEvidence",
    "Part",
    "Places",
    "Profile",
    "Ranked",
    "Sightings",
    "check",
    "profile",
]
