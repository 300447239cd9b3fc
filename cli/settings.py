"""The settings of a run, from this process's environment and the options that every command shares."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

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


def named_roots(settings: Settings) -> list[str]:
    """Return the roots that a variable of an agent or the configuration names: those that are no default."""
    from persist.places import current_environment

    environment = current_environment()
    shared = {name: value for name, value in environment.variables.items() if name.startswith("XDG_")}
    plain = environment._replace(variables=shared)
    defaults = {str(root.path) for agent in settings.agents for root in agent.locate(plain)}
    return [path for root in settings.roots if (path := str(root.path)) not in defaults]


def open_places(index: str | None = None) -> Places:
    """Return where everything lies, for commands that are answered from the store and read no configuration."""
    from persist.places import current_places

    return current_places(index)


def current_folder() -> Path:
    """Return the current folder; the home folder where the current one was deleted."""
    try:
        return Path.cwd()
    except OSError:
        from persist.places import current_environment

        return current_environment().home


def current_home() -> Path:
    """Return the home folder that ``~`` means."""
    from persist.places import current_environment

    return current_environment().home


def folder_at(text: str) -> Path:
    """Return a folder as it was typed as an absolute path, ``~`` as everywhere in this product."""
    from persist.places import current_environment, expand

    return expand(text, current_environment().home, current_folder())


def chosen_project(project: str | None, *, here: bool) -> str | None:
    """Return the project that is meant as an absolute path: as typed, or that of the current folder.

    Raises ``typer.BadParameter`` for an empty one, and where the current folder is gone.
    """
    if here:
        from persist.projects import project_of

        try:
            folder = str(Path.cwd())
        except OSError as error:
            raise typer.BadParameter(
                "the current folder is gone; name one with --project", param_hint="--here"
            ) from error
        return choices.typed_text(project_of(folder))
    if project is None:
        return None
    if not project.strip():
        raise typer.BadParameter("is empty; give a folder or leave the option out", param_hint="--project")
    return choices.typed_text(os.path.normpath(folder_at(project)))
