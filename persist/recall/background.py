"""How common a word is in technical English, as a prior for stores that are too small to tell.

Pure but for reading its own table once. The counts stand for ``PSEUDO_DOCUMENTS`` candidates more than there are: with
two blocks in a store every word is in half of them or in none, and nothing could be told from that.
"""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path
from typing import Final

PATH: Final = Path(__file__).with_name("background_words.txt")
"""First the number of paragraphs, then a line for each count with its words; ``bench/background.py`` makes it."""
PSEUDO_DOCUMENTS: Final = 200


@lru_cache(maxsize=1)
def background() -> dict[str, float]:
    """Return in how many of ``PSEUDO_DOCUMENTS`` each known word stands; one that is missing is rare or unknown."""
    head, *lines = PATH.read_text(encoding="ascii").splitlines()
    share = PSEUDO_DOCUMENTS / int(head)
    table: dict[str, float] = {}
    for line in lines:
        count, *words = line.split(" ")
        table.update(dict.fromkeys(words, int(count) * share))
    return table


def idf(word: str, frequency: int, count: int) -> float:
    """Return the weight of a word that stands in ``frequency`` of ``count`` candidates: more than 0, rarer is more."""
    holding = frequency + background().get(word, 0.0)
    return math.log(1 + (count + PSEUDO_DOCUMENTS - holding + 0.5) / (holding + 0.5))
