"""What a measured process needs beside the clocks: its settings, and an end to a run that measured something else."""

from __future__ import annotations

from pathlib import Path

from index.settings import Settings, load_settings
from persist.places import current_environment


def settings_here() -> Settings:
    """Return the settings that this process's environment gives."""
    return load_settings(current_environment(), Path.cwd())


def expect(holds: bool, otherwise: str) -> None:
    """End the process if what was measured is not what it should be."""
    if not holds:
        raise SystemExit(f"the benchmark measured something else than it says: {otherwise}")
