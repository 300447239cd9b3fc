"""Aether's session store (``spec/aether.md`` 2 and behaviours 30 to 63 of section 5, as far as it writes)."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from index.match import read_query
from persist import history
from persist.aether.log import MetadataError
from persist.aether.store import SessionStore
from persist.errors import AmbiguousError, NotFoundError, RefusedError, ShapeError, StoreIOError
from persist.files.rewrite import InUseError
from tests.builders import is_above_permissions
from tests.index.processes import start
from tests.persist import aether_records as make
from tests.persist.aether_records import Record

DATA = Path(__file__).parent.parent / "data" / "aether"
LONG_AGO = (1_700_000_000, 1_700_000_000)
needs_leases = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who has a file open")
CURRENT = "5b0c7f1e-2d34-4c1b-9a57-0e6f4d2a91c3"


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore.from_path(tmp_path / "home")


@pytest.fixture
def samples(store: SessionStore) -> SessionStore:
    folder = store.home / "sessions"
    folder.mkdir(parents=True)
    for path in DATA.glob("*.jsonl"):
        (folder / path.name).write_bytes(path.read_bytes())
    return store


def log(store: SessionStore, session_id: str, *events: Record, cwd: str = "/w/app") -> Path:
    path = store.create(cwd, "a:b", session_id=session_id)
    store.append(session_id, events)
    os.utime(path, LONG_AGO)  # where the system knows no leases, only a quiet log may be relocated
    return path


def prompts(store: SessionStore) -> list[str]:
    return [entry.prompt for entry in history.read(store.history_path).entries]


def test_b30_what_is_appended_is_loaded_in_order_without_the_transient(store: SessionStore) -> None:
    store.create("/w", "a:b", session_id="s", selected_mode="Planner")
    started = make.agent("turn", "started", content=[])
    done = store.append("s", [make.prompt("hi"), started, make.text("grow", complete=False), make.text("whole")])
    assert done == (2, 2, None)
    loaded = store.load("s")
    assert [entry.record for entry in loaded.events] == [make.prompt("hi"), make.text("whole")]
    assert (loaded.metadata.cwd, loaded.metadata.model, loaded.metadata.selected_mode) == ("/w", "a:b", "Planner")
    assert (loaded.malformed, loaded.unknown) == (0, 0)


def test_every_event_of_the_sample_is_written_as_aether_wrote_it(store: SessionStore) -> None:
    """44 of its lines are kept, 12 are of a kind that Aether never keeps (``samples``' README)."""
    lines = (DATA / f"{CURRENT}.jsonl").read_bytes().split(b"\n")[1:-1]
    path = store.create("/w", "a:b", session_id="copy")
    done = store.append("copy", [json.loads(line) for line in lines])
    assert (done.appended, done.transient) == (44, 12)
    written = path.read_bytes().split(b"\n")[1:-1]
    assert written == [line for line in lines if line in set(written)]
    assert len(written) == 44


def test_b36_a_missing_folder_lists_nothing_and_a_missing_session_is_not_found(store: SessionStore) -> None:
    assert store.list().sessions == ()
    for ask in (store.load, store.preview, store.conversation, store.find):
        with pytest.raises(NotFoundError):
            ask("nowhere")
    assert not store.home.exists()


def test_b41_metadata_has_its_mode_also_where_there_is_none(store: SessionStore) -> None:
    line = store.create("/w/Büro", "a:b", session_id="s").read_text("utf-8")
    assert line.startswith('{"sessionId":"s","cwd":"/w/Büro","model":"a:b","selectedMode":null,"createdAt":"20')
    assert line.endswith('+00:00"}\n')
    assert len(store.create("/w", "a:b").stem) == 36


def test_b42_control_events_are_kept_and_are_no_prompts(store: SessionStore) -> None:
    log(store, "s", make.switched("Planner"), make.prompt("hi"), make.prompt(None, "u2"), make.text("no"))
    assert store.load("s").events[0].record == make.switched("Planner")
    assert prompts(store) == ["hi"]


def test_b43_transient_lines_of_others_are_left_out(store: SessionStore) -> None:
    path = log(store, "s", make.prompt("hi"))
    with path.open("a") as file:
        file.write(json.dumps(make.text("grow", complete=False)) + "\n")
    assert len(store.load("s").events) == 1


class TestRelocate:
    def test_b47_metadata_and_the_historys_folder_change_and_nothing_else(self, store: SessionStore) -> None:
        path = log(store, "s", make.prompt("hi"), make.text("ho"))
        log(store, "other", make.prompt("mine"))
        before = path.read_bytes().split(b"\n", 1)
        assert store.relocate("s", "/new/плace") is None
        after = path.read_bytes().split(b"\n", 1)
        assert after[1] == before[1]
        assert after[0] == before[0].replace(b'"/w/app"', '"/new/плace"'.encode())
        assert [(entry.session_id, entry.cwd) for entry in history.read(store.history_path).entries] == [
            ("s", "/new/плace"), ("other", "/w/app"),
        ]  # fmt: skip
        assert path.stat().st_mode & 0o777 == 0o600

    def test_b48_the_recorded_folder_can_be_read(self, store: SessionStore) -> None:
        log(store, "s")
        store.relocate("s", "/new")
        assert (store.cwd("s"), store.cwd("nowhere")) == ("/new", None)

    def test_every_other_byte_stays_also_what_is_damaged(self, samples: SessionStore) -> None:
        """Aether turns CRLF into LF, adds a newline to a torn tail, and refuses leading blank lines."""
        path = samples.find("c41d88a7")
        before = path.read_bytes()
        head = next(line for line in before.split(b"\n") if line.strip())
        samples.relocate("c41d88a7", "/new")
        start = before.index(head)
        after = path.read_bytes()
        new_head = after[start:].partition(b"\n")[0]
        assert after == before[:start] + new_head + before[start + len(head) :]
        assert json.loads(new_head)["cwd"] == "/new"

    @needs_leases
    def test_a_log_that_another_program_has_open_is_refused_and_loses_nothing(self, store: SessionStore) -> None:
        path = log(store, "s", make.prompt("hi"))
        before = path.read_bytes()
        late = json.dumps(make.text("late")).encode() + b"\n"
        with path.open("ab", buffering=0) as writer:
            with pytest.raises(InUseError, match="open for writing"):
                store.relocate("s", "/new")
            writer.write(late)
        assert path.read_bytes() == before + late
        assert store.relocate("s", "/new") is None
        assert [entry.event.text for entry in store.load("s").events if entry.event] == ["hi", "late"]
        names = sorted(one.name for one in path.parent.iterdir())
        assert names == [".lock", ".redo", "prompt-history.jsonl", "s.jsonl"]

    @needs_leases
    def test_a_program_that_opens_the_log_for_each_line_loses_nothing(self, store: SessionStore) -> None:
        path = log(store, "s", make.prompt("hi"))

        def append() -> None:
            for number in range(300):
                descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
                os.write(descriptor, json.dumps(make.text(f"line {number}")).encode() + b"\n")
                os.close(descriptor)

        writer = start(append)
        moved = 0
        for number in range(40):
            with suppress(InUseError):
                store.relocate("s", f"/new/{number}")
                moved += 1
        assert writer.wait() == (0, "")
        assert moved
        texts = [entry.event.text for entry in store.load("s").events if entry.event]
        assert texts == ["hi", *(f"line {number}" for number in range(300))]

    def test_without_leases_a_log_that_changed_just_now_is_refused(
        self, store: SessionStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delattr("fcntl.F_SETLEASE", raising=False)
        path = log(store, "s", make.prompt("hi"))
        os.utime(path)
        with pytest.raises(InUseError, match="less than 5 s ago"):
            store.relocate("s", "/new")
        os.utime(path, LONG_AGO)
        assert store.relocate("s", "/new") is None
        assert (store.cwd("s"), path.stat().st_mtime) == ("/new", LONG_AGO[1])

    def test_crlf_leading_blanks_and_a_missing_newline_stay(self, store: SessionStore) -> None:
        path = log(store, "s")
        head = path.read_bytes().rstrip(b"\n")
        for before, behind in ((b"\r\n \n", b'\r\n{"torn'), (b"", b"")):
            path.write_bytes(before + head + behind)
            os.utime(path, LONG_AGO)
            store.relocate("s", "/new")
            new = head.replace(b'"/w/app"', b'"/new"')
            assert path.read_bytes() == before + new + (behind or b"\n")

    def test_a_link_stays_a_link(self, store: SessionStore, tmp_path: Path) -> None:
        path = log(store, "s", make.prompt("hi"))
        elsewhere = path.rename(tmp_path / "kept.jsonl")
        path.symlink_to(elsewhere)
        before = elsewhere.read_bytes()
        with pytest.raises(RefusedError, match="is a link"):
            store.relocate("s", "/new")
        assert (path.is_symlink(), elsewhere.read_bytes()) == (True, before)

    def test_a_log_without_metadata_is_left_as_it_is(self, store: SessionStore) -> None:
        path = log(store, "s")
        path.write_text("garbage\n")
        with pytest.raises(MetadataError):
            store.relocate("s", "/new")
        assert path.read_text() == "garbage\n"
        assert sorted(one.name for one in path.parent.iterdir()) == [".lock", "s.jsonl"]


class TestPrompts:
    def test_b53_the_display_form_is_what_is_searched_and_listed(self, store: SessionStore) -> None:
        shown = [{"type": "text", "text": "/plan it"}]
        log(store, "s", make.prompt("Plan mode. Read everything.", display_content=shown))
        hits = store.search_prompts(read_query("plan")).hits
        assert [(hit.entry.prompt, hit.match_start, hit.match_end) for hit in hits] == [("/plan it", 1, 5)]
        assert (store.list().sessions[0].title, store.preview("s").transcript[0].text) == ("/plan it", "/plan it")

    def test_b54_an_event_stays_where_the_history_cannot_be_written_and_a_rebuild_repairs_it(
        self, store: SessionStore
    ) -> None:
        store.create("/w", "a:b", session_id="s")
        store.history_path.mkdir()
        done = store.append("s", [make.prompt("kept")])
        assert done.appended == 1
        assert done.history_trouble is not None
        assert len(store.load("s").events) == 1
        store.history_path.rmdir()
        assert [entry.prompt for entry in store.rebuild_prompt_history().entries] == ["kept"]
        assert len(store.search_prompts(read_query("kept")).hits) == 1

    def test_b56_to_b61_the_newest_hundred_smart_case_bytes_and_limits(self, store: SessionStore) -> None:
        log(store, "s", *(make.prompt(f"Café fé {number}.", f"u{number}") for number in range(105)))
        assert not store.search_prompts(read_query("fé 4."), 50).hits
        newest = store.search_prompts(read_query("fé"))
        assert (len(newest.hits), newest.truncated, newest.hits[0].entry.prompt) == (20, True, "Café fé 104.")
        assert (newest.hits[0].match_start, newest.hits[0].match_end) == (2, 5)
        assert len(store.search_prompts(read_query("café"), 1000).hits) == 50
        assert len(store.search_prompts(read_query("caf"), 0).hits) == 1
        assert not store.search_prompts(read_query("CAFÉ")).hits
        assert len(store.search_prompts(read_query("Café fé 10."), 2).hits) == 1
        assert store.search_prompts(None) == ((), False)

    def test_rebuilt_they_stand_by_their_sessions_beginning(self, store: SessionStore) -> None:
        """Aether sorts by path, so by random ids; nothing tells a prompt's own time."""
        for session_id, created_at in (("b", "2026-01-01T00:00:00+00:00"), ("a", "2026-01-02T00:00:00+00:00")):
            path = log(store, session_id, *(make.prompt(f"{session_id}{n}", f"u{n}") for n in range(60)))
            record = {**json.loads(path.read_text().split("\n")[0]), "createdAt": created_at}
            path.write_text(json.dumps(record) + "\n" + path.read_text().split("\n", 1)[1])
        store.history_path.unlink()
        rebuilt = [entry.prompt for entry in store.rebuild_prompt_history().entries]
        assert rebuilt == [f"b{n}" for n in range(20, 60)] + [f"a{n}" for n in range(60)]

    def test_the_samples_history_is_made_of_its_logs(self, samples: SessionStore) -> None:
        rebuilt = samples.rebuild_prompt_history()
        assert len(rebuilt.damaged) == 2, "a malformed and a torn line stay, in front"
        assert "Why does the kiln controller drift?\nIt is off by 4 degrees." in [
            entry.prompt for entry in rebuilt.entries
        ]
        assert rebuilt.entries[-1].prompt.startswith("Translate the menu")


class TestHome:
    def test_b55_a_blank_override_is_none_and_another_wins(
        self, isolated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert SessionStore().home == isolated / ".aether"
        monkeypatch.setenv("AETHER_HOME", "  ")
        assert SessionStore().home == isolated / ".aether"
        monkeypatch.setenv("AETHER_HOME", str(tmp_path / "mine"))
        assert SessionStore().home == tmp_path / "mine"

    def test_the_latest_is_the_last_used_with_a_prompt_of_the_project(self, store: SessionStore) -> None:
        for number, session_id in enumerate(("first", "second", "empty", "elsewhere")):
            cwd = "/w/other" if session_id == "elsewhere" else "/w/app"
            events = () if session_id == "empty" else (make.ended(),) * 70 + (make.prompt("hi"),)
            path = log(store, session_id, *events, cwd=cwd)
            os.utime(path, (1_800_000_000 + number, 1_800_000_000 + number))
        latest = store.latest("/w/app")
        assert latest is not None
        assert (latest.session_id, latest.title) == ("second", None)
        assert store.latest("/w/none") is None
        assert [one.session_id for one in store.list("/w/other").sessions] == ["elsewhere"]


class TestIds:
    @pytest.mark.parametrize(
        "session_id",
        ["../../x", "/etc/x", "a/b", "..", ".hidden", "-rf", "🧾", "é", "a b", "a\0", "x" * 300, "prompt-history",
         "Prompt-History"],
    )  # fmt: skip
    def test_an_id_that_would_leave_is_refused_and_a_canary_untouched(
        self, store: SessionStore, tmp_path: Path, session_id: str
    ) -> None:
        canary = tmp_path / "x.jsonl"
        canary.write_text('{"sessionId":"x","cwd":"/w","model":"m","createdAt":""}\n')
        with pytest.raises(RefusedError):
            store.create("/w", "a:b", session_id=session_id)
        log(store, "s", make.prompt("hi"))
        for ask in (store.find, store.load):
            with pytest.raises(NotFoundError):
                ask(session_id)
        with pytest.raises(NotFoundError):
            store.append(session_id, [make.prompt("no")])
        assert sorted(one.name for one in tmp_path.iterdir()) == ["home", "x.jsonl"]
        assert canary.read_text().count("\n") == 1

    def test_an_id_is_taken_in_any_case(self, store: SessionStore) -> None:
        store.create("/w", "a:b", session_id="Conv")
        with pytest.raises(RefusedError, match="exists already"):
            store.create("/w", "a:b", session_id="conv")

    def test_found_by_name_by_metadata_and_by_prefix(self, samples: SessionStore) -> None:
        path = samples.find(CURRENT)
        assert samples.find("5b0c") == path
        with pytest.raises(NotFoundError):
            samples.find("5b0")
        renamed = path.rename(path.with_name("renamed.jsonl"))
        assert samples.find(CURRENT) == renamed
        renamed.with_name("rename2.jsonl").write_bytes(b"x")
        with pytest.raises(AmbiguousError):
            samples.find("rename")


class TestTornTails:
    @pytest.mark.parametrize(
        ("end", "readable", "malformed"),
        [
            (json.dumps(make.text("torn")).encode()[:-9], ["before", "after"], 1),
            (json.dumps(make.text("whole")).encode(), ["before", "whole", "after"], 0),
            (json.dumps(make.text("é"), ensure_ascii=False).encode().partition("é".encode())[0] + b"\xc3",
             ["before", "after"], 1),
            (b"\0" * 300, ["before", "after"], 1),
            (b"   ", ["before", "after"], 0),
            (b"\r", ["before", "after"], 0),
        ],
        ids=["ascii", "no newline", "in a character", "zero bytes", "blanks", "a return"],
    )  # fmt: skip
    def test_an_append_after_a_torn_tail_loses_nothing(
        self, store: SessionStore, end: bytes, readable: list[str], malformed: int
    ) -> None:
        path = log(store, "s", make.prompt("before"))
        with path.open("ab") as file:
            file.write(end)
        store.append("s", [make.text("after")])
        loaded = store.load("s")
        assert [entry.event.text for entry in loaded.events if entry.event] == readable
        assert loaded.malformed == malformed
        assert path.read_bytes().endswith(b"\n")

    def test_the_sample_cut_in_a_character_can_be_gone_on_with(self, samples: SessionStore) -> None:
        samples.append("e9b2f6c0", [make.text("Naturally.")])
        assert [entry.event.text for entry in samples.load("e9b2f6c0").events if entry.event] == [
            "Translate the menu",
            "Naturally.",
        ]


class TestRefusals:
    def test_nothing_is_written_when_one_event_is_wrong(self, store: SessionStore) -> None:
        path = log(store, "s", make.prompt("hi"))
        before = path.read_bytes()
        with pytest.raises(ShapeError, match=r"event\.is_complete is missing"):
            store.append("s", [make.text("a"), make.agent("message", "text", message_id="m", chunk="b")])
        assert path.read_bytes() == before

    def test_a_log_deleted_meanwhile_is_not_begun_again(self, store: SessionStore) -> None:
        path = log(store, "s", make.prompt("hi"))
        path.unlink()
        with pytest.raises(NotFoundError):
            store.append_checked(path, [make.text("lost")])
        assert not path.exists()

    @pytest.mark.parametrize("content", [b"", b"\n\n", b"garbage\n"], ids=repr)
    def test_a_log_without_metadata_is_not_written_to(self, store: SessionStore, content: bytes) -> None:
        path = log(store, "s")
        path.write_bytes(content)
        with pytest.raises(MetadataError):
            store.append("s", [make.prompt("hi")])
        assert path.read_bytes() == content

    def test_a_read_only_home_is_read_and_an_append_is_one_sentence(self, store: SessionStore) -> None:
        if is_above_permissions():
            pytest.skip("this user writes whatever the mode bits say")
        path = log(store, "s", make.prompt("hi"))
        path.chmod(0o400)
        path.parent.chmod(0o500)
        try:
            assert (len(store.load("s").events), store.list().sessions[0].title) == (1, "hi")
            with pytest.raises(StoreIOError):
                store.append("s", [make.text("no")])
        finally:
            path.parent.chmod(0o700)

    def test_everything_is_private(self, store: SessionStore) -> None:
        before = os.umask(0)
        try:
            log(store, "s", make.prompt("hi"))
        finally:
            os.umask(before)
        modes = {path.name: path.stat().st_mode & 0o777 for path in [store.home, *store.home.rglob("*")]}
        assert modes == {"home": 0o700, "sessions": 0o700, ".lock": 0o600, ".redo": 0o600, "s.jsonl": 0o600,
                         "prompt-history.jsonl": 0o600}  # fmt: skip
