"""How well a text of a transcript fits a prompt, with what was said around it: pure arithmetic over tokens.

The texts of up to two messages before and after count for a quarter: an answer seldom repeats what it answers. BM25
(Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) over the two together; constants and the window
are those that found most in ``docs/decisions.md``. Imports stems only.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple
from unicodedata import combining, normalize

from persist.recall.stems import stem

K1: Final = 0.9
B: Final = 0.4
AROUND: Final = 2
"""Messages before and after a text that count with it."""
AROUND_WEIGHT: Final = 0.25
BEST_OF_SESSION: Final = (1.0, 0.5, 0.25)
"""What the best texts of a session count for it."""

_TOKEN = re.compile(r"[^\W_]+")
_SAME_LETTERS: Final = 2
"""Letters at a word's beginning that its stem surely has."""


class Counted(NamedTuple):
    """How often wanted tokens stand in a text, and how many tokens it has."""

    counts: Mapping[str, int]
    length: int


def count_tokens(text: str, wanted: frozenset[str], beginnings: frozenset[str]) -> Counted:
    """Count the tokens of ``wanted``, which are stems; ``beginnings`` are :func:`beginnings_of` them.

    A token is what the index's word table takes for one: folded, without accents, stemmed.
    """
    tokens = _TOKEN.findall(folded(text))
    counts: dict[str, int] = {}
    for token in tokens:
        if token[:_SAME_LETTERS] in beginnings:
            found = stem(token)
            if found in wanted:
                counts[found] = counts.get(found, 0) + 1
    return Counted(counts, len(tokens))


def beginnings_of(tokens: Iterable[str]) -> frozenset[str]:
    """Return how tokens begin."""
    return frozenset(token[:_SAME_LETTERS] for token in tokens)


def rarity(frequency: int, count: int) -> float:
    """Return the weight of a token that stands in ``frequency`` of ``count`` texts, above 0."""
    return math.log(1 + (count - frequency + 0.5) / (frequency + 0.5)) if frequency < count else math.log(1.5)


def scores(own: Sequence[Counted], around: Sequence[Sequence[Counted]], weights: Mapping[str, float]) -> list[float]:
    """Return the score of each text, 0 where nothing wanted stands; ``around`` holds what was said around each."""
    lengths = [text.length + sum(one.length for one in near) for text, near in zip(own, around, strict=True)]
    mean = sum(lengths) / len(lengths) if lengths else 0.0
    told = []
    for text, near, length in zip(own, around, lengths, strict=True):
        norm = K1 * (1 - B + B * length / mean) if mean else K1
        score = 0.0
        for token, weight in weights.items():
            count = text.counts.get(token, 0) + AROUND_WEIGHT * sum(one.counts.get(token, 0) for one in near)
            if count:
                score += weight * count * (K1 + 1) / (count + norm)
        told.append(score)
    return told


def session_score(best: Iterable[float]) -> float:
    """Return the score of a session from those of its texts, the best first."""
    return sum(weight * score for weight, score in zip(BEST_OF_SESSION, best, strict=False))


def folded(text: str) -> str:
    """Return a text in small letters without accents, as the word table's tokenizer takes it."""
    if text.isascii():
        return text.lower()
    return "".join(character for character in normalize("NFKD", text.casefold()) if not combining(character))
