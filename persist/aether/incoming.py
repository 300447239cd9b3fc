"""What an event must look like before it is written to an Aether log: the strict side of ``spec/aether.md`` 1.

Pure. Aether has no catch-all: one wrong value, or one missing, makes it call a whole line malformed, and the session
forgets it. So what another program gives as JSON is checked against the current shape, field by field, and refused with
the key that is wrong and never its value. Keys that Aether does not know stay where they are. Transient events are
recognised and not written (1.5).
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from persist.agents.aether.events import TRANSIENT
from persist.agents.aether.fields import type_of
from persist.errors import ShapeError
from persist.sources import Record
from persist.strict_json import decode_strictly

Fields: TypeAlias = dict[str, Record]
Check: TypeAlias = Callable[[Record, str], None]
"""Raises ``ShapeError`` for a value that does not fit; the second argument is its key."""


def read_event(data: bytes) -> Fields | None:
    """Read one line that another program gives; null for an event that Aether does not keep.

    A user message or an automatic continuation without ``message_id`` gets a new one. Raises ``ShapeError``.
    """
    return checked(decode_strictly(data))


def checked(value: Record) -> Fields | None:
    """Return an event as it will be written, as :func:`read_event` does. Raises ``ShapeError``."""
    event = _object(value, "the line")
    if "kind" not in event and "sessionId" in event:
        raise ShapeError("metadata is written when a session is started, never appended")
    kind = event.get("kind")
    if kind == "user":
        return _user(event)
    if kind == "control":
        data = _object(event.get("data"), "data")
        _one_of(data.get("type"), "data.type", ("agentSwitched",))
        _fits(data, {"from": _or_null(_text), "to": _or_null(_text)}, "data")
        return event
    if kind == "agent":
        return _agent(event)
    raise ShapeError("the key 'kind' is none of user, agent, control")


def _user(event: Fields) -> Fields:
    data = _object(event.get("data"), "data")
    _one_of(data.get("type"), "data.type", ("message", "clearContext"))
    if data["type"] == "clearContext":
        return event
    if "message_id" not in data:
        data = {"type": "message", "message_id": str(uuid.uuid4()), **data}
        event = {**event, "data": data}
    _fits(data, {"message_id": _text, "content": _BLOCKS, "display_content": _or_null(_BLOCKS)}, "data")
    return event


def _agent(event: Fields) -> Fields | None:
    data = _object(event.get("data"), "data")
    category = _text_at(data, "category", "data")
    inner = _object(data.get("event"), "data.event")
    if category == "session_usage":
        _fits(inner, _SESSION_USAGE, "event")
        return event
    full_name = f"{category}/{_text_at(inner, 'type', 'event')}"
    if full_name in TRANSIENT:
        return None
    fields = _EVENTS.get(full_name)
    if fields is None:
        raise ShapeError("category and type of the event are none that Aether knows")
    if full_name == "turn/auto_continue" and "message_id" not in inner:
        inner = {**inner, "message_id": str(uuid.uuid4())}
        event = {**event, "data": {**data, "event": inner}}
    _fits(inner, fields, "event")
    is_growing = full_name in ("message/text", "message/thought") and not inner["is_complete"]
    is_ordinary_end = full_name == "turn/llm_call_ended" and inner["outcome"]["status"] != "failed"
    return None if is_growing or is_ordinary_end else event


def _fits(value: Record, fields: Mapping[str, Check], key: str) -> None:
    """Check an object's fields; a missing one is null, as Aether reads it."""
    found = _object(value, key)
    for name, check in fields.items():
        check(found.get(name), f"{key}.{name}")


def _object(value: Record, key: str) -> Fields:
    if not isinstance(value, dict):
        raise ShapeError(f"{key} is {type_of(value)} where an object is expected")
    return value


def _text(value: Record, key: str) -> None:
    if not isinstance(value, str):
        raise ShapeError(f"{key} is {type_of(value)} where text is expected")


def _text_at(holder: Fields, key: str, of: str) -> str:
    value = holder.get(key)
    _text(value, f"{of}.{key}")
    return str(value)


def _boolean(value: Record, key: str) -> None:
    if not isinstance(value, bool):
        raise ShapeError(f"{key} is {type_of(value)} where true or false is expected")


def _number(value: Record, key: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ShapeError(f"{key} is {type_of(value)} where a number is expected")


def _unsigned(bits: int) -> Check:
    def check(value: Record, key: str) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**bits:
            raise ShapeError(f"{key} is no whole number from 0 below 2^{bits}")

    return check


def _one_of(value: Record, key: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ShapeError(f"{key} is none of {', '.join(known)}")


def _named(*known: str) -> Check:
    return lambda value, key: _one_of(value, key, known)


def _or_null(check: Check) -> Check:
    return lambda value, key: None if value is None else check(value, key)


def _list_of(check: Check) -> Check:
    def check_all(value: Record, key: str) -> None:
        if not isinstance(value, list):
            raise ShapeError(f"{key} is {type_of(value)} where a list is expected")
        for entry in value:
            check(entry, f"an entry of {key}")

    return check_all


def _fields(**fields: Check) -> Check:
    return lambda value, key: _fits(value, fields, key)


def _tagged(tag: str, variants: Mapping[str, Mapping[str, Check]]) -> Check:
    """Accept an object whose ``tag`` names one of ``variants``, with the fields of that one."""

    def check(value: Record, key: str) -> None:
        found = _object(value, key)
        _one_of(found.get(tag), f"{key}.{tag}", tuple(variants))
        _fits(found, variants[found[tag]], key)

    return check


def _stop_reason(value: Record, key: str) -> None:
    if isinstance(value, dict):
        _text(value.get("unknown"), f"{key}.unknown")
    else:
        _one_of(value, key, ("end_turn", "length", "tool_calls", "content_filter", "function_call"))


def _context_usage(value: Record, key: str) -> None:
    """Accept how full the context is; each key may be missing, and the tokens may not be null."""
    found = {"input_tokens": 0, **_object(value, key)}
    _fits(found, {"usage_ratio": _or_null(_number), "context_limit": _or_null(_U64), "input_tokens": _U64}, key)


_U64: Final = _unsigned(64)
_U32: Final = _unsigned(32)
_PURPOSE: Final = _named("chat", "compaction")
_MEDIA: Final[Mapping[str, Check]] = {"data": _text, "mime_type": _text}
_BLOCKS: Final = _list_of(_tagged("type", {"text": {"text": _text}, "image": _MEDIA, "audio": _MEDIA}))

_REQUEST: Final[Mapping[str, Check]] = {"id": _text, "name": _text, "arguments": _text}
_RESULT: Final = _fields(**_REQUEST, result=_text)
_ERROR: Final = _fields(id=_text, name=_text, arguments=_or_null(_text), error=_text)
_DIFF: Final = _fields(path=_text, old_text=_or_null(_text), new_text=_or_null(_text))
_ENTRY: Final = _fields(content=_text, status=_named("pending", "in_progress", "completed", "cancelled"))
_META: Final = _or_null(
    _fields(
        display=_fields(title=_text, value=_text),
        file_diff=_or_null(_DIFF),
        plan=_or_null(_fields(entries=_list_of(_ENTRY))),
    )
)
_TASK: Final[Mapping[str, Check]] = {"request": _fields(**_REQUEST), "task_id": _text}

_TOKENS: Final = _fields(
    input_tokens=_U64,
    output_tokens=_U64,
    **dict.fromkeys(
        (
            "cache_read_tokens", "cache_creation_tokens", "input_audio_tokens", "input_video_tokens",
            "reasoning_tokens", "output_audio_tokens", "accepted_prediction_tokens", "rejected_prediction_tokens",
        ),
        _or_null(_U64),
    ),
)  # fmt: skip
_PRICING: Final = _or_null(
    _fields(
        input_per_million=_number,
        output_per_million=_number,
        cache_read_per_million=_or_null(_number),
        cache_write_per_million=_or_null(_number),
    )
)
_MODEL: Final = _fields(provider=_or_null(_text), model_id=_or_null(_text), pricing=_PRICING)
_COST_KEYS: Final = ("input_usd", "output_usd", "cache_read_usd", "cache_creation_usd", "total_usd")
_TOTAL_KEYS: Final = (
    "estimated_usd", "estimated_input_usd", "estimated_output_usd", "estimated_cache_read_usd",
    "estimated_cache_creation_usd",
)  # fmt: skip
_SESSION_USAGE: Final[Mapping[str, Check]] = {
    "sequence": _U64,
    "source": _fields(
        agent_id=_text, parent_agent_id=_or_null(_text), task_id=_or_null(_text), agent_name=_or_null(_text)
    ),
    "purpose": _PURPOSE,
    "model": _MODEL,
    "tokens": _TOKENS,
    "estimated_cost": _or_null(_fields(**dict.fromkeys(_COST_KEYS, _number))),
    "totals": _fields(tokens=_TOKENS, unpriced_calls=_U64, **dict.fromkeys(_TOTAL_KEYS, _number)),
}
_CALL_OUTCOME: Final = _tagged(
    "status",
    {
        "completed": {"stop_reason": _or_null(_stop_reason), "usage": _or_null(_TOKENS)},
        "failed": {
            "error": _text,
            "will_retry": _boolean,
            "http_status": _or_null(_unsigned(16)),
            "provider_request_id": _or_null(_text),
            "provider_error_code": _or_null(_text),
        },
        "cancelled": {},
    },
)
_OUTCOME: Final = _tagged("status", {"completed": {}, "cancelled": {}, "failed": {"error": _text}})
_CHUNK: Final[Mapping[str, Check]] = {"message_id": _text, "chunk": _text, "is_complete": _boolean}

_EVENTS: Final[Mapping[str, Mapping[str, Check]]] = {
    "message/text": _CHUNK,
    "message/thought": _CHUNK,
    "tool/call": {"request": _fields(**_REQUEST)},
    "tool/result": {"result": _RESULT, "result_meta": _META},
    "tool/error": {"error": _ERROR},
    "tool/task_created": {**_TASK, "status_message": _or_null(_text)},
    "tool/task_completed": {**_TASK, "result": _RESULT, "result_meta": _META},
    "tool/task_failed": {**_TASK, "error": _ERROR},
    "tool/task_cancelled": _TASK,
    "turn/retry_scheduled": {"purpose": _PURPOSE, "attempt": _U32, "max_attempts": _U32, "delay_ms": _U64},
    "turn/llm_call_ended": {"purpose": _PURPOSE, "outcome": _CALL_OUTCOME},
    "turn/auto_continue": {"attempt": _U32, "max_attempts": _U32, "message_id": _text, "content": _BLOCKS},
    "turn/ended": {"outcome": _OUTCOME},
    "context/compaction_started": {"compaction_id": _text, "message_count": _U64},
    "context/compaction_result": {
        "compaction_id": _text, "message_id": _text, "summary": _text, "messages_removed": _U64,
    },
    "context/compaction_ended": {"compaction_id": _text, "outcome": _OUTCOME},
    "context/usage_updated": {"usage": _context_usage},
    "context/cleared": {},
    "model/switched": {"previous": _text, "new": _text},
}  # fmt: skip
