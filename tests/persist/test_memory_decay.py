"""Decay: the formula and its properties, and what it does to real files, other writers and a sudden end."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persist.errors import BusyError, NotFoundError, RefusedError, StoreIOError
from persist.files import LOCK_NAME, append_lines, locked
from persist.memory import MemoryStore, decaying, list_versions
from persist.memory.blocks import ARCHIVE_FOLDER
from persist.memory.decay import HALF_LIFE_DAYS, half_life_days, retention, stale_reason
from persist.memory.standing import Standing
from tests.faults.memory_world import assert_sound, assert_sound_after_kill, journal_lines, long_text, note_files
from tests.index import processes

NOW = "2026-11-30T00:00:00.000Z"
KINDS = st.sampled_from([*HALF_LIFE_DAYS, "idea"])
STANDING = Standing(None, 0.0, 0, 0, 0, None, None, False, (), "fact")


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    return MemoryStore(tmp_path / "memory")


def put(store: MemoryStore, name: str, created: str | None = "2025-01-03", text: str = "text", **fields: str) -> bytes:
    """Write a block as a file by hand; return its bytes."""
    header = {"name": name, **({"created_at": created} if created else {}), **fields}
    lines = "".join(f"{key}: {value}\n" for key, value in header.items())
    data = f"---\n{lines}---\n\n{text}\n".encode()
    store.folder.mkdir(parents=True, exist_ok=True)
    (store.folder / f"{name}.md").write_bytes(data)
    return data


def tell(store: MemoryStore, *lines: tuple[str, str, str]) -> None:
    """Append (day, operation, name) to the journal."""
    texts = [json.dumps({"ts": f"{day}T10:00:00.000Z", "op": op, "name": name}).encode() for day, op, name in lines]
    append_lines(store.folder / "journal.jsonl", texts)


def everything(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(folder)): (path.read_bytes() if path.is_file() else b"", path.stat().st_mtime_ns)
        for path in [folder, *folder.rglob("*")]
    }


def untouched(kind: str, days: int, use: float = 0.0) -> str | None:
    made = f"{date(2026, 11, 30) - timedelta(days)}T00:00:00.000Z"
    return stale_reason(STANDING._replace(kind=kind, touched_at=made, use=use), NOW)


class TestFormula:
    @given(KINDS, st.floats(-3, 8), st.floats(0, 5000), st.floats(0.01, 1000))
    def test_retention_falls_with_days(self, kind: str, use: float, days: float, more: float) -> None:
        half_life = half_life_days(kind, use)
        assert 0 <= retention(days + more, half_life) < retention(days, half_life) <= 1 or days / half_life > 1000

    @given(KINDS, st.floats(0, 5.9), st.floats(0.01, 6), st.floats(0.1, 3000))
    def test_retention_rises_with_use(self, kind: str, use: float, more: float, days: float) -> None:
        assert retention(days, half_life_days(kind, use + more)) > retention(days, half_life_days(kind, use))

    @given(KINDS, st.floats(-1000, 1000))
    def test_use_counts_from_nothing_to_six(self, kind: str, use: float) -> None:
        base = half_life_days(kind, 0)
        assert base <= half_life_days(kind, use) <= 4 * base

    @pytest.mark.parametrize(
        ("kind", "days"), [("note", 100), ("fact", 299), ("gotcha", 399), ("howto", 399), ("preference", 598),
                           ("decision", 598), ("idea", 299), (" Decision", 598)]
    )  # fmt: skip
    def test_an_unused_block_stays_so_long(self, kind: str, days: int) -> None:
        assert untouched(kind, days - 1) is None
        reason = untouched(kind, days)
        assert reason is not None
        assert f"untouched for {days} days" in reason
        assert "retention 0.09" in reason

    def test_half_lives_are_those_of_the_kinds(self) -> None:
        assert [half_life_days(kind, 0) for kind in ("preference", "gotcha", "fact", "note", "idea")] == [
            180, 120, 90, 30, 90,
        ]  # fmt: skip
        assert half_life_days("note", 6) == 120
        assert retention(30, 30) == 0.5

    @given(KINDS, st.floats(-100, 6))
    def test_a_pinned_or_undated_block_is_never_stale(self, kind: str, use: float) -> None:
        standing = STANDING._replace(kind=kind, use=use, touched_at="2000-01-01T00:00:00.000Z")
        assert stale_reason(standing._replace(pinned=True), NOW) is None
        assert stale_reason(standing._replace(touched_at=None), NOW) is None

    def test_harm_needs_no_age(self) -> None:
        young = STANDING._replace(touched_at=NOW, harmful=2, helpful=0, use=-3.0)
        assert stale_reason(young, NOW) == "marked harmful 2 times, use -3"
        assert stale_reason(young._replace(use=-2.9), NOW) is None


class TestDecay:
    def test_says_what_it_would_do_and_changes_not_one_byte(self, store: MemoryStore) -> None:
        put(store, "old", kind="note")
        put(store, "pinned", kind="note", pinned="true")
        put(store, "undated", None)
        put(store, "young", "2026-11-01")
        tell(store, ("2025-02-01", "recall", "old"))
        before = everything(store.folder)
        done = store.decay(as_of=NOW)
        assert (done.dry_run, [one.name for one in done.archived], done.staying) == (True, ["old"], 3)
        assert [one.version for one in done.archived] == [None]
        assert everything(store.folder) == before
        assert not (store.folder / LOCK_NAME).exists() or LOCK_NAME in before

    def test_of_a_folder_that_is_not_there_makes_nothing(self, store: MemoryStore) -> None:
        assert store.decay(yes=True).archived == ()
        assert not store.folder.exists()

    def test_archives_with_the_reason_in_the_journal(self, store: MemoryStore) -> None:
        data = put(store, "old", kind="note")
        put(store, "used", kind="note")
        tell(store, *((f"2026-{month:02d}-01", "recall", "used") for month in range(1, 11)))
        done = store.decay(yes=True, as_of=NOW)
        assert [(one.name, done.staying) for one in done.archived] == [("old", 1)]
        line = journal_lines(store.folder)[-1]
        assert (line["op"], line["name"], line["detail"]) == ("archive", "old", done.archived[0].reason)
        assert line["version"] == done.archived[0].version
        assert (store.folder / ARCHIVE_FOLDER / "old.md").read_bytes() == data
        assert not (store.folder / "old.md").exists()

    @settings(max_examples=25, deadline=None)
    @given(st.binary(max_size=300), st.sampled_from(["\n", "\r\n"]))
    def test_what_it_archived_comes_back_byte_for_byte(
        self, tmp_path_factory: pytest.TempPathFactory, text: bytes, eol: str
    ) -> None:
        store = MemoryStore(tmp_path_factory.mktemp("m") / "memory")
        store.folder.mkdir()
        header = eol.join(["---", "name: old", "# a comment", "created_at: 2024-01-01", "---", ""]).encode()
        path = store.folder / "old.md"
        path.write_bytes(header + text)
        assert [one.name for one in store.decay(yes=True, as_of=NOW).archived] == ["old"]
        assert not path.exists()
        store.restore("old")
        assert path.read_bytes() == header + text

    def test_twice_is_once(self, store: MemoryStore) -> None:
        for name in "abc":
            put(store, name, kind="note")
        assert len(store.decay(yes=True, as_of=NOW).archived) == 3
        after = everything(store.folder)
        assert store.decay(yes=True, as_of=NOW).archived == ()
        assert everything(store.folder) == after

    def test_what_was_brought_back_stays(self, store: MemoryStore) -> None:
        put(store, "old", "2020-01-01", kind="note")
        put(store, "bad", "2020-01-01", kind="preference")
        for _ in range(3):
            store.mark("bad", "harmful")
        assert [one.name for one in store.decay(yes=True).archived] == ["bad", "old"]
        store.restore("old")
        store.restore("bad")
        assert store.decay(yes=True).archived == ()
        assert {path.name for path in store.folder.glob("*.md")} == {"old.md", "bad.md"}

    def test_one_that_cannot_be_archived_does_not_hinder_the_others(self, store: MemoryStore) -> None:
        put(store, "a")
        put(store, "b")
        (store.folder / "c.md").mkdir()
        (store.folder / ARCHIVE_FOLDER).mkdir()
        (store.folder / ARCHIVE_FOLDER / "a.md").mkdir()
        done = store.decay(yes=True, as_of=NOW)
        assert [one.name for one in done.archived] == ["b"]
        assert len(done.troubles) == 1
        assert str(store.folder / ARCHIVE_FOLDER / "a.md") in done.troubles[0]
        assert (store.folder / "a.md").is_file()

    def test_a_link_is_archived_as_its_text(self, store: MemoryStore, tmp_path: Path) -> None:
        data = put(store, "old")
        elsewhere = tmp_path / "dotfiles.md"
        (store.folder / "old.md").rename(elsewhere)
        (store.folder / "old.md").symlink_to(elsewhere)
        assert [one.name for one in store.decay(yes=True, as_of=NOW).archived] == ["old"]
        assert elsewhere.read_bytes() == data
        assert (store.folder / ARCHIVE_FOLDER / "old.md").read_bytes() == data

    def test_a_damaged_journal_costs_its_damaged_lines_alone(self, store: MemoryStore) -> None:
        put(store, "used", kind="note")
        tell(store, ("2026-11-20", "recall", "used"))
        with (store.folder / "journal.jsonl").open("ab") as file:
            file.write(b'{"torn\n\xff\xfe\n[1]\n{"ts":"x","op":7}\n')
        tell(store, ("2026-11-21", "recall", "used"))
        assert store.decay(as_of=NOW).archived == ()


class TestBesideOthers:
    """What happens between the first look and the lock of a block."""

    @staticmethod
    def before_the_lock(monkeypatch: pytest.MonkeyPatch, act: object) -> None:
        """Let ``act`` run before each time the lock is taken, as another process would."""

        @contextmanager
        def with_another(path: Path) -> Iterator[None]:
            act()  # type: ignore[operator]
            with locked(path, 0.2):
                yield

        monkeypatch.setattr(decaying, "locked", with_another)

    def test_a_block_that_is_used_meanwhile_stays(self, store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
        put(store, "a", kind="note")
        put(store, "b", kind="note")
        other = MemoryStore(store.folder)
        self.before_the_lock(monkeypatch, lambda: other.recall("b"))
        done = store.decay(yes=True)
        assert [one.name for one in done.archived] == ["a"]
        assert done.staying == 1

    def test_a_block_that_is_written_meanwhile_stays(self, store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
        put(store, "a", kind="note")
        other = MemoryStore(store.folder)
        self.before_the_lock(monkeypatch, lambda: other.remember("new words", "a"))
        assert store.decay(yes=True).archived == ()
        assert store.peek("a").note.body == "new words"

    def test_a_block_that_is_pinned_by_hand_meanwhile_stays(
        self, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        put(store, "a", kind="note")
        self.before_the_lock(monkeypatch, lambda: put(store, "a", kind="note", pinned="true"))
        assert store.decay(yes=True).archived == ()

    def test_a_block_that_goes_meanwhile_is_no_trouble(
        self, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        put(store, "a", kind="note")
        self.before_the_lock(monkeypatch, lambda: (store.folder / "a.md").unlink(missing_ok=True))
        done = store.decay(yes=True)
        assert (done.archived, done.troubles) == ((), ())

    def test_a_journal_that_is_replaced_meanwhile_is_read_again(
        self, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        put(store, "a", kind="note")
        tell(store, ("2025-02-01", "recall", "a"))

        def replace_it() -> None:
            fresh = store.folder / "fresh"
            day = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 3 * 86_400))
            fresh.write_text(json.dumps({"ts": f"{day}T00:00:00Z", "op": "recall", "name": "a"}) + "\n")
            fresh.replace(store.folder / "journal.jsonl")

        self.before_the_lock(monkeypatch, replace_it)
        assert store.decay(yes=True).archived == ()

    def test_another_writer_gets_its_turn_between_two_blocks(self, store: MemoryStore) -> None:
        """Blocks are many single steps: a fact is appended before all are done, however seldom the lock is free."""
        for number in range(500):
            put(store, f"old-{number:03d}")
        child = processes.start(lambda: MemoryStore(store.folder).decay(yes=True, as_of=NOW))
        deadline = time.monotonic() + 20
        while not any(line["op"] == "archive" for line in self.lines(store)):
            assert time.monotonic() < deadline
        store.append_project("in between")
        assert child.wait() == (0, "")
        operations = [line["op"] for line in self.lines(store)]
        assert operations.count("archive") == 500
        assert operations.index("append_project") < 500

    @staticmethod
    def lines(store: MemoryStore) -> list[dict[str, str]]:
        path = store.folder / "journal.jsonl"
        data = path.read_bytes() if path.exists() else b""
        return [json.loads(line) for line in data[: data.rfind(b"\n") + 1].splitlines()]

    def test_a_lock_that_is_never_free_is_an_error(self, store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
        put(store, "a")
        with locked(store.folder / LOCK_NAME):
            self.before_the_lock(monkeypatch, lambda: None)
            with pytest.raises(BusyError):
                store.decay(yes=True)
        assert (store.folder / "a.md").exists()


def end_at_random(tmp_path: Path, times: int) -> None:
    moments = random.Random(7)  # noqa: S311 - moments, not secrets
    cut_short = 0
    for number in range(times):
        store = MemoryStore(tmp_path / str(number))
        texts = {name: put(store, name, text=long_text(name)) for name in (f"old-{each:02d}" for each in range(40))}
        cut_short += processes.run_and_kill(lambda s=store: s.decay(yes=True, as_of=NOW), moments.uniform(0.0, 0.12))  # type: ignore[misc]
        journal, _ = assert_sound_after_kill(store.folder)
        files = note_files(store.folder)
        for name, data in texts.items():
            places = [place for place in (f"{name}.md", f"{ARCHIVE_FOLDER}/{name}.md") if place in files]
            assert len(places) == 1, (name, places)
            assert files[places[0]] == data
            assert {files[path] for path in files if name in path} == {data}
        store.decay(yes=True, as_of=NOW)
        assert list(store.folder.glob("*.md")) == []
        for name, data in texts.items():
            store.restore(name)
            assert (store.folder / f"{name}.md").read_bytes() == data
        journal.assert_finished()
        assert_sound(store.folder)
    assert cut_short


def test_ended_at_any_moment_each_block_is_whole_in_one_place(tmp_path: Path) -> None:
    end_at_random(tmp_path, 6)


@pytest.mark.soak
def test_ended_fifty_times_each_block_is_whole_in_one_place(tmp_path: Path) -> None:
    end_at_random(tmp_path, 50)


class TestMark:
    def test_is_one_line_of_the_journal_and_nothing_else(self, store: MemoryStore) -> None:
        data = put(store, "deploy-window", title="Deploy window")
        change = store.mark("Deploy window", "helpful", "s1")
        assert (change.operation, change.name, change.path) == (
            "helpful",
            "deploy-window",
            store.folder / "deploy-window.md",
        )
        store.mark("deploy-window", "harmful")
        lines = journal_lines(store.folder)
        assert [list(line) for line in lines] == [["ts", "op", "name", "source_session"], ["ts", "op", "name"]]
        assert [(line["op"], line["name"]) for line in lines] == [
            ("helpful", "deploy-window"),
            ("harmful", "deploy-window"),
        ]
        assert (store.folder / "deploy-window.md").read_bytes() == data
        assert list_versions(store.folder) == []

    def test_of_no_block_or_another_word_is_refused_and_notes_nothing(self, store: MemoryStore) -> None:
        put(store, "a")
        with pytest.raises(NotFoundError):
            store.mark("b", "helpful")
        with pytest.raises(RefusedError):
            store.mark("a", "great")
        store.archive("a")
        with pytest.raises(NotFoundError):
            store.mark("a", "helpful")
        assert [line["op"] for line in journal_lines(store.folder)] == ["archive"]

    def test_one_that_cannot_be_noted_is_an_error(self, store: MemoryStore, tmp_path: Path) -> None:
        put(store, "a")
        (store.folder / "journal.jsonl").mkdir()
        with pytest.raises(StoreIOError):
            store.mark("a", "helpful")
        (store.folder / "journal.jsonl").rmdir()
        (store.folder / "journal.jsonl").symlink_to(tmp_path / "elsewhere.jsonl")
        with pytest.raises(RefusedError):
            store.mark("a", "helpful")
        assert not (tmp_path / "elsewhere.jsonl").exists()
