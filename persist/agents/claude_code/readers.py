"""Claude Code's conversation records, one by one, to events and usage; no state is touched here.

Pure; imports only ``persist`` values. Who said a text is told by the record's flags and by the text's structure
(``text``), never by its words. Rules of the format: ``spec/agents.md`` 2 "Claude Code".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from persist.agents.claude_code.blocks import Speaker, assistant_blocks, content_text, error_text, user_blocks
from persist.agents.claude_code.text import BARE_COMMAND, COMMAND, sort_text
from persist.agents.values import read_cost, read_count, read_id
from persist.events import AGENT, CONTROL, USER, Event, Usage

SYNTHETIC_MODEL: Final = "<synthetic>"
"""The model that Claude Code names when it wrote the text itself; no provider was called."""
_COUNT_KEYS: Final = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


class Reading(NamedTuple):
    """What one record came to, before the parser's state is touched."""

    events: list[Event] | tuple[Event, ...] = ()
    usage: tuple[Usage, ...] = ()
    opened: Mapping[str, str] | None = None
    closed: list[str] | tuple[str, ...] = ()


def _read_user(record: Mapping[str, Any], calls: Mapping[str, str], ts: str | None) -> Reading:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    record_id = read_id(record.get("uuid"))
    if record.get("isCompactSummary") is True:
        summary = Event(AGENT, "context_compaction_result", content_text(content), ts, record_id=record_id)
        return Reading((summary,))
    blocks = user_blocks(content, _speaker(record), calls, ts, record_id, record.get("toolDenialKind"))
    return Reading(blocks.events, closed=blocks.closed)


def _read_assistant(record: Mapping[str, Any], calls: Mapping[str, str], ts: str | None) -> Reading:
    message = record.get("message")
    message = message if isinstance(message, dict) else {}
    model, message_id = read_id(message.get("model")), read_id(message.get("id"))
    is_failure = record.get("isApiErrorMessage") is True
    record_id = read_id(record.get("uuid"))
    blocks = assistant_blocks(message.get("content"), calls, ts, record_id, model, message_id, is_failure)
    usage = _usage(message.get("usage"), record, ts, model, message_id)
    return Reading(blocks.events, usage, blocks.opened, blocks.closed)


def _read_system(record: Mapping[str, Any], _calls: Mapping[str, str], ts: str | None) -> Reading:
    subtype = record.get("subtype")
    content = record.get("content")
    text = content if isinstance(content, str) and content.strip() else None
    record_id = read_id(record.get("uuid"))
    if subtype == "api_error":
        is_retry = any(isinstance(record.get(key), int | float) for key in ("retryInMs", "retryAttempt"))
        event_type, outcome = ("retry_scheduled", None) if is_retry else ("llm_call_ended", "failed")
        message = error_text(record.get("error")) or error_text(record.get("cause")) or text
        return Reading((Event(AGENT, event_type, message, ts, outcome, record_id=record_id),))
    if subtype == "compact_boundary":
        return Reading((Event(AGENT, "context_compaction_ended", text, ts, "completed", record_id=record_id),))
    if subtype == "microcompact_boundary":
        return Reading((Event(AGENT, "context_eviction", text, ts, record_id=record_id),))
    if text is None:
        return Reading()
    if subtype == "local_command":
        said = sort_text(text)
        shown = said.text if said.sort in (COMMAND, BARE_COMMAND) else text
        return Reading((Event(USER, "user_notice", shown, ts, record_id=record_id),))
    return Reading((Event(CONTROL, "system_message", text, ts, record_id=record_id),))


def _read_attachment(record: Mapping[str, Any], calls: Mapping[str, str], ts: str | None) -> Reading:
    """A prompt typed while the agent was busy is recorded here and nowhere else; the rest is skipped."""
    attachment = record.get("attachment")
    if not isinstance(attachment, dict) or attachment.get("type") != "queued_command":
        return Reading()
    speaker = _speaker(record, attachment)
    blocks = user_blocks(attachment.get("prompt"), speaker, calls, ts, read_id(record.get("uuid")), None)
    return Reading(blocks.events, closed=blocks.closed)


READERS: Final[Mapping[str, Callable[[Mapping[str, Any], Mapping[str, str], str | None], Reading]]] = {
    "user": _read_user,
    "assistant": _read_assistant,
    "system": _read_system,
    "attachment": _read_attachment,
}


def _speaker(record: Mapping[str, Any], attachment: Mapping[str, Any] | None = None) -> Speaker:
    """Read the flags of a user record (or of a queued command); words are not looked at."""
    origin = (attachment or record).get("origin") or record.get("origin")
    sent_by = origin.get("kind") if isinstance(origin, dict) else None
    is_machine = (
        record.get("isMeta") is True
        or record.get("isVisibleInTranscriptOnly") is True
        or record.get("turnCompanion") is True
        or record.get("promptSource") == "system"
        or sent_by not in (None, "human")
        or (attachment is not None and attachment.get("commandMode") not in (None, "prompt"))
    )
    is_sidechain = record.get("isSidechain") is True
    return Speaker(
        is_person=not is_machine and not is_sidechain,
        is_sworn=sent_by == "human" and not is_machine,
        is_machine=is_machine,
    )


def _usage(
    usage: object, record: Mapping[str, Any], ts: str | None, model: str | None, message_id: str | None
) -> tuple[Usage, ...]:
    if not isinstance(usage, dict):
        return ()
    given, output, cache_read, cache_write = (read_count(usage.get(key)) for key in _COUNT_KEYS)
    counts = (given, output, cache_read, cache_write)
    if counts == (None, None, None, None) or (model == SYNTHETIC_MODEL and not any(counts)):
        return ()
    details = usage.get("output_tokens_details")
    return (
        Usage(
            message_id=message_id,
            request_id=read_id(record.get("requestId")),
            provider="anthropic",
            model_name=model,
            ts=ts,
            input_tokens=given,
            output_tokens=output,
            cache_read_tokens=cache_read,
            cache_write_tokens=cache_write,
            reasoning_tokens=read_count(details.get("thinking_tokens")) if isinstance(details, dict) else None,
            cost_usd=read_cost(record.get("costUSD")),  # only versions of 2025 wrote it
        ),
    )
