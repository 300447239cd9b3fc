"""Whole files, appended lines and locks: real files, real processes, real kills."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from persist.errors import BusyError, NotFoundError, RefusedError, StoreIOError
from persist.files import LOCK_NAME, append_lines, locked, write_atomic
from persist.files.whole import _take_back, append_whole
from tests.index.processes import run_on_small_disk

ROOT = Path(__file__).parents[2]


def start(code: str, *arguments: object, stdout: int | None = None) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], cwd=ROOT, text=True, stdout=stdout)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(autouse=True)
def _open_umask() -> object:
    before = os.umask(0)
    yield
    os.umask(before)


class TestWriteAtomic:
    def test_makes_a_private_file_in_private_folders_and_nothing_else(self, tmp_path: Path) -> None:
        path = tmp_path / "a" / "b" / "note.md"
        write_atomic(path, b"one")
        assert path.read_bytes() == b"one"
        assert [mode(path), mode(path.parent), mode(path.parent.parent)] == [0o600, 0o700, 0o700]
        assert [found.name for found in path.parent.iterdir()] == ["note.md"]

    def test_replaces_a_file_that_others_could_read_by_a_private_one(self, tmp_path: Path) -> None:
        path = tmp_path / "note.md"
        path.write_bytes(b"old")
        path.chmod(0o644)
        write_atomic(path, b"")
        assert (path.read_bytes(), mode(path)) == (b"", 0o600)

    def test_a_link_stays_a_link(self, tmp_path: Path) -> None:
        real = tmp_path / "elsewhere" / "ASTER.md"
        write_atomic(real, b"old")
        link = tmp_path / "ASTER.md"
        link.symlink_to(real)
        write_atomic(link, b"new")
        assert link.is_symlink()
        assert real.read_bytes() == b"new"

    def test_a_failure_leaves_the_old_state_and_nothing_beside_it(self, tmp_path: Path) -> None:
        in_the_way = tmp_path / "note.md"
        in_the_way.mkdir()
        with pytest.raises(StoreIOError, match=r"cannot write .*note\.md"):
            write_atomic(in_the_way, b"new")
        assert [found.name for found in tmp_path.iterdir()] == ["note.md"]

    def test_a_file_where_a_folder_should_be_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "memory").write_bytes(b"")
        with pytest.raises(StoreIOError):
            write_atomic(tmp_path / "memory" / "note.md", b"new")

    def test_a_reader_never_sees_a_mixture(self, tmp_path: Path) -> None:
        path = tmp_path / "note.md"
        write_atomic(path, b"a" * 200_000)
        code = """
import sys; from pathlib import Path; from persist.files import write_atomic
for number in range(60): write_atomic(Path(sys.argv[1]), (b"b" if number % 2 else b"a") * 200_000)
"""
        writer = start(code, path)
        seen = set()
        while writer.poll() is None:
            data = path.read_bytes()
            seen.add((len(data), data[:1], len(set(data))))
        assert writer.wait() == 0
        assert {(size, kinds) for size, _first, kinds in seen} == {(200_000, 1)}


class TestAppend:
    def test_makes_a_private_file_with_its_lock_beside_it(self, tmp_path: Path) -> None:
        path = tmp_path / "sessions" / "x" / "a.jsonl"
        assert append_lines(path, [b"1", b"2"]) == 2
        assert path.read_bytes() == b"1\n2\n"
        assert [mode(path), mode(path.with_name(LOCK_NAME)), mode(path.parent)] == [0o600, 0o600, 0o700]

    @pytest.mark.parametrize(
        ("tail", "expected"),
        [
            (b"", b"new\n"),
            (b"whole\n", b"whole\nnew\n"),
            (b'{"torn":"in ascii', b'{"torn":"in ascii\nnew\n'),
            (b'{"whole":1}', b'{"whole":1}\nnew\n'),
            ('{"torn":"é'.encode()[:-1], '{"torn":"é'.encode()[:-1] + b"\nnew\n"),
            (b"\0" * 512, b"\0" * 512 + b"\nnew\n"),
        ],
        ids=["empty", "whole", "ascii", "no newline", "in a character", "zero bytes"],
    )
    def test_mends_a_torn_tail_first(self, tmp_path: Path, tail: bytes, expected: bytes) -> None:
        path = tmp_path / "a.jsonl"
        path.write_bytes(tail)
        append_lines(path, [b"new"])
        assert path.read_bytes() == expected

    def test_a_line_with_a_newline_is_refused_before_anything_is_written(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        with pytest.raises(ValueError, match="newline"):
            append_lines(path, [b"good", b"two\nlines"])
        assert not path.exists()

    def test_a_missing_file_that_must_exist_is_not_begun(self, tmp_path: Path) -> None:
        for path in (tmp_path / "a.jsonl", tmp_path / "gone" / "a.jsonl"):
            with pytest.raises(NotFoundError):
                append_lines(path, [b"x"], existing="required")
            assert not path.exists()
        assert not (tmp_path / "gone").exists()

    def test_a_file_that_must_be_new_is_not_appended_to(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        append_lines(path, [b"x"], existing="refused")
        with pytest.raises(RefusedError):
            append_lines(path, [b"y"], existing="refused")
        assert path.read_bytes() == b"x\n"

    def test_a_folder_in_the_files_place_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "a.jsonl").mkdir()
        with pytest.raises(StoreIOError, match="append to"):
            append_lines(tmp_path / "a.jsonl", [b"x"])

    def test_a_full_disk_is_an_error_that_names_the_file(self) -> None:
        with pytest.raises(StoreIOError, match="No space left"):
            append_lines(Path("/dev/full"), [b"x"], already_locked=True)

    def test_a_line_that_does_not_fit_leaves_no_part_and_those_before_it_stay(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        path.write_bytes(b"torn")
        code, told = run_on_small_disk(lambda: append_lines(path, [b"x" * 100, b"y" * 2000]), 1000)
        assert (code, told.partition(":")[0]) == (1, "StoreIOError")
        assert path.read_bytes() == b"torn\n" + b"x" * 100 + b"\n"
        append_lines(path, [b"z"])
        assert path.read_bytes().endswith(b"x\nz\n")

    @pytest.mark.parametrize("theirs", [b"", b"theirs"])
    def test_what_another_program_appended_behind_a_cut_line_is_never_cut(self, tmp_path: Path, theirs: bytes) -> None:
        path = tmp_path / "a.jsonl"
        path.write_bytes(b"old\n")
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND)
        append_whole(descriptor, b"part")
        with path.open("ab") as other:
            other.write(theirs)
        _take_back(descriptor, 4, 8)
        os.close(descriptor)
        assert path.read_bytes() == (b"old\npart" + theirs if theirs else b"old\n")

    def test_four_processes_lose_no_line_of_nine_kilobytes(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        code = """
import json, sys; from pathlib import Path; from persist.files import append_lines
for number in range(100):
    line = json.dumps({"by": int(sys.argv[2]), "number": number, "text": sys.argv[2] * 9000}).encode()
    append_lines(Path(sys.argv[1]), [line], durable=False)
"""
        writers = [start(code, path, number) for number in range(4)]
        assert [writer.wait() for writer in writers] == [0, 0, 0, 0]
        records = [json.loads(line) for line in path.read_bytes().splitlines()]
        assert all(set(record["text"]) == {str(record["by"])} for record in records)
        for by in range(4):
            assert [record["number"] for record in records if record["by"] == by] == list(range(100))

    def test_a_writer_without_our_lock_does_not_land_inside_a_line(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        path.touch()
        code = """
import os, sys
handle = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND)
for number in range(300): os.write(handle, b"f" * 9000 + b"\\n")
"""
        foreign = start(code, path)
        for _ in range(100):
            append_lines(path, [b"o" * 20_000], durable=False)
        assert foreign.wait() == 0
        lines = [line for line in path.read_bytes().splitlines() if line]
        assert sorted({(len(line), len(set(line))) for line in lines}) == [(9000, 1), (20_000, 1)]
        assert len(lines) == 400

    def test_a_killed_writer_costs_at_most_the_line_it_was_writing_and_holds_no_lock(self, tmp_path: Path) -> None:
        """The kernel may end a write of several pages early when the process is killed; that line alone is torn."""
        path = tmp_path / "a.jsonl"
        code = """
import sys; from pathlib import Path; from persist.files import append_lines
while True: append_lines(Path(sys.argv[1]), [b"k" * 9000], durable=False)
"""
        kills = 3
        for kill in range(kills):
            size_bytes = path.stat().st_size if path.exists() else 0
            writer = start(code, path)
            deadline = time.monotonic() + 10
            while not (path.exists() and path.stat().st_size > size_bytes + 20 * 9001):
                assert time.monotonic() < deadline, "the writer wrote nothing"
                time.sleep(0.005)
            writer.send_signal(signal.SIGKILL)
            writer.wait()
            append_lines(path, [f"after {kill}".encode()], timeout_s=2)
        lines = path.read_bytes().split(b"\n")
        assert lines.pop() == b""
        assert [line for line in lines if line.startswith(b"after")] == [b"after 0", b"after 1", b"after 2"]
        written = [line for line in lines if not line.startswith(b"after")]
        assert {bytes(set(line)) for line in written} == {b"k"}
        assert sum(len(line) != 9000 for line in written) <= kills


class TestLock:
    def test_is_busy_while_another_process_holds_it_and_free_when_that_dies(self, tmp_path: Path) -> None:
        path = tmp_path / LOCK_NAME
        code = """
import sys, time; from pathlib import Path; from persist.files import locked
with locked(Path(sys.argv[1])): print("held", flush=True); time.sleep(60)
"""
        holder = start(code, path, stdout=subprocess.PIPE)
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(BusyError) as caught, locked(path, 0.1):
            pass
        assert (caught.value.path, caught.value.timeout_s) == (path, 0.1)
        holder.kill()
        holder.wait()
        holder.stdout.close()
        with locked(path, 2):
            assert path.exists()
        assert mode(path) == 0o600

    def test_lets_go_after_an_error(self, tmp_path: Path) -> None:
        path = tmp_path / LOCK_NAME
        with pytest.raises(KeyError), locked(path, 1):
            raise KeyError
        with locked(path, 1):
            pass
