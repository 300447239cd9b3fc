"""Where everything lies, computed from what a program sees of the machine (DESIGN 5).

``places_of`` is pure and touches no disk, so that ``asx paths`` and every test compute the same; only
what is called ``current`` looks at this process. Must never import platformdirs: its rules for
the two folders needed here are two lines, and reading commands start with this module.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from persist.sources import Environment

APPLICATION: Final = "aster-index"
INDEX_FILE: Final = "index.sqlite"
CONFIG_FILE: Final = "config.yaml"
_MACOS: Final = "darwin"


@dataclass(frozen=True, slots=True)
class Places:
    """Every place of the product, absolute, links unresolved, whether it exists or not.

    ``old_homes`` are Aster's earlier data homes, the higher rank first, without ``data`` itself. ``archive``
    holds kept copies of foreign transcripts; archived blocks are in ``memory/.archive``.
    """

    data: Path
    old_homes: tuple[Path, ...]
    sessions: Path
    prompt_history: Path
    memory: Path
    archive: Path
    aether: Path
    index: Path
    config_folder: Path
    config: Path
    reports: Path

    @property
    def hook_log(self) -> Path:
        """The log of what prompt hooks could not do, beside the index like the files that SQLite makes of it."""
        return self.index.with_name(f"{self.index.name}-hook.log")


def current_environment() -> Environment:
    """Return this process's variables, home folder and platform."""
    return Environment(variables=dict(os.environ), home=Path(os.path.expanduser("~")), platform=sys.platform)  # noqa: PTH111 - never raises


def current_places(index: str | None = None) -> Places:
    """Return the places for this process; ``index`` is what ``--index`` was given."""
    environment = current_environment()
    return places_of(environment, current_folder(environment), index)


def current_folder(environment: Environment) -> Path:
    """Return the current folder; the home where it was deleted under us, so that absolute settings still work."""
    try:
        return Path.cwd()
    except OSError:
        return environment.home


def places_of(environment: Environment, cwd: Path, index: str | None = None) -> Places:
    """Return the places for an environment; pure.

    ``ASTER_HOME``, ``AETHER_HOME``, ``ASTER_INDEX`` and ``index`` may begin with ``~`` and may be relative to
    ``cwd``. XDG variables count only when absolute (or ``~``), as their specification says, on macOS too.
    An empty variable is one that is not set. ``..`` is kept: only the disk knows what it means behind a link.
    """
    home = environment.home
    data = _chosen(environment, "ASTER_HOME", cwd) or _data_folder(environment) / "aster"
    config_folder = _config_folder(environment) / APPLICATION
    at_index = expand(index, home, cwd) if index else _chosen(environment, "ASTER_INDEX", cwd)
    return Places(
        data=data,
        old_homes=_old_homes(environment, data),
        sessions=data / "sessions",
        prompt_history=data / "sessions" / "prompt-history.jsonl",
        memory=data / "memory",
        archive=data / "archive",
        aether=_aether_home(environment, cwd),
        index=at_index or _cache_folder(environment) / APPLICATION / INDEX_FILE,
        config_folder=config_folder,
        config=config_folder / CONFIG_FILE,
        reports=config_folder / "reports",
    )


def expand(text: str, home: Path, base: Path) -> Path:
    """Return ``text`` as an absolute path: ``~`` and ``~/…`` below ``home``, a relative path below ``base``."""
    if text == "~" or text.startswith("~/"):
        return home / text[2:]
    return base / text


def _chosen(environment: Environment, variable: str, cwd: Path) -> Path | None:
    value = environment.variables.get(variable, "")
    return expand(value, environment.home, cwd) if value else None


def _aether_home(environment: Environment, cwd: Path) -> Path:
    """Return Aether's home by its own rule: the variable verbatim unless blank (``spec/aether.md`` 2)."""
    value = environment.variables.get("AETHER_HOME", "")
    return cwd / value if value.strip() else environment.home / ".aether"


def _xdg(environment: Environment, variable: str) -> Path | None:
    value = environment.variables.get(variable, "")
    return expand(value, environment.home, Path("/")) if value.startswith(("/", "~/")) else None


def _data_folder(environment: Environment) -> Path:
    """Return the XDG data folder on every platform, as Aster does since it moved there."""
    return _xdg(environment, "XDG_DATA_HOME") or environment.home / ".local" / "share"


def _config_folder(environment: Environment) -> Path:
    platform_folder = "Library/Application Support" if environment.platform == _MACOS else ".config"
    return _xdg(environment, "XDG_CONFIG_HOME") or environment.home / platform_folder


def _cache_folder(environment: Environment) -> Path:
    platform_folder = "Library/Caches" if environment.platform == _MACOS else ".cache"
    return _xdg(environment, "XDG_CACHE_HOME") or environment.home / platform_folder


def _old_homes(environment: Environment, data: Path) -> tuple[Path, ...]:
    """Return ``~/.aster``, then Aster's first home in the configuration folder (``spec/aster.md`` 2.3).

    Aster asked macOS for that folder, not XDG. One that is the data home, however spelled, is not old.
    """
    on_macos = environment.home / "Library" / "Application Support"
    first = on_macos if environment.platform == _MACOS else _config_folder(environment)
    now = os.path.normpath(data)
    return tuple(old for old in (environment.home / ".aster", first / "aster") if os.path.normpath(old) != now)
