"""Draws values for records that no program wrote: any JSON, and mostly what a key usually holds. Pure."""

from __future__ import annotations

import math
from random import Random
from typing import Any


def junk(random: Random, depth: int = 0) -> Any:
    """Return any JSON value, odd numbers among them."""
    plain = [None, True, False, 0, -1, 2**70, 1.5, math.inf, math.nan, "", "word", "\x00", "\ufffd"]
    if depth > 2 or random.random() < 0.7:
        return random.choice(plain)
    if random.random() < 0.5:
        return [junk(random, depth + 1) for _ in range(random.randrange(3))]
    return {random.choice(["type", "text", "content", "id", "k"]): junk(random, depth + 1) for _ in range(2)}


def mostly(random: Random, choices: list[Any]) -> Any:
    return random.choice(choices) if random.random() < 0.85 else junk(random)


def some(random: Random, keys: dict[str, list[Any]], share: float) -> dict[str, Any]:
    return {key: mostly(random, choices) for key, choices in keys.items() if random.random() < share}
