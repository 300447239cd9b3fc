"""``asx remember``: the short name of ``asx memory add``."""

from __future__ import annotations

from typing import Final

from cli.commands.memory_add import MISSING, command

__all__ = ["EXAMPLES", "MISSING", "command"]

EXAMPLES: Final = (
    "asx remember 'Deploys leave from the main branch only'",
    "asx remember --title 'Deploy window' 'Tuesday to Thursday before 15:00 UTC.'",
    "asx remember --title 'Pool size' --alias 'too many clients already' 'Raise max_connections to 200.'",
)
