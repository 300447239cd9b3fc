"""The records of a transcript that an import writes, in Aster's key order (``spec/aster.md`` 1.3).

Pure. Absent fields are left out; times lose a fraction of zeros, as Aster writes them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Final

import orjson

from persist.agents.aster.shapes import ERROR_PREFIX, SUPPORTED_VERSION, Call
from persist.lines import encode
from persist.sources import Record

RESULT_BYTES: Final = 24_000
"""What Aster keeps of a tool's result (``spec/aster.md`` 1.5)."""
_NO_NAME: Final = "unknown"


def header_record(
    *,
    session_id: str,
    created_at: str,
    cwd: str,
    repo_root: str,
    model: str | None,
    title: str | None,
    imported_from: str,
) -> dict[str, Record]:
    """Return the header of an imported session; ``imported_from`` is ours, behind Aster's keys."""
    return _without_nulls(
        {
            "type": "session",
            "id": session_id,
            "v": SUPPORTED_VERSION,
            "created_at": wire_time(created_at),
            "cwd": cwd,
            "repo_root": repo_root,
            "model": model,
            "title": title,
            "imported_from": imported_from,
        }
    )


def message_record(
    role: str,
    ts: str,
    *,
    content: str | None = None,
    calls: Sequence[Call] = (),
    tool_call_id: str | None = None,
    reasoning: str | None = None,
) -> dict[str, Record]:
    """Return a message. The tokens of a thought are estimated as Aster does: four characters are one."""
    return _without_nulls(
        {
            "type": "message",
            "role": role,
            "content": content,
            "tool_calls": [_call(call) for call in calls] or None,
            "tool_call_id": tool_call_id,
            "ts": wire_time(ts),
            "reasoning": {"text": reasoning, "tokens": math.ceil(len(reasoning) / 4)} if reasoning else None,
        }
    )


def summary_record(content: str, ts: str, *, replaces_through: int, keeps_from_line: int) -> dict[str, Record]:
    """Return a summary that stands for the first ``replaces_through`` visible messages, all before its own line."""
    return {
        "type": "summary",
        "content": content,
        "replaces_through": replaces_through,
        "ts": wire_time(ts),
        "keeps_from_line": keeps_from_line,
    }


def result_text(text: str | None, *, failed: bool) -> str:
    """Return a tool's result as Aster records it: failures begin ``error: ``, and 24,000 bytes are kept."""
    whole = text or ""
    if failed and not whole.startswith(ERROR_PREFIX):
        whole = f"{ERROR_PREFIX}{whole}"
    if len(whole) * 4 <= RESULT_BYTES:
        return whole
    data = encode(whole)
    if len(data) <= RESULT_BYTES:
        return whole
    return f"{data[:RESULT_BYTES].decode('utf-8', 'ignore')}\n[cut: {RESULT_BYTES} of {len(data)} bytes]"


def wire_time(ts: str) -> str:
    """Return a time of the index's form as Aster writes it."""
    return f"{ts[:-5]}Z" if ts.endswith(".000Z") else ts


def is_visible(record: dict[str, Record]) -> bool:
    """Whether a rebuilt chat shows a message: a person's or the agent's words that are not blank."""
    content = record.get("content")
    return record.get("role") in ("user", "assistant") and isinstance(content, str) and bool(content.strip())


def _call(call: Call) -> Record:
    function = {"name": call.name or _NO_NAME, "arguments": _arguments(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _arguments(text: str | None) -> str:
    """Return arguments as the text of a JSON object; free text (a patch, a script) becomes its ``input``."""
    if text is None:
        return "{}"
    try:
        is_object = isinstance(orjson.loads(encode(text)), dict)
    except orjson.JSONDecodeError:
        is_object = False
    return text if is_object else json.dumps({"input": text}, ensure_ascii=False, separators=(",", ":"))


def _without_nulls(record: dict[str, Record]) -> dict[str, Record]:
    return {key: value for key, value in record.items() if value is not None}
