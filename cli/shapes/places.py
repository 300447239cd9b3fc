"""The shape of ``paths``. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from cli.shapes.shape import Shape


def paths(places: Mapping[str, Path | Sequence[Path]], agents: Mapping[str, Sequence[Path]]) -> Shape:
    """Return the shape of ``paths``: one place or several by name, and the roots of each agent."""
    told: Shape = {
        name: str(place) if isinstance(place, Path) else [str(one) for one in place] for name, place in places.items()
    }
    told["agents"] = {name: [str(root) for root in roots] for name, roots in agents.items()}
    return told
