"""What every shape is, and the one piece that several have in common. Pure; standard library only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

Shape: TypeAlias = dict[str, Any]
"""A JSON object, its keys in the order in which they are printed."""


def paths_and_reasons(pairs: Iterable[tuple[str, str]]) -> list[Shape]:
    """Return pairs of a path and a sentence as JSON has them."""
    return [{"path": path, "why": why} for path, why in pairs]
