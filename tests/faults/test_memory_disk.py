"""Memory on a full disk, on one that cannot be written to, and with links that lead out of the store."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from persist.errors import RefusedError, StoreIOError
from persist.memory import MemoryStore
from tests.conftest import REPOSITORY
from tests.faults.memory_world import assert_sound, journal_lines, long_text, note_files
from tests.index import processes

SMALL_BYTES = 4096


@pytest.fixture
def memory(isolated: Path) -> Path:
    return isolated / ".local" / "share" / "aster" / "memory"


def state(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in (".lock", ".redo")
    }


class TestAFullDisk:
    def test_nothing_changes_when_a_block_does_not_fit(self, memory: Path) -> None:
        store = MemoryStore(memory)
        store.remember(long_text("old"), "T")
        before = state(memory)
        for title in ("T", "New"):
            code, told = processes.run_on_small_disk(partial(store.remember, "x" * 9000, title), SMALL_BYTES)
            assert code == 1
            assert told.startswith("StoreIOError: cannot ")
            assert state(memory) == before

    def test_a_fact_that_does_not_fit_leaves_no_part_of_itself(self, memory: Path) -> None:
        store = MemoryStore(memory)
        store.append_project("x" * 3000)
        before = state(memory)
        code, told = processes.run_on_small_disk(lambda: store.append_project("y" * 3000), SMALL_BYTES)
        assert code == 1
        assert told.startswith("StoreIOError: cannot append to ")
        assert state(memory) == before
        store.append_project("z")
        assert (store.read_project() or "").splitlines()[2:] == [f"- {'x' * 3000}", "- z"]

    def test_a_journal_that_is_full_is_told_and_the_change_is_done(self, memory: Path) -> None:
        store = MemoryStore(memory)
        store.remember("x", "T")
        (memory / "journal.jsonl").write_bytes(b'{"ts":"2026-01-01T00:00:00Z","op":"recall","name":"a"}\n' * 75)
        troubles = memory / "troubles"

        def add() -> None:
            troubles.write_text(str(store.append_project("y" * 150).journal_trouble))

        assert processes.run_on_small_disk(add, SMALL_BYTES) == (0, "")
        assert "cannot append to" in troubles.read_text()
        assert (store.read_project() or "").endswith(f"- {'y' * 150}\n")
        assert (memory / "journal.jsonl").read_bytes().count(b"\n") == 75  # a line that does not fit leaves no part
        assert (memory / "journal.jsonl").read_bytes().endswith(b"}\n")
        store.append_project("z")
        assert (memory / "journal.jsonl").read_bytes().endswith(b'"detail":"z"}\n')

    def test_the_command_says_it_in_one_sentence(self, memory: Path) -> None:
        MemoryStore(memory).remember(long_text("old"), "T")
        before = state(memory)
        told = memory / "told"

        def add() -> None:
            sys.stderr = told.open("w")
            from cli.app import main

            code = main(["memory", "add", "--title", "T", "x" * 9000])
            sys.stderr.flush()
            assert code == 6

        assert processes.run_on_small_disk(add, SMALL_BYTES) == (0, "")
        lines = told.read_text().splitlines()
        told.unlink()
        assert len(lines) == 1
        assert lines[0].startswith("asx: cannot write ")
        assert state(memory) == before

    def test_on_a_small_disk_every_text_that_was_acknowledged_is_there(self, tmp_path: Path) -> None:
        disk = tmp_path / "disk"
        disk.mkdir()
        if (
            os.geteuid()
            or subprocess.run(
                ["mount", "-t", "tmpfs", "-o", "size=160k", "tmpfs", str(disk)], capture_output=True, check=False
            ).returncode
        ):
            pytest.skip("no small disk can be mounted here")
        try:
            store = MemoryStore(disk / "memory")
            done, failures = [], []
            for number in range(80):
                try:
                    store.remember(long_text(f"w{number}"), "T" if number % 3 else f"T{number}")
                    done.append(f"w{number}")
                except StoreIOError as error:
                    failures.append(str(error))
            assert done
            assert failures
            assert all("No space left on device" in failure for failure in failures)
            files = note_files(store.folder)
            for word in done:
                assert any(data.endswith(f"{word} ends here\n".encode()) for data in files.values()), word
            assert_sound(store.folder)
            next(iter(sorted((store.folder / ".archive").iterdir()))).unlink()
            for path in list((store.folder / ".archive").iterdir())[:5]:
                path.unlink()
            store.remember(long_text("after"), "T")
            assert store.peek("T").note.body == long_text("after")
        finally:
            subprocess.run(["umount", str(disk)], check=True)


class TestAReadOnlyHome:
    def run(self, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the command where the home cannot be written to: by its modes, or for root by a read-only mount."""
        command = [sys.executable, "-m", "cli", *words]
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        if os.geteuid() == 0:
            mount = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
            prefix = ["unshare", "-m", "sh", "-c", mount, str(home)]
            if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode:
                pytest.skip("root may write everywhere, and a read-only mount cannot be made here")
            command = [*prefix, *command]
        else:
            for folder in [home, *(path for path in home.rglob("*") if path.is_dir())]:
                folder.chmod(0o500)
        try:
            return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=60)
        finally:
            for folder in [home, *(path for path in home.rglob("*") if path.is_dir())]:
                folder.chmod(0o700)

    def test_reading_works_and_writing_says_one_sentence(self, isolated: Path, memory: Path) -> None:
        store = MemoryStore(memory)
        store.remember("The heron stands.", "Birds")
        store.append_project("A fact")
        before = state(isolated)
        for words in (["list"], ["log"], ["context"], ["tools"], ["show", "Birds"]):
            told = self.run(isolated, "memory", *words)
            assert told.returncode == 0, told.stderr
            assert "journal" in told.stderr or not told.stderr
        assert "The heron stands." in self.run(isolated, "recall", "birds").stdout
        for words in (["add", "x"], ["add", "--title", "Birds", "x"], ["remove", "Birds"], ["archive", "birds"]):
            told = self.run(isolated, "memory", *words)
            assert told.returncode == 6
            assert told.stderr.count("\n") == 1
            assert told.stderr.startswith("asx: cannot ")
        assert state(isolated) == before

    def test_a_home_that_cannot_even_be_made_says_so(self, isolated: Path) -> None:
        told = self.run(isolated, "remember", "x")
        assert told.returncode == 6
        assert told.stderr.count("\n") == 1
        assert self.run(isolated, "memory", "list").returncode == 1


class TestLinksThatLeaveTheStore:
    @pytest.fixture
    def outside(self, tmp_path: Path) -> Path:
        canary = tmp_path / "canary.md"
        canary.write_text("---\nname: canary\n---\n\noutside\n")
        return canary

    def test_a_block_that_is_one_is_never_written_through(self, memory: Path, outside: Path) -> None:
        memory.mkdir(parents=True)
        (memory / "canary.md").symlink_to(outside)
        before = outside.read_bytes()
        store = MemoryStore(memory)
        for act in (
            partial(store.remember, "new", "canary"),
            partial(store.remember, "new", "Other", supersedes="canary"),
        ):
            with pytest.raises(RefusedError, match="leaves the store"):
                act()
        assert (outside.read_bytes(), (memory / "canary.md").is_symlink()) == (before, True)
        assert not (memory / "other.md").exists()

    @pytest.mark.parametrize("what", ["forget", "archive"])
    def test_it_is_the_link_that_goes_and_the_text_is_kept(self, what: str, memory: Path, outside: Path) -> None:
        memory.mkdir(parents=True)
        (memory / "canary.md").symlink_to(outside)
        before = outside.read_bytes()
        store = MemoryStore(memory)
        change = getattr(store, what)("canary")
        assert not (memory / "canary.md").is_symlink()
        assert outside.read_bytes() == before
        assert change.version_path.read_bytes() == before
        assert not change.version_path.is_symlink()
        store.restore("canary")
        assert (memory / "canary.md").read_bytes() == before
        assert not (memory / "canary.md").is_symlink()
        store.remember("ours now", "canary")
        assert outside.read_bytes() == before

    def test_project_memory_and_journal_are_not_written_through_one(self, memory: Path, tmp_path: Path) -> None:
        canary = tmp_path / "canary"
        canary.write_bytes(b"canary\n")
        memory.mkdir(parents=True)
        (memory / "ASTER.md").symlink_to(canary)
        store = MemoryStore(memory)
        with pytest.raises(RefusedError, match="leaves the store"):
            store.append_project("a fact")
        (memory / "journal.jsonl").symlink_to(canary)
        change = store.remember("one", "T")
        assert "leaves the store" in (change.journal_trouble or "")
        assert store.recall("T").note.body == "one"
        assert canary.read_bytes() == b"canary\n"

    def test_an_archive_that_is_one_is_refused(self, memory: Path, tmp_path: Path) -> None:
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "t.md").write_text("canary")
        store = MemoryStore(memory)
        store.remember("one", "T")
        (memory / ".archive").symlink_to(elsewhere)
        for act in (partial(store.remember, "two", "T"), partial(store.forget, "T"), partial(store.archive, "T")):
            with pytest.raises(RefusedError, match="is a link"):
                act()
        assert [path.name for path in elsewhere.iterdir()] == ["t.md"]
        assert store.peek("T").note.body == "one"

    def test_an_archived_link_is_replaced_and_not_followed(self, memory: Path, outside: Path) -> None:
        store = MemoryStore(memory)
        store.remember("one", "canary")
        (memory / ".archive").mkdir()
        (memory / ".archive" / "canary.md").symlink_to(outside)
        before = outside.read_bytes()
        store.archive("canary")
        assert outside.read_bytes() == before
        assert not (memory / ".archive" / "canary.md").is_symlink()

    def test_a_link_within_the_store_is_one_that_is_followed(self, memory: Path) -> None:
        store = MemoryStore(memory)
        store.remember("one", "T")
        (memory / "alias.md").symlink_to(memory / "t.md")
        store.remember("two", "alias")
        assert store.peek("T").note.body == "two"
        assert (memory / "alias.md").is_symlink()

    def test_a_memory_folder_that_is_a_link_is_the_store(self, isolated: Path, memory: Path) -> None:
        real = isolated / "dotfiles"
        real.mkdir()
        memory.parent.mkdir(parents=True)
        memory.symlink_to(real)
        store = MemoryStore(memory)
        for text in ("one", "two"):
            store.remember(text, "T")
        store.restore("T")
        assert store.peek("T").note.body == "one"
        assert len(journal_lines(real)) == 3
