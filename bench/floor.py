"""The floor: the least that any index of these rows must cost, for every ratio of the benchmarks.

Reads every byte of an Aster data home, decodes each line with orjson, and inserts the same rows as the product's base
tables, as tuples, with the product's statements, in one process: no index, no full text, no checks. What the product
derives by hashing is a stand-in of the same size here. Knows only what ``bench.gen`` writes; a benchmark compares
its row counts with the index's, which proves that both did the same work.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sqlite3
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import orjson

from bench.measure import Spent, spent_since
from index.fields import ANSWER, PROMPT, SUMMARY, TITLE
from index.projection import KIND_CODES, TYPE_CODES
from index.statements import (
    ADD_AGENT,
    ADD_SESSION,
    INSERT_EVENT,
    INSERT_PROSE,
    INSERT_SOURCE,
    INSERT_TRAIT,
    INSERT_USAGE,
)
from migrations import PAGE_SIZE_BYTES

COUNTED: Final = ("event_rows", "prose", "usage_rows", "trait_rows", "session_rows", "source_rows")
"""The tables whose row counts must equal the index's."""

_HEAD_CHARS: Final = 512
_BATCH_ROWS: Final = 4000
_PRAGMAS: Final = (f"page_size = {PAGE_SIZE_BYTES}", "journal_mode = OFF", "synchronous = OFF", "cache_size = -4096")
_HEADER_TRAITS: Final = ("cwd", "repo_root", "model", "created_at")
_USER, _AGENT, _CONTROL = KIND_CODES["user"], KIND_CODES["agent"], KIND_CODES["control"]
_PROMPT_TYPE, _TEXT_TYPE = TYPE_CODES["user_message"], TYPE_CODES["message_text"]
_CALL_TYPE, _RESULT_TYPE = TYPE_CODES["tool_call"], TYPE_CODES["tool_result"]
_TITLE_TYPE, _SUMMARY_TYPE = TYPE_CODES["session_title"], TYPE_CODES["context_compaction_result"]
_EVICTION_TYPE = TYPE_CODES["context_eviction"]


class Loader:
    """Collects the rows of one file after the other and inserts them in batches."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._events: list[tuple[Any, ...]] = []
        self._prose: list[tuple[Any, ...]] = []
        self._usage: list[tuple[Any, ...]] = []
        self._traits: list[tuple[Any, ...]] = []
        self._next_id = 1
        self._source_id = 0
        self._line_number = 0
        self._offset_bytes = 0
        self._event_index = 0
        self._turn_index: int | None = None
        self._model: str | None = None
        self._names: dict[str, str] = {}

    def load(self, path: str, root: str) -> int:
        """Insert the rows of one transcript; return its size in bytes."""
        self._connection.execute(INSERT_SOURCE, (1, "transcript", path, root))
        self._source_id += 1
        self._line_number = self._offset_bytes = self._event_index = 0
        self._turn_index = None
        self._names = {}
        with open(path, "rb") as file:  # noqa: PTH123 - the floor is what costs least
            for line in file:
                self._line_number += 1
                self._record(orjson.loads(line))
                self._offset_bytes += len(line)
        if len(self._events) > _BATCH_ROWS:
            self.flush()
        return self._offset_bytes

    def flush(self) -> None:
        """Insert what was collected."""
        for statement, rows in (
            (INSERT_EVENT, self._events),
            (INSERT_PROSE, self._prose),
            (INSERT_USAGE, self._usage),
            (INSERT_TRAIT, self._traits),
        ):
            self._connection.executemany(statement, rows)
            rows.clear()

    def _record(self, record: dict[str, Any]) -> None:
        kind = record["type"]
        if kind == "message":
            self._message(record, record["role"])
        elif kind == "session":
            self._connection.execute(ADD_SESSION, (1, record["id"]))
            self._model = record["model"]
            for name in _HEADER_TRAITS:
                self._trait(name, record[name])
        elif kind == "title":
            self._text(_CONTROL, _TITLE_TYPE, TITLE, record["title"], record["ts"])
            self._trait("title", record["title"])
        elif kind == "summary":
            self._text(_AGENT, _SUMMARY_TYPE, SUMMARY, record["content"], record["ts"])
        elif kind == "eviction":
            self._event(_CONTROL, _EVICTION_TYPE, record["ts"], record["reason"])

    def _message(self, record: dict[str, Any], role: str) -> None:
        ts = record["ts"]
        if role == "user":
            self._turn_index = 0 if self._turn_index is None else self._turn_index + 1
            self._text(_USER, _PROMPT_TYPE, PROMPT, record["content"], ts, is_prompt=True)
        elif role == "tool":
            call_id = record["tool_call_id"]
            self._event(_AGENT, _RESULT_TYPE, ts, record["content"], call_id, self._names.pop(call_id, None))
        else:
            self._reply(record, ts)

    def _reply(self, record: dict[str, Any], ts: str) -> None:
        first_id = self._next_id
        content, calls = record["content"], record["tool_calls"]
        part = 0
        if content or not calls:
            self._text(_AGENT, _TEXT_TYPE, ANSWER, content, ts, model=self._model)
            part = 1
        for call in calls:
            call_id, function = call["id"], call["function"]
            self._names[call_id] = function["name"]
            self._event(
                _AGENT, _CALL_TYPE, ts, None, call_id, function["name"], function["arguments"], self._model, part
            )
            part += 1
        usage = record["usage"]
        self._usage.append(
            (
                self._source_id, self._line_number, first_id, None, None, None, self._model, ts,
                usage["prompt_tokens"], usage["completion_tokens"], None, None, None, None,
            )
        )  # fmt: skip

    def _text(
        self, kind: int, code: int, field: int, text: str, ts: str, *, is_prompt: bool = False, model: str | None = None
    ) -> None:
        self._prose.append((self._next_id, field, self._source_id, ts, hash(text), text))
        self._add(kind, code, ts, is_prompt, len(text), None, None, None, None, None, model, 0, hash(text))

    def _event(
        self,
        kind: int,
        code: int,
        ts: str,
        text: str | None,
        call_id: str | None = None,
        tool: str | None = None,
        arguments: str | None = None,
        model: str | None = None,
        part: int = 0,
    ) -> None:
        head = None if text is None else text[:_HEAD_CHARS]
        arguments_head = None if arguments is None else arguments[:_HEAD_CHARS]
        arguments_len = None if arguments is None else len(arguments)
        text_len = 0 if text is None else len(text)
        identity = hash(text or arguments)
        self._add(
            kind, code, ts, False, text_len, head, call_id, tool, arguments_head, arguments_len, model, part, identity
        )

    def _add(
        self,
        kind: int,
        code: int,
        ts: str,
        is_prompt: bool,
        text_len: int,
        head: str | None,
        call_id: str | None,
        tool: str | None,
        arguments_head: str | None,
        arguments_len: int | None,
        model: str | None,
        part: int,
        identity: int,
    ) -> None:
        self._events.append(
            (
                self._next_id, self._source_id, self._line_number, self._offset_bytes, self._event_index,
                self._turn_index, ts, None, None, kind, code, None, is_prompt, text_len, head, call_id, tool,
                arguments_head, arguments_len, model, None, None, part, False, identity,
            )
        )  # fmt: skip
        self._next_id += 1
        self._event_index += 1

    def _trait(self, name: str, value: str) -> None:
        self._traits.append((self._source_id, self._line_number, name, value, 0, None))


def load_home(home: Path, database: Path) -> tuple[int, Spent, dict[str, int]]:
    """Load all transcripts below ``home/sessions`` into a new database.

    Returns the bytes read, what it took, and the rows of each counted table.
    """
    connection = sqlite3.connect(database, isolation_level=None)
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    for statement in import_module("migrations.versions.0001_first_generation").LOCAL_TABLES:
        connection.execute(statement)
    gc.disable()
    started = Spent.now()
    connection.execute("BEGIN")
    connection.execute(ADD_AGENT, ("aster",))
    loader = Loader(connection)
    size_bytes = 0
    for path in _transcripts(home / "sessions"):
        size_bytes += loader.load(path, str(home))
    loader.flush()
    connection.execute("COMMIT")
    spent = spent_since(started)
    rows = {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in COUNTED}
    connection.close()
    return size_bytes, spent, rows


def _transcripts(sessions: Path) -> list[str]:
    with os.scandir(sessions) as folders:
        paths = [entry.path for folder in folders for entry in os.scandir(folder.path)]
    return sorted(path for path in paths if path.endswith(".jsonl"))


def main(arguments: Sequence[str] | None = None) -> None:
    """Load a data home and print what it took as one line of JSON."""
    parser = argparse.ArgumentParser(description="Measure the floor on a data home made by bench.gen.")
    parser.add_argument("home", type=Path)
    parser.add_argument("database", type=Path)
    chosen = parser.parse_args(arguments)
    size_bytes, spent, rows = load_home(chosen.home, chosen.database)
    told = {"bytes": size_bytes, **spent._asdict(), "rows": rows, "database_bytes": chosen.database.stat().st_size}
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
