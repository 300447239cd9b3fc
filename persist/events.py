"""What agents tell us, in one vocabulary: the values that parsers make from records.

Pure values, imported by everything, importing nothing. A parser (``persist.agents``) turns one record
into one :class:`Parsed`; ``persist.reading`` numbers the events; ``index.projection`` turns them into rows.
Tuples, because a large store has millions of them.

Event types (DESIGN 6; Aether's names, ``spec/aether.md`` 4.2, and ours) are listed in
``EVENT_TYPES``; a test compares the list with what the parsers emit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

USER: Final = "user"
AGENT: Final = "agent"
CONTROL: Final = "control"
SESSION_TITLE: Final = "session_title"

EVENT_TYPES: Final[Mapping[str, str]] = {
    "user_message": "what a person typed, or a caller sent as a person's words",
    "user_notice": "machine text that an agent keeps in a user record",
    "system_message": "steering text of the agent's own harness",
    "message_text": "the agent's answer or commentary",
    "message_thought": "the agent's visible thinking",
    "tool_call": "a tool was called",
    "tool_result": "a tool answered",
    "tool_error": "a tool failed",
    "tool_refused": "a tool call was refused by the person or a rule",
    "tool_deferred": "a tool went on in the background",
    "tool_task_completed": "a background tool ended well",
    "tool_task_failed": "a background tool failed",
    "tool_task_cancelled": "a background tool was cancelled",
    "retry_scheduled": "a provider call will be tried again",
    "llm_call_started": "a provider call began (a fork of Aether keeps these)",
    "llm_call_ended": "a provider call failed",
    "auto_continue": "the agent went on by itself",
    "turn_ended": "a turn ended",
    "context_compaction_started": "older turns are about to be folded",
    "context_compaction_result": "a summary that replaces older turns",
    "context_compaction_ended": "the folding ended",
    "context_usage": "how full the context is",
    "context_cleared": "the context was emptied by the agent",
    "context_eviction": "a tool result was blanked to fit the context",
    "clear_context": "the context was emptied by the person",
    "agent_switched": "another agent or mode took over",
    "model_switched": "another model took over",
    "session_usage": "tokens and cost of one provider call, with running totals",
    SESSION_TITLE: "the session was given a title",
}


class Measures(NamedTuple):
    """Aether's usage columns (``spec/aether.md`` 4.1); null where the event does not report one."""

    usage_ratio: float | None = None
    context_limit: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_creation_tokens: int | None = None
    reasoning_tokens: int | None = None
    total_input_tokens: int | None = None
    total_output_tokens: int | None = None
    total_cache_read_tokens: int | None = None
    total_cache_creation_tokens: int | None = None
    total_reasoning_tokens: int | None = None
    usage_sequence: int | None = None
    agent_id: str | None = None
    parent_agent_id: str | None = None
    task_id: str | None = None
    agent_name: str | None = None
    call_purpose: str | None = None
    provider: str | None = None
    estimated_cost_usd: float | None = None
    total_estimated_cost_usd: float | None = None
    unpriced_calls: int | None = None


class Event(NamedTuple):
    """One thing that happened in a session; one row of the index.

    ``text`` is whole (parts joined by one newline); for tools it is the result or the error text.
    ``ts`` is in the index's form (``persist.times``) or ``None``. ``record_id`` is the record's own id
    in its agent (not the session's, not the provider's message id); ``part`` tells apart several events
    of one record. ``may_grow`` marks a record that its agent may write again, longer, for the same
    ``message_id`` (DESIGN 6, growing copies). ``anchor`` is for records without an id whose copies carry the time of
    the copying: what they lie in (a turn, a session), the same in every copy; it stands for the time in the identity.
    """

    kind: str
    event_type: str
    text: str | None = None
    ts: str | None = None
    outcome: str | None = None
    is_prompt: bool = False
    tool_call_id: str | None = None
    tool_name: str | None = None
    tool_arguments: str | None = None
    model_name: str | None = None
    message_id: str | None = None
    record_id: str | None = None
    part: int = 0
    may_grow: bool = False
    measures: Measures | None = None
    anchor: str | None = None


class Usage(NamedTuple):
    """What one record says about the tokens of one provider call.

    ``input_tokens`` never includes cached ones and ``output_tokens`` always includes reasoning, whatever
    the vendor's own nesting; unknown is ``None``, never 0 (DESIGN 6, "Tokens"). A record with usage
    always gives at least one event; the usage belongs to the first of them.
    """

    message_id: str | None = None
    request_id: str | None = None
    provider: str | None = None
    model_name: str | None = None
    ts: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_usd: float | None = None


TRAITS: Final[Mapping[str, str]] = {
    "cwd": "the working directory, as recorded",
    "repo_root": "the project's root, where the agent records one",
    "git_branch": "the branch, as recorded",
    "model": "the model, as recorded",
    "mode": "Aether's selected mode",
    "created_at": "when the session began, by its header (index time form)",
    "title": "a title; the trait's rank and target say how much it counts",
    "parent": "the id of the session this one works for",
    "forked_from": "the id of the session whose beginning this one goes on from",
    "imported_from": "the agent and id of the session this one was imported from, as agent:id",
    "version": "the agent's version",
    "schedule": "the cron entry that ran it",
}


class Trait(NamedTuple):
    """What a record tells about its session as a whole; emitted only when it changes.

    ``rank`` orders titles (0: given by a person, 1: by the agent, 2: derived); ``target_record_id`` is the
    record a title is about, if it names one: such a title counts only where that record lies.
    """

    name: str
    value: str
    rank: int = 0
    target_record_id: str | None = None


class HistoryPrompt(NamedTuple):
    """One entry of an agent's own prompt history.

    ``text`` is what was sent, pastes put in where their content is known; ``display`` is what the
    history shows, where that differs. ``session_id`` is the agent's own, ``project`` a recorded path.
    """

    text: str
    display: str | None = None
    ts: str | None = None
    session_id: str | None = None
    project: str | None = None


class JournalEntry(NamedTuple):
    """One line of the memory journal (``spec/aster.md`` 4.6).

    ``more`` is what it tells beside these keys and the standing of a block needs, as JSON for
    ``persist.memory.journal.operation_of``; only the journal's parser sets it.
    """

    ts: str | None
    op: str
    name: str | None = None
    detail: str | None = None
    source_session: str | None = None
    by: str | None = None
    more: str | None = None


class Parsed(NamedTuple):
    """What one record came to. ``skipped`` names a record type that is left out, known or not.

    ``bad_times`` counts times that were written but cannot be (unreadable, zero, negative, absurd).
    """

    events: tuple[Event, ...] | list[Event] = ()
    usage: tuple[Usage, ...] | list[Usage] = ()
    traits: tuple[Trait, ...] | list[Trait] = ()
    prompts: tuple[HistoryPrompt, ...] | list[HistoryPrompt] = ()
    journal: tuple[JournalEntry, ...] | list[JournalEntry] = ()
    skipped: str | None = None
    bad_times: int = 0


class Note(NamedTuple):
    """A memory block read from one markdown file (an agent's note, or a block of the store).

    ``name`` falls back to the file's stem. Times are in the index's form. ``body`` has no frontmatter. ``title`` is
    what somebody typed for the note, on one line, where that is told apart from its name.
    """

    name: str
    body: str
    description: str = ""
    kind: str | None = None
    project: str | None = None
    source_session: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    aliases: tuple[str, ...] = ()
    archived: bool = False
    superseded_by: str | None = None
    pinned: bool = False
    title: str | None = None


class NoteFact(NamedTuple):
    """One bullet of ASTER.md: its text without the bullet, and where it stands.

    Lines count from 1 and the last one is its own; blank lines between are none of its text.
    """

    text: str
    line_number: int
    offset_bytes: int
    last_line_number: int
