"""The keys of every command's JSON against the contract, written down here once more and by hand.

``schema_version`` is 1, fields may be added and none renamed: so each table below must be part of what is printed, and
what each value is must be what the contract says. Errors, their kinds and their exit codes are of the contract too.
"""

from __future__ import annotations

import io
import json
import re
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

from cli.registry import COMMANDS, GROUP_COMMANDS
from tests import builders as make
from tests.builders import HomeBuilder
from tests.cli.conftest import Run

Shape = Any
"""A type, a union of types, a pattern, or a dict or a list of one with shapes inside."""

NUMBER: Final = (int, float)
TEXT_OR_NULL: Final = (str, type(None))
INT_OR_NULL: Final = (int, type(None))
NUMBER_OR_NULL: Final = (int, float, type(None))
TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
PATH: Final = re.compile("/.*", re.DOTALL)
PLACE: Final = {"path": PATH, "line": INT_OR_NULL, "offset": INT_OR_NULL}


class OrNull:
    """A shape, or null."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape


class Each:
    """An object whose names are data: every value has the shape, and there is at least one."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape


SOURCES: Final = dict.fromkeys(
    ("seen", "new", "tailed", "replaced", "unchanged", "removed", "held", "failed", "ignored"), int
)
INGEST: Final = {
    "schema_version": int, "index": PATH,
    "agents": Each({"roots": [PATH], "missing_roots": [PATH], "empty_roots": [PATH], "kept": bool, "sources": SOURCES}),
    "sessions": int, "events": int,
    "lines": {"seen": int, "indexed": int, "skipped": int, "damaged": int}, "bytes_pending": int, "bytes_read": int,
    "skipped_types": Each(Each(int)),
    "problems": [{"kind": str, "path": PATH, "line": INT_OR_NULL, "offset": INT_OR_NULL, "message": str}],
    "problems_total": int, "notes": [str], "seconds": NUMBER,
}  # fmt: skip
HIT: Final = {
    "agent": str, "session_id": TEXT_OR_NULL, "parent_session_id": TEXT_OR_NULL, "forked_from": TEXT_OR_NULL,
    "session_title": TEXT_OR_NULL, "project": OrNull(PATH), "cwd": OrNull(PATH), "event_index": INT_OR_NULL,
    "turn": INT_OR_NULL, "ts": OrNull(TIME), "ts_source": re.compile("record|session|file"), "kind": str,
    "event_type": TEXT_OR_NULL, "field": re.compile("text|tool_arguments"),
    "in": re.compile("prompts|answers|thinking|notices|tools|memory|titles"), "tool_name": TEXT_OR_NULL,
    "more_in_session": int, "name": TEXT_OR_NULL, "score": NUMBER_OR_NULL, "text": str, "text_length": int,
    "text_offset": int, "match_start": int, "match_end": int, "spans": [[int]], "count": int, "source": PLACE,
}  # fmt: skip
STANDING: Final = {
    "stale": bool, "age_s": NUMBER_OR_NULL, "refreshed": bool, "sources_behind": INT_OR_NULL,
    "bytes_behind": INT_OR_NULL, "why_not": TEXT_OR_NULL, "unreadable": INT_OR_NULL,
    "notes": [str],
}  # fmt: skip
SEARCH: Final = {
    "schema_version": int, "query": str, "case": re.compile("insensitive|sensitive"),
    "mode": re.compile("substring|words|regex"), "searched": [str], "filters": dict, "total": int,
    "total_is_exact": bool, "returned": int, "truncated": bool, "index": STANDING,
    "hits": [HIT], "elsewhere": dict, "sort": re.compile("time|relevance"), "offset": int, "next_offset": INT_OR_NULL,
    "heads_only": bool, "given_up": int, "unread": [{"path": PATH, "why": str}],
    "misses": [{"kind": re.compile("field|case|accents|words|filters"), "name": TEXT_OR_NULL, "total": int,
                "total_is_exact": bool}],
}  # fmt: skip
NEAR: Final = {
    "turn": INT_OR_NULL, "event_index": int, "kind": str, "event_type": str, "ts": OrNull(TIME), "text": str,
    "is_hit": bool,
}  # fmt: skip
RECENT: Final = {
    "schema_version": int, "query": str, "truncated": bool,
    "results": [{"sessionId": str, "cwd": str, "sessionCreatedAt": TEXT_OR_NULL, "prompt": str, "matchStart": int,
                 "matchEnd": int}],
}  # fmt: skip
LISTED_BLOCK: Final = {
    "name": str, "title": TEXT_OR_NULL, "description": str, "kind": TEXT_OR_NULL, "project": TEXT_OR_NULL,
    "path": PATH,
    "source_session": TEXT_OR_NULL, "created_at": OrNull(TIME), "updated_at": OrNull(TIME), "archived": bool,
    "superseded_by": TEXT_OR_NULL, "pinned": bool,
}  # fmt: skip
BLOCK: Final = {**LISTED_BLOCK, "schema_version": int, "body": str, "aliases": [str]}
ROWS: Final = {"schema_version": int, "columns": [str], "rows": [list], "truncated_rows": bool, "truncated_cells": bool}
WITH_CHILDREN: Final = {
    "sub_agents": int, "turns": int, "events": int, "tool_calls": int, "calls": int, "input_tokens": INT_OR_NULL,
    "output_tokens": INT_OR_NULL, "cache_read_tokens": INT_OR_NULL, "cache_write_tokens": INT_OR_NULL,
    "reasoning_tokens": INT_OR_NULL, "cost_usd": NUMBER_OR_NULL, "partial": dict,
}  # fmt: skip
SESSION: Final = {
    "id": str, "agent": str, "project": OrNull(PATH), "cwd": OrNull(PATH), "title": TEXT_OR_NULL,
    "created_at": OrNull(TIME), "updated_at": OrNull(TIME), "model": TEXT_OR_NULL, "turns": int, "events": int,
    "parent_id": TEXT_OR_NULL, "forked_from": TEXT_OR_NULL, "paths": [PATH], "size_bytes": int,
    "imported_from": OrNull(dict),
}  # fmt: skip
EVENT: Final = {
    "index": int, "line": int, "offset": int, "turn": INT_OR_NULL, "ts": OrNull(TIME), "kind": str, "event_type": str,
    "outcome": TEXT_OR_NULL, "text": TEXT_OR_NULL, "text_length": int, "tool_call_id": TEXT_OR_NULL,
    "tool_name": TEXT_OR_NULL, "tool_arguments": TEXT_OR_NULL, "model": TEXT_OR_NULL, "message_id": TEXT_OR_NULL,
    "canonical": bool,
}  # fmt: skip
DECAY: Final = {
    "schema_version": int, "dry_run": bool, "as_of": TIME, "staying": int, "problems": [str], "journal_errors": [str],
    "items": [{"name": str, "action": re.compile("archive"), "reason": str, "version": TEXT_OR_NULL}],
}  # fmt: skip
SHOWN_BLOCK: Final = {name: shape for name, shape in BLOCK.items() if name != "schema_version"}
SCHEMA: Final = {
    "schema_version": int, "generation": int,
    "tables": [{"name": str, "kind": re.compile("table|view|fulltext"), "about": str,
                "columns": [{"name": str, "type": str, "about": str}]}],
    "examples": [{"name": str, "about": str, "sql": str}],
}  # fmt: skip
VERIFY: Final = {
    "schema_version": int, "ok": bool, "sources_checked": int, "apart": [{"path": PATH, "why": str}],
    "differences": [{"path": TEXT_OR_NULL, "what": str, "detail": str}], "fulltext_ok": bool,
}  # fmt: skip
STATUS: Final = {
    "schema_version": int,
    "index": {"path": PATH, "exists": bool, "generation": INT_OR_NULL, "size_bytes": int, "usable": bool},
    "stale": bool, "last_ingest_at": OrNull(TIME),
    "agents": Each({"sources": int, "sessions": int, "events": int, "damaged_lines": int, "kept": bool,
                    "oldest": OrNull(TIME), "held": [{"path": PATH, "why": str}]}),
    "memory": {"blocks": int, "archived": int}, "prompt_history": int,
}  # fmt: skip
PATHS: Final = {
    "schema_version": int, "index": PATH, "data": PATH, "sessions": PATH, "memory": PATH, "archive": PATH,
    "config": PATH, "agents": Each([PATH]),
}  # fmt: skip
LOG: Final = {
    "schema_version": int,
    "entries": [{"ts": OrNull(TIME), "op": str, "name": TEXT_OR_NULL, "detail": TEXT_OR_NULL,
                 "source_session": TEXT_OR_NULL, "by": TEXT_OR_NULL, "title": TEXT_OR_NULL, "version": TEXT_OR_NULL,
                 "path": OrNull(PATH), "sha256": TEXT_OR_NULL, "restored": TEXT_OR_NULL, "step": TEXT_OR_NULL}],
}  # fmt: skip
MEMORY_CHANGE: Final = {
    "schema_version": int, "ok": bool, "kind": re.compile("block|project"), "name": TEXT_OR_NULL, "path": OrNull(PATH),
    "is_new": bool, "version": OrNull(re.compile("[0-9A-Z]{26}")), "version_path": OrNull(PATH),
    "superseded": TEXT_OR_NULL, "held_again": TEXT_OR_NULL, "restored": TEXT_OR_NULL, "near": list,
    "journal_error": TEXT_OR_NULL,
}  # fmt: skip
PROVENANCE: Final = {
    "session_id": str, "ts": OrNull(TIME), "op": TEXT_OR_NULL, "step": TEXT_OR_NULL,
    "rule": OrNull(re.compile("named|time|consolidated")), "trouble": TEXT_OR_NULL,
}  # fmt: skip
ERROR: Final = {"schema_version": int, "error": {"kind": str, "message": str, "hint": str}}
ID: Final = "01M0CDSRD0M5N6FKF181V7JAJ0"

DONE: Final = {"schema_version": int, "ok": bool, "dry_run": bool}
HISTORY: Final = {
    "schema_version": int, "entries": [{"sessionId": str, "cwd": str, "sessionCreatedAt": str, "prompt": str}],
}  # fmt: skip
STORED: Final = {"id": str, "agent": str, "paths": [PATH]}
DELETED: Final = {**DONE, "id": TEXT_OR_NULL, "deleted": [str], "sessions": [STORED],
                  "failed": [{**STORED, "why": str}]}  # fmt: skip
PRUNED: Final = {
    **DONE, "project": PATH, "deleted": [str], "kept": int, "left_alone": [{"path": PATH, "why": str}],
    "sessions": [{"id": str, "path": PATH, "title": TEXT_OR_NULL, "updated_at": OrNull(TIME),
                  "why": re.compile("empty|older|surplus")}],
}  # fmt: skip

STORE_SESSION: Final = {"schema_version": int, "id": str, "agent": str, "path": PATH}

IMPORT: Final = {
    "schema_version": int, "ok": bool, "dry_run": bool,
    "sources": [{"source": str, "imported": [str], "skipped_existing": int, "empty": int, "failed": int,
                 "other_projects": int, "outside_range": int, "sub_agents": int, "excluded": int, "dry_run": bool}],
    "sessions": [{"source": str, "status": str, "id": TEXT_OR_NULL, "original_id": TEXT_OR_NULL, "path": OrNull(PATH),
                  "source_path": PATH, "title": TEXT_OR_NULL, "created_at": OrNull(TIME), "cwd": TEXT_OR_NULL,
                  "messages": int, "damaged": int, "changed_since": bool, "reason": TEXT_OR_NULL}],
}  # fmt: skip
RECALLED: Final = {
    "schema_version": int, "prompt": str, "status": re.compile("ok|nothing_relevant|stale|damaged|partial"),
    "considered": int, "text": str, "cut": int, "left_out": int, "notes": [str],
    "items": [{"kind": re.compile("block|fact|turn"), "name": TEXT_OR_NULL, "agent": str, "session_id": TEXT_OR_NULL,
               "score": float, "evidence": float, "why": [str], "text": str, "updated_at": OrNull(TIME),
               "source": {"path": PATH, "line": OrNull(int), "offset": OrNull(int)}}],
}  # fmt: skip
ANSWERS: Final[list[tuple[list[str], int, Shape]]] = [
    (["ingest"], 0, {**INGEST, "skipped_types": dict}),
    (["rebuild"], 0, INGEST),
    (["verify"], 0, VERIFY),
    (["search", "the"], 0, SEARCH),
    (["search", "--in", "all", "deploy"], 0, SEARCH),
    (["search", "no text has these words"], 1, SEARCH),
    (["search", "--explain", "--context", "1", "the"], 0,
     {**SEARCH, "hits": [{**HIT, "context": [NEAR]}], "explain": Each(str)}),
    (["search", "--recent", "the"], 0, RECENT),
    (["search", "--recent", "no text has these words"], 1, RECENT),
    (["recall", "deploy-window"], 0, BLOCK),
    (["recall", "--prompt", "when is the deploy window?"], 0, RECALLED),
    (["recall", "--prompt", "when is the deploy window?", "--explain"], 0, {**RECALLED, "refused": list}),
    (["recall", "--prompt", "no note has these words"], 1, {**RECALLED, "items": list}),
    (["doctor"], 6, {"schema_version": int, "ok": bool, "findings": [{"kind": str, "message": str, "cure": str}]}),
    (["memory", "show", "deploy-window"], 0, BLOCK),
    (["memory", "list"], 0, {"schema_version": int, "dir": PATH, "project": {"path": PATH, "text": str},
                             "blocks": [{**LISTED_BLOCK, "agent": str}]}),
    (["memory", "log"], 0, LOG),
    (["memory", "add", "a fact"], 0, MEMORY_CHANGE),
    (["remember", "--title", "Contract", "a block"], 0, MEMORY_CHANGE),
    (["memory", "archive", "contract"], 0, MEMORY_CHANGE),
    (["memory", "restore", "contract"], 0, MEMORY_CHANGE),
    (["memory", "remove", "contract"], 0, MEMORY_CHANGE),
    (["memory", "restore", "Contract"], 0, MEMORY_CHANGE),
    (["memory", "mark", "contract", "helpful"], 0, MEMORY_CHANGE),
    (["memory", "decay"], 0, DECAY),
    (["memory", "decay", "--as-of", "2090-01-01"], 0, DECAY),
    (["memory", "decay", "--yes", "--as-of", "2026-10-08"], 0, DECAY),
    (["memory", "review"], 0, {"schema_version": int, "dry_run": bool, "blocks": int, "facts": int,
                               "items": [{"name": str, "finding": str, "reason": str}]}),
    (["forget", "contract"], 0, MEMORY_CHANGE),
    (["memory", "context"], 0, {"schema_version": int, "text": str, "blocks": int, "left_out": int}),
    (["memory", "tools"], 0, {"schema_version": int,
                              "tools": [{"name": str, "description": str, "input_schema": dict}]}),
    (["query", "SELECT 1, NULL, 'x', 1.5"], 0, ROWS),
    (["report", "tools"], 0, {**ROWS, "report": str, "sql": str}),
    (["report"], 0, {"schema_version": int, "reports": [{"name": str, "about": str, "parameters": [str]}]}),
    (["schema"], 0, SCHEMA),
    (["sessions", "list", "--all"], 0, {"schema_version": int, "total": int, "indexed": bool,
                                              "sessions": [{**SESSION, "counts_are_exact": bool}]}),
    (["sessions", "import", "--all", "--dry-run"], 0, IMPORT),
    (["sessions", "list", "--all", "--with-children"], 0, {
        "schema_version": int, "total": int, "sessions": [{**SESSION, "with_children": WITH_CHILDREN}]}),
    (["sessions", "list", "--project", "/nowhere"], 1, {"schema_version": int, "total": int, "sessions": list}),
    (["sessions", "show", ID], 0,
     {**SESSION, "schema_version": int, "with_children": WITH_CHILDREN, "events": [EVENT]}),
    (["sessions", "show", ID, "--preview"], 0, {
        "schema_version": int, "sessionId": str, "cwd": OrNull(str), "createdAt": OrNull(str), "model": OrNull(str),
        "transcript": [{"role": str, "text": str}], "toolCallCount": int, "truncated": bool}),
    (["sessions", "start", "--id", "new", "--cwd", "/w"], 0, STORE_SESSION),
    (["sessions", "append", "new"], 0, {"schema_version": int, "id": str, "appended": int, "transient": int}),
    (["sessions", "latest", "--project", "/home/mira/notes-site"], 0, STORE_SESSION),
    (["sessions", "resume", "telegram-48151623"], 0, {
        "schema_version": int, "id": str, "agent": str, "path": PATH, "title": TEXT_OR_NULL, "turns": int,
        "turns_shown": int, "messages": [{"role": str, "content": str}], "notes": [str]}),
    (["sessions", "digest", "telegram-48151623"], 0, {"schema_version": int, "id": str, "agent": str, "text": str,
                                                      "entries": int, "left_out": int}),
    (["show", f"{ID}:0"], 0, {"schema_version": int, "event": EVENT, "block": type(None), "session": OrNull(SESSION)}),
    (["show", ID], 0, {"schema_version": int, "event": type(None), "block": type(None), "session": SESSION}),
    (["show", "--block", "deploy-window"], 0, {"schema_version": int, "event": OrNull(EVENT), "block": SHOWN_BLOCK,
                                               "session": OrNull(SESSION), "provenance": OrNull(PROVENANCE)}),
    (["memory", "list", "--session", "01m32j3he024b2zft51ksjccbw"], 0, {
        "schema_version": int, "dir": PATH, "blocks": [{**LISTED_BLOCK, "agent": str, "told_by": [str]}],
        "facts": [{"name": str, "text": str}], "gone": [str]}),
    (["memory", "apply", "--revert", "01KB"], 1, ERROR),
    (["memory", "apply", "-"], 2, ERROR),
    (["memory", "apply", "--schema"], 0, {"schema_version": int, "schema": dict}),
    (["status"], 0, STATUS),
    (["paths"], 0, PATHS),
    (["sessions", "history"], 1, HISTORY), (["sessions", "history", "--rebuild"], 0, HISTORY),
    (["sessions", "delete", "--dry-run", ID], 0, DELETED),
    (["sessions", "prune", "--keep", "1", "--project", "/home/mira/src/tidewatch"], 0, PRUNED),
    (
        ["sessions", "relocate", ID, "/"],
        0,
        {**DONE, "id": str, "agent": str, "cwd": PATH, "project": PATH, "path": PATH},
    ),
    (["sessions", "rename", ID, "A", "title"], 0, {**DONE, "id": str, "agent": str, "title": str}),
]  # fmt: skip
FAILURES: Final[list[tuple[list[str], int, str]]] = [
    (["recall", "nothing"], 1, "not_found"),
    (["forget", "nothing"], 1, "not_found"),
    (["memory", "restore", "nothing"], 1, "not_found"),
    (["memory", "mark", "nothing", "helpful"], 1, "not_found"),
    (["memory", "mark", "deploy-window", "good"], 2, "usage"),
    (["memory", "decay", "--as-of", "soon"], 2, "usage"),
    (["remember", " "], 7, "refused"),
    (["remember", "--pin", "x"], 2, "usage"),
    (["show", "nobody"], 1, "not_found"),
    (["show", f"{ID}:9999"], 1, "not_found"),
    (["sessions", "show", "nobody"], 1, "not_found"),
    (["report", "nothing"], 1, "not_found"),
    (["sessions", "resume", "nobody"], 1, "not_found"),
    (["sessions", "append", "nobody"], 1, "not_found"),
    (["sessions", "append", "claude-code:c"], 7, "refused"),
    (["sessions", "resume", "same"], 2, "ambiguous"),
    (["sessions", "latest", "--project", "/nowhere"], 1, "not_found"),
    (["sessions", "start", "--id", "../x"], 7, "refused"),
    (["search", "--limit", "none", "x"], 2, "usage"),
    (["sessions", "show", "01M0"], 2, "ambiguous"),
    (["query", "SELEC"], 2, "usage"),
    (["show", "same"], 2, "ambiguous"),
    (["query", "DELETE FROM prose"], 7, "refused"),
    (["query", "--index", "/nowhere/index.sqlite", "SELECT 1"], 3, "no_index"),
    (["search", "--index", "/nowhere/index.sqlite", "x"], 3, "no_index"),
    (["verify", "--index", "/nowhere/index.sqlite"], 3, "no_index"),
    (["status", "--index", "/nowhere/index.sqlite"], 0, ""),
]


def fits(value: Any, shape: Shape, where: str = "") -> list[str]:
    """Return what is wrong with a value, each with the path to it."""
    if isinstance(shape, OrNull):
        return [] if value is None else fits(value, shape.shape, where)
    if isinstance(shape, re.Pattern):
        return (
            [] if isinstance(value, str) and shape.fullmatch(value) else [f"{where}: {value!r} is not {shape.pattern}"]
        )
    if isinstance(shape, list):
        if not isinstance(value, list):
            return [f"{where}: no list"]
        return [wrong for at, one in enumerate(value) for wrong in fits(one, shape[0], f"{where}[{at}]")]
    if isinstance(shape, Each):
        if not isinstance(value, dict) or not value:
            return [f"{where}: no object with names"]
        return [wrong for name, one in value.items() for wrong in fits(one, shape.shape, f"{where}.{name}")]
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return [f"{where}: no object"]
        missing = [f"{where}.{name}: missing" for name in shape.keys() - value.keys()]
        return missing + [
            wrong for name in shape.keys() & value.keys() for wrong in fits(value[name], shape[name], f"{where}.{name}")
        ]
    is_bool = isinstance(value, bool) and shape is not bool
    return [] if isinstance(value, shape) and not is_bool else [f"{where}: {value!r} is no {shape}"]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    """A home with the samples of both stores, a Claude Code session, and two agents' sessions of one id.

    Commands change it: the tests run in the order in which they stand here, in one process (``--dist loadfile``).
    """
    home = HomeBuilder(tmp_path_factory.mktemp("contract"))
    shutil.copytree(data / "aster", home.aster_home)
    shutil.copytree(data / "aether", home.home / ".aether" / "sessions")
    home.claude("c", make.claude_prompt("hello the", "c", "u1", 1), {"type": "brand-new", "sessionId": "c"})
    home.claude("same", make.claude_prompt("one", "same", "u2", 1))
    home.aether("same", make.aether_metadata("same", 0), make.aether_prompt("two"))
    return home.home


@pytest.fixture
def at_home(filled: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> Run:
    monkeypatch.setenv("HOME", str(filled))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    if not (filled / ".cache").exists():
        assert run("ingest", "--quiet").code == 0
    return run


@pytest.mark.parametrize(("words", "code", "shape"), ANSWERS, ids=[" ".join(words) for words, *_ in ANSWERS])
def test_an_answer_has_the_shape_of_the_contract(words: list[str], code: int, shape: Shape, at_home: Run) -> None:
    told = at_home(*words, "--json")
    assert (told.code, told.stderr) == (code, "") or words[:2] == ["memory", "log"]
    assert told.stdout.count("\n") == 1
    value = told.json()
    assert next(iter(value)) == "schema_version"
    assert value["schema_version"] == 1
    assert fits(value, shape) == []


@pytest.mark.parametrize(("words", "code", "kind"), FAILURES, ids=[" ".join(words) for words, *_ in FAILURES])
def test_a_failure_has_its_kind_and_exit_code(words: list[str], code: int, kind: str, at_home: Run) -> None:
    told = at_home(*words, "--json")
    assert (told.code, told.stderr) == (code, "")
    if kind:
        assert fits(told.json(), ERROR) == []
        assert told.json()["error"]["kind"] == kind


def test_verify_of_an_index_that_is_behind_has_its_shape(at_home: Run) -> None:
    assert at_home("recall", "deploy-window").code == 0  # notes a line that no ingest has read
    told = at_home("verify", "--json")
    assert (told.code, told.json()["ok"], bool(told.json()["differences"])) == (4, False, True)
    assert fits(told.json(), VERIFY) == []


def test_every_command_is_held_to_the_contract() -> None:
    commands: set[tuple[str, ...]] = {(name,) for name in COMMANDS if name not in GROUP_COMMANDS}
    commands |= {(group, name) for group, names in GROUP_COMMANDS.items() for name in names}
    covered = {tuple(words[:length]) for words, *_ in ANSWERS for length in (1, 2)}
    assert commands <= covered


def test_the_contract_is_one_that_can_be_broken() -> None:
    assert fits({"a": 1}, {"a": str, "b": int}) == [".b: missing", ".a: 1 is no <class 'str'>"]
    assert fits(json.loads("[true]"), [int]) == ["[0]: True is no <class 'int'>"]
    assert fits({}, Each(int)) == [": no object with names"]
    assert fits("2026-01-01", TIME)
    assert fits(None, OrNull(TIME)) == []
