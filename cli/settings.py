"""The settings of a run, from this process's environment and the options that every command shares."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cli import choices

if TYPE_CHECKING:
    from index.settings import Settings
    from persist.places import Places


def open_settings(index: str | None = None, roots: Sequence[str] | None = None) -> Settings:
    """Return the settings; ``roots`` are as typed, ``AGENT=PATH``. Raises ``ConfigError``, ``typer.BadParameter``."""
    from index.settings import load_settings
    from persist.agents import AGENTS
    from persist.places import current_environment

    environment = current_environment()
    return load_settings(environment, current_folder(), index, choices.roots(roots, AGENTS))


def open_places() -> Places:
    """Return where everything lies, for commands that are answered from the store and read no configuration."""
    from persist.places import current_places

    return current_places()


def current_folder() -> Path:
    """Return the current folder; the home folder where the current one was deleted."""
    try:
        return Path.cwd()
    except OSError:
        from persist.places import current_environment

        return current_environment().home


def folder_at(text: str) -> Path:
    """Return a folder as it was typed as an absolute path, ``~`` as everywhere in this product."""
    from persist.places import current_environment, expand

    return expand(text, current_environment().home, current_folder())
