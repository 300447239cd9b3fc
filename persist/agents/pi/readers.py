"""Records of pi and omp, one by one, to events and usage; no state is touched here.

Pure; imports only ``persist`` values. Who said a text is told by the record's role and flags and by the text's
structure, never by its words. Rules of the format: ``spec/agents.md`` 2 "pi and omp".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from persist.agents.pi.blocks import answer_events, content_text, has_image, sort_said
from persist.agents.pi.usage import is_unknown, read_usage
from persist.agents.values import as_list, compact_json, read_id
from persist.errors import ShapeError
from persist.events import AGENT, CONTROL, USER, Event, Measures, Usage

SILENT_ABORT: Final = "__omp.silent_abort__"
"""What omp writes for an error where it ended an answer by itself, to go on in another way."""
_SKILL_PROMPT: Final = "skill-prompt"
_PROMPT_TYPES: Final = (_SKILL_PROMPT, "collab-prompt")
"""Messages that omp keeps among the program's although a person typed them: those with a person's attribution."""


class Title(NamedTuple):
    """A title and its rank: 0 given by a person, 1 by the agent."""

    text: str
    rank: int


class Reading(NamedTuple):
    """What one record came to, before the parser's state is touched. Events have no time and no record's id yet."""

    events: list[Event] | tuple[Event, ...] = ()
    usage: tuple[Usage, ...] = ()
    title: Title | None = None
    model: str | None = None


Reader = Callable[[Mapping[str, Any], str | None, bool], Reading]
"""From a record (or its message), its time and whether it stands in a sub-agent's file."""


def read_record(record: Mapping[str, Any], ts: str | None, is_sub_agent: bool) -> Reading:
    """Return what a record other than a header comes to; nothing for a type that is left out or not known.

    Raises :class:`ShapeError` for a message that is none.
    """
    kind = record.get("type")
    reader = _RECORDS.get(kind) if isinstance(kind, str) else None
    return reader(record, ts, is_sub_agent) if reader is not None else Reading()


def read_title(text: object, source: object) -> Title | None:
    """Return a title that has words; omp's ``source`` says whether a person gave it."""
    if not isinstance(text, str) or not text.strip():
        return None
    return Title(text, 0 if source == "user" else 1)


def _read_message(record: Mapping[str, Any], ts: str | None, is_sub_agent: bool) -> Reading:
    message = record.get("message")
    if not isinstance(message, dict):
        raise ShapeError(f"the message of a message record must be an object, not {type(message).__name__}")
    role = message.get("role")
    if not isinstance(role, str):
        raise ShapeError(f"the role of a message must be text, not {type(role).__name__}")
    if role == "assistant":
        return _read_assistant(message, ts, read_id(record.get("id")))
    reader = _ROLES.get(role)
    return reader(message, ts, is_sub_agent) if reader is not None else Reading()


def _read_user(message: Mapping[str, Any], _ts: str | None, is_sub_agent: bool) -> Reading:
    content = message.get("content")
    text = content_text(content)
    if message.get("synthetic") is True or message.get("attribution") == "agent":
        return Reading((Event(USER, "user_notice", text),))
    return Reading(_said(text, not is_sub_agent, has_image(content)))


def _said(text: str | None, is_person: bool, is_illustrated: bool) -> list[Event]:
    said = sort_said(text) if text is not None else None
    typed = said.typed if said is not None else None
    has_words = typed is not None and typed != "" and not typed.isspace()
    events = [Event(USER, "user_message", typed, is_prompt=is_person and (has_words or is_illustrated))]
    if said is not None and said.added is not None:
        events.append(Event(USER, "user_notice", said.added, part=1))
    return events


def _read_assistant(message: Mapping[str, Any], ts: str | None, record_id: str | None) -> Reading:
    model, provider = read_id(message.get("model")), read_id(message.get("provider"))
    message_id = read_id(message.get("responseId"))
    events = answer_events(message.get("content"))
    stop = message.get("stopReason")
    end = _end(stop, message)
    if end is not None:
        events.append(end._replace(part=len(as_list(message.get("content")))))
    if not events:
        events.append(Event(AGENT, "message_text"))
    events = [event._replace(model_name=model, message_id=message_id) for event in events]
    usage = read_usage(
        message.get("usage"), ts, provider=provider, model=model, message_id=message_id, record_id=record_id
    )
    if usage is None or (is_unknown(usage) and stop in ("error", "aborted")):
        return Reading(events, model=model)  # nothing came back, so there is no call to count
    return Reading(events, (usage,), model=model)


def _end(stop: object, message: Mapping[str, Any]) -> Event | None:
    """Return how an answer ended, where it ended badly."""
    reason = message.get("errorMessage")
    text = reason if isinstance(reason, str) and reason else None
    if stop == "error":
        if isinstance(message.get("retryRecovery"), dict):
            return Event(AGENT, "retry_scheduled", text)
        return Event(AGENT, "llm_call_ended", text, outcome="failed")
    if stop == "aborted" and text != SILENT_ABORT:
        return Event(CONTROL, "turn_ended", text, outcome="cancelled")
    return None


def _read_result(message: Mapping[str, Any], ts: str | None, _is_sub_agent: bool) -> Reading:
    failed = message.get("isError") is True
    call_id, name = message.get("toolCallId"), message.get("toolName")
    result = Event(
        AGENT,
        "tool_error" if failed else "tool_result",
        content_text(message.get("content")),
        outcome="failed" if failed else None,
        tool_call_id=call_id if isinstance(call_id, str) else None,
        tool_name=name if isinstance(name, str) else None,
    )
    return Reading((result,), _aside(message, ts))


def _read_execution(message: Mapping[str, Any], tool: str, key: str) -> Reading:
    """A command that a person ran from the prompt: a call and its result, both the user's, and no prompt."""
    command, output, code = message.get(key), message.get("output"), message.get("exitCode")
    arguments = compact_json({key: command}, "a command that a person ran") if isinstance(command, str) else None
    event_type, outcome = "tool_result", None
    if message.get("cancelled") is True:
        event_type, outcome = "tool_error", "cancelled"
    elif type(code) is int and code != 0:
        event_type, outcome = "tool_error", "failed"
    text = output if isinstance(output, str) else None
    return Reading(
        (
            Event(USER, "tool_call", tool_name=tool, tool_arguments=arguments),
            Event(USER, event_type, text, outcome=outcome, tool_name=tool, part=1),
        )
    )


def _read_bash(message: Mapping[str, Any], _ts: str | None, _is_sub_agent: bool) -> Reading:
    return _read_execution(message, "bash", "command")


def _read_python(message: Mapping[str, Any], _ts: str | None, _is_sub_agent: bool) -> Reading:
    return _read_execution(message, "python", "code")


def _read_steering(message: Mapping[str, Any], _ts: str | None, _is_sub_agent: bool) -> Reading:
    return Reading((Event(CONTROL, "system_message", content_text(message.get("content"))),))


def _read_custom(message: Mapping[str, Any], _ts: str | None, is_sub_agent: bool) -> Reading:
    """A message of an extension, or of a person where omp says so."""
    content = message.get("content")
    text = content_text(content)
    kind = message.get("customType")
    if message.get("attribution") != "user" or kind not in _PROMPT_TYPES:
        return Reading((Event(USER, "user_notice", text),))
    if kind != _SKILL_PROMPT:
        return Reading(_said(text, not is_sub_agent, has_image(content)))
    events = _said(_skill_prompt(message.get("details")), not is_sub_agent, is_illustrated=False)
    return Reading([*events, Event(USER, "user_notice", text, part=len(events))])


def _skill_prompt(details: object) -> str | None:
    """Return ``/skill:NAME WORDS`` as it was typed."""
    if not isinstance(details, dict):
        return None
    typed, name, words = (details.get(key) for key in ("prompt", "name", "args"))
    if isinstance(typed, str) and typed:
        return typed
    if not isinstance(name, str):
        return None
    return f"/skill:{name} {words}" if isinstance(words, str) and words else f"/skill:{name}"


def _read_summary(record: Mapping[str, Any], ts: str | None, _is_sub_agent: bool) -> Reading:
    """A summary of older turns or of a branch that was left; what it keeps beside (``retainedTail``) is a copy."""
    summary = record.get("summary")
    event = Event(AGENT, "context_compaction_result", summary if isinstance(summary, str) else None)
    return Reading((event,), _aside(record, ts))


def _aside(record: Mapping[str, Any], ts: str | None) -> tuple[Usage, ...]:
    """Return what a summary or a tool says of the calls it made by itself; the record does not name their model."""
    usage = read_usage(record.get("usage"), ts)
    return () if usage is None or is_unknown(usage) else (usage,)


def _read_model_change(record: Mapping[str, Any], _ts: str | None, _is_sub_agent: bool) -> Reading:
    provider, model = record.get("provider"), record.get("modelId")
    if not isinstance(model, str):  # omp writes both in one
        both = record.get("model")
        provider, _, model = both.partition("/") if isinstance(both, str) else ("", "", "")
    if not model:
        provider, model = None, provider
    name = read_id(model)
    shown = f"{provider}/{model}" if isinstance(provider, str) and provider else name
    event = Event(CONTROL, "model_switched", shown, model_name=name)
    return Reading((event,), model=name if record.get("role") in (None, "default") else None)


def _read_model_usage(record: Mapping[str, Any], ts: str | None, _is_sub_agent: bool) -> Reading:
    """A call of omp's own beside the conversation, as for a title."""
    provider, model = read_id(record.get("provider")), read_id(record.get("model"))
    usage = read_usage(record.get("usage"), ts, provider=provider, model=model)
    measures = Measures(call_purpose=read_id(record.get("purpose")), provider=provider)
    event = Event(AGENT, "session_usage", model_name=model, measures=measures)
    return Reading((event,), () if usage is None else (usage,))


def _read_reset(_record: Mapping[str, Any], _ts: str | None, _is_sub_agent: bool) -> Reading:
    return Reading((Event(USER, "clear_context"),))


def _read_name(record: Mapping[str, Any], _ts: str | None, _is_sub_agent: bool) -> Reading:
    return Reading(title=read_title(record.get("name"), "user"))


def _read_title_change(record: Mapping[str, Any], _ts: str | None, _is_sub_agent: bool) -> Reading:
    return Reading(title=read_title(record.get("title"), record.get("source")))


_RECORDS: Final[Mapping[str, Reader]] = {
    "message": _read_message,
    "custom_message": _read_custom,
    "compaction": _read_summary,
    "branch_summary": _read_summary,
    "model_change": _read_model_change,
    "model_usage": _read_model_usage,
    "reset_boundary": _read_reset,
    "session_info": _read_name,
    "title_change": _read_title_change,
}
_ROLES: Final[Mapping[str, Reader]] = {
    "user": _read_user,
    "toolResult": _read_result,
    "bashExecution": _read_bash,
    "pythonExecution": _read_python,
    "developer": _read_steering,
    "system": _read_steering,
    "custom": _read_custom,
    "hookMessage": _read_custom,
    "branchSummary": _read_summary,
    "compactionSummary": _read_summary,
}
