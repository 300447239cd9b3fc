"""Imports from opencode's, Hermes' and Cursor's databases, and how another program's database is opened."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from persist.aster.importing import AGENTS, Look
from persist.aster.importing import cursor as cursor_source
from persist.aster.importing import hermes as hermes_source
from persist.aster.importing import opencode as opencode_source
from persist.aster.importing.database import open_foreign
from persist.sources import Environment
from tests.builders import Record
from tests.persist.import_world import SAMPLES, World, files_below, said, strict_records

HERMES = SAMPLES.joinpath("hermes.sql").read_text(encoding="utf-8")
OPENCODE = SAMPLES.joinpath("opencode.sql").read_text(encoding="utf-8")
HERMES_FULL = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, title TEXT, model TEXT, cwd TEXT, git_repo_root TEXT,
  started_at REAL, ended_at REAL, end_reason TEXT, parent_session_id TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, tool_call_id TEXT,
  tool_calls TEXT, tool_name TEXT, timestamp REAL, reasoning TEXT, active INTEGER NOT NULL DEFAULT 1,
  compacted INTEGER NOT NULL DEFAULT 0);
"""


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def _only(world: World) -> list[Record]:
    (path,) = world.targets()
    return strict_records(path)


def _insert(path: Path, table: str, *rows: dict[str, Any]) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for row in rows:
            marks = ", ".join("?" * len(row))
            connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))


def _titles(path: Path) -> list[str]:
    with open_foreign(path) as database:
        return [title for (title,) in database.rows("SELECT title FROM sessions ORDER BY started_at")]


class TestOpening:
    """DESIGN 8: nothing appears beside another program's database, and nothing in it changes."""

    @pytest.fixture
    def path(self, world: World) -> Path:
        return world.database(world.hermes_path, HERMES)

    @pytest.fixture
    def writer(self, path: Path) -> Iterator[sqlite3.Connection]:
        """A program that has the database open with a log, and writes to it."""
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA wal_autocheckpoint = 0")
            connection.execute("UPDATE sessions SET title = 'only in the log'")
            yield connection

    def test_alone_it_is_read_in_place(self, path: Path) -> None:
        before = files_below(path.parent)
        assert _titles(path) == ["Spell check"]
        assert files_below(path.parent) == before

    def test_read_only_folders_do_not_matter(self, path: Path) -> None:
        path.chmod(0o400)
        path.parent.chmod(0o500)
        try:
            assert _titles(path) == ["Spell check"]
        finally:
            path.parent.chmod(0o700)

    def test_with_a_writer_its_log_is_read(self, path: Path, writer: sqlite3.Connection) -> None:
        assert {name.name for name in path.parent.iterdir()} == {"state.db", "state.db-wal", "state.db-shm"}
        database, log = path.read_bytes(), path.with_name("state.db-wal").read_bytes()
        assert _titles(path) == ["only in the log"]
        assert {name.name for name in path.parent.iterdir()} == {"state.db", "state.db-wal", "state.db-shm"}
        assert (path.read_bytes(), path.with_name("state.db-wal").read_bytes()) == (database, log)
        writer.execute("UPDATE sessions SET title = 'later'")
        assert _titles(path) == ["later"]

    def test_one_reading_is_of_one_moment(self, path: Path, writer: sqlite3.Connection) -> None:
        with open_foreign(path) as database:
            assert list(database.rows("SELECT title FROM sessions")) == [("only in the log",)]
            writer.execute("UPDATE sessions SET title = 'later'")
            assert list(database.rows("SELECT title FROM sessions")) == [("only in the log",)]
            assert database.stood_still()

    def test_a_log_alone_is_read_from_a_copy(self, path: Path, writer: sqlite3.Connection, tmp_path: Path) -> None:
        left = tmp_path / "left"
        left.mkdir()
        for name in ("state.db", "state.db-wal"):
            shutil.copyfile(path.with_name(name), left / name)
        before = files_below(left)
        assert _titles(left / "state.db") == ["only in the log"]
        assert files_below(left) == before

    def test_what_a_killed_program_left_is_read_and_stays(self, path: Path, writer: sqlite3.Connection,
                                                          tmp_path: Path) -> None:  # fmt: skip
        left = tmp_path / "left"
        left.mkdir()
        for name in ("state.db", "state.db-wal", "state.db-shm"):
            shutil.copyfile(path.with_name(name), left / name)
        database, log = (left / "state.db").read_bytes(), (left / "state.db-wal").read_bytes()
        assert _titles(left / "state.db") == ["only in the log"]
        assert sorted(name.name for name in left.iterdir()) == ["state.db", "state.db-shm", "state.db-wal"]
        assert ((left / "state.db").read_bytes(), (left / "state.db-wal").read_bytes()) == (database, log)

    def test_a_change_that_was_broken_off_is_not_read(self, path: Path, tmp_path: Path) -> None:
        left = tmp_path / "left"
        left.mkdir()
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA cache_size = 1")
            connection.execute("BEGIN")
            connection.execute("UPDATE sessions SET title = 'broken off'")
            for number in range(200):
                connection.execute(
                    "INSERT INTO messages (session_id, content) VALUES ('x', ?)", ("y" * 4000 + str(number),)
                )
            for name in ("state.db", "state.db-journal"):
                shutil.copyfile(path.with_name(name), left / name)
            connection.execute("ROLLBACK")
        assert (left / "state.db").stat().st_size > 400_000
        before = files_below(left)
        assert _titles(left / "state.db") == ["Spell check"]
        assert files_below(left) == before

    def test_a_write_meanwhile_is_seen_afterwards(self, path: Path) -> None:
        with open_foreign(path) as database:
            assert database.stood_still()
            _insert(path, "messages", {"session_id": "x", "content": "y" * 100_000})
            assert not database.stood_still()

    def test_bytes_that_are_no_utf8_are_replaced(self, path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE sessions SET title = CAST(x'61ff62' AS TEXT)")
        assert _titles(path) == ["a\ufffdb"]

    @pytest.mark.parametrize("name", ["a b", "a%20b", "a?mode=rw", "a#b", "é漢"])
    def test_any_name_will_do(self, name: str, path: Path) -> None:
        moved = path.rename(path.parent / name)
        assert _titles(moved) == ["Spell check"]
        assert [one.name for one in path.parent.iterdir()] == [name]

    def test_private_copies_are_removed(self, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        temporary = tmp_path / "temporary"
        temporary.mkdir()
        monkeypatch.setattr("tempfile.tempdir", str(temporary))
        path.with_name("state.db-wal").write_bytes(b"")
        with open_foreign(path) as database:
            (folder,) = temporary.iterdir()
            assert folder.stat().st_mode & 0o777 == 0o700
            assert list(database.rows("SELECT count(*) FROM sessions")) == [(1,)]
        assert list(temporary.iterdir()) == []

    def test_one_private_copy_serves_all_sessions(
        self, path: Path, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        copies: list[Path] = []

        def make_folder(*_: object, **__: object) -> str:
            copies.append(tmp_path / f"copy{len(copies)}")
            copies[-1].mkdir(0o700)
            return str(copies[-1])

        monkeypatch.setattr("tempfile.mkdtemp", make_folder)
        for number in range(3):
            _insert(path, "sessions", {"id": f"s{number}", "started_at": 1751710501.0 + number})
            _insert(path, "messages", {"session_id": f"s{number}", "role": "user", "content": "x", "active": 1})
        path.with_name("state.db-wal").write_bytes(b"")
        assert [outcome.status for outcome in world.run("hermes").outcomes] == ["imported"] * 4
        assert len(copies) == 1
        assert not copies[0].exists()


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _garbage(path: Path) -> None:
    path.write_bytes(b"no database " * 1000)


def _scribbled(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096 + 1 :] = b"\xee" * (len(data) - 4097)
    path.write_bytes(data)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _no_tables(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE other (id)")


@pytest.mark.parametrize("agent", ["opencode", "hermes", "cursor"])
@pytest.mark.parametrize("damage", [_cut, _garbage, _scribbled, _folder, _pipe, _no_tables])
def test_a_damaged_database_is_told_and_hides_no_other_source(
    agent: str, damage: Callable[[Path], None], world: World
) -> None:
    world.samples()
    path = {"opencode": world.opencode_path, "hermes": world.hermes_path, "cursor": world.cursor_global}[agent]
    damage(path)
    report = world.run()
    failed = [outcome for outcome in report.outcomes if outcome.status == "failed"]
    others = [outcome for outcome in report.outcomes if outcome.agent != agent]
    assert [outcome.status for outcome in others] == ["imported"] * len(others)
    assert failed
    for outcome in failed:
        assert outcome.agent == agent
        assert outcome.source_path == str(path)
        assert outcome.reason
    assert world.leftovers() == []


class TestOpencode:
    @pytest.fixture
    def path(self, world: World) -> Path:
        script = OPENCODE.partition("INSERT")[0]
        path = world.database(world.opencode_path, script)
        _insert(path, "session", {"id": "ses_1", "title": "T", "directory": "/w", "time_created": 1751000000000})
        return path

    def _message(self, path: Path, number: int, data: object, *parts: object) -> None:
        text = data if isinstance(data, str) else json.dumps(data)
        _insert(path, "message", {"id": f"m{number}", "session_id": "ses_1", "data": text,
                                  "time_created": 1751000000000 + number})  # fmt: skip
        for at, part in enumerate(parts):
            told = part if isinstance(part, str) else json.dumps(part)
            _insert(path, "part", {"id": f"m{number}p{at}", "message_id": f"m{number}", "session_id": "ses_1",
                                   "data": told, "time_created": at})  # fmt: skip

    def test_parts_become_one_reply_with_its_results(self, path: Path, world: World) -> None:
        done = {"status": "completed", "input": {"p": 1}, "output": "fine", "time": {"start": 1, "end": 1751000009000}}
        broken = {"status": "error", "input": {"p": 2}, "error": "no such file"}
        self._message(
            path, 1, {"role": "user"}, {"type": "text", "text": "go"}, {"type": "text", "text": "and more"},
            {"type": "text", "text": "reminder", "synthetic": True},
        )  # fmt: skip
        self._message(
            path, 2, {"role": "assistant", "modelID": "grok", "providerID": "xai"}, {"type": "step-start"},
            {"type": "reasoning", "text": "think"}, {"type": "text", "text": "Looking."},
            {"type": "tool", "callID": "c1", "tool": "read", "state": done},
            {"type": "tool", "callID": "c2", "tool": "read", "state": broken},
            {"type": "tool", "callID": "c3", "tool": "read", "state": {"status": "running", "input": {}}},
        )  # fmt: skip
        world.run("opencode")
        header, *records = _only(world)
        assert header["model"] == "xai/grok"
        assert [(record["role"], record.get("content")) for record in records] == [
            ("system", "reminder"),
            ("user", "go\n\nand more"),
            ("assistant", "Looking."),
            ("tool", "fine"),
            ("assistant", None),
            ("tool", "error: no such file"),
            ("assistant", None),
        ]
        assert records[2]["reasoning"]["text"] == "think"
        assert [one["id"] for record in records for one in record.get("tool_calls", [])] == ["c1", "c2", "c3"]
        assert records[3]["ts"] == "2025-06-27T04:53:29Z"

    def test_a_picture_a_summary_and_a_failure(self, path: Path, world: World) -> None:
        self._message(path, 1, {"role": "user"}, {"type": "file", "mime": "image/png"})
        self._message(path, 2, {"role": "assistant", "summary": True}, {"type": "text", "text": "so far"})
        failure = {"name": "APIError", "data": {"message": "overloaded"}}
        self._message(path, 3, {"role": "assistant", "error": failure})
        world.run("opencode")
        records = _only(world)[1:]
        assert [(record["type"], record.get("role"), record["content"]) for record in records] == [
            ("message", "user", "[image]"),
            ("summary", None, "so far"),
            ("message", "system", "overloaded"),
        ]

    def test_damaged_cells_cost_themselves(self, path: Path, world: World) -> None:
        self._message(path, 1, '{"role": "us')
        self._message(path, 2, {"role": "user"}, "[1]", {"type": "text", "text": "two"}, {"type": "tool", "state": 5})
        (outcome,) = world.run("opencode").outcomes
        assert (outcome.status, outcome.damaged) == ("imported", 2)
        assert said(_only(world)) == [("user", "two")]

    def test_columns_may_be_missing(self, world: World) -> None:
        path = world.database(
            world.opencode_path,
            OPENCODE.partition("INSERT")[0].replace("title TEXT, model TEXT, ", "").replace("parent_id TEXT, ", ""),
        )
        _insert(path, "session", {"id": "ses_1", "directory": "/w", "time_created": 1751000000000})
        self._message(path, 1, {"role": "user"}, {"type": "text", "text": "go"})
        world.run("opencode")
        assert _only(world)[0] == {
            "type": "session", "id": "opencode-ses-1", "v": 1, "created_at": "2025-06-27T04:53:20Z", "cwd": "/w",
            "repo_root": "/w", "imported_from": "opencode:ses_1",
        }  # fmt: skip

    def test_tables_without_times_are_read_in_the_order_of_their_ids(self, world: World) -> None:
        path = world.database(
            world.opencode_path,
            """CREATE TABLE session (id TEXT, directory TEXT);
            CREATE TABLE message (id TEXT, session_id TEXT, data TEXT);
            CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT);
            INSERT INTO session VALUES ('ses_1', '/w');""",
        )
        for number, text in ((2, "two"), (1, "one")):
            told = json.dumps({"role": "user", "time": {"created": 1751000000000 + number * 1000}})
            _insert(path, "message", {"id": f"m{number}", "session_id": "ses_1", "data": told})
            part = {"message_id": f"m{number}", "data": json.dumps({"type": "text", "text": text})}
            _insert(path, "part", {"id": f"p{number}", **part})
        (outcome,) = world.run("opencode").outcomes
        records = _only(world)
        assert said(records) == [("user", "one"), ("user", "two")]
        assert [record["ts"] for record in records[1:]] == ["2025-06-27T04:53:21Z", "2025-06-27T04:53:22Z"]
        assert outcome.created_at == "2025-06-27T04:53:21.000Z"

    def test_ids_that_differ_in_case_alone_do_not_hide_each_other(self, path: Path, world: World) -> None:
        self._message(path, 1, {"role": "user"}, {"type": "text", "text": "go"})
        _insert(path, "session", {"id": "SES_1", "directory": "/w", "time_created": 1751000001000})
        first, second = world.run("opencode").outcomes
        assert (first.status, second.status) == ("imported", "failed")
        assert "another session" in (second.reason or "")
        assert _only(world)[0]["imported_from"] == "opencode:ses_1"

    @pytest.mark.parametrize("model", ['{"id":"grok","providerID":"xai"}', "xai/grok"])
    def test_a_model_is_told_as_text_or_as_an_object(self, model: str, path: Path, world: World) -> None:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE session SET model = ?", (model,))
        self._message(path, 1, {"role": "user"}, {"type": "text", "text": "go"})
        world.run("opencode")
        assert _only(world)[0]["model"] == "xai/grok"

    def test_where_it_lies(self, tmp_path: Path) -> None:
        def at(**variables: str) -> str:
            return str(opencode_source.locate(Environment(variables, Path("/h"))))

        assert at() == "/h/.local/share/opencode/opencode.db"
        assert at(XDG_DATA_HOME="/d") == "/d/opencode/opencode.db"
        assert at(XDG_DATA_HOME="d") == "/h/.local/share/opencode/opencode.db"
        assert at(OPENCODE_DB="/x/y.db") == "/x/y.db"
        assert at(OPENCODE_DB="y.db") == "/h/.local/share/opencode/y.db"


class TestHermes:
    @pytest.fixture
    def path(self, world: World) -> Path:
        return world.database(world.hermes_path, HERMES_FULL)

    def _session(self, path: Path, session_id: str, started_at: float = 1751710500.25, **keys: object) -> None:
        _insert(path, "sessions", {"id": session_id, "started_at": started_at, "cwd": "/w", **keys})

    def _say(self, path: Path, session_id: str, role: str, content: str | None, ts: float, **keys: object) -> None:
        row = {"session_id": session_id, "role": role, "content": content, "timestamp": ts, **keys}
        _insert(path, "messages", row)

    def test_calls_results_and_thoughts(self, path: Path, world: World) -> None:
        self._session(path, "s1")
        calls = [{"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": '{"command":"ls"}'}}]
        self._say(path, "s1", "user", "list", 1751710501.5)
        self._say(path, "s1", "assistant", "", 1751710502, tool_calls=json.dumps(calls), reasoning="think")
        answer = json.dumps({"output": "", "exit_code": 2, "error": None})
        self._say(path, "s1", "tool", answer, 1751710503, tool_call_id="c1")
        self._say(path, "s1", "assistant", "Failed.", 1751710504)
        self._say(path, "s1", "session_meta", "{}", 1751710505)
        self._say(path, "s1", "system", "be brief", 1751710506)
        self._say(path, "s1", "assistant", None, 1751710507, tool_calls="{torn")
        (outcome,) = world.run("hermes").outcomes
        assert outcome.damaged == 1
        records = _only(world)[1:]
        assert [(record["role"], record.get("content")) for record in records] == [
            ("user", "list"),
            ("assistant", None),
            ("tool", f"error: {answer}"),
            ("assistant", "Failed."),
            ("system", "be brief"),
        ]
        assert records[1]["tool_calls"] == calls
        assert records[1]["reasoning"]["text"] == "think"
        assert records[0]["ts"] == "2025-07-05T10:15:01.500Z"

    def test_sub_agents_and_branches_are_left_and_what_goes_on_after_a_compaction_is_not(
        self, path: Path, world: World
    ) -> None:
        self._session(path, "root", 1751710500, ended_at=1751710600.0, end_reason="compression")
        self._session(path, "goes-on", 1751710601, parent_session_id="root")
        self._session(path, "worker", 1751710550, parent_session_id="root")
        self._session(path, "branch", 1751710700, parent_session_id="goes-on")
        for session_id in ("root", "goes-on", "worker", "branch"):
            self._say(path, session_id, "user", "hello", 1751710602)
        report = world.run("hermes")
        assert [outcome.original_id for outcome in report.outcomes] == ["root", "goes-on"]
        assert report.passed["hermes"].sub_agents == 2

    def test_undone_messages_go_and_those_set_aside_stay_once(self, path: Path, world: World) -> None:
        self._session(path, "s1")
        self._say(path, "s1", "user", "one", 1751710501, active=0, compacted=1)
        self._say(path, "s1", "assistant", "two", 1751710502, active=0, compacted=1)
        self._say(path, "s1", "user", "undone", 1751710503, active=0)
        self._say(path, "s1", "user", "Summary: one.", 1751710504)
        self._say(path, "s1", "assistant", "two", 1751710502)
        self._say(path, "s1", "user", "three", 1751710505)
        world.run("hermes")
        assert [text for _, text in said(_only(world))] == ["one", "two", "Summary: one.", "three"]

    def test_contents_in_parts(self, path: Path, world: World) -> None:
        self._session(path, "s1")
        parts = [{"type": "text", "text": "what is this"}, {"type": "image_url", "image_url": {"url": "data:x"}}]
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(
                "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s1', 'user', ?, 1751710501)",
                ("\0json:" + json.dumps(parts),),
            )
        world.run("hermes")
        assert said(_only(world)) == [("user", "what is this")]

    def test_profiles_are_read_and_a_session_without_a_folder_too(self, path: Path, world: World) -> None:
        self._session(path, "s1", cwd=None)
        self._say(path, "s1", "user", "hello", 1751710501)
        other = world.database(world.home / ".hermes" / "profiles" / "work" / "state.db", HERMES_FULL)
        self._session(other, "s2")
        self._say(other, "s2", "user", "hello", 1751710501)
        assert [outcome.original_id for outcome in world.run("hermes").outcomes] == ["s1", "s2"]
        assert [path.parent.name for path in world.targets()] == ["default", "w"]

    def test_where_it_lies(self) -> None:
        assert hermes_source.locate(Environment({}, Path("/h"))) == Path("/h/.hermes")
        assert hermes_source.locate(Environment({"HERMES_HOME": "~/x"}, Path("/h"))) == Path("/h/x")


class TestCursor:
    COMPOSER = "aaaaaaaa-0001-4000-8000-000000000001"

    def _write(self, world: World, *bubbles: dict[str, Any], folder: str = "/w", **composer: Any) -> None:
        listed = {"allComposers": [{"composerId": self.COMPOSER, "name": "N", "createdAt": 1752000000000}]}
        path = world.cursor_workspace("w1", folder, "CREATE TABLE ItemTable (key TEXT PRIMARY KEY, value BLOB);")
        _insert(path, "ItemTable", {"key": "composer.composerData", "value": json.dumps(listed).encode()})
        world.database(world.cursor_global, "CREATE TABLE cursorDiskKV (key TEXT PRIMARY KEY, value BLOB);")
        headers = [{"bubbleId": f"b{at}", "type": bubble.get("type")} for at, bubble in enumerate(bubbles)]
        told = {"fullConversationHeadersOnly": headers, **composer}
        _insert(world.cursor_global, "cursorDiskKV",
                {"key": f"composerData:{self.COMPOSER}", "value": json.dumps(told)},
                *({"key": f"bubbleId:{self.COMPOSER}:b{at}", "value": json.dumps({"bubbleId": f"b{at}", **bubble})}
                  for at, bubble in enumerate(bubbles)))  # fmt: skip

    def test_bubbles_with_tools_and_thoughts(self, world: World) -> None:
        self._write(
            world,
            {"type": 1, "text": "fix it", "createdAt": "2025-07-09T10:00:00.000Z"},
            {"type": 2, "text": "", "thinking": {"text": "hm"}},
            {"type": 2, "text": "", "toolFormerData": {"name": "read_file", "toolCallId": "c1", "rawArgs": '{"p":1}',
                                                       "status": "completed", "result": '{"contents":"x"}'}},
            {"type": 2, "text": "", "toolFormerData": {"name": "run", "params": {"q": 2}, "status": "error",
                                                       "error": "no"}},
            {"type": 2, "text": "", "toolFormerData": {"name": "run", "status": "cancelled"}},
            {"type": 2, "text": "", "toolFormerData": {"additionalData": {}}},
            {"type": 2, "text": "Done.", "createdAt": 1752055260000},
            {"type": 1, "text": "", "images": [{"uuid": "x"}]},
            {"type": 1, "text": "<system-reminder>x</system-reminder>"},
            {"type": 7, "text": "dropped"},
            modelConfig={"modelName": "sonnet"},
        )  # fmt: skip
        world.run("cursor")
        header, *records = _only(world)
        assert (header["model"], header["title"]) == ("sonnet", "N")
        assert [(record["role"], record.get("content")) for record in records] == [
            ("user", "fix it"),
            ("assistant", None),
            ("tool", '{"contents":"x"}'),
            ("assistant", None),
            ("tool", "error: no"),
            ("assistant", None),
            ("tool", "error: cancelled"),
            ("assistant", "Done."),
            ("user", "[image]"),
            ("system", "<system-reminder>x</system-reminder>"),
        ]
        assert records[1]["reasoning"]["text"] == "hm"
        assert [one["id"] for record in records for one in record.get("tool_calls", [])] == ["c1", "b3", "b4"]
        assert [record["ts"] for record in records[:2]] == ["2025-07-09T10:00:00Z"] * 2
        assert records[7]["ts"] == "2025-07-09T10:01:00Z"

    def test_missing_bubbles_are_counted(self, world: World) -> None:
        self._write(world, {"type": 1, "text": "one"}, {"type": 2, "text": "two"})
        with closing(sqlite3.connect(world.cursor_global)) as connection, connection:
            connection.execute("DELETE FROM cursorDiskKV WHERE key LIKE '%:b1'")
        (outcome,) = world.run("cursor").outcomes
        assert (outcome.status, outcome.damaged) == ("imported", 1)

    @pytest.mark.parametrize(
        ("uri", "folder"),
        [
            ("file:///home/ann/caf%C3%A9%20bar", "/home/ann/café bar"),
            ("file:///w#x", "/w#x"),
            ("vscode-remote://ssh/w", None),
            (5, None),
        ],
    )
    def test_the_folder_of_a_workspace(self, uri: object, folder: str | None, world: World) -> None:
        self._write(world, {"type": 1, "text": "one"})
        workspace = world.cursor_user / "workspaceStorage" / "w1" / "workspace.json"
        workspace.write_text(json.dumps({"folder": uri}))
        (outcome,) = world.run("cursor").outcomes
        assert outcome.cwd == folder
        workspace.unlink()
        assert world.run("cursor").outcomes[0].status == "existing"

    def test_an_id_that_is_none_is_told(self, world: World) -> None:
        self._write(world, {"type": 1, "text": "one"})
        listed = {"allComposers": [{"composerId": "../../x"}, {"composerId": None}, 5]}
        path = world.cursor_user / "workspaceStorage" / "w1" / "state.vscdb"
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE ItemTable SET value = ?", (json.dumps(listed),))
        assert [outcome.status for outcome in world.run("cursor").outcomes] == ["failed", "failed"]
        assert not world.data.exists()

    def test_where_it_lies(self, tmp_path: Path) -> None:
        for name in ("Library/Application Support", ".config"):
            (tmp_path / name / "Cursor" / "User").mkdir(parents=True)
        found = cursor_source.locate(Environment({}, tmp_path))
        assert found[0] == tmp_path / "Library" / "Application Support" / "Cursor" / "User"
        assert cursor_source.locate(Environment({"XDG_CONFIG_HOME": "/none"}, tmp_path)) == found[:1]
        assert list(cursor_source.offers(Look(Environment({}, tmp_path)))) == []


def test_nothing_installed_is_nothing_found(world: World) -> None:
    report = world.run()
    assert report.outcomes == []
    assert set(report.passed) == set(AGENTS)
    assert not world.data.exists()
