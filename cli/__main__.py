"""Runs the command line as ``python -m cli``; ``asx`` and ``aster-index`` begin here too."""

import sys
from typing import Final

_INTERRUPTED: Final = 130
"""``cli.exits.INTERRUPTED``, which cannot be imported before it is needed."""
_HOOK: Final = "--hook"
"""A word of ``asx recall --hook``, which ends with 0 even where it is interrupted while loading."""


def run() -> int:
    """Run ``asx`` and return its exit code; an interrupt while it is still loading ends as quietly as later."""
    try:
        if _HOOK in sys.argv:
            from cli import hook_process

            if hook_process.is_hook(sys.argv[1:]):
                hook_process.run(sys.argv[1:])
        from cli.app import main

        return main()
    except KeyboardInterrupt:
        if _HOOK in sys.argv and "recall" in sys.argv:
            return 0
        sys.stderr.write("asx: interrupted\n")
        return _INTERRUPTED


if __name__ == "__main__":
    raise SystemExit(run())
