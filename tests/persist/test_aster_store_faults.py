"""Many writers of one session and writers that are killed: what was written is there, whole, and the next one works.

Real processes, forked; the commands run in them as ``asx`` runs them.
"""

from __future__ import annotations

import io
import json
import os
import random
import sys
from collections import Counter
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest

from cli.app import main
from persist import history
from persist.aether.store import SessionStore
from persist.aster import Transcript
from persist.aster.store import Store
from persist.memory import MemoryStore
from tests.faults.cut_lines import pad_to_page, seen_after_kill
from tests.index.processes import Child, run_and_kill, start
from tests.persist import aether_records

LINE_BYTES = 9_000
APP = "/w/app"


def words(writer: int, number: int) -> str:
    """Return a text of 9 kB that tells who wrote it and, by its end, that it is whole."""
    name = f"{writer}:{number}:"
    return name + "x" * (LINE_BYTES - len(name)) + "end"


def append_as_ours(home: Path, writer: int, appends: int) -> None:
    with Store(home).open("busy") as session:
        for number in range(appends):
            session.user(words(writer, number))


def append_as_aster(path: Path, writer: int, appends: int) -> None:
    """Append as Aster does: the text, then the newline, without a lock (``spec/aster.md`` 2.8)."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
    for number in range(appends):
        record = {"type": "message", "role": "user", "content": words(writer, number), "ts": "2026-05-04T08:00:00Z"}
        os.write(descriptor, json.dumps(record).encode())
        os.write(descriptor, b"\n")
    os.close(descriptor)


def together(children: list[Child]) -> None:
    assert [child.wait() for child in children] == [(0, "")] * len(children)


@pytest.mark.parametrize(
    ("writers", "appends"), [pytest.param(20, 50, marks=pytest.mark.soak), (4, 10)], ids=["20 x 50", "4 x 10"]
)
def test_every_event_of_many_writers_is_there_and_whole_with_aster_beside_them(
    tmp_path: Path, writers: int, appends: int
) -> None:
    path = Store(tmp_path).create(APP, session_id="busy").path
    children = [start(partial(append_as_ours, tmp_path, writer, appends)) for writer in range(writers)]
    children.append(start(partial(append_as_aster, path, 99, appends)))
    together(children)
    transcript = Transcript.load(path)
    told = Counter(message.content for message in transcript.messages)
    expected = {words(writer, number) for writer in (*range(writers), 99) for number in range(appends)}
    assert transcript.damaged == ()
    assert (set(told), set(told.values())) == (expected, {1})
    assert path.read_bytes().count(b'"type":"session"') == 1
    for writer in (*range(writers), 99):
        mine = [text for text in told if text is not None and text.startswith(f"{writer}:")]
        assert mine == [words(writer, number) for number in range(appends)], "each writer's events in its order"


@pytest.mark.parametrize(
    ("writers", "appends"), [pytest.param(20, 50, marks=pytest.mark.soak), (4, 10)], ids=["20 x 50", "4 x 10"]
)
def test_the_same_in_aethers_store(tmp_path: Path, writers: int, appends: int) -> None:
    store = SessionStore.from_path(tmp_path)
    path = store.create(APP, "a:b", session_id="busy")

    def append(writer: int) -> None:
        for number in range(appends):
            store.append_checked(path, [aether_records.text(words(writer, number), f"{writer}-{number}")])

    together([start(partial(append, writer)) for writer in range(writers)])
    loaded = store.load("busy")
    told = Counter(entry.event.text for entry in loaded.events if entry.event is not None)
    assert told == Counter(words(writer, number) for writer in range(writers) for number in range(appends))
    assert loaded.malformed == 0


def test_of_many_that_begin_one_session_at_once_all_write_to_the_same(tmp_path: Path) -> None:
    def begin(writer: int) -> None:
        with Store(tmp_path).open_or_create(APP, session_id="shared") as session:
            session.user(f"from {writer}")

    together([start(partial(begin, writer)) for writer in range(8)])
    (path,) = tmp_path.rglob("shared.jsonl")
    assert path.read_bytes().count(b'"type":"session"') == 1
    assert {message.content for message in Transcript.load(path).messages} == {f"from {n}" for n in range(8)}


def journal_line(length: int) -> bytes:
    """Return a line of a memory journal that is longer by so many bytes."""
    return b'{"ts":"2026-05-04T08:00:00Z","op":"helpful","name":"birds","detail":"' + b"d" * length + b'"}\n'


def run_command(words_: list[str], stdin: bytes = b"") -> None:
    """Run ``asx`` in this (forked) process, silently."""
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin)))
    sys.stdout = sys.stderr = io.StringIO()
    main(words_)


@pytest.fixture(scope="module", autouse=True)
def imported() -> None:
    """Import what the commands import, so that a forked one begins its work at once and a kill finds it there."""
    for name in ("filelock", "ulid", "cli.commands.sessions_start", "cli.commands.sessions_append",
                 "cli.commands.sessions_delete", "cli.commands.recall", "cli.memory_store", "index.store_sessions",
                 "index.follow", "persist.appending", "persist.aster.incoming"):  # fmt: skip
        import_module(name)


KILLS = pytest.mark.parametrize("kills", [pytest.param(50, marks=pytest.mark.soak), 5])


def moment(chance: random.Random, number: int, longest_s: float) -> float:
    """Return when to kill: the first time at once, so that one at least is killed however fast the machine."""
    return chance.uniform(0, longest_s) if number else 0.0


@KILLS
def test_a_start_killed_at_any_moment_leaves_no_session_or_a_whole_one(isolated: Path, kills: int) -> None:
    chance = random.Random(17)  # noqa: S311 - moments, no secrets
    killed = 0
    for number in range(kills):
        command = ["sessions", "start", "--id", f"s{number}", "--cwd", APP]
        killed += run_and_kill(partial(run_command, command), moment(chance, number, 0.05))
        found = list(isolated.rglob(f"s{number}.jsonl"))
        if found:
            assert found[0].read_bytes().endswith(b"\n")
            header = Transcript.load(found[0]).header
            assert header is not None
            assert header.id == f"s{number}"
        assert start(partial(run_command, command)).wait() == (0, "")
        (path,) = isolated.rglob(f"s{number}.jsonl")
        assert path.read_bytes().count(b"\n") == 1
    assert killed > 0


@KILLS
def test_an_append_killed_at_any_moment_cuts_no_line_that_the_next_does_not_finish(isolated: Path, kills: int) -> None:
    path = Store(isolated / ".local/share/aster").create(APP, session_id="busy").path
    chance = random.Random(23)  # noqa: S311 - moments, no secrets
    killed = 0
    sent: list[str] = []
    for number in range(kills):
        texts = [words(number, event) for event in range(60)]
        stdin = b"".join(
            json.dumps({"type": "message", "role": "user", "content": text}).encode() + b"\n" for text in texts
        )
        command = ["sessions", "append", "busy"]
        before = path.read_bytes()
        killed += run_and_kill(partial(run_command, command, stdin), moment(chance, number, 0.15))
        seen = seen_after_kill(path, before)
        last = json.dumps({"type": "message", "role": "user", "content": f"after {number}"}).encode()
        assert start(partial(run_command, command, last)).wait() == (0, "")
        assert len(seen.assert_finished()) == len(seen.lines) + bool(seen.cut) + 1
        sent += [*texts, f"after {number}"]
    transcript = Transcript.load(path)
    told = [message.content or "" for message in transcript.messages]
    assert killed > 0
    assert transcript.damaged == ()
    assert len(set(told)) == len(told)
    assert [text for text in sent if text in set(told)] == told, "in order, each whole"
    assert [text for text in told if text.startswith("after")] == [f"after {number}" for number in range(kills)]
    assert len(told) > kills, "no kill came before the first event"


@KILLS
def test_a_start_in_aethers_store_killed_at_any_moment_leaves_no_log_or_a_whole_one(isolated: Path, kills: int) -> None:
    chance = random.Random(31)  # noqa: S311 - moments, no secrets
    killed = 0
    store = SessionStore()
    for number in range(kills):
        command = ["sessions", "start", "--aether", "--model", "a:b", "--id", f"s{number}", "--cwd", APP]
        killed += run_and_kill(partial(run_command, command), moment(chance, number, 0.05))
        for path in isolated.rglob(f"s{number}.jsonl"):
            assert path.read_bytes().count(b"\n") == 1
            assert store.load(f"s{number}").metadata.cwd == APP
        assert start(partial(run_command, command)).wait() == (0, "")
        assert store.load(f"s{number}").malformed == 0
    assert killed > 0


@KILLS
def test_an_append_to_aethers_store_killed_at_any_moment_cuts_no_line_that_the_next_does_not_finish(
    isolated: Path, kills: int
) -> None:
    store = SessionStore()
    path = store.create(APP, "a:b", session_id="busy")
    chance = random.Random(37)  # noqa: S311 - moments, no secrets
    killed = 0
    sent: list[str] = []
    for number in range(kills):
        texts = [words(number, event) for event in range(60)]
        events = [aether_records.prompt(text, f"{number}-{event}") for event, text in enumerate(texts)]
        stdin = b"".join(json.dumps(event).encode() + b"\n" for event in events)
        command = ["sessions", "append", "busy"]
        before = path.read_bytes()
        killed += run_and_kill(partial(run_command, command, stdin), moment(chance, number, 0.15))
        seen = seen_after_kill(path, before)
        last = json.dumps(aether_records.prompt(f"after {number}", f"{number}-after")).encode()
        assert start(partial(run_command, command, last)).wait() == (0, "")
        assert len(seen.assert_finished()) == len(seen.lines) + bool(seen.cut) + 1
        sent += [*texts, f"after {number}"]
    loaded = store.load("busy")
    told = [entry.event.text or "" for entry in loaded.events if entry.event is not None]
    assert killed > 0
    assert loaded.malformed == 0
    assert [text for text in sent if text in set(told)] == told, "in order, each whole"
    assert [text for text in told if text.startswith("after")] == [f"after {number}" for number in range(kills)]


@KILLS
def test_a_delete_in_aethers_store_killed_at_any_moment_takes_that_log_whole_or_not(isolated: Path, kills: int) -> None:
    store = SessionStore()
    other = store.create(APP, "a:b", session_id="other")
    store.append_checked(other, [aether_records.prompt("stays", "u1")])
    before = other.read_bytes()
    chance = random.Random(41)  # noqa: S311 - moments, no secrets
    killed = 0
    for number in range(kills):
        path = store.create(APP, "a:b", session_id="gone")
        store.append_checked(path, [aether_records.prompt(words(0, event), f"u{event}") for event in range(40)])
        whole = path.read_bytes()
        command = ["sessions", "delete", "--yes", "gone"]
        killed += run_and_kill(partial(run_command, command), moment(chance, number, 0.05))
        assert not path.exists() or path.read_bytes() == whole
        assert other.read_bytes() == before
        assert start(partial(run_command, command)).wait() == (0, "")
        assert not path.exists()
        assert [entry.prompt for entry in history.read(store.history_path).entries] == ["stays"]
    assert killed > 0


@KILLS
def test_a_recall_killed_at_any_moment_leaves_a_journal_that_the_next_makes_whole(isolated: Path, kills: int) -> None:
    memory = MemoryStore.open()
    memory.remember("The heron stands still.", "Birds")
    chance = random.Random(43)  # noqa: S311 - moments, no secrets
    killed = 0
    journal = memory.folder / "journal.jsonl"
    for number in range(kills):
        pad_to_page(journal, 1 + number % 60, journal_line)
        before = journal.read_bytes()
        killed += run_and_kill(partial(run_command, ["recall", "Birds"]), moment(chance, number, 0.03))
        seen = seen_after_kill(journal, before)
        assert start(partial(run_command, ["recall", "Birds"])).wait() == (0, "")
        assert len(seen.assert_finished()) == len(seen.lines) + bool(seen.cut) + 1
    operations, damaged = memory.read_log()
    assert killed > 0
    assert damaged == 0
    assert kills <= sum(operation.entry.op == "recall" for operation in operations) <= 2 * kills
    assert memory.peek("Birds").note.body == "The heron stands still."


@KILLS
def test_a_relocate_killed_at_any_moment_leaves_the_old_log_or_the_new(tmp_path: Path, kills: int) -> None:
    store = SessionStore.from_path(tmp_path)
    path = store.create("/old", "a:b", session_id="s")
    store.append_checked(path, [aether_records.text(words(0, number), f"m{number}") for number in range(300)])
    body = path.read_bytes().split(b"\n", 1)[1]
    chance = random.Random(29)  # noqa: S311 - moments, no secrets
    killed = 0
    for number in range(kills):
        before = store.cwd("s")
        killed += run_and_kill(partial(store.relocate, "s", f"/new/{number}"), moment(chance, number, 0.03))
        assert store.cwd("s") in (before, f"/new/{number}")
        assert path.read_bytes().split(b"\n", 1)[1] == body
    assert killed > 0
    store.relocate("s", "/last")
    assert (store.cwd("s"), len(store.load("s").events)) == ("/last", 300)
    assert sorted(one.name for one in path.parent.iterdir()) == [".lock", ".redo", "s.jsonl"], (
        "the copies of the killed are gone"
    )
