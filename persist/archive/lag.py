"""Which originals their copies do not hold as they are: one rule for what is copied and for what is told of it.

Reads the names in the archive's folders; opens no file and looks at no copy.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from persist.archive.catalogue import Catalogue
from persist.archive.names import folder_of_copies
from persist.sources import Stat


class Lag(NamedTuple):
    """Paths of originals: those without a copy, and those whose copy is of an earlier fingerprint or of none."""

    missing: frozenset[str]
    older: frozenset[str]


def lag(archive: Path, agent: str, catalogue: Catalogue, there: Mapping[str, Stat]) -> Lag:
    """Compare an agent's originals that are there with the catalogue, and that with the names in the archive.

    Cost: linear in the catalogue; one list of names for each of its folders.
    """
    known = catalogue.stats()
    gone = without_file(archive, agent, catalogue)
    missing = (there.keys() - known.keys()) | (there.keys() & gone)
    if there.items() <= known.items():
        return Lag(frozenset(missing), frozenset())
    older = frozenset(path for path, stat in there.items() if path not in missing and known[path] != stat)
    return Lag(frozenset(missing), older)


def without_file(archive: Path, agent: str, catalogue: Catalogue) -> set[str]:
    """Return the paths in the catalogue that have no living copy: closed, moved along, or removed by somebody.

    Cost: the names in the archive.
    """
    gone: set[str] = set()
    for folder, kept in catalogue.folders.items():
        try:
            names = os.listdir(folder_of_copies(archive, agent, folder))  # noqa: PTH208 - names alone are wanted
        except OSError:
            names = []
        lacking = kept.copies.keys() - names
        gone.update(f"{folder}/{name}" for name in lacking)
    return gone
