"""What each public view is and what each of its columns holds: the words of ``asx schema``.

Pure data; a test compares it with the schema in both directions. A view's columns stand in the view's order. A column
that means the same everywhere is described once, in ``_COMMON``; a view says only what differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from index.results import Column, Table

_TEXT: Final = "TEXT"
_INTEGER: Final = "INTEGER"
_REAL: Final = "REAL"

_COMMON: Final[Mapping[str, tuple[str, str]]] = {
    "agent": (_TEXT, "the program that wrote it: aster, aether, claude-code, codex, pi or omp"),
    "agent_id": (_TEXT, "session_usage of Aether: the id of the agent that made the call"),
    "agent_name": (_TEXT, "session_usage of Aether: the name of the agent that made the call"),
    "block_id": (_INTEGER, "the row of prose_keys that holds this block's search key"),
    "byte_offset": (_INTEGER, "where the line begins in the file, in bytes from 0"),
    "cache_creation_tokens": (_INTEGER, "tokens written to the provider's cache, as Aether counts"),
    "cache_read_tokens": (_INTEGER, "tokens read from the provider's cache"),
    "call_purpose": (_TEXT, "session_usage of Aether: what the call was for"),
    "canonical": (_INTEGER, "1, or 0 for a copy of an event that stands elsewhere; only events shows copies"),
    "content": (_TEXT, "the same as text, under Aether's name"),
    "content_len": (_INTEGER, "the same as text_len, under Aether's name"),
    "context_limit": (_INTEGER, "context_usage of Aether: how many tokens the context may hold"),
    "created_at": (_TEXT, "when it began, by its own words, UTC"),
    "cwd": (_TEXT, "the working directory, as recorded"),
    "error": (_TEXT, "why it could not be read, null when it could"),
    "estimated_cost_usd": (_REAL, "session_usage of Aether: this call's cost, null when unpriced"),
    "event_id": (_INTEGER, "the event's row in this index; the key of the full-text tables, other after a rebuild"),
    "event_index": (_INTEGER, "the event's number in its source, from 0"),
    "event_type": (_TEXT, "what happened: user_message, message_text, tool_call, tool_error …"),
    "input_tokens": (_INTEGER, "tokens of the input, as Aether counts: cached ones included"),
    "kind": (_TEXT, "who it comes from: user, agent or control"),
    "line_number": (_INTEGER, "the line in the file, from 1"),
    "message_id": (_TEXT, "the provider's or agent's id of the message it belongs to"),
    "model_name": (_TEXT, "the model, where the record names one"),
    "outcome": (_TEXT, "how it ended: completed, failed or cancelled; null for what does not end"),
    "output_tokens": (_INTEGER, "tokens of the output, reasoning included"),
    "parent_agent_id": (_TEXT, "session_usage of Aether: the agent that started that agent"),
    "is_prompt": (_INTEGER, "1 if a person typed it"),
    "project": (_TEXT, "the session's project: the git root of its folder, else the folder"),
    "provider": (_TEXT, "who served the model, where recorded"),
    "reasoning_tokens": (_INTEGER, "tokens spent on reasoning, part of the output"),
    "record_id": (_TEXT, "the record's own id in its agent's file"),
    "session_id": (_TEXT, "the agent's own id of the session; unique together with agent"),
    "sort_ts": (_TEXT, "the time it is ordered by, never null: see ts_source"),
    "source_path": (_TEXT, "the file it stands in, absolute"),
    "task_id": (_TEXT, "session_usage of Aether: the background task that made the call"),
    "text": (_TEXT, "prose whole up to 4 MiB; of tool results the beginning"),
    "text_len": (_INTEGER, "the length of the whole text in characters"),
    "tool_arguments": (_TEXT, "the beginning of the call's arguments, as recorded (JSON for most agents)"),
    "tool_arguments_len": (_INTEGER, "the length of the whole arguments in characters"),
    "tool_call_id": (_TEXT, "the call that the event belongs to"),
    "tool_name": (_TEXT, "the tool's name"),
    "total_cache_creation_tokens": (_INTEGER, "session_usage of Aether: running total of cache_creation_tokens"),
    "total_cache_read_tokens": (_INTEGER, "session_usage of Aether: running total of cache_read_tokens"),
    "total_estimated_cost_usd": (_REAL, "session_usage of Aether: running total of the cost, unpriced calls left out"),
    "total_input_tokens": (_INTEGER, "session_usage of Aether: running total of input_tokens"),
    "total_output_tokens": (_INTEGER, "session_usage of Aether: running total of output_tokens"),
    "total_reasoning_tokens": (_INTEGER, "session_usage of Aether: running total of reasoning_tokens"),
    "ts": (_TEXT, "the record's own time, UTC, 24 characters, so that text order is time order; null if unreadable"),
    "ts_source": (_TEXT, "where sort_ts comes from: record, previous, session or file"),
    "turn_index": (_INTEGER, "the turn in its source, from 0; null before the first prompt"),
    "unpriced_calls": (_INTEGER, "session_usage of Aether: how many calls so far had no known price"),
    "usage_ratio": (_REAL, "context_usage of Aether: how full the context was, 1 is full"),
    "usage_sequence": (_INTEGER, "session_usage of Aether: the call's number in the session"),
}

_PLACE: Final = "session_id agent source_path event_index line_number byte_offset turn_index ts sort_ts ts_source"
_EVENT: Final = (
    f"{_PLACE} kind event_type outcome is_prompt canonical text text_len content content_len tool_call_id tool_name "
    "tool_arguments tool_arguments_len model_name message_id record_id project usage_ratio context_limit input_tokens "
    "output_tokens cache_read_tokens cache_creation_tokens reasoning_tokens total_input_tokens total_output_tokens "
    "total_cache_read_tokens total_cache_creation_tokens total_reasoning_tokens usage_sequence agent_id "
    "parent_agent_id task_id agent_name call_purpose provider estimated_cost_usd total_estimated_cost_usd "
    "unpriced_calls event_id"
)
_PROSE: Final = (
    "agent session_id project source_path line_number byte_offset event_index turn_index ts sort_ts ts_source text "
    "text_len"
)


def _view(name: str, about: str, columns: str, /, **own: tuple[str, str]) -> Table:
    described = tuple(Column(column, *(own.get(column) or _COMMON[column])) for column in columns.split())
    return Table(name, "view", about, described)


_OF_EVENTS: Final = (
    _view(
        "events",
        "Everything that happened in any session, one row each, copies included (canonical = 0).",
        _EVENT,
    ),
    _view(
        "prompts",
        "What people typed: the prompts of transcripts, and those that only a prompt history still knows.",
        f"{_PROSE} from_history prompt_id",
        from_history=(_INTEGER, "1 if only a prompt history knows it; then it has no event and no turn"),
        prompt_id=(_INTEGER, "the row of prompt_keys that holds this prompt's search key"),
        session_id=(_TEXT, "the agent's own id of the session; null where a history does not tell it"),
        project=(_TEXT, "its session's project; where no session is indexed, the folder that the history names"),
        event_index=(_INTEGER, "the event's number in its source, from 0; null for a history's prompt"),
        turn_index=(_INTEGER, "the turn in its source, from 0; null for a history's prompt"),
        text=(_TEXT, "the prompt, whole up to 4 MiB"),
    ),
    _view(
        "answers",
        "What agents said to people.",
        f"{_PROSE} model_name message_id event_id",
        text=(_TEXT, "the answer, whole up to 4 MiB"),
    ),
    _view(
        "thinking",
        "The visible thinking of agents.",
        f"{_PROSE} model_name message_id event_id",
        text=(_TEXT, "the thought, whole up to 4 MiB"),
    ),
    _view("user_messages", "Events of type user_message: what was sent as a person's words.", _EVENT),
    _view("agent_messages", "Events of type message_text and message_thought: answers and thinking.", _EVENT),
    _view(
        "tool_calls",
        "Events of type tool_call, with arguments that were recorded later put in.",
        f"{_PLACE} kind event_type outcome text text_len content content_len tool_call_id tool_name tool_arguments "
        "model_name message_id project event_id",
    ),
    _view("tool_results", "Events of type tool_result: what tools answered, the beginning of it.", _EVENT),
    _view("tool_errors", "Events of type tool_error: tools that failed; text is the beginning of the error.", _EVENT),
    _view("context_usage", "Events of type context_usage: how full the context was (Aether).", _EVENT),
    _view("session_usage", "Events of type session_usage: tokens and cost with running totals (Aether).", _EVENT),
    _view("retries", "Events of type retry_scheduled: provider calls that were tried again.", _EVENT),
    _view("cancellations", "Events that ended cancelled: turns, background tasks and foldings of the context.", _EVENT),
)

_OF_SESSIONS: Final = (
    _view(
        "sessions",
        "One row for each session, told by all its files together.",
        "session_id agent project cwd git_branch model selected_mode title first_prompt created_at updated_at "
        "parent_session_id forked_from imported_from turns events inherited_calls",
        git_branch=(_TEXT, "the branch last recorded; a commit without a branch (HEAD) is none"),
        created_at=(_TEXT, "when it began, UTC: by its own words, else its earliest record; a fork, its first own one"),
        model=(_TEXT, "the model last recorded"),
        selected_mode=(_TEXT, "the mode last recorded, under Aether's name"),
        title=(_TEXT, "the title that a person gave, else the agent's"),
        first_prompt=(_TEXT, "the beginning of the first prompt"),
        updated_at=(_TEXT, "when it was last active, UTC"),
        parent_session_id=(_TEXT, "the session it works for as a sub-agent, of the same agent"),
        forked_from=(_TEXT, "the session whose beginning it goes on from, of the same agent, where the fork names it"),
        imported_from=(_TEXT, "the session it was imported from, as agent:id"),
        turns=(_INTEGER, "how many prompts were typed in it"),
        events=(_INTEGER, "how many events its files hold"),
        inherited_calls=(_INTEGER, "how many provider calls a fork brought along; they count for their first session"),
    ),
    _view(
        "session_tree",
        "One row for each session: the session at the top of those it works for, itself where it is no sub-agent.",
        "agent session_id root_session_id parent_session_id depth",
        root_session_id=(_TEXT, "the session at the top; itself where its parent is not indexed, or on a cycle"),
        parent_session_id=(_TEXT, "the session it works for as a sub-agent, also where that is not indexed"),
        depth=(_INTEGER, "how many steps lead up to the session at the top: 0 for that one itself"),
    ),
    _view(
        "session_files",
        "One row for each transcript, under Aether's names.",
        "source_path agent session_id status error file_size file_mtime_ns indexed_at event_count parse_error_count "
        "cwd model selected_mode created_at",
        status=(
            _TEXT,
            "indexed, held (cannot be read now, its rows are kept), ignored (nothing of its agent in it) or failed",
        ),
        file_size=(_INTEGER, "its size when it was read, in bytes"),
        file_mtime_ns=(_INTEGER, "its modification time when it was read, in nanoseconds since 1970"),
        indexed_at=(_TEXT, "when it was last read, UTC"),
        event_count=(_INTEGER, "how many events it holds"),
        parse_error_count=(_INTEGER, "how many of its lines are damaged"),
        model=(_TEXT, "the session's model"),
        selected_mode=(_TEXT, "the session's mode"),
        created_at=(_TEXT, "the time in the head of the file, UTC"),
    ),
    _view(
        "llm_calls",
        "One row for each call of a provider, copies and partial counts settled; sums over it count nothing twice.",
        "session_id agent project ts sort_ts provider model_name message_id request_id input_tokens output_tokens "
        "cache_read_tokens cache_write_tokens reasoning_tokens cost_usd source_path line_number",
        session_id=(_TEXT, "the session that the call was first made in"),
        request_id=(_TEXT, "the provider's id of the request"),
        sort_ts=(_TEXT, "the time it is ordered by, never null"),
        input_tokens=(_INTEGER, "tokens of the input that were neither read from nor written to a cache"),
        cache_write_tokens=(_INTEGER, "tokens written to the provider's cache"),
        cost_usd=(_REAL, "the cost that the agent recorded, null when it recorded none"),
    ),
)

_OF_PROMPT_HISTORIES: Final = (
    _view(
        "prompt_history",
        "What agents' own prompt histories hold, also prompts that a transcript has.",
        "agent source_path line_number byte_offset session_id project ts text display in_transcript prompt_id",
        session_id=(_TEXT, "the session it was typed in, where the history tells it"),
        project=(_TEXT, "the folder it was typed in, where the history tells it"),
        text=(_TEXT, "what was sent, pastes put in where they are known"),
        display=(_TEXT, "what the history shows"),
        in_transcript=(_INTEGER, "1 if a transcript has the same prompt"),
        prompt_id=(_INTEGER, "the row of prompt_keys that holds this prompt's search key"),
    ),
)

_OF_MEMORY: Final = (
    _view(
        "memory_blocks",
        "Memory blocks, and other agents' memory notes.",
        "name title agent description body kind project source_session created_at updated_at aliases archived "
        "superseded_by pinned path block_id",
        name=(_TEXT, "the name it is recalled by"),
        title=(_TEXT, "what was typed as its title, null where that is its name"),
        description=(_TEXT, "the sentence that says when it matters"),
        body=(_TEXT, "the note itself"),
        kind=(_TEXT, "what kind of note its author calls it"),
        project=(_TEXT, "the project it is about, null for all"),
        source_session=(_TEXT, "the session it was written in"),
        updated_at=(_TEXT, "when it was last written, UTC"),
        aliases=(_TEXT, "its other names, a JSON array"),
        archived=(_INTEGER, "1 if it lies in the archive"),
        superseded_by=(_TEXT, "the block that took its place"),
        pinned=(_INTEGER, "1 if its header pins it: it never decays"),
        path=(_TEXT, "its file, absolute"),
        created_at=(_TEXT, "when it was first written, UTC"),
    ),
    _view(
        "memory_facts",
        "The facts of ASTER.md, one bullet each.",
        "agent source_path line_number byte_offset text fact_id",
        text=(_TEXT, "the fact, without its bullet"),
        fact_id=(_INTEGER, "the row of prose_keys that holds this fact's search key"),
        byte_offset=(_INTEGER, "where the bullet begins in the file, in bytes from 0"),
    ),
    _view(
        "memory_journal",
        "The memory journal: what was added, changed, recalled and forgotten.",
        "ts op name detail source_session by line_number source_path",
        ts=(_TEXT, "when, UTC"),
        op=(_TEXT, "what was done: create, update, delete, recall, restore, supersede …"),
        name=(_TEXT, "the block it was done to"),
        detail=(_TEXT, "more about it"),
        source_session=(_TEXT, "the session that did it"),
        by=(_TEXT, "the block that took its place, or who did it"),
    ),
    _view(
        "memory_provenance",
        "Which session, turn and event each block and fact of Aster's memory comes from, as far as it is known.",
        "name path session_id agent ts rule source_path event_index turn_index event_ts event_id",
        name=(_TEXT, "the block, or a fact as ASTER.md:LINE"),
        path=(_TEXT, "its file, absolute"),
        session_id=(_TEXT, "the session that its header or the journal names"),
        agent=(_TEXT, "that session's agent, null where the index does not have the session"),
        ts=(_TEXT, "when it was written, by the journal, else by its header, UTC"),
        rule=(
            _TEXT,
            "how the event was found: named (a call that keeps it by this name), time (the prompt before it), "
            "consolidated (the last prompt before a plan wrote it); null where none was",
        ),
        event_ts=(_TEXT, "when that event was"),
    ),
)

_OF_SOURCES: Final = (
    _view(
        "parse_errors",
        "Lines that could not be read, or only in part.",
        "id agent source_path session_id line_number byte_offset error line_excerpt",
        id=(_INTEGER, "higher for what was found later"),
        session_id=(_TEXT, "the session of the file, where known"),
        error=(_TEXT, "what is wrong with the line"),
        line_excerpt=(_TEXT, "its first 240 characters"),
    ),
    _view(
        "sources",
        "Every file that was read, and what became of its lines: seen = indexed + skipped + damaged.",
        "path agent kind root status error session_id size_bytes mtime_ns offset_bytes bytes_pending events lines_seen "
        "lines_indexed lines_skipped lines_damaged bad_times skipped_types indexed_at",
        path=(_TEXT, "the file, absolute"),
        kind=(_TEXT, "transcript, history, journal, block or project_memory"),
        root=(_TEXT, "the folder it was found under"),
        status=(
            _TEXT,
            "indexed, held (cannot be read now, its rows are kept), ignored (nothing of its agent in it) or failed",
        ),
        session_id=(_TEXT, "the session it tells of, null for other kinds"),
        size_bytes=(_INTEGER, "its size when it was read"),
        mtime_ns=(_INTEGER, "its modification time when it was read, in nanoseconds since 1970"),
        offset_bytes=(_INTEGER, "how far it was read: where the first line not finished begins"),
        bytes_pending=(_INTEGER, "bytes after that, of a line still being written"),
        events=(_INTEGER, "how many events it holds"),
        lines_seen=(_INTEGER, "how many lines were read"),
        lines_indexed=(_INTEGER, "lines that gave rows"),
        lines_skipped=(_INTEGER, "lines that are blank or left out by design, counted in skipped_types"),
        lines_damaged=(_INTEGER, "lines of which some byte was given up; see parse_errors"),
        bad_times=(_INTEGER, "times that were written but cannot be"),
        skipped_types=(_TEXT, "what was left out: a JSON object of record type and count"),
        indexed_at=(_TEXT, "when it was last read, UTC"),
    ),
)

_KEY: Final = Column(
    "key",
    _TEXT,
    "the search key: the text folded to lower case, NFD, without accents, and two U+0001 as an end mark; GLOB "
    "'*part*' uses the index",
)
FULL_TEXT: Final = (
    Table(
        "prompt_keys",
        "fulltext",
        "Trigrams of every prompt; rowid is prompts.prompt_id. MATCH takes trigrams joined by AND ('dep AND epl'), at "
        "least 3 characters, folded as the key is; asx search does all of that.",
        (_KEY,),
    ),
    Table(
        "prose_keys",
        "fulltext",
        "Trigrams of answers, thinking, notices, summaries and titles (rowid is event_id), of memory blocks (block_id) "
        "and facts (fact_id); used as prompt_keys is.",
        (_KEY,),
    ),
    Table(
        "prose_words",
        "fulltext",
        "Words of every prompt, answer, thought, notice, summary, title, block and fact, by their stems and without "
        "accents (porter unicode61); rowid as in prompt_keys and prose_keys. MATCH takes FTS5's own syntax, bm25() "
        "ranks.",
        (Column("text", _TEXT, "the text whose words were indexed"),),
    ),
)
VIEWS: Final = (*_OF_EVENTS, *_OF_SESSIONS, *_OF_PROMPT_HISTORIES, *_OF_MEMORY, *_OF_SOURCES)
"""Every public view, in the order in which ``asx schema`` prints them."""
