"""Runs the command line as ``python -m cli``."""

from cli.app import main

if __name__ == "__main__":
    raise SystemExit(main())
