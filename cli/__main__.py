"""Runs the command line as ``python -m cli``; ``asx`` and ``aster-index`` begin here too."""

import sys
from typing import Final

_INTERRUPTED: Final = 130
"""``cli.exits.INTERRUPTED``, which cannot be imported before it is needed."""


def run() -> int:
    """Run ``asx`` and return its exit code; an interrupt while it is still loading ends as quietly as later."""
    try:
        from cli.app import main

        return main()
    except KeyboardInterrupt:
        sys.stderr.write("asx: interrupted\n")
        return _INTERRUPTED


if __name__ == "__main__":
    raise SystemExit(run())
