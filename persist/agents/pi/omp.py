"""Oh My Pi (omp), pi's fork, as an agent: its places; its records are pi's and some more (``records``).

Reads the names of profiles, never a file; its files are only ever read. Never imports SQL or a terminal.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from persist.agents.pi.places import OMP, agent_folder, discover, is_of_omp, omp_folder_name
from persist.agents.pi.records import TranscriptParser
from persist.agents.pi.skips import OMP_SKIPS
from persist.sources import Agent, Environment, Parser, Root, Source, State


def locate(env: Environment) -> list[Root]:
    """Return omp's folders of sessions: ``~/.omp/agent/sessions``, that of each profile, and their XDG places.

    ``$PI_CONFIG_DIR`` names another folder than ``.omp``. In ``$XDG_DATA_HOME/omp`` (else ``~/.local/share/omp``)
    and its profiles the folder ``agent`` is left out. ``$PI_CODING_AGENT_DIR`` adds one where it lies in omp's folder;
    elsewhere it is pi's. All but the first count only where they exist.
    """
    base = env.home / omp_folder_name(env)
    first = base / "agent" / "sessions"
    data = env.variables.get("XDG_DATA_HOME", "")
    xdg = (Path(data) if data.startswith("/") else env.home / ".local" / "share") / "omp"
    others = [
        *(profile / "agent" / "sessions" for profile in _profiles(base)),
        xdg / "sessions",
        *(profile / "sessions" for profile in _profiles(xdg)),
    ]
    named = agent_folder(env)
    if named is not None and is_of_omp(named, env):
        others.append(named / "sessions")
    roots = {os.path.realpath(first): Root(OMP, first)}
    for folder in others:
        if os.path.isdir(folder):  # noqa: PTH112 - false where it may not look, where Path.is_dir raises
            roots.setdefault(os.path.realpath(folder), Root(OMP, folder))
    return list(roots.values())


def _profiles(base: Path) -> list[Path]:
    folder = base / "profiles"
    try:
        return [folder / name for name in sorted(os.listdir(folder))]  # noqa: PTH208 - names are enough
    except OSError:
        return []


def open_parser(source: Source, state: State | None = None) -> Parser:
    """Return the parser for a transcript, going on from ``state`` where one is given.

    Raises ``ValueError`` for a state that another version of the parser saved.
    """
    return TranscriptParser(source, OMP_SKIPS, state)


def resume(session_id: str, folder: str | None) -> tuple[str, ...]:
    """Return the command that goes on with a session; none without its folder, where omp would take another."""
    return () if folder is None else ("omp", "--resume", session_id)


AGENT: Final = Agent(
    name=OMP,
    title="Oh My Pi",
    locate=locate,
    discover=discover,
    open_parser=open_parser,
    skips=OMP_SKIPS,
    resume=resume,
)
"""omp deletes no transcript by itself."""
