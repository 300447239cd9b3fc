"""How well a text fits a literal query or a pattern: pure arithmetic.

BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) with the query as its only term: the term's
rarity is the same for every hit and falls out, so that what counts is how often a text holds the query, for its length.
"""

from __future__ import annotations

from typing import Final

SATURATION: Final = 1.2
LENGTH_WEIGHT: Final = 0.75
AVERAGE_CHARACTERS: Final = 600
"""The length that counts as usual; a constant, so that a hit's score does not depend on what else is indexed."""


def score_of(occurrences: int, length_characters: int) -> float:
    """Return the score, above 0 and below ``SATURATION`` + 1; higher is better."""
    length = 1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length_characters / AVERAGE_CHARACTERS
    return round(occurrences * (SATURATION + 1) / (occurrences + SATURATION * length), 6)
