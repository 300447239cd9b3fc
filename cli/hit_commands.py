"""Writes the commands that stand below a hit: the one that shows it whole, the one that goes on with its session.

Looks for programs on PATH and for folders; prints nothing, imports no SQL.
"""

from __future__ import annotations

import re
import shutil
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cli import output
from cli.search_words import home_path, shell_path, shell_word
from cli.shapes.memory import STORE_AGENT

if TYPE_CHECKING:
    from index.search import Hit

BLOCK_PREFIX: Final = "block:"
_ARCHIVE: Final = "/.archive/"
_RANDOM_ID: Final = re.compile(r"(?:[0-9a-z]{26}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:/|\Z)", re.I | re.A)
"""A ULID or a UUID: no two agents make the same."""


def shared_ids(hits: Iterable[Hit]) -> frozenset[str]:
    """Return the session ids that more than one agent has among the hits."""
    agents: dict[str, set[str]] = defaultdict(set)
    for hit in hits:
        if hit.session_id is not None:
            agents[hit.session_id].add(hit.agent)
    return frozenset(id_ for id_, names in agents.items() if len(names) > 1)


def session_name(hit: Hit, shared: frozenset[str] = frozenset()) -> str | None:
    """Return a session's id, with ``AGENT:`` before it where another agent has it, or may: ids that people chose."""
    if hit.session_id is None:
        return None
    is_unique = hit.session_id not in shared and _RANDOM_ID.match(hit.session_id)
    return hit.session_id if is_unique else f"{hit.agent}:{hit.session_id}"


def show_argument(hit: Hit, shared: frozenset[str] = frozenset()) -> str | None:
    """Return what ``asx show`` takes for a hit, one word unquoted; ``None`` where no command shows it.

    ``[AGENT:]ID:EVENT``, with ``:FILE`` where several files tell the session, or ``block:NAME``, NAME that of
    a block or a fact.
    """
    if hit.name is not None:
        return f"{BLOCK_PREFIX}{hit.name}" if _is_shown_by_name(hit) else None
    if hit.session_id is None or hit.event_index is None:
        return None
    file = f":{hit.place.path}" if hit.session_files > 1 else ""
    return f"{session_name(hit, shared)}:{hit.event_index}{file}"


def show_command(hit: Hit, shared: frozenset[str] = frozenset()) -> str:
    """Return the command that shows a hit whole, or its place where no command can."""
    if hit.name is not None and _is_shown_by_name(hit):
        return f"asx memory show {_argument(hit.name)}"
    if hit.session_id is not None and hit.event_index is not None:
        file = f" --file {shell_path(hit.place.path)}" if hit.session_files > 1 else ""
        return f"asx show{file} {_argument(f'{session_name(hit, shared)}:{hit.event_index}')}"
    line = f":{hit.place.line_number}" if hit.place.line_number is not None else ""
    return output.safe_line(home_path(hit.place.path) + line)


def _argument(word: str) -> str:
    return ("-- " if word.startswith("-") else "") + shell_word(word)


def _is_shown_by_name(hit: Hit) -> bool:
    """Return whether it is a block or a fact of the store: not archived, not another agent's note."""
    return hit.agent == STORE_AGENT and _ARCHIVE not in hit.place.path


def resume_command(hit: Hit) -> str | None:
    """Return the command that goes on with a hit's session in its own agent, ``None`` where there is none.

    Only for an agent whose program is on PATH; never for sub-agents, or for a prompt that only a history knows. The
    command begins with a ``cd`` into the session's folder where that is still there.
    """
    from persist.agents import AGENTS

    agent = AGENTS.get(hit.agent)
    if agent is None or agent.resume is None or hit.session_id is None or hit.event_index is None:
        return None
    if hit.parent_session_id is not None or "/" in hit.session_id:
        return None
    folder = hit.cwd if hit.cwd and _is_folder(hit.cwd) else None
    words = agent.resume(hit.session_id, folder)
    if not words or shutil.which(words[0]) is None:
        return None
    command = " ".join(map(shell_word, words))
    return command if folder is None else f"cd {shell_path(folder)} && {command}"


def _is_folder(path: str) -> bool:
    try:
        return path.startswith("/") and Path(path).is_dir()
    except (OSError, ValueError):
        return False
