"""Older shapes of Aether's records, made into the current one, line by line (``spec/aether.md`` 1.6).

Pure; imports only ``persist.sources``; never raises: what it does not know it returns as it came, for the caller to
judge. A session resumed under a newer version keeps its old lines, so every line is looked at on its own.

=====  ======================================================================================================
era    what is changed here
=====  ======================================================================================================
A      user content that is plain text becomes one text block
A, B   agent data tagged by one variant name (``{"ToolCall": …}``, ``"Done"``) becomes category and event
A, B   ``tokens_used`` of the context usage becomes ``input_tokens``
C      ``llm_call_started`` with provider and model as text gets a model object
D, E   nothing: missing ids and totals stay missing, ``call_update`` and ``execution_started`` keep their
       names, further keys (``model_name``, the large usage object) stay where they are
fork   an outcome that is bare text becomes an object with a status; ``tool/refused`` and the outcome
       ``max_turns_reached`` keep their names
=====  ======================================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from persist.sources import Record


class Normalised(NamedTuple):
    """A record in the current shape; ``old_name`` is the variant name of eras A and B, if it had one."""

    record: dict[str, Record]
    old_name: str | None = None


def normalise(record: dict[str, Record]) -> Normalised:
    """Return ``record`` in the current shape: the same object where nothing is old about it."""
    data = record.get("data")
    kind = record.get("kind")
    if kind == "agent":
        if isinstance(data, str):
            return _old_unit(record, data)
        if isinstance(data, dict):
            if "category" in data:
                return Normalised(_intermediate(record, data))
            if len(data) == 1:
                return _old_variant(record, data)
    elif kind == "user" and isinstance(data, dict) and isinstance(data.get("content"), str):
        blocks = [{"type": "text", "text": data["content"]}]
        return Normalised({**record, "data": {**data, "content": blocks}})
    return Normalised(record)


def _old_unit(record: dict[str, Record], variant: str) -> Normalised:
    known = _UNITS.get(variant)
    return Normalised(record if known is None else {**record, "data": known}, variant)


def _old_variant(record: dict[str, Record], data: dict[str, Record]) -> Normalised:
    ((variant, fields),) = data.items()
    known = _VARIANTS.get(variant)
    if known is None or not isinstance(fields, dict):
        return Normalised(record, variant)
    category, event_type, reshape = known
    event = {"type": event_type, **(reshape(fields) if reshape else fields)}
    return Normalised({**record, "data": {"category": category, "event": event}}, variant)


def _intermediate(record: dict[str, Record], data: dict[str, Record]) -> dict[str, Record]:
    """Reshape what eras C to E and the fork put inside today's envelope."""
    event = data.get("event")
    if not isinstance(event, dict):
        return record
    if isinstance(event.get("outcome"), str):
        return {**record, "data": {**data, "event": {**event, "outcome": {"status": event["outcome"]}}}}
    if event.get("type") == "llm_call_started" and isinstance(event.get("model"), str):
        model = {"provider": event.get("provider"), "model_id": event["model"], "pricing": None}
        return {**record, "data": {**data, "event": {**event, "model": model}}}
    return record


def _failed(fields: dict[str, Record]) -> dict[str, Record]:
    return {"outcome": {"status": "failed", "error": fields.get("message")}}


def _cancelled(_fields: dict[str, Record]) -> dict[str, Record]:
    return {"outcome": {"status": "cancelled"}}


def _usage(fields: dict[str, Record]) -> dict[str, Record]:
    usage = dict(fields)
    tokens_used = usage.pop("tokens_used", None)
    if usage.get("input_tokens") is None:
        usage["input_tokens"] = tokens_used
    return {"usage": usage}


def _retry(fields: dict[str, Record]) -> dict[str, Record]:
    return {"purpose": "chat", **fields}


_Reshape = Callable[[dict[str, Record]], dict[str, Record]]

_UNITS: Final[dict[str, Record]] = {
    "Done": {"category": "turn", "event": {"type": "ended", "outcome": {"status": "completed"}}},
    "ContextCleared": {"category": "context", "event": {"type": "cleared"}},
}
_VARIANTS: Final[dict[str, tuple[str, str, _Reshape | None]]] = {
    "Text": ("message", "text", None),
    "Thought": ("message", "thought", None),
    "ToolCall": ("tool", "call", None),
    "ToolCallUpdate": ("tool", "call_update", None),
    "ToolProgress": ("tool", "progress", None),
    "ToolResult": ("tool", "result", None),
    "ToolError": ("tool", "error", None),
    "Error": ("turn", "ended", _failed),
    "Cancelled": ("turn", "ended", _cancelled),
    "Retrying": ("turn", "retry_scheduled", _retry),
    "AutoContinue": ("turn", "auto_continue", None),
    "ContextCompactionStarted": ("context", "compaction_started", None),
    "ContextCompactionResult": ("context", "compaction_result", None),
    "ContextUsageUpdate": ("context", "usage_updated", _usage),
    "ModelSwitched": ("model", "switched", None),
}
