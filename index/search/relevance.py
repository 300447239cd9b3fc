"""How well a text fits what was looked for, by how often it holds that and how long it is: pure arithmetic.

BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) without the rarity of a term. Where the
query is the only term, that is the same for every hit and falls out.
"""

from __future__ import annotations

from typing import Final

from index.fields import SUMMARY

SATURATION: Final = 1.2
LENGTH_WEIGHT: Final = 0.75
_SUMMED_UP: Final = 2.0
USUAL_CHARACTERS: Final = 600
"""The length that counts as usual; a constant, so that a hit's score does not depend on what else is indexed."""


def score_of(occurrences: int, length_characters: int) -> float:
    """Return the score of a literal query or a pattern, above 0 and below ``SATURATION`` + 1; higher is better."""
    return round(weight_of(occurrences, length_characters, USUAL_CHARACTERS), 6)


def standing(field: int, *, as_typed: bool = True) -> float:
    """Return what a text's rank begins with: what was said before what sums it up, as typed before the same words."""
    return float(as_typed) - (_SUMMED_UP if field == SUMMARY else 0.0)


def weight_of(occurrences: int, length_characters: int, usual_characters: int) -> float:
    """Return what one term adds to a text's rank, above 0 and below ``SATURATION`` + 1; more is better."""
    length = 1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length_characters / usual_characters
    return occurrences * (SATURATION + 1) / (occurrences + SATURATION * length)
