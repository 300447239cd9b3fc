"""How well a text of a transcript fits a prompt, with what was said around it: pure arithmetic over tokens.

The texts of up to two messages before and after count in part, those before for more: an answer seldom repeats what it
answers. BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) over all of them together, a
little raised where the whole session fits; constants and the window are those that found most in
``docs/decisions.md``. Imports stems only.
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
BEFORE_WEIGHT: Final = 0.3
AFTER_WEIGHT: Final = 0.2
SESSION_SHARE: Final = 0.2
"""How much of a text's score depends on how well its session fits beside the best one."""
BEST_OF_SESSION: Final = (1.0, 0.5)
"""What the best texts of a session count for it."""

_TOKEN = re.compile(r"[^\W_]+")
_SAME_LETTERS: Final = 2
"""Letters at a word's beginning that its stem surely has."""


class Counted(NamedTuple):
    """How often wanted tokens stand in a text, and how many tokens it has."""

    counts: Mapping[str, int]
    length: int


class Around(NamedTuple):
    """What was said before and after a text, as far as it was counted."""

    before: tuple[Counted, ...]
    after: tuple[Counted, ...]

    def both(self) -> tuple[Counted, ...]:
        """Return all of it."""
        return (*self.before, *self.after)

    def share_of(self, token: str) -> float:
        """Return how often a token counts that stands here."""
        return BEFORE_WEIGHT * _count(self.before, token) + AFTER_WEIGHT * _count(self.after, token)


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


def _count(texts: Iterable[Counted], token: str) -> int:
    return sum(text.counts.get(token, 0) for text in texts)


def beginnings_of(tokens: Iterable[str]) -> frozenset[str]:
    """Return how tokens begin."""
    return frozenset(token[:_SAME_LETTERS] for token in tokens)


def rarity(frequency: int, count: int) -> float:
    """Return the weight of a token that stands in ``frequency`` of ``count`` texts, above 0."""
    return math.log(1 + (count - frequency + 0.5) / (frequency + 0.5)) if frequency < count else math.log(1.5)


def scores(own: Sequence[Counted], around: Sequence[Around], weights: Mapping[str, float]) -> list[float]:
    """Return the score of each text, 0 where nothing wanted stands; ``around`` holds what was said around each."""
    lengths = [text.length + sum(one.length for one in near.both()) for text, near in zip(own, around, strict=True)]
    mean = sum(lengths) / len(lengths) if lengths else 0.0
    told = []
    for text, near, length in zip(own, around, lengths, strict=True):
        norm = K1 * (1 - B + B * length / mean) if mean else K1
        score = 0.0
        for token, weight in weights.items():
            count = text.counts.get(token, 0) + near.share_of(token)
            if count:
                score += weight * count * (K1 + 1) / (count + norm)
        told.append(score)
    return told


def raised(told: Sequence[float], sessions: Sequence[int]) -> list[float]:
    """Return the scores with each text's session seen; ``sessions`` says of which one it is."""
    by_session: dict[int, list[float]] = {}
    for score, session in zip(told, sessions, strict=True):
        by_session.setdefault(session, []).append(score)
    fits = {session: session_score(sorted(each, reverse=True)) for session, each in by_session.items()}
    best = max(fits.values(), default=0.0)
    if not best:
        return list(told)
    return [
        score * (1 - SESSION_SHARE + SESSION_SHARE * fits[session] / best)
        for score, session in zip(told, sessions, strict=True)
    ]


def session_score(best: Iterable[float]) -> float:
    """Return the score of a session from those of its texts, the best first."""
    return sum(weight * score for weight, score in zip(BEST_OF_SESSION, best, strict=False))


def folded(text: str) -> str:
    """Return a text in small letters without accents, as the word table's tokenizer takes it."""
    if text.isascii():
        return text.lower()
    return "".join(character for character in normalize("NFKD", text.casefold()) if not combining(character))
