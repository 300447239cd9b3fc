"""Turns what one source says into rows of the base tables: events in, tuples out.

Pure; which events are one told twice is ``index.identity``'s. Row ids are given by the caller's counter and ascend
with the order of the lines, which full text needs (``docs/decisions.md``). The order of values in each tuple is that of
``index.statements``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, overload
from zlib import crc32

from index.fields import BLOCK, FIELD_OF_TYPE, HISTORY_PROMPT, IN_PROMPT_KEYS, MEMORY_FACT, NOTICE, PROMPT
from index.identity import hash_of, identity_of
from index.match.key import stored_key
from index.recall.names import keys_of_block, keys_of_name, stem_of
from persist.events import EVENT_TYPES, Note, NoteFact, Usage
from persist.reading import Numbered, ReadLine

if TYPE_CHECKING:
    from index.recall.projecting import FieldWords, Settled

MAX_PROSE_BYTES: Final = 4 * 1024 * 1024
"""Longer prose is cut there; its full length is kept and ``show`` reads the rest (DESIGN 7)."""

MAX_NAME_CHARACTERS: Final = 4096
"""Ids, names, paths and titles are no prose. A longer one is cut: a few of them in a row would be longer than a
statement of a person may read (``index.query.guard``), and one record would fail every report."""
MAX_ALIASES: Final = 1000
MAX_TOKENS: Final = 2**40
"""No call takes that many. SQLite's ``sum`` fails where a total leaves 64 bits, so one such record in each of a
thousand lines would fail every total."""
MAX_COST_USD: Final = 1e12

KIND_CODES: Final[Mapping[str, int]] = {"user": 1, "agent": 2, "control": 3}
TYPE_CODES: Final[Mapping[str, int]] = {name: code for code, name in enumerate(EVENT_TYPES, start=1)}
TS_SOURCE_CODES: Final[Mapping[str | None, int | None]] = {"record": None, "previous": 2, "session": 3, None: None}
_MIN_INTEGER: Final = -(2**63)
_MAX_INTEGER: Final = 2**63 - 1
_FAILED_TYPES: Final = frozenset({"tool_error", "tool_task_failed", "tool_refused"})

Row: TypeAlias = tuple[object, ...]
"""One row, its values in the order of the statement that inserts it."""


class Limits(NamedTuple):
    """How much of the texts of tools is kept, in bytes of UTF-8."""

    tool_head_bytes: int = 512
    failed_head_bytes: int = 2000


@dataclass(slots=True)
class LocalRows:
    """Local rows (DESIGN 8) by table, in ascending id; ``size_characters`` estimates their weight."""

    events: list[Row] = field(default_factory=list)
    measures: list[Row] = field(default_factory=list)
    usage: list[Row] = field(default_factory=list)
    traits: list[Row] = field(default_factory=list)
    prompts: list[Row] = field(default_factory=list)
    journal: list[Row] = field(default_factory=list)
    blocks: list[Row] = field(default_factory=list)
    memory_facts: list[Row] = field(default_factory=list)
    candidates: list[Row] = field(default_factory=list)
    block_names: list[Row] = field(default_factory=list)
    errors: list[Row] = field(default_factory=list)
    prose: list[Row] = field(default_factory=list)
    prompt_keys: list[Row] = field(default_factory=list)
    prose_keys: list[Row] = field(default_factory=list)
    size_characters: int = 0

    def tables(self) -> tuple[list[Row], ...]:
        """Return the rows of each table, always in the same order."""
        return (
            self.events, self.measures, self.usage, self.traits, self.prompts, self.journal, self.blocks,
            self.memory_facts, self.candidates, self.block_names, self.errors, self.prose,
            self.prompt_keys, self.prose_keys,
        )  # fmt: skip


class _Mark(NamedTuple):
    """Up to where rows lie before some moment: the length of each table, and the weight."""

    lengths: tuple[int, ...]
    size_characters: int


class Projector:
    """Makes rows for sources, one after the other; ``next_id`` is the id the next text will get."""

    def __init__(self, next_id: int, limits: Limits) -> None:
        self.next_id = next_id
        self.rows = LocalRows()
        self._limits = limits
        self._source_begin = self._checked = self._mark()

    def begin_source(self) -> None:
        """Note that the rows made from now on are another source's."""
        self._source_begin = self._mark()

    def drop_source(self) -> None:
        """Forget the rows made since ``begin_source`` that were not taken yet."""
        for rows, length in zip(self.rows.tables(), self._source_begin.lengths, strict=True):
            del rows[length:]
        self.rows.size_characters = self._source_begin.size_characters
        self._checked = self._source_begin

    def check(self) -> None:
        """See that SQLite will take every row made since the last check, so that no insert fails half-way.

        Raises ``UnicodeEncodeError`` for half a character, ``OverflowError`` for an integer beyond 64 bits and
        ``TypeError`` for what is no value of SQLite's. Cost: one or two microseconds a row.
        """
        for rows, length in zip(self.rows.tables(), self._checked.lengths, strict=True):
            if len(rows) > length:
                check_storable(chain.from_iterable(islice(rows, length, None)))
        self._checked = self._mark()

    def take(self) -> LocalRows:
        """Return the rows made since the last call."""
        rows, self.rows = self.rows, LocalRows()
        self._source_begin = self._checked = self._mark()
        return rows

    def _mark(self) -> _Mark:
        return _Mark(tuple(map(len, self.rows.tables())), self.rows.size_characters)

    def add_line(self, source_id: int, agent: str, session_key: str, line: ReadLine) -> None:
        """Project one line. ``session_key`` is the session's id as far as known at that line."""
        rows = self.rows
        first_event_id = self.next_id
        for numbered in line.events:
            self._add_event(source_id, agent, session_key, line, numbered)
        for usage in line.usage:
            rows.usage.append((source_id, line.number, first_event_id, *usage_row(usage)))
        for trait in line.traits:
            value, target = bounded(trait.value), bounded(trait.target_record_id)
            rows.traits.append((source_id, line.number, trait.name, value, trait.rank, target))
        for prompt in line.prompts:
            display = None if prompt.display is None else cut_bytes(prompt.display, MAX_PROSE_BYTES)
            row = (self.next_id, source_id, line.number, line.offset_bytes, bounded(prompt.session_id),
                   bounded(prompt.project), prompt.ts, display)  # fmt: skip
            rows.prompts.append(row)
            self._add_prose(HISTORY_PROMPT, source_id, prompt.ts, prompt.text, hash_of(prompt.text))
            self.next_id += 1
        for entry in line.journal:
            keys = (None, None) if entry.name is None else keys_of_name(bounded(entry.name))
            rows.journal.append((source_id, line.number, *map(bounded, entry[:-1]), entry.more, *keys))
        if line.error is not None:
            excerpt = line.error_excerpt or ""
            rows.errors.append((source_id, line.number, line.offset_bytes, line.error, excerpt))
            rows.size_characters += len(excerpt)
        rows.size_characters += 200  # lines without prose weigh too

    def add_note(self, source_id: int, note: Note, path: str) -> None:
        """Project one memory block: its name, title, description and body are one searchable text.

        One text and not one for each, so that a block is one hit whichever of them matches; what stands before the
        body has columns of its own (DESIGN 7), and the body begins where ``body_start`` says. A zero character is
        stored as U+FFFD: SQLite's ``substr``, by which the view cuts the body out, ends at one.
        """
        name, title, description = bounded(note.name), bounded(note.title), bounded(note.description)
        head = "".join(f"{part}\n" for part in (name, title, description) if part is not None)
        stored = note._replace(
            kind=bounded(note.kind),
            project=bounded(note.project),
            aliases=tuple(bounded(alias) for alias in note.aliases[:MAX_ALIASES]),
            superseded_by=bounded(note.superseded_by),
        )
        aliases = json.dumps(stored.aliases, ensure_ascii=False)
        row = (self.next_id, source_id, name, title, description, stored.kind, stored.project,
               bounded(note.source_session), note.created_at, note.updated_at, aliases, len(head) + 1,
               int(note.archived), stored.superseded_by, int(note.pinned))  # fmt: skip
        self.rows.blocks.append(row)
        text = (head + note.body).replace("\0", "\ufffd")
        self._add_prose(BLOCK, source_id, note.updated_at or note.created_at, text, hash_of(text))
        if not note.archived:
            from index.recall.projecting import projected_block

            stem = stem_of(path)
            self._add_candidate(source_id, *projected_block(stem, stored))
            self.rows.block_names += [(key, self.next_id) for key in keys_of_block(stem, note)]
        self.next_id += 1

    def add_note_fact(self, source_id: int, fact: NoteFact) -> None:
        """Project one bullet of ASTER.md."""
        from index.recall.projecting import projected_fact

        self._add_candidate(source_id, *projected_fact(fact))
        self.rows.memory_facts.append((self.next_id, source_id, fact.line_number, fact.offset_bytes))
        self._add_prose(MEMORY_FACT, source_id, None, fact.text, hash_of(fact.text))
        self.next_id += 1

    def _add_event(self, source_id: int, agent: str, session_key: str, line: ReadLine, numbered: Numbered) -> None:
        event, event_index, turn_index, sort_ts, ts_source = numbered
        (kind, event_type, text, ts, outcome, is_prompt, tool_call_id, tool_name, arguments, model_name, message_id,
         record_id, part, may_grow, measures, _anchor) = event  # fmt: skip
        head: str | None = None
        arguments_head: str | None = None
        field_code: int | None = None
        text_len = text_hash = arguments_hash = 0
        if text is not None:
            text_len = len(text)
            field_code = FIELD_OF_TYPE.get(event_type)
            if field_code == PROMPT and not is_prompt:
                field_code = NOTICE  # a sub-agent's task, say: nobody typed it
            if field_code is None:
                failed = event_type in _FAILED_TYPES
                head = cut_bytes(text, self._limits.failed_head_bytes if failed else self._limits.tool_head_bytes)
                text_hash = crc32(head.encode("utf-8", "surrogatepass"))
            else:
                text_hash = hash_of(text)
        if arguments is not None:
            arguments_head = cut_bytes(arguments, self._limits.tool_head_bytes)
            arguments_hash = crc32(arguments_head.encode("utf-8", "surrogatepass"))
        identity = identity_of(event, agent, session_key, (text_len, text_hash, arguments_hash))
        names = (tool_call_id, tool_name, model_name, message_id, record_id)
        tool_call_id, tool_name, model_name, message_id, record_id = map(bounded, names)
        row = (
            self.next_id, source_id, line.number, line.offset_bytes, event_index, turn_index,
            ts, None if ts is not None else sort_ts, TS_SOURCE_CODES[ts_source], KIND_CODES[kind],
            TYPE_CODES[event_type], outcome, is_prompt, text_len, head, tool_call_id, tool_name, arguments_head,
            None if arguments is None else len(arguments), model_name, message_id, record_id, part, may_grow, identity,
        )  # fmt: skip
        if text is not None and field_code is not None:
            self._add_prose(field_code, source_id, sort_ts, text, text_hash)
        self.rows.events.append(row)
        if measures is not None:
            self.rows.measures.append((self.next_id, *map(_measured, measures)))
        self.rows.size_characters += 200
        self.next_id += 1

    def _add_candidate(self, source_id: int, words: FieldWords, settled: Settled) -> None:
        self.rows.candidates.append((self.next_id, source_id, words.text_key, *words.counts, *words.texts, *settled))
        self.rows.size_characters += 2 * sum(map(len, words.texts))

    def _add_prose(self, field_code: int, source_id: int, sort_ts: str | None, text: str, text_hash: int) -> None:
        if len(text) * 4 > MAX_PROSE_BYTES:
            text = cut_bytes(text, MAX_PROSE_BYTES)
        rows = self.rows
        rows.prose.append((self.next_id, field_code, source_id, sort_ts, text_hash, text))
        keys = rows.prompt_keys if field_code in IN_PROMPT_KEYS else rows.prose_keys
        keys.append((self.next_id, stored_key(text)))
        rows.size_characters += 3 * len(text)


def usage_row(usage: Usage) -> Row:
    """Return the values of a usage record in the order of its fields: absurd counts and costs are unknown.

    The output holds its reasoning (DESIGN 6): more reasoning than output was counted beside it.
    """
    message_id, request_id, provider, model_name, ts, *counts, cost_usd = usage
    given, output, cache_read, cache_write, reasoning = map(_sane, counts)
    if output is not None and reasoning is not None and reasoning > output:
        output += reasoning
    if cost_usd is not None and abs(cost_usd) > MAX_COST_USD:
        cost_usd = None
    return (bounded(message_id), bounded(request_id), bounded(provider), bounded(model_name), ts, given, output,
            cache_read, cache_write, reasoning, cost_usd)  # fmt: skip


def _sane(count: int | None) -> int | None:
    return count if count is not None and count <= MAX_TOKENS else None


def _measured(value: str | float | None) -> str | float | None:
    """Return a value of what Aether measured; its counts are capped, as it caps them itself (spec/aether.md 4.1)."""
    if isinstance(value, str):
        return bounded(value)
    return min(value, MAX_TOKENS) if isinstance(value, int) else value


@overload
def bounded(text: str) -> str: ...
@overload
def bounded(text: str | None) -> str | None: ...
def bounded(text: str | None) -> str | None:
    """Return an id, name, path or title; of one over ``MAX_NAME_CHARACTERS`` its beginning and a hash of the whole.

    Equal ones stay equal and different ones different, so what is joined by them still is.
    """
    if text is None or len(text) <= MAX_NAME_CHARACTERS:
        return text
    return f"{text[: MAX_NAME_CHARACTERS - 20]}…{hash_of(text) & 0xFFFFFFFFFFFFFFFF:016x}"


def check_storable(values: Iterable[object]) -> None:
    """See that SQLite takes each value; raises as ``Projector.check`` does."""
    for value in values:
        if value is None:
            continue
        if isinstance(value, str):
            if not value.isascii():
                value.encode()
        elif isinstance(value, int):
            if not _MIN_INTEGER <= value <= _MAX_INTEGER:
                raise OverflowError("an integer beyond 64 bits")
        elif not isinstance(value, (bytes, float)):  # a union would be built anew each time
            raise TypeError(f"no value of SQLite's: {type(value).__name__}")


def cut_bytes(text: str, limit_bytes: int) -> str:
    """Return the longest beginning of ``text`` whose UTF-8 is at most ``limit_bytes`` long, on a character border."""
    if len(text) * 4 <= limit_bytes:
        return text
    head = text[:limit_bytes]
    if head.isascii():
        return head
    return head.encode("utf-8")[:limit_bytes].decode("utf-8", "ignore")
