"""Asks a person before something is destroyed, and refuses where there is nobody to ask.

The question goes to stderr, since stdout is data.
"""

from __future__ import annotations

import sys

import typer

from cli import output
from persist.errors import RefusedError


def is_agreed(question: str, *, yes: bool, what: str) -> bool:
    """Return whether ``yes`` was given or the person says so. ``what`` names the deed where nobody can be asked.

    Raises ``RefusedError`` where neither stdin nor stderr is a person's terminal, and ``typer.Abort`` for Ctrl-C.
    """
    if yes:
        return True
    if not (output.is_terminal(sys.stdin) and output.is_terminal(sys.stderr)):
        raise RefusedError(f"{what} needs a yes, and there is no terminal to ask on", "say it beforehand with --yes")
    return typer.confirm(output.safe(question), default=False, err=True)
