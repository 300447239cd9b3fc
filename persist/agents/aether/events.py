"""One Aether record in the current shape to one event: the table of ``spec/aether.md`` 4.2.

Pure and without memory; imports only the persist contracts and ``fields``. Records of older shapes come through
``eras`` first. What Aether never writes on purpose is skipped as ``transient:<category>/<type>``,
what nobody here knows as ``unknown:<…>``; both are counted by name and neither is damage.

Where Aether calls a line malformed although its meaning is plain (ids missing, arguments as an object, null
lists, ``1000.0``, totals of three keys, a text without ``is_complete``) it is read: a log only ever holds complete
texts. Refused is what would give up bytes: a known place holding another type, or nothing where the text should be.

The content is exactly Aether's: null for failure texts of calls and turns, the display form of a prompt. The expanded
prompt behind a display form is no row of its own (``show`` reads it from the line).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from persist.agents.aether.fields import (
    as_text,
    count,
    mapping,
    mapping_or_none,
    name,
    number,
    text,
    text_or_none,
)
from persist.errors import ShapeError
from persist.events import AGENT, CONTROL, USER, Event, Measures, Parsed, Usage
from persist.sources import Record

Fields = dict[str, Record]

TRANSIENT: Final = frozenset(
    {
        "tool/input_started", "tool/input_delta", "tool/progress", "tool/sub_agent_progress", "tool/display_update",
        "tool/task_status", "tool/definitions_updated", "tool/call_update", "tool/execution_started",
        "turn/started", "turn/llm_call_started",
    }
)  # fmt: skip
"""Agent events that are left out (1.5), with the two of era D. Old logs hold thousands of them."""


def read_event(record: Fields) -> Parsed:
    """Read one record that has a ``kind``. Raises ``ShapeError`` when it is not of its kind's shape."""
    kind = record.get("kind")
    if kind == AGENT:
        return _agent(record.get("data"))
    if kind not in (USER, CONTROL):
        return Parsed(skipped=f"unknown:{name(kind, 'kind')}")
    data = mapping(record.get("data"), "data")
    event_type = name(data.get("type"), "data.type")
    if kind == USER and event_type == "message":
        return _user_message(data)
    if kind == USER and event_type == "clearContext":
        return _one(Event(USER, "clear_context"))
    if kind == CONTROL and event_type == "agentSwitched":
        text_or_none(data.get("from"), "data.from")
        text_or_none(data.get("to"), "data.to")
        return _one(Event(CONTROL, "agent_switched"))
    return Parsed(skipped=f"unknown:{kind}/{event_type}")


def user_text(data: Fields) -> str | None:
    """Return what a person's message says: the display form where one is present, even an empty one (1.3).

    Text blocks are joined by one newline, media passed over; nothing at all is ``None``. Raises ``ShapeError``.
    """
    blocks = data.get("display_content")
    if blocks is None:
        if "content" not in data:
            raise ShapeError("data.content is missing")
        blocks = data["content"]
    return _block_text(blocks) or None


def _block_text(blocks: Record) -> str:
    if isinstance(blocks, str):
        return blocks
    if not isinstance(blocks, list | None):
        raise ShapeError("data.content is neither a list nor text")
    texts = []
    for block in blocks or []:
        if isinstance(block, str):
            texts.append(block)
        elif mapping(block, "a content block").get("type") == "text":
            texts.append(text(block.get("text"), "text of a content block"))
    return "\n".join(texts)


def _user_message(data: Fields) -> Parsed:
    message_id = text_or_none(data.get("message_id"), "data.message_id")
    event = Event(
        USER, "user_message", user_text(data), is_prompt=True, message_id=message_id, record_id=message_id
    )  # fmt: skip
    return _one(event)


def _agent(data: Record) -> Parsed:
    event = data.get("event") if isinstance(data, dict) else None
    if not isinstance(event, dict):
        return _eventless(data)
    category = data.get("category")
    full_name = f"{category}/{event.get('type')}"
    reader = _READERS.get(full_name)
    if reader is not None:
        return reader(event)
    if full_name in TRANSIENT:
        return Parsed(skipped=f"transient:{full_name}")
    if category == "session_usage":
        return _session_usage(event)
    full_name = f"{name(category, 'data.category')}/{name(event.get('type'), 'event.type')}"
    return Parsed(skipped=f"unknown:{full_name}")


def _eventless(data: Record) -> Parsed:
    """Name an unknown variant of eras A and B; anything else without an event is refused."""
    if isinstance(data, str):
        return Parsed(skipped=f"unknown:agent/{name(data, 'data')}")
    if "category" not in mapping(data, "data") and len(data) == 1:
        return Parsed(skipped=f"unknown:agent/{name(next(iter(data)), 'data')}")
    raise ShapeError("agent data has neither an event nor one variant")


def _message(event_type: str, full_name: str) -> Callable[[Fields], Parsed]:
    def read(event: Fields) -> Parsed:
        complete = event.get("is_complete", True)
        if not isinstance(complete, bool):
            raise ShapeError("event.is_complete is not a boolean")
        if not complete:
            return Parsed(skipped=f"transient:{full_name}")
        return _one(
            Event(
                AGENT,
                event_type,
                text(event.get("chunk"), "event.chunk"),
                model_name=_model(event),
                message_id=text_or_none(event.get("message_id"), "event.message_id"),
            )
        )

    return read


def _tool_event(
    event_type: str, event: Fields, request: Fields, content: str | None, outcome: str | None = None
) -> Parsed:
    return _one(
        Event(
            AGENT,
            event_type,
            content,
            outcome=outcome,
            tool_call_id=text_or_none(request.get("id"), "id of the call"),
            tool_name=text_or_none(request.get("name"), "name of the call"),
            tool_arguments=as_text(request.get("arguments"), "arguments of the call"),
            model_name=_model(event),
        )
    )


def _model(event: Fields) -> str | None:
    """Return the model that eras A to C wrote into each record; later ones do not (and Aether's index has none)."""
    return text_or_none(event.get("model_name"), "model_name")


def _call(event: Fields) -> Parsed:
    return _tool_event("tool_call", event, mapping(event.get("request"), "event.request"), None)


def _answer(event: Fields, key: str) -> tuple[Fields, str | None]:
    """Return the object under ``key`` (``result`` or ``error``) and the text it holds under the same key."""
    answer = mapping(event.get(key), f"event.{key}")
    if key not in answer:
        raise ShapeError(f"event.{key}.{key} is missing")
    return answer, as_text(answer[key], f"event.{key}.{key}")


def _result(event: Fields) -> Parsed:
    answer, content = _answer(event, "result")
    return _tool_event("tool_result", event, answer, content)


def _error(event: Fields) -> Parsed:
    answer, content = _answer(event, "error")
    return _tool_event("tool_error", event, answer, content, "failed")


def _refused(event: Fields) -> Parsed:
    request = mapping(event.get("request"), "event.request")
    return _tool_event("tool_refused", event, request, as_text(event.get("reason"), "event.reason"), "refused")


def _task_created(event: Fields) -> Parsed:
    request = mapping(event.get("request"), "event.request")
    return _tool_event("tool_deferred", event, request, text_or_none(event.get("task_id"), "event.task_id"))


def _task_completed(event: Fields) -> Parsed:
    answer, content = _answer(event, "result")
    request = mapping_or_none(event.get("request"), "event.request") or answer
    return _tool_event("tool_task_completed", event, request, content, "completed")


def _task_failed(event: Fields) -> Parsed:
    answer, content = _answer(event, "error")
    request = mapping_or_none(event.get("request"), "event.request") or answer
    return _tool_event("tool_task_failed", event, request, content, "failed")


def _task_cancelled(event: Fields) -> Parsed:
    request = mapping(event.get("request"), "event.request")
    task_id = text_or_none(event.get("task_id"), "event.task_id")
    content = f"{task_id}: cancelled" if task_id is not None else None
    return _tool_event("tool_task_cancelled", event, request, content, "cancelled")


def _status(event: Fields) -> str:
    outcome = mapping(event.get("outcome"), "event.outcome")
    return name(outcome.get("status"), "status of the outcome")


def _llm_call_ended(event: Fields) -> Parsed:
    status = _status(event)
    if status == "failed":
        return _one(Event(AGENT, "llm_call_ended", outcome=status))
    known = status in ("completed", "cancelled")
    return Parsed(skipped=f"{'transient' if known else 'unknown'}:turn/llm_call_ended")


def _plain(event_type: str) -> Callable[[Fields], Parsed]:
    parsed = _one(Event(AGENT, event_type))
    return lambda _event: parsed


def _with_outcome(event_type: str) -> Callable[[Fields], Parsed]:
    return lambda event: _one(Event(AGENT, event_type, outcome=_status(event)))


def _compaction_result(event: Fields) -> Parsed:
    summary = text(event.get("summary"), "event.summary")
    message_id = text_or_none(event.get("message_id"), "event.message_id")
    return _one(Event(AGENT, "context_compaction_result", summary, message_id=message_id))


def _model_switched(event: Fields) -> Parsed:
    text_or_none(event.get("previous"), "event.previous")
    return _one(Event(AGENT, "model_switched", model_name=text(event.get("new"), "event.new")))


def _token_columns(tokens: Fields, totals: Fields, prefix: str) -> Measures:
    """Fill the ten token columns; the totals' keys begin with ``prefix``. Missing counts are ``None``."""
    return Measures(
        input_tokens=count(tokens.get("input_tokens"), "input_tokens"),
        output_tokens=count(tokens.get("output_tokens"), "output_tokens"),
        cache_read_tokens=count(tokens.get("cache_read_tokens"), "cache_read_tokens"),
        cache_creation_tokens=count(tokens.get("cache_creation_tokens"), "cache_creation_tokens"),
        reasoning_tokens=count(tokens.get("reasoning_tokens"), "reasoning_tokens"),
        total_input_tokens=count(totals.get(f"{prefix}input_tokens"), "total input_tokens"),
        total_output_tokens=count(totals.get(f"{prefix}output_tokens"), "total output_tokens"),
        total_cache_read_tokens=count(totals.get(f"{prefix}cache_read_tokens"), "total cache_read_tokens"),
        total_cache_creation_tokens=count(totals.get(f"{prefix}cache_creation_tokens"), "total cache_creation_tokens"),
        total_reasoning_tokens=count(totals.get(f"{prefix}reasoning_tokens"), "total reasoning_tokens"),
    )


def _usage_updated(event: Fields) -> Parsed:
    """Read how full the context is; eras A to D kept all token counts here, and each has its column."""
    usage = mapping(event.get("usage"), "event.usage")
    measures = _token_columns(usage, usage, "total_")._replace(
        usage_ratio=number(usage.get("usage_ratio"), "usage_ratio"),
        context_limit=count(usage.get("context_limit"), "context_limit"),
    )
    return _one(Event(AGENT, "context_usage", measures=measures))


def _session_usage(event: Fields) -> Parsed:
    """Read one sample of one provider call: the columns as Aether counts, and a usage as the index counts."""
    source = mapping_or_none(event.get("source"), "event.source") or {}
    model = mapping_or_none(event.get("model"), "event.model") or {}
    tokens = mapping(event.get("tokens"), "event.tokens")
    cost = mapping_or_none(event.get("estimated_cost"), "event.estimated_cost") or {}
    totals = mapping_or_none(event.get("totals"), "event.totals") or {}
    total_tokens = mapping_or_none(totals.get("tokens"), "totals.tokens") or {}
    measures = _token_columns(tokens, total_tokens, "")._replace(
        usage_sequence=count(event.get("sequence"), "event.sequence"),
        agent_id=text_or_none(source.get("agent_id"), "source.agent_id"),
        parent_agent_id=text_or_none(source.get("parent_agent_id"), "source.parent_agent_id"),
        task_id=text_or_none(source.get("task_id"), "source.task_id"),
        agent_name=text_or_none(source.get("agent_name"), "source.agent_name"),
        call_purpose=text_or_none(event.get("purpose"), "event.purpose"),
        provider=text_or_none(model.get("provider"), "model.provider"),
        estimated_cost_usd=number(cost.get("total_usd"), "estimated_cost.total_usd"),
        total_estimated_cost_usd=number(totals.get("estimated_usd"), "totals.estimated_usd"),
        unpriced_calls=count(totals.get("unpriced_calls"), "totals.unpriced_calls"),
    )
    model_name = text_or_none(model.get("model_id"), "model.model_id")
    usage = Usage(
        provider=measures.provider,
        model_name=model_name,
        input_tokens=uncached_tokens(measures),
        output_tokens=measures.output_tokens,
        cache_read_tokens=measures.cache_read_tokens,
        cache_write_tokens=measures.cache_creation_tokens,
        reasoning_tokens=measures.reasoning_tokens,
        cost_usd=measures.estimated_cost_usd,
    )
    return Parsed((Event(AGENT, "session_usage", model_name=model_name, measures=measures),), (usage,))


def uncached_tokens(measures: Measures) -> int | None:
    """Return the input tokens that were neither read from nor written to the provider's cache.

    Aether's ``input_tokens`` holds all three: in the sample 5120 tokens with 4096 read and 512 written cost
    0.001536 USD at 3 USD per million, the price of 512. Its ``output_tokens`` holds reasoning (210 with 64 cost
    210's price), which is what the index wants. A sum above the input shows a provider that counts them apart.
    """
    if measures.input_tokens is None:
        return None
    cached = (measures.cache_read_tokens or 0) + (measures.cache_creation_tokens or 0)
    return measures.input_tokens - cached if cached <= measures.input_tokens else measures.input_tokens


def _one(event: Event) -> Parsed:
    return Parsed((event,))


_READERS: Final[dict[str, Callable[[Fields], Parsed]]] = {
    "message/text": _message("message_text", "message/text"),
    "message/thought": _message("message_thought", "message/thought"),
    "tool/call": _call,
    "tool/result": _result,
    "tool/error": _error,
    "tool/refused": _refused,
    "tool/task_created": _task_created,
    "tool/task_completed": _task_completed,
    "tool/task_failed": _task_failed,
    "tool/task_cancelled": _task_cancelled,
    "turn/retry_scheduled": _plain("retry_scheduled"),
    "turn/llm_call_ended": _llm_call_ended,
    "turn/auto_continue": _plain("auto_continue"),
    "turn/ended": _with_outcome("turn_ended"),
    "context/compaction_started": _plain("context_compaction_started"),
    "context/compaction_result": _compaction_result,
    "context/compaction_ended": _with_outcome("context_compaction_ended"),
    "context/usage_updated": _usage_updated,
    "context/cleared": _plain("context_cleared"),
    "model/switched": _model_switched,
}
