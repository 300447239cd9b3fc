"""Rollouts of Codex for tests of the index: a session, its forks and sub-agents, as Codex writes them.

A fork's file begins with its own header, then its origin's records with the time of the copying.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

Record = dict[str, Any]
BEGIN = datetime(2026, 5, 4, 8, 0, tzinfo=UTC)
DAY = "sessions/2026/05/04"


def time_at(minute: float) -> str:
    """Return the time so many minutes after the beginning, as Codex writes it."""
    return (BEGIN + timedelta(minutes=minute)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def id_at(minute: float, number: int) -> str:
    """Return a UUID of version 7 made at that minute."""
    made_ms = round((BEGIN + timedelta(minutes=minute)).timestamp() * 1000)
    digits = f"{made_ms:012x}7000{0x8000:04x}{number:012x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def record(minute: float, kind: str, **payload: Any) -> Record:
    """Return one record."""
    return {"timestamp": time_at(minute), "type": kind, "payload": payload}


@dataclass(frozen=True, slots=True)
class Style:
    """How a version writes: turn ids on turns, or none at all; the version it names."""

    has_turn_ids: bool = True
    version: str | None = "0.147.0"
    model: str = "gpt-one"


NEW = Style()
OLD = Style(has_turn_ids=False, version="0.55.0")


def header(id_: str, minute: float, style: Style = NEW, **keys: Any) -> Record:
    """Return a header; ``keys`` are added to its payload."""
    payload = {"id": id_, "timestamp": time_at(minute), "cwd": "/w/orchard", "model_provider": "openai", **keys}
    if style.version is not None:
        payload["cli_version"] = style.version
    return record(minute, "session_meta", **payload)


def turn(minute: float, turn_id: str, prompt: str, before: int, added: int, style: Style = NEW) -> list[Record]:
    """Return a turn of one prompt, one call of a tool and one answer. Its provider's call takes ``added`` tokens of
    input and 10 of output, on top of ``before`` in all."""
    last = {"input_tokens": added, "cached_input_tokens": 20, "output_tokens": 10, "total_tokens": added + 10}
    total = {**last, "input_tokens": before + added, "total_tokens": before + added + 10}
    context: Record = {"model": style.model, "cwd": "/w/orchard"}
    begin: list[Record] = []
    if style.has_turn_ids:
        context["turn_id"] = turn_id
        begin = [record(minute, "event_msg", type="task_started", turn_id=turn_id)]
    call_id = f"call_{turn_id}"
    said = [{"type": "input_text", "text": prompt}]
    answer = [{"type": "output_text", "text": f"done: {prompt}"}]
    return [
        *begin,
        record(minute, "response_item", type="message", role="user", content=said),
        record(minute, "event_msg", type="user_message", message=prompt),
        record(minute, "turn_context", **context),
        record(minute + 0.1, "response_item", type="function_call", name="shell", arguments="{}", call_id=call_id),
        record(minute + 0.2, "response_item", type="function_call_output", call_id=call_id, output="ok"),
        record(minute + 0.3, "event_msg", type="agent_message", message=f"done: {prompt}"),
        record(minute + 0.3, "response_item", type="message", role="assistant", content=answer),
        record(
            minute + 0.3, "event_msg", type="token_count", info={"total_token_usage": total, "last_token_usage": last}
        ),
    ]


def copied(records: Iterable[Record], minute: float) -> list[Record]:
    """Return records as a fork writes them: the same payloads, the time of the copying."""
    return [{**one, "timestamp": time_at(minute + number / 60_000)} for number, one in enumerate(records, start=1)]


def filtered(records: Iterable[Record]) -> list[Record]:
    """Return what a sub-agent gets of its parent's records: no tools, no answers as items, no settings of turns."""
    dropped = ("function_call", "function_call_output", "reasoning")
    return [
        one
        for one in records
        if one["type"] not in ("turn_context", "session_meta")
        and one["payload"].get("type") not in dropped
        and one["payload"].get("role") != "assistant"
    ]


def put(home: Path, path: str, records: Sequence[Record]) -> Path:
    """Write a rollout below Codex's home."""
    file = home / ".codex" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in records))
    return file


def name_of(session_id: str, folder: str = DAY) -> str:
    """Return a rollout's path; the date in it is none of the records' days."""
    return f"{folder}/rollout-2026-05-05T00-00-00-{session_id}.jsonl"


@dataclass(frozen=True, slots=True)
class Family:
    """Sessions by name: their ids and records."""

    ids: dict[str, str]
    records: dict[str, list[Record]]


def family(style: Style = NEW, *, names_origin: bool = True, plain_turns: bool = False) -> Family:
    """Return a session with two turns, a fork, a fork of that fork, and two sub-agents with turns of equal size.

    Each has one turn of its own. ``names_origin``: headers name where a fork comes from, as newer versions do.
    ``plain_turns``: turn ids are small numbers, as where Codex serves other programs.
    """
    starts = {"origin": 0, "fork": 10, "fork-of-fork": 20, "agent-one": 30, "agent-two": 40}
    ids = {name: id_at(minute, number) for number, (name, minute) in enumerate(starts.items(), start=1)}

    def turn_id(minute: float, number: int) -> str:
        return str(number) if plain_turns else id_at(minute, 100 + number)

    origin = [
        header(ids["origin"], 0, style),
        *turn(1, turn_id(1, 1), "plant the pear", 0, 100, style),
        *turn(3, turn_id(3, 2), "yes", 100, 200, style),
    ]
    pointer = {"forked_from_id": ids["origin"]} if names_origin else {}
    fork = [
        header(ids["fork"], 10, style, **pointer),
        *copied(origin, 10),
        *turn(12, turn_id(12, 3), "yes", 300, 400, style),
    ]
    pointer = {"forked_from_id": ids["fork"]} if names_origin else {}
    again = [
        header(ids["fork-of-fork"], 20, style, **pointer),
        *copied(fork, 20),
        *turn(22, turn_id(22, 4), "yes", 700, 800, replace(style, model="gpt-two")),
    ]
    records = {"origin": origin, "fork": fork, "fork-of-fork": again}
    for number, name in enumerate(("agent-one", "agent-two"), start=5):
        minute = starts[name]
        spawn = {"subagent": {"thread_spawn": {"parent_thread_id": ids["origin"], "depth": 1}}}
        own = {"source": spawn, "session_id": ids["origin"], "forked_from_id": ids["origin"]}
        records[name] = [
            header(ids[name], minute, style, **own),
            *copied(filtered(origin), minute),
            *turn(minute + 2, turn_id(minute + 2, number), "prune", 300, 50, style),
        ]
    return Family(ids, records)


__all__ = ["DAY", "NEW", "OLD", "Family", "Style", "copied", "family", "filtered", "header", "id_at", "name_of", "put",
           "record", "time_at", "turn"]  # fmt: skip
