"""The records of a transcript with their keys in Aster's order (``spec/aster.md`` 1.3), whoever writes them.

Pure; values are not checked. What is null is left out. Times are texts as Aster writes them.
"""

from __future__ import annotations

from collections.abc import Sequence

from persist.agents.aster.shapes import SUPPORTED_VERSION
from persist.sources import Record


def header_record(
    *,
    session_id: str,
    created_at: str,
    cwd: str,
    repo_root: str,
    model: str | None = None,
    base_url: str | None = None,
    aster_version: str | None = None,
    title: str | None = None,
    schedule: str | None = None,
    imported_from: str | None = None,
    parent: str | None = None,
) -> dict[str, Record]:
    """Return a session's header. ``imported_from`` and ``parent`` are keys of ours, behind Aster's."""
    return _without_nulls(
        {
            "type": "session",
            "id": session_id,
            "v": SUPPORTED_VERSION,
            "created_at": created_at,
            "cwd": cwd,
            "repo_root": repo_root,
            "model": model,
            "base_url": base_url,
            "aster_version": aster_version,
            "title": title,
            "schedule": schedule,
            "imported_from": imported_from,
            "parent": parent,
        }
    )


def message_record(
    role: str,
    ts: str,
    *,
    content: str | None = None,
    tool_calls: Sequence[Record] = (),
    tool_call_id: str | None = None,
    usage: Record = None,
    annotations: Sequence[Record] = (),
    reasoning: Record = None,
) -> dict[str, Record]:
    """Return a message; ``tool_calls`` are :func:`call_record`'s."""
    return _without_nulls(
        {
            "type": "message",
            "role": role,
            "content": content,
            "tool_calls": list(tool_calls) or None,
            "tool_call_id": tool_call_id,
            "ts": ts,
            "usage": usage,
            "annotations": list(annotations) or None,
            "reasoning": reasoning,
        }
    )


def call_record(call_id: str | None, name: str, arguments: str) -> dict[str, Record]:
    """Return a tool call as it stands in a message; ``arguments`` is the text of a JSON object."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def summary_record(content: str, ts: str, *, replaces_through: int, keeps_from_line: int) -> dict[str, Record]:
    """Return a summary that stands for the first ``replaces_through`` visible messages.

    Those stand before ``keeps_from_line``, a physical line of the file.
    """
    return {
        "type": "summary",
        "content": content,
        "replaces_through": replaces_through,
        "ts": ts,
        "keeps_from_line": keeps_from_line,
    }


def _without_nulls(record: dict[str, Record]) -> dict[str, Record]:
    return {key: value for key, value in record.items() if value is not None}
