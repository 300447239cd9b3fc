"""What a header of Codex (``session_meta``) tells of its session: its id, where it comes from, its traits.

Pure; imports only ``persist`` values. Both generations: the payload of a ``session_meta`` record, and the bare first
line ``{id, timestamp, instructions, git}`` of the oldest files. A sub-agent has its own ``id``; ``session_id`` is then
its root's and not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from persist import times
from persist.agents.values import read_id
from persist.events import Trait

MAX_PATH_CHARS: Final = 4096


class Head(NamedTuple):
    """One header. ``parent`` is the session that a sub-agent works for, ``origin`` the one whose records it repeats."""

    session_id: str | None
    parent: str | None
    origin: str | None
    is_sub_agent: bool
    provider: str | None
    created_at: str | None
    traits: tuple[Trait, ...]


def read_head(head: Mapping[str, Any]) -> Head:
    """Read a header; every key may be missing."""
    source = head.get("source")
    sub_agent = source.get("subagent") if isinstance(source, dict) else None
    spawn = sub_agent.get("thread_spawn") if isinstance(sub_agent, dict) else None
    spawned_by = read_id(spawn.get("parent_thread_id")) if isinstance(spawn, dict) else None
    session_id = read_id(head.get("id"))
    parent = spawned_by or read_id(head.get("parent_thread_id"))
    fork = read_id(head.get("forked_from_id"))
    if fork is None and isinstance(base := head.get("history_base"), dict):
        fork = read_id(base.get("thread_id"))
    parent = parent if parent != session_id else None
    fork = fork if fork != session_id else None
    created_at = times.from_any(head.get("timestamp"))
    git = head.get("git")
    told = {
        "created_at": created_at,
        "cwd": _path(head.get("cwd")),
        "git_branch": read_id(git.get("branch")) if isinstance(git, dict) else None,
        "version": read_id(head.get("cli_version")),
        "parent": parent,
        "forked_from": fork,
    }
    return Head(
        session_id=session_id,
        parent=parent,
        origin=fork or parent,
        is_sub_agent=sub_agent is not None or parent is not None,
        provider=read_id(head.get("model_provider")),
        created_at=created_at,
        traits=tuple(Trait(name, value) for name, value in told.items() if value is not None),
    )


def read_turn_context(payload: Mapping[str, Any]) -> tuple[Trait, ...]:
    """Read a turn's settings: what they tell of the session."""
    told = {"cwd": _path(payload.get("cwd")), "model": read_id(payload.get("model"))}
    return tuple(Trait(name, value) for name, value in told.items() if value is not None)


def _path(value: object) -> str | None:
    return value if isinstance(value, str) and 0 < len(value) <= MAX_PATH_CHARS else None
