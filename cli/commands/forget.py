"""``asx forget``: the short name of ``asx memory remove``."""

from __future__ import annotations

from typing import Final

from cli.commands.memory_remove import command

__all__ = ["EXAMPLES", "command"]

EXAMPLES: Final = ("asx forget deploy-window", "asx forget 'Deploy window'")
