"""Every constant of the gate and the order, in one place; ``docs/recall.md`` tells how they were chosen.

Pure data; imports nothing of ours.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Tuning(NamedTuple):
    """The constants. Weights are multiples of a word's rarity (``background.idf``), which is about 6 at most."""

    light: float = 0.2
    """What a light word weighs (``small_words.light_words``), and a file's ending."""
    number: float = 0.5
    """What a word of digits alone weighs."""
    pair: float = 0.5
    """What a pair of characters weighs, of a script without blanks: a word of it gives several."""
    repaired: float = 0.8
    """What a word weighs that was read as another one."""

    k1: float = 1.2
    """BM25's: how soon another occurrence of a word adds nothing more to the score."""
    b: float = 0.4
    """BM25's: how far a field that is longer than usual makes an occurrence in it worth less."""
    name: float = 3.0
    """What an occurrence in each field is worth for the score, as the three below."""
    description: float = 2.0
    body: float = 1.0
    alias: float = 2.0

    window: int = 24
    """Units of a prompt that count as standing together."""
    body_share: float = 0.5
    """What a match in the body alone is worth as evidence; one in name or description is worth all."""
    brief_words: int = 40
    """A fact of so many words or fewer is a description of itself: each match in it is worth all."""
    coverage_floor: float = 0.6
    """Evidence is multiplied by this and by the coverage's share of the rest."""
    coverage_words: int = 6
    """Coverage is of so many of the prompt's heaviest words: a long prompt says much beside the point."""
    evidence: float = 2.95
    """The least evidence that admits."""
    head: float = 3.0
    """The weight matched in name and description that admits with a single word."""
    all_of_it: float = 0.9
    """The coverage that admits with a single word that tells, beside light ones, wherever they stand."""
    relative: float = 0.4
    """The least score, as a share of the best one."""
    alone: float = 0.75
    """The least evidence of a match of one word, as a share of the most that any candidate has."""
    dominated: float = 5.0
    """The least evidence of one that has only what a better one has too."""

    recency_floor: float = 0.75
    """What age leaves of a score at the least."""
    half_life_days: float = 30.0
    harmful: float = 0.7
    """What a last mark of harm leaves of a score: less than any age does, so that the note sinks below its equals."""
    helpful: float = 1.1
    """What a last mark of help makes of it."""


TUNING: Final = Tuning()
