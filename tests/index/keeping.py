"""What tests of kept copies share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from index.settings import Settings
from persist.archive.names import CATALOGUE_NAME


def keeping(settings: Settings) -> Settings:
    """Return the settings with ``keep: true``."""
    return replace(settings, configuration=replace(settings.configuration, keep=True))


def copy_of(settings: Settings, path: Path, agent: str | None = None) -> Path:
    """Return where the living copy of a transcript lies."""
    named = "codex" if ".codex" in path.parts else "claude-code"
    return settings.places.archive / (agent or named) / str(path).lstrip("/")


def archive_files(settings: Settings) -> list[Path]:
    """Return all copies, in order."""
    found = settings.places.archive.rglob("*")
    return sorted(path for path in found if path.is_file() and path.name not in (CATALOGUE_NAME, ".lock"))
