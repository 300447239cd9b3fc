"""Which memory folders Aster's homes have, and in which order they have the say (DESIGN 5).

Pure: roots in, paths out; imports ``persist.sources`` only. Never looks at the disk.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from persist.sources import Root

MEMORY_FOLDER: Final = "memory"
_AGENT: Final = "aster"


def homes_by_rank(roots: Iterable[Root]) -> list[Root]:
    """Return Aster's homes among ``roots``, the one that has the say first; of one rank in the order given."""
    return sorted((root for root in roots if root.agent == _AGENT), key=lambda root: root.rank)


def memory_folders(roots: Iterable[Root]) -> list[Path]:
    """Return the memory folders of :func:`homes_by_rank`, in that order, whether they are there or not."""
    return [home.path / MEMORY_FOLDER for home in homes_by_rank(roots)]
