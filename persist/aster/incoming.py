"""What an event must look like before it is written to a transcript: the strict side of ``spec/aster.md`` 1.

Pure. Reading is lenient (``persist.agents.aster.shapes``), because what others wrote is there and must be found; what
*we* write must be read by Aster itself, which gives up a whole line for one wrong value. So an event that comes as JSON
from another program is refused here, with the key and the kind of value that is wrong and never the value, or comes out
in Aster's key order with every absent field left out. Keys that Aster does not know stay, behind its own: Aster passes
over them, and whoever wrote them finds them again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from persist import times
from persist.agents.aster.shapes import kind_of
from persist.errors import ShapeError
from persist.sources import Record
from persist.strict_json import decode_strictly

Fields = dict[str, Record]

ROLES: Final = ("user", "assistant", "tool", "system")
MAX_COUNT: Final = 2**63 - 1
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


class Given(NamedTuple):
    """A checked event. ``record`` is as it will be written, but for a ``ts`` of null: that is the time of writing.

    ``prompt`` is what a person typed, for the prompt history. ``keep_last`` is how many of the last visible messages
    stay behind a summary that names no position; null is as many as Aster keeps.
    """

    record: Fields
    prompt: str | None = None
    keep_last: int | None = None

    @property
    def is_unplaced(self) -> bool:
        """Whether it is a summary without the number that Aster reads, which only the file can tell."""
        return self.record["type"] == "summary" and "replaces_through" not in self.record


def read_event(data: bytes) -> Given:
    """Read one line that another program gives. Raises ``ShapeError`` for what Aster would not read again."""
    value = decode_strictly(data)
    if not isinstance(value, dict):
        raise ShapeError(f"the line is {kind_of(value)}, not an object")
    kind = value.get("type")
    if kind == "session":
        raise ShapeError("a header is written when a session is started, never appended")
    if not isinstance(kind, str) or kind not in _READERS:
        raise ShapeError(f"the key 'type' is none of {', '.join(_READERS)}")
    _time(value.get("ts"))
    return _READERS[kind](value)


def _message(value: Fields) -> Given:
    role = value.get("role")
    if role not in ROLES:
        raise ShapeError(f"the key 'role' is none of {', '.join(ROLES)}")
    content = _text(value, "content", required=role != "assistant")
    calls = _calls(value.get("tool_calls")) if value.get("tool_calls") is not None else None
    if calls and role != "assistant":
        raise ShapeError(f"a message of role {role} has tool calls; only an assistant's has")
    if role == "assistant" and content is None and not calls and value.get("reasoning") is None:
        raise ShapeError("an assistant's message has neither content nor tool_calls nor reasoning")
    if (role == "tool") != (value.get("tool_call_id") is not None):
        raise ShapeError("tool_call_id is on every message of role tool, and on no other")
    ordered = {
        "type": "message",
        "role": role,
        "content": content,
        "tool_calls": calls or None,
        "tool_call_id": _text(value, "tool_call_id", filled=True),
        "ts": value.get("ts"),
        "usage": _usage(value.get("usage")),
        "annotations": _annotations(value.get("annotations")),
        "reasoning": _reasoning(value.get("reasoning")),
    }
    return Given(_with_others(ordered, value), content if role == "user" else None)


def _summary(value: Fields) -> Given:
    content = _text(value, "content", required=True, filled=True)
    from_line = _count(value, "keeps_from_line")
    if from_line == 0:
        raise ShapeError("the key 'keeps_from_line' is 0; lines are counted from 1")
    folded = _count(value, "replaces_through")
    keep_last = _count(value, "keep_last")
    if keep_last is not None and (from_line is not None or folded is not None):
        raise ShapeError("a summary names its place once: keeps_from_line, replaces_through or keep_last")
    ordered = {
        "type": "summary",
        "content": content,
        "replaces_through": folded,
        "ts": value.get("ts"),
        "keeps_from_line": from_line,
    }
    others = {key: inner for key, inner in value.items() if key != "keep_last"}
    return Given(_with_others(ordered, others), keep_last=keep_last)


def _eviction(value: Fields) -> Given:
    for key in ("index", "chars"):
        if _count(value, key) is None:
            raise ShapeError(f"the key '{key}' is missing")
    ordered = {
        "type": "eviction",
        "reason": _text(value, "reason", filled=True) or "tool_result_over_budget",
        "role": _text(value, "role", filled=True) or "tool",
        "index": value["index"],
        "chars": value["chars"],
        "ts": value.get("ts"),
    }
    return Given(_with_others(ordered, value))


def _title(value: Fields) -> Given:
    title = _text(value, "title", required=True, filled=True)
    ordered = {"type": "title", "title": (title or "").strip(), "ts": value.get("ts")}
    return Given(_with_others(ordered, value))


_READERS: Final[dict[str, Callable[[Fields], Given]]] = {
    "message": _message,
    "summary": _summary,
    "eviction": _eviction,
    "title": _title,
}


def _with_others(ordered: Fields, value: Fields) -> Fields:
    """Return a record in Aster's order, ``ts`` kept as a place even where it is null, other keys behind."""
    record = {key: inner for key, inner in ordered.items() if inner is not None or key == "ts"}
    record.update((key, inner) for key, inner in value.items() if key not in ordered)
    return record


def _text(value: Fields, key: str, *, required: bool = False, filled: bool = False) -> str | None:
    found = value.get(key)
    if found is None and not required:
        return None
    if not isinstance(found, str):
        raise ShapeError(f"the key '{key}' is {kind_of(found)}, not text")
    if filled and not found.strip():
        raise ShapeError(f"the key '{key}' is empty")
    return found


def _count(value: Fields, key: str) -> int | None:
    found = value.get(key)
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found <= MAX_COUNT:
        raise ShapeError(f"the key '{key}' is {kind_of(found)} that is no whole count")
    return found


def _object(value: Record, key: str) -> Fields:
    if not isinstance(value, dict):
        raise ShapeError(f"{key} is {kind_of(value)}, not an object")
    return value


def _list(value: Record, key: str) -> list[Record]:
    if not isinstance(value, list):
        raise ShapeError(f"the key '{key}' is {kind_of(value)}, not a list")
    return value


def _time(value: Record) -> None:
    if value is None:
        return
    if not isinstance(value, str) or not _TIME.fullmatch(value) or times.from_text(value) is None:
        raise ShapeError("the key 'ts' is no time like 2026-08-19T07:12:08.737Z; without it the line is of this moment")


def _calls(value: Record) -> list[Record]:
    calls: list[Record] = []
    for entry in _list(value, "tool_calls"):
        call = _object(entry, "a tool call")
        if call.get("type", "function") != "function":
            raise ShapeError("the type of a tool call is not 'function'")
        function = _object(call.get("function"), "the function of a tool call")
        calls.append(
            {
                "id": _text(call, "id", required=True, filled=True),
                "type": "function",
                "function": {
                    "name": _text(function, "name", required=True, filled=True),
                    "arguments": _text(function, "arguments", required=True),
                },
            }
        )
    return calls


def _usage(value: Record) -> Record:
    if value is None:
        return None
    usage = _object(value, "usage")
    counts = {key: _count(usage, key) or 0 for key in ("prompt_tokens", "completion_tokens")}
    others = {key: inner for key, inner in usage.items() if key not in counts}
    return {**counts, **others} if any(counts.values()) or others else None


def _annotations(value: Record) -> Record:
    if value is None:
        return None
    cited: list[Record] = []
    for entry in _list(value, "annotations"):
        citation = _object(_object(entry, "an annotation").get("url_citation"), "url_citation of an annotation")
        url = _text(citation, "url", required=True, filled=True)
        cited.append({"type": "url_citation", "url_citation": {"url": url, "title": _text(citation, "title")}})
    return cited or None


def _reasoning(value: Record) -> Record:
    if value is None:
        return None
    reasoning = _object(value, "reasoning")
    text = _text(reasoning, "text", required=True)
    numbers = {key: _count(reasoning, key) for key in ("tokens", "duration_ms")}
    return {"text": text, **{key: number for key, number in numbers.items() if number is not None}} if text else None
