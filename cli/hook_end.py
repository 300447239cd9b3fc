"""Logs how a prompt hook came to its end, where the process that answered can no longer say so itself.

Loaded before that process is begun: whoever is late may have no time left to load anything. So it must never import
Typer, ``cli.settings`` or anything of ``index``.
"""

from __future__ import annotations

from collections.abc import Sequence

from persist.hook_log import note_trouble
from persist.places import current_places


def log_end(words: Sequence[str], kind: str, message: str) -> None:
    """Log how the hook of this command line ended."""
    note_trouble(current_places(index_of(words)).hook_log, kind, message)


def index_of(words: Sequence[str]) -> str | None:
    """Return what ``--index`` was given, however wrong the other words are: the log lies beside the index."""
    for word, following in zip(words, [*words[1:], None], strict=True):
        if word == "--index":
            return following
        if word.startswith("--index="):
            return word.partition("=")[2]
    return None
