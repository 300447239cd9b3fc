"""The memory store: what its writers leave on disk, that nothing is lost by them, and what the journal tells."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import re
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persist.errors import AmbiguousError, NotFoundError, RefusedError, StoreIOError
from persist.memory import MemoryStore, list_versions
from persist.memory.near import near_duplicates
from persist.memory.remember import MAX_NOTE_BYTES
from persist.memory.tools import TOOLS

BLOCK = re.compile(
    r"---\nname: deploy-window\ndescription: when a release may go out\nsource_session: s1\n"
    r"created_at: (?P<created>\S+)\nupdated_at: (?P<updated>\S+)\ntitle: Deploy window\n---\n\n"
    r"Only on Tuesday\.\n\nBefore 15:00\.\n\Z"
)
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3}(?:\d{3}(?:\d{3})?)?)?")


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    return MemoryStore(tmp_path / "memory")


def journal(store: MemoryStore) -> list[dict[str, Any]]:
    data = (store.folder / "journal.jsonl").read_bytes()
    assert data.endswith(b"\n")
    return [json.loads(line) for line in data.splitlines()]


def put(store: MemoryStore, name: str, text: str) -> Path:
    path = store.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def body(store: MemoryStore, name: str) -> str:
    return store.peek(name).note.body


class TestWhatIsWritten:
    def test_a_block_is_aster_s_file_and_the_title(self, store: MemoryStore) -> None:
        change = store.remember(
            "  Only on Tuesday.\n\nBefore 15:00.\n",
            "Deploy window",
            description="when a release may go out",
            session="s1",
        )
        path = store.folder / "deploy-window.md"
        found = BLOCK.match(path.read_text())
        assert found is not None
        assert found["created"] == found["updated"]
        assert found["created"].endswith("+00:00")
        assert STAMP.fullmatch(found["created"].removesuffix("+00:00"))
        assert (change.operation, change.name, change.path, change.is_new) == ("remember", "deploy-window", path, True)
        assert (change.version, change.journal_trouble) == (None, None)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700

    def test_our_keys_stand_behind_aster_s(self, store: MemoryStore) -> None:
        store.remember("uv is used here.", "uv", kind="decision", project="/w/app", aliases=["pip", "a, b"], pin=True)
        lines = (store.folder / "uv.md").read_text().split("\n")
        assert lines[:2] == ["---", "name: uv"]
        assert [line.partition(":")[0] for line in lines[1:8]] == [
            "name", "description", "created_at", "updated_at", "aliases", "kind", "project",
        ]  # fmt: skip
        assert lines[8:10] == ["pinned: true", "---"]
        note = store.peek("uv").note
        assert (note.aliases, note.kind, note.project, note.pinned) == (("pip", "a, b"), "decision", "/w/app", True)

    @pytest.mark.parametrize(
        "text", ["1.10", "no", "2026-01-02", "[WIP] a", "[a, b]", "'x'", "&x y", "a: b # c", "---"]
    )
    def test_values_stay_the_text_that_was_typed(self, store: MemoryStore, text: str) -> None:
        store.remember("body", "t", description=text, kind=text, aliases=[text])
        note = store.peek("t").note
        assert (note.description, note.kind, note.aliases, note.body) == (text, text, (text,), "body")

    def test_a_description_of_several_lines_is_one_line_and_renames_nothing(self, store: MemoryStore) -> None:
        store.remember("first\nname: evil\n---\nrest", "Real name", description="one\nname: evil\n---\ntwo")
        block = store.peek("real-name")
        assert (block.note.name, block.note.description) == ("real-name", "one name: evil --- two")
        assert block.note.body == "first\nname: evil\n---\nrest"

    def test_a_note_without_a_title_is_a_fact_behind_a_heading(self, store: MemoryStore) -> None:
        assert store.read_project() is None
        change = store.remember(" Deploys leave from main ", session="telegram-48151623")
        store.append_project("two\nlines")
        assert store.read_project() == "# Project memory\n\n- Deploys leave from main\n- two\n  lines\n"
        assert (change.operation, change.name, change.path) == ("append_project", None, store.folder / "ASTER.md")
        assert [sorted(line) for line in journal(store)] == [
            ["detail", "op", "source_session", "ts"],
            ["detail", "op", "ts"],
        ]
        assert stat.S_IMODE((store.folder / "ASTER.md").stat().st_mode) == 0o600

    def test_a_fact_is_put_behind_whatever_is_there(self, store: MemoryStore) -> None:
        put(store, "ASTER.md", "# Mine\r\n\r\n- by hand, no newline")
        (store.folder / "ASTER.md").write_bytes(b"caf\xe9 torn")
        store.append_project("new")
        assert (store.folder / "ASTER.md").read_bytes() == b"caf\xe9 torn\n- new\n"

    def test_what_is_made_is_private_whatever_the_mask(self, store: MemoryStore) -> None:
        mask = os.umask(0)
        try:
            for text in ("one", "two"):
                store.remember(text, "T")
                store.append_project(text)
            store.archive("T")
            store.restore("T")
        finally:
            os.umask(mask)
        for path in [store.folder, *store.folder.rglob("*")]:
            assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path

    def test_a_project_file_that_is_none_is_refused_at_once(self, store: MemoryStore) -> None:
        store.folder.mkdir()
        os.mkfifo(store.folder / "ASTER.md")
        with pytest.raises(StoreIOError, match="not a file"):
            store.append_project("x")

    def test_a_long_fact_is_whole_and_its_journal_line_short(self, store: MemoryStore) -> None:
        store.append_project("\u6f22" * 700)
        assert store.read_project() == f"# Project memory\n\n- {chr(0x6F22) * 700}\n"
        assert journal(store)[0]["detail"] == "\u6f22" * 200

    @pytest.mark.parametrize("text", ["", "  \n ", "\u2028"])
    def test_nothing_is_not_a_note(self, store: MemoryStore, text: str) -> None:
        with pytest.raises(RefusedError):
            store.remember(text, "t")
        with pytest.raises(RefusedError):
            store.append_project(text)
        with pytest.raises(RefusedError):
            store.remember("x", text)
        assert not store.folder.exists()

    def test_a_note_that_could_not_be_read_whole_is_refused(self, store: MemoryStore) -> None:
        with pytest.raises(RefusedError, match="over"):
            store.remember("x" * (MAX_NOTE_BYTES + 1), "t")
        store.remember("x" * MAX_NOTE_BYTES, "t")
        assert store.peek("t").problem is None

    def test_a_fact_has_nothing_that_only_a_block_has(self, store: MemoryStore) -> None:
        with pytest.raises(RefusedError, match="without a title"):
            store.remember("x", pin=True)


class TestTitles:
    def test_three_titles_of_one_slug_are_three_blocks(self, store: MemoryStore) -> None:
        for title in ("Build command", "build_command", "BUILD COMMAND!"):
            store.remember(f"body of {title}", title)
        assert [block.path.name for block in store.list_blocks()] == [
            "build-command.md", "build-command-2.md", "build-command-3.md",
        ]  # fmt: skip
        for title in ("Build command", "build_command", "BUILD COMMAND!"):
            assert body(store, title) == f"body of {title}"
        assert body(store, "build-command-2") == "body of build_command"

    def test_the_same_title_or_the_slug_itself_updates(self, store: MemoryStore) -> None:
        store.remember("one", "Build command")
        for typed in ("Build command", "build  COMMAND", "build-command"):
            change = store.remember(f"by {typed}", typed)
            assert (change.name, change.is_new) == ("build-command", False)
            assert store.peek("build-command").title == "Build command"
        assert len(store.list_blocks()) == 1

    def test_a_name_as_it_is_listed_is_that_block_though_a_title_differs_from_it_in_case_alone(
        self, store: MemoryStore
    ) -> None:
        assert store.remember("one", "T!").name == "t"
        assert store.remember("two", "T").name == "t-2"
        assert [body(store, name) for name in ("t", "T!", "T", "t-2")] == ["one", "one", "two", "two"]
        assert store.remember("one more", "t").name == "t"
        change = store.forget("t")
        assert (change.name, [block.path.stem for block in store.list_blocks()]) == ("t", ["t-2"])
        assert store.restore("t", change.version).name == "t"
        assert body(store, "t") == "one more"
        store.archive("t")
        assert store.restore("t").name == "t"
        assert [block.path.stem for block in store.list_blocks()] == ["t", "t-2"]

    def test_titles_without_a_letter_are_blocks_of_their_own(self, store: MemoryStore) -> None:
        for title in ("\u65e5\u672c", "\u4e2d\u56fd", "!!!", "\U0001f600"):
            store.remember(f"body of {title}", title)
        for title in ("\u65e5\u672c", "\u4e2d\u56fd", "!!!", "\U0001f600"):
            assert body(store, title) == f"body of {title}"
            assert store.remember("again", title).is_new is False
        assert not (store.folder / "note.md").exists()
        with pytest.raises(NotFoundError):
            store.forget("???")

    def test_a_block_that_aster_wrote_takes_the_title_that_is_typed(self, store: MemoryStore) -> None:
        put(store, "deploy-window.md", "---\nname: deploy-window\ndescription: d\n---\n\nAster's\n")
        assert store.remember("ours", "Deploy Window").is_new is False
        assert store.peek("deploy-window").title == "Deploy Window"

    def test_the_journal_tells_the_title_that_aster_dropped(self, store: MemoryStore) -> None:
        store.remember("ours", "Build command")
        put(store, "build-command.md", "---\nname: build-command\ndescription: d\n---\n\nAster's\n")
        assert store.remember("other", "build_command").name == "build-command-2"
        assert store.remember("same", "Build command").name == "build-command"

    def test_what_aster_s_rewrite_dropped_stands_in_the_next_write(self, store: MemoryStore) -> None:
        store.remember("a", "Tide gate", kind="decision", project="/w/tides", aliases=["sluice"], pin=True)
        path = store.folder / "tide-gate.md"
        rewritten = "---\nname: tide-gate\ndescription: b\nupdated_at: 2099-01-01T00:00:00+00:00\n---\n\nb\n"
        path.write_text(rewritten, encoding="utf-8")
        store.remember("c", "Tide gate", aliases=["weir"])
        note = store.peek("Tide gate").note
        assert (note.title, note.kind, note.project, note.pinned) == ("Tide gate", "decision", "/w/tides", True)
        assert note.aliases == ("sluice", "weir")
        told = json.loads((store.folder / "journal.jsonl").read_text(encoding="utf-8").splitlines()[-1])
        assert (told["aliases"], told["pinned"]) == (["sluice", "weir"], True)

    def test_a_hand_made_block_of_that_name_is_written_where_it_stands(self, store: MemoryStore) -> None:
        path = put(
            store, "by-hand.md", "---\r\nname: Database naming\r\ndescription: x\r\nmine: 1\r\n---\r\n\r\nold\r\n"
        )
        change = store.remember("new", "database naming", description="y")
        assert (change.path, change.is_new) == (path, False)
        text = path.read_bytes()
        assert text.startswith(b"---\r\nname: Database naming\r\ndescription: y\r\nmine: 1\r\n")
        assert text.endswith(b"---\r\n\r\nnew\r\n")

    def test_a_title_of_the_project_file_never_is_it(self, store: MemoryStore) -> None:
        store.append_project("fact")
        assert store.remember("x", "Aster").path == store.folder / "aster-2.md"
        assert store.remember("y", "ASTER").path == store.folder / "aster-2.md"
        assert store.read_project() == "# Project memory\n\n- fact\n"

    def test_an_archived_block_keeps_its_slug_from_other_titles(self, store: MemoryStore) -> None:
        store.remember("one", "Build command")
        store.archive("Build command")
        assert store.remember("two", "build_command").name == "build-command-2"
        assert store.remember("three", "Build command").name == "build-command"
        assert [block.note.body for block in store.list_blocks(archived=True)] == ["one", "three", "two"]

    def test_what_was_removed_keeps_its_slug_from_other_titles(self, store: MemoryStore) -> None:
        store.remember("one", "Build command")
        store.forget("Build command")
        assert store.remember("two", "build_command").name == "build-command-2"
        assert store.restore("Build command").name == "build-command"
        assert (body(store, "Build command"), body(store, "build_command")) == ("one", "two")

    def test_a_title_in_another_normal_form_is_the_same_though_its_slug_is_not(self, store: MemoryStore) -> None:
        store.remember("plain", "Cafe")
        store.remember("one", "Caf\u00e9")
        assert store.remember("two", "Cafe\u0301").name == "caf"
        assert (body(store, "Cafe\u0301"), body(store, "Caf\u00e9")) == ("two", "two")
        assert (body(store, "cafe"), body(store, "caf"), body(store, "CAFE!")) == ("plain", "two", "plain")

    def test_a_title_that_somebody_wrote_by_hand_is_that_block_s(self, store: MemoryStore) -> None:
        path = put(store, "foo.md", "---\ntitle: Deploy window\n---\n\nold\n")
        assert store.remember("new", "Deploy window").path == path
        assert body(store, "deploy WINDOW") == "new"

    @pytest.mark.parametrize("title", ["../../x", "/etc/passwd", "..", "x" * 900, "a\x00b", "con", "-rf", "a/b\\c"])
    def test_whatever_is_typed_stays_in_the_folder(self, store: MemoryStore, title: str) -> None:
        canary = put(store, "../x.md", "canary")
        change = store.remember("body", title)
        assert change.path is not None
        assert change.path.resolve().parent == store.folder.resolve()
        assert store.remember("again", title).is_new is False
        assert body(store, title) == "again"
        store.forget(title)
        store.restore(title)
        store.archive(title)
        store.restore(title)
        assert body(store, title) == "again"
        assert canary.read_text() == "canary"

    def test_a_title_beyond_reason_is_refused(self, store: MemoryStore) -> None:
        with pytest.raises(RefusedError, match="over 1000 bytes"):
            store.remember("body", "\u6f22" * 400)


class TestUpdates:
    def test_created_at_and_the_session_stay_and_what_was_is_kept(self, store: MemoryStore) -> None:
        store.remember("one", "T", session="s1")
        first = (store.folder / "t.md").read_bytes()
        change = store.remember("two", "T")
        block = store.peek("t").note
        assert (block.source_session, block.body) == ("s1", "two")
        assert change.version_path is not None
        assert change.version_path == store.folder / ".archive" / f"t@{change.version}.md"
        assert change.version_path.read_bytes() == first
        assert (
            f"created_at: {first.split(b'created_at: ')[1].split()[0].decode()}" in (store.folder / "t.md").read_text()
        )
        assert store.remember("three", "T", session="s2").is_new is False
        assert store.peek("t").note.source_session == "s2"
        assert [line.get("source_session") for line in journal(store)] == ["s1", None, "s2"]

    def test_every_line_that_nobody_spoke_of_stays(self, store: MemoryStore) -> None:
        path = put(
            store, "x.md", '---\n# mine\nname: x\ntags: [no, 1.10]\ndescription: "d"\nmood:   fine\n---\n\nold\n'
        )
        store.remember("new body", "x", kind="fact", aliases=["y"])
        lines = path.read_text().split("\n")
        assert lines[:6] == [
            "---", "# mine", "name: x", "tags: [no, 1.10]", "description: new body", "mood:   fine",
        ]  # fmt: skip
        assert [line.partition(":")[0] for line in lines[6:9]] == ["updated_at", "aliases", "kind"]

    def test_a_file_without_a_header_gets_one_and_is_kept(self, store: MemoryStore) -> None:
        put(store, "scratch.md", "# Scratch\n\nNo frontmatter.\n")
        change = store.remember("Now it has.", "scratch")
        assert store.peek("scratch").note.description == "Now it has."
        assert change.version_path is not None
        assert change.version_path.read_text() == "# Scratch\n\nNo frontmatter.\n"

    def test_aliases_add_up_and_a_pin_stays(self, store: MemoryStore) -> None:
        store.remember("one", "T", aliases=["a", "b"], pin=True, kind="fact", project="/w")
        store.remember("two", "T", aliases=["b", "c"])
        note = store.peek("t").note
        assert (note.aliases, note.pinned, note.kind, note.project) == (("a", "b", "c"), True, "fact", "/w")
        line = journal(store)[-1]
        assert (line["aliases"], line["pinned"], line["kind"], line["project"]) == (["a", "b", "c"], True, "fact", "/w")

    def test_the_newest_write_is_first(self, store: MemoryStore) -> None:
        for title in ("a", "b", "c", "a"):
            store.remember("x", title)
        assert [block.path.stem for block in store.list_recent()] == ["a", "c", "b"]


class TestSupersede:
    def test_the_old_block_names_its_successor_and_nothing_else_of_it_changes(self, store: MemoryStore) -> None:
        path = put(store, "pip.md", "---\n# mine\nname: pip\ndescription: 'd'\n---\n\nUse pip.\n")
        before = path.read_bytes()
        change = store.remember("Use uv.", "uv", supersedes="pip", session="s")
        assert change.superseded == "pip"
        assert path.read_bytes() == before.replace(b"'d'\n", b"'d'\nsuperseded_by: uv\n")
        lines = journal(store)
        assert [(line["op"], line["name"], line.get("by")) for line in lines] == [
            ("remember", "uv", None),
            ("supersede", "pip", "uv"),
        ]
        kept = store.folder / lines[1]["path"]
        assert kept.read_bytes() == before
        assert lines[1]["sha256"] == hashlib.sha256(before).hexdigest()

    def test_a_block_without_a_header_is_marked_too(self, store: MemoryStore) -> None:
        put(store, "old.md", "Just text.\n")
        store.remember("new", "New", supersedes="old")
        assert store.peek("old").note.superseded_by == "new"
        assert body(store, "old") == "Just text."

    def test_what_is_not_there_or_the_block_itself_is_refused_before_anything_changes(self, store: MemoryStore) -> None:
        store.remember("one", "A")
        before = (store.folder / "a.md").read_bytes()
        with pytest.raises(NotFoundError):
            store.remember("two", "B", supersedes="nothing")
        with pytest.raises(RefusedError):
            store.remember("two", "A", supersedes="a")
        assert (store.folder / "a.md").read_bytes() == before
        assert not (store.folder / "b.md").exists()

    def test_a_convention_that_came_back_holds(self, store: MemoryStore) -> None:
        store.remember("pip", "pip")
        store.remember("uv", "uv", supersedes="pip")
        change = store.remember("pip again", "pip", supersedes="uv")
        assert change.held_again == "uv"
        assert store.peek("pip").note.superseded_by is None
        assert store.peek("uv").note.superseded_by == "pip"


class TestNothingIsLost:
    def test_journal_lines_have_aster_s_keys_in_order_then_ours(self, store: MemoryStore) -> None:
        store.remember("one", "T", session="s")
        store.remember("two", "T", session="s")
        first, second = (store.folder / "journal.jsonl").read_bytes().splitlines()
        assert list(json.loads(first)) == ["ts", "op", "name", "source_session", "title"]
        assert list(json.loads(second)) == [
            "ts", "op", "name", "source_session", "title", "version", "path", "sha256",
        ]  # fmt: skip
        assert b": " not in first
        told = json.loads(first)
        assert STAMP.fullmatch(told["ts"].removesuffix("Z"))
        assert told["ts"].endswith("Z")

    def test_every_line_of_the_journal_says_where_what_was_is(self, store: MemoryStore) -> None:
        store.remember("one", "T")
        states = [(store.folder / "t.md").read_bytes()]
        acts: list[Callable[[], object]] = [
            lambda: store.remember("two", "T"),
            lambda: store.forget("T"),
            lambda: store.restore("T"),
            lambda: store.archive("T"),
        ]
        for act in acts:
            act()
            if (store.folder / "t.md").exists():
                states.append((store.folder / "t.md").read_bytes())
        kept = [line for line in journal(store) if "version" in line]
        assert [line["op"] for line in kept] == ["remember", "forget", "archive"]
        for line in kept:
            data = (store.folder / line["path"]).read_bytes()
            assert hashlib.sha256(data).hexdigest() == line["sha256"]
            assert data in states

    def test_forget_takes_the_block_away_and_restore_brings_every_byte_back(self, store: MemoryStore) -> None:
        path = put(store, "My note.md", "---\r\n# hand\r\nname: Some name\r\n---\r\n\r\nbody\xff")
        before = path.read_bytes()
        change = store.forget("some NAME")
        assert change.path is None
        assert not path.exists()
        assert store.list_blocks(archived=True) == []
        with pytest.raises(NotFoundError):
            store.peek("Some name")
        restored = store.restore("Some name")
        assert restored.path == path
        assert path.read_bytes() == before

    def test_archive_then_restore_is_lossless_and_leaves_no_second_block(self, store: MemoryStore) -> None:
        store.append_project("fact")
        path = put(store, "x.md", "---\nname: x\n---\n\nold \n\n\n")
        before = path.read_bytes()
        change = store.archive("x")
        assert change.path == store.folder / ".archive" / "x.md"
        assert change.path.read_bytes() == before
        assert store.list_blocks() == []
        assert "x" not in store.load_context()
        assert store.read_project() == "# Project memory\n\n- fact\n"
        assert store.restore("x").is_new is True
        assert path.read_bytes() == before
        assert [block.note.archived for block in store.list_blocks(archived=True)] == [False]

    def test_restoring_over_a_living_block_keeps_that_one(self, store: MemoryStore) -> None:
        store.remember("one", "T")
        store.archive("T")
        store.remember("two", "T")
        two = (store.folder / "t.md").read_bytes()
        change = store.restore("T")
        assert body(store, "T") == "one"
        assert change.version_path is not None
        assert change.version_path.read_bytes() == two
        store.restore("T")
        assert body(store, "T") == "two"

    def test_what_was_removed_under_a_title_comes_before_another_block_of_its_slug(self, store: MemoryStore) -> None:
        store.remember("one", "B")
        store.remember("two", ":B")
        store.remember("one more", "B")
        store.forget(":B")
        assert store.restore(":B").name == "b-2"
        assert (body(store, "B"), body(store, ":B")) == ("one more", "two")

    def test_restore_at_a_version_or_the_beginning_of_one(self, store: MemoryStore) -> None:
        versions = []
        for text in ("one", "two", "three"):
            versions.append(store.remember(text, "T").version)
            time.sleep(0.002)
        assert versions[0] is None
        assert store.restore("T", versions[1]).restored == versions[1]
        assert body(store, "T") == "one"
        assert store.restore("t", (versions[2] or "").lower()).restored == versions[2]
        assert body(store, "T") == "two"
        with pytest.raises(AmbiguousError):
            store.restore("T", (versions[1] or "")[:4])
        with pytest.raises(NotFoundError, match="newest are"):
            store.restore("T", "01AAAAAAAA")
        with pytest.raises(NotFoundError):
            store.restore("T", (versions[1] or "")[:3])
        with pytest.raises(RefusedError, match="already"):
            store.restore("T", versions[2])
        with pytest.raises(NotFoundError):
            store.restore("never there")

    def test_aster_s_own_archive_comes_back_although_it_has_no_version(self, store: MemoryStore) -> None:
        put(store, ".archive/old-host.md", "---\nname: old-host\n---\n\nby Aster\n")
        change = store.restore("Old host")
        assert (change.restored, change.path) == (None, store.folder / "old-host.md")
        assert body(store, "old-host") == "by Aster"
        assert store.list_blocks(archived=True) == store.list_blocks()

    def test_what_was_archived_before_is_kept_when_the_next_one_is(self, store: MemoryStore) -> None:
        put(store, ".archive/x.md", "by Aster")
        store.remember("ours", "x")
        store.archive("x")
        texts = {version.path.read_text() for version in list_versions(store.folder, "x")}
        assert "by Aster" in texts
        assert len(texts) == 2

    def test_versions_ascend_whatever_the_clock_says(self, store: MemoryStore) -> None:
        put(store, ".archive/t@7ZZZZZZZZZ0000000000000000.md", "from the future")
        store.remember("one", "T")
        change = store.remember("two", "T")
        assert change.version == "7ZZZZZZZZZ0000000000000001"
        store.restore("T")
        assert body(store, "T") == "one"

    def test_a_journal_that_cannot_be_written_never_makes_a_done_change_look_failed(self, store: MemoryStore) -> None:
        (store.folder / "journal.jsonl").mkdir(parents=True)
        change = store.remember("one", "T")
        assert change.journal_trouble is not None
        assert "journal.jsonl" in change.journal_trouble
        assert body(store, "T") == "one"
        for done in (store.append_project("f"), store.archive("T"), store.restore("T"), store.forget("T")):
            assert done.journal_trouble is not None
        assert store.read_project() == "# Project memory\n\n- f\n"
        assert store.restore("T").path == store.folder / "t.md"
        assert store.recall("T").note.body == "one"

    def test_a_torn_tail_of_the_journal_costs_only_itself(self, store: MemoryStore) -> None:
        put(store, "journal.jsonl", '{"ts":"2026-01-01T00:00:00Z","op":"rem')
        store.append_project("f")
        lines = (store.folder / "journal.jsonl").read_bytes().splitlines()
        assert len(lines) == 2
        assert json.loads(lines[1])["op"] == "append_project"

    def test_what_is_no_file_is_left_alone(self, store: MemoryStore) -> None:
        (store.folder / "x.md").mkdir(parents=True)
        for act in (store.forget, store.archive):
            with pytest.raises(StoreIOError):
                act("x")
        with pytest.raises(StoreIOError):
            store.remember("b", "x")
        assert (store.folder / "x.md").is_dir()


NAMES = st.sampled_from(["a", "b", "A!", "\u65e5"])
STEPS = st.lists(
    st.tuples(st.sampled_from(["remember", "forget", "archive", "restore", "supersede"]), NAMES, NAMES), max_size=10
)


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_no_text_is_ever_lost_by_any_history(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, str]]
) -> None:
    store = MemoryStore(tmp_path_factory.mktemp("home") / "memory")
    written = set()
    for number, (step, name, other) in enumerate(steps):
        try:
            if step in ("remember", "supersede"):
                store.remember(f"text {number}", name, supersedes=other if step == "supersede" else None)
                written.add(f"text {number}")
            else:
                getattr(store, step)(name)
        except (NotFoundError, RefusedError):
            continue
    files = [path.read_text() for path in store.folder.rglob("*.md")]
    for text in written:
        assert any(file.endswith(f"---\n\n{text}\n") for file in files), text
    if written:
        for line in journal(store):
            if "path" in line:
                data = (store.folder / line["path"]).read_bytes()
                assert hashlib.sha256(data).hexdigest() == line["sha256"]


TITLES = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["a", "A", "a-2", "A 2", "2", "note", "note-2", "Aster", "aster-2", "ASTER.md", "\xe9", "e\u0301", "-"]
    ),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(TITLES, st.text(min_size=1, max_size=20), st.text(max_size=15)), max_size=5))
def test_any_title_finds_its_own_block_and_brings_it_back(
    tmp_path_factory: pytest.TempPathFactory, notes: list[tuple[str, str, str]]
) -> None:
    store = MemoryStore(tmp_path_factory.mktemp("home") / "memory")
    last: dict[str, tuple[str, str]] = {}
    for title, text, word in notes:
        try:
            change = store.remember(text, title, aliases=[word], kind=word, description=word)
        except RefusedError:
            continue
        assert change.name is not None
        assert store.peek(title).path == change.path
        last[change.name] = (title, text.strip())
    for name, (title, text) in last.items():
        assert store.peek(title).path.stem == name
        store.forget(title)
        assert store.restore(title).name == name
        store.archive(title)
        assert store.restore(title).name == name
        assert store.peek(title).note.body == text


class TestWhatAstersTestsAssert:
    def test_14_context_recall_and_an_unknown_name(self, store: MemoryStore) -> None:
        assert store.load_context() == ""
        store.remember("The body.", "Deploy window", description="when to release")
        store.append_project("A fact")
        text = store.load_context()
        assert text.startswith("## Memory\n\n# Project memory\n\n- A fact\n\n### Recallable memory\n")
        assert "- deploy-window \u2014 when to release" in text
        assert "The body." not in text
        assert store.recall("Deploy window").note.body == "The body."
        with pytest.raises(NotFoundError):
            store.recall("nothing")

    def test_19_a_sourced_block_keeps_its_source_and_birth(self, store: MemoryStore) -> None:
        store.remember("one", "t", session="s1")
        first = store.peek("t").note
        assert (first.source_session, first.created_at is not None, first.updated_at) == ("s1", True, first.created_at)
        time.sleep(0.002)
        store.remember("two", "t")
        second = store.peek("t").note
        assert (second.source_session, second.created_at) == ("s1", first.created_at)
        assert str(second.updated_at) > str(first.updated_at)

    def test_20_the_journal_in_order_and_a_failed_recall_adds_nothing(self, store: MemoryStore) -> None:
        store.remember("one", "t", session="s1")
        store.append_project("f", session="s1")
        store.recall("t")
        with pytest.raises(NotFoundError):
            store.recall("nothing")
        store.archive("t")
        lines = journal(store)
        assert [line["op"] for line in lines] == ["remember", "append_project", "recall", "archive"]
        assert [line.get("source_session") for line in lines] == ["s1", "s1", None, None]

    def test_21_archive_takes_it_out_of_list_and_context(self, store: MemoryStore) -> None:
        store.append_project("f")
        store.remember("one", "t")
        store.archive("t")
        assert store.list_blocks() == []
        assert (store.folder / ".archive" / "t.md").is_file()
        assert store.load_context() == "## Memory\n\n# Project memory\n\n- f"

    def test_22_of_seventy_blocks_the_newest_sixty(self, store: MemoryStore) -> None:
        for number in range(70):
            put(
                store,
                f"b{number:02}.md",
                f"---\nname: b{number:02}\nupdated_at: 2026-01-01T00:00:{number % 60:02}.0{number:02}Z\n---\n\nx",
            )
        store.remember("newest", "zz")
        text = store.load_context()
        assert len(store.list_blocks()) == 71
        assert "- zz \u2014 newest" in text
        assert "and 11 more blocks" in text

    def test_23_a_sourced_fact_names_its_session(self, store: MemoryStore) -> None:
        store.append_project("a fact", session="s9")
        assert "- a fact\n" in (store.read_project() or "")
        assert journal(store)[0]["source_session"] == "s9"

    def test_25_a_peek_is_no_recall(self, store: MemoryStore) -> None:
        store.remember("one", "t")
        assert store.peek("t").note.body == "one"
        assert [line["op"] for line in journal(store)] == ["remember"]

    def test_26_and_27_recent_first_and_no_project_text_until_there_is_a_fact(self, store: MemoryStore) -> None:
        store.remember("x", "b")
        store.remember("x", "a")
        assert [block.note.name for block in store.list_recent()] == ["a", "b"]
        assert store.read_project() is None


class TestNearDuplicates:
    def test_three_at_most_most_shared_first(self, store: MemoryStore) -> None:
        for title, text in [
            ("deploy day", "Deploys happen on tuesday mornings only"),
            ("deploy hour", "Deploys happen before noon on tuesday"),
            ("cats", "Cats sleep all day"),
            ("release", "Deploys happen on tuesday"),
            ("tuesday", "tuesday deploys happen often"),
        ]:
            store.remember(text, title)
        change = store.remember("Deploys happen on tuesday mornings", "deploy rule")
        assert change.near[0] == "deploy-day"
        assert len(change.near) == 3
        assert "cats" not in change.near

    def test_small_and_noisy_words_are_no_likeness(self, store: MemoryStore) -> None:
        store.remember("this that with from have", "a")
        assert near_duplicates("b", "this that with from have", store.list_blocks()) == ()

    def test_a_superseded_block_is_no_near_one(self, store: MemoryStore) -> None:
        store.remember("Packages come from pip", "pip")
        assert store.remember("Packages come from uv", "uv", supersedes="pip").near == ()


def test_the_example_of_the_docs_runs(isolated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "memory.md").read_text()
    exec(page.split("```python\n")[1].split("```")[0], {})  # noqa: S102 - our own page
    told = capsys.readouterr().out
    assert "- deploy-window \u2014 Tuesday to Thursday." in told
    assert told.endswith("Tuesday to Thursday.\n")
    store = MemoryStore(isolated / ".local" / "share" / "aster" / "memory")
    assert [line["op"] for line in journal(store)] == ["remember", "recall", "forget"]


class TestTools:
    def test_each_property_is_a_parameter_of_the_method_of_that_name(self) -> None:
        assert [tool["name"] for tool in TOOLS] == ["remember", "recall", "forget"]
        for tool in TOOLS:
            parameters = inspect.signature(getattr(MemoryStore, tool["name"])).parameters
            schema = tool["input_schema"]
            assert set(schema["properties"]) <= set(parameters)
            needed = {
                name for name, one in parameters.items() if one.default is inspect.Parameter.empty and name != "self"
            }
            assert set(schema["required"]) == needed
            assert len(tool["description"]) > 100
            assert all(one.get("description") for one in schema["properties"].values())

    def test_a_call_as_a_model_makes_it_works(self, store: MemoryStore) -> None:
        store.remember(note="Use uv.", title="Packages", kind="decision", aliases=["pip"])
        assert store.recall(name="Packages").note.body == "Use uv."
        store.forget(name="Packages")
        assert store.list_blocks() == []
