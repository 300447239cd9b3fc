"""A session that moves to another folder: one header is new, every other byte is the old one, and no event is lost."""

from __future__ import annotations

import fcntl
import json
import os
import threading
from pathlib import Path
from typing import BinaryIO

import pytest

from persist.aster.relocation import relocate_file
from persist.errors import NotFoundError, RefusedError, StoreIOError
from persist.files import rewrite
from persist.files.in_use import QUIET_S
from persist.files.rewrite import InUseError
from persist.files.temporary import TEMPORARY_PREFIX
from tests import builders as make
from tests.builders import HomeBuilder
from tests.index.processes import run_on_small_disk

REST = (
    b'{"type":"message","role":"user","content":"heron","ts":"2026-05-04T08:01:00Z","own":[1.50,{"z":1,"a":2}]}\r\n'
    b"\n"
    b"\xff\xfe not text\n"
    b'{"type":"unheard","x":1}\n'
    b'{"torn":'
)
needs_leases = pytest.mark.skipif(not hasattr(fcntl, "F_SETLEASE"), reason="this system knows no leases")


@pytest.fixture
def home(isolated: Path) -> HomeBuilder:
    return HomeBuilder(isolated)


def begin(home: HomeBuilder, session_id: str = "s1", before: bytes = b"", **keys: object) -> Path:
    path = home.aster(session_id, make.aster_header(session_id, 0, repo_root="/w/alpha", **keys), end=REST)
    path.write_bytes(before + path.read_bytes())
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return path


def header_of(path: Path) -> dict[str, object]:
    return next(json.loads(line) for line in path.read_bytes().split(b"\n") if line.strip())


def leftovers(home: HomeBuilder) -> list[Path]:
    return [path for path in home.aster_home.rglob(".tmp-*") if path.is_file()]


@pytest.mark.parametrize("before", [b"", b"\n  \n"], ids=["first line", "blank lines before"])
def test_only_the_header_changes_and_the_file_goes_to_its_project(
    home: HomeBuilder, tmp_path: Path, before: bytes
) -> None:
    path = begin(home, before=before, model="m", unheard={"b": 1, "a": [2.50, None]}, title="Büro")
    old = header_of(path)
    moved = relocate_file(path, home.aster_home, str(tmp_path))
    assert moved.parent.parent == path.parent.parent
    assert moved.parent != path.parent
    assert not path.exists()
    new = header_of(moved)
    assert list(new) == list(old)
    assert new == {**old, "cwd": str(tmp_path), "repo_root": str(tmp_path)}
    data = moved.read_bytes()
    assert data.startswith(before)
    assert data[len(before) :].partition(b"\n")[2] == REST
    assert moved.stat().st_mode & 0o777 == 0o600
    assert moved.stat().st_mtime == 1_700_000_000
    assert leftovers(home) == []


def test_the_project_is_the_git_root_of_the_folder(home: HomeBuilder, tmp_path: Path) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "repo" / "sub").mkdir()
    moved = relocate_file(begin(home), home.aster_home, str(tmp_path / "repo" / "sub"))
    header = header_of(moved)
    assert (header["cwd"], header["repo_root"]) == (str(tmp_path / "repo" / "sub"), str(tmp_path / "repo"))


def test_twice_is_once_and_a_second_run_ends_what_a_killed_one_began(home: HomeBuilder, tmp_path: Path) -> None:
    moved = relocate_file(begin(home), home.aster_home, str(tmp_path))
    state = moved.stat()
    assert relocate_file(moved, home.aster_home, str(tmp_path)) == moved
    assert moved.stat() == state
    back = home.aster_home / "sessions" / "alpha" / "s1.jsonl"
    moved.rename(back)
    (back.parent / f"{TEMPORARY_PREFIX}relocate-abc-old").write_bytes(b"left by a killed run")
    assert relocate_file(back, home.aster_home, str(tmp_path)) == moved
    assert leftovers(home) == []


def test_a_name_without_a_letter_of_the_slug_can_be_relocated(home: HomeBuilder, tmp_path: Path) -> None:
    path = begin(home, "\U0001f9fe")
    moved = relocate_file(path, home.aster_home, str(tmp_path))
    assert (moved.name, header_of(moved)["cwd"], path.exists()) == (path.name, str(tmp_path), False)
    again = begin(home, "\U0001f9fe")
    with pytest.raises(RefusedError, match="is there already"):
        relocate_file(again, home.aster_home, str(tmp_path))


def test_what_cannot_be_relocated_is_refused_and_stays(home: HomeBuilder, tmp_path: Path) -> None:
    headless = home.aster("headless", make.aster_prompt("x", 1))
    glued = home.aster("glued", json.dumps(make.aster_header("glued", 0)).encode() + b'{"type":"title","title":"x"}')
    newer = home.aster("newer", {**make.aster_header("newer", 0), "v": 2})
    odd = home.aster("odd", {**make.aster_header("odd", 0), "v": "next"})
    for path in (headless, glued, newer, odd):
        before = path.read_bytes()
        with pytest.raises(RefusedError):
            relocate_file(path, home.aster_home, str(tmp_path))
        assert path.read_bytes() == before
    assert [path.name for path in (home.aster_home / "sessions").iterdir()] == ["alpha"]
    with pytest.raises(NotFoundError):
        relocate_file(headless.with_name("gone.jsonl"), home.aster_home, str(tmp_path))


def test_a_place_that_is_taken_or_leads_out_is_refused(home: HomeBuilder, tmp_path: Path) -> None:
    path, other = begin(home, "s1"), begin(home, "S1")
    moved = relocate_file(other, home.aster_home, str(tmp_path))
    before = path.read_bytes()
    with pytest.raises(RefusedError, match="is there already"):
        relocate_file(path, home.aster_home, str(tmp_path))
    assert path.read_bytes() == before
    outside = tmp_path / "outside"
    outside.mkdir()
    moved.unlink()
    (moved.parent / ".lock").unlink()
    moved.parent.rmdir()
    moved.parent.symlink_to(outside)
    with pytest.raises(RefusedError, match="leaves the store"):
        relocate_file(path, home.aster_home, str(tmp_path))
    assert list(outside.iterdir()) == []
    assert path.read_bytes() == before


def test_a_full_disk_is_one_sentence_and_loses_nothing(home: HomeBuilder, tmp_path: Path) -> None:
    path = begin(home)
    before = path.read_bytes()
    code, told = run_on_small_disk(lambda: relocate_file(path, home.aster_home, str(tmp_path)), 100)
    assert code == 1
    assert told.startswith(f"StoreIOError: cannot relocate {path}: ")
    assert path.read_bytes() == before
    assert leftovers(home) == []
    assert issubclass(StoreIOError, Exception)
    assert relocate_file(path, home.aster_home, str(tmp_path)).exists()


@needs_leases
class TestBesideAWriterWithoutOurLock:
    def test_who_has_the_session_open_is_noticed_though_silent(self, home: HomeBuilder, tmp_path: Path) -> None:
        path = begin(home)
        with path.open("ab", buffering=0) as writer:
            with pytest.raises(InUseError, match="open for writing"):
                relocate_file(path, home.aster_home, str(tmp_path))
            writer.write(b'"late"}\n')
        assert path.read_bytes().endswith(REST + b'"late"}\n')
        moved = relocate_file(path, home.aster_home, str(tmp_path))
        assert moved.read_bytes().endswith(REST + b'"late"}\n')

    def test_who_opens_it_in_the_moment_of_the_swap_keeps_the_file(
        self, home: HomeBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = begin(home)
        real = os.link
        opened: list[int] = []
        waiting: list[threading.Thread] = []

        def link_and_be_opened(source: Path, target: Path) -> None:
            real(source, target)
            late = threading.Thread(target=lambda: opened.append(os.open(path, os.O_WRONLY | os.O_APPEND)))
            late.start()
            late.join(0.2)
            assert late.is_alive()  # it waits until the lease ends
            waiting.append(late)

        monkeypatch.setattr("persist.files.rewrite.os.link", link_and_be_opened)
        before = path.read_bytes()
        with pytest.raises(InUseError, match="being opened"):
            relocate_file(path, home.aster_home, str(tmp_path))
        waiting[0].join()
        os.write(opened[0], b"1}\n")
        os.close(opened[0])
        assert path.read_bytes() == before + b"1}\n"
        assert leftovers(home) == []

    def test_who_opens_it_just_behind_the_swap_keeps_the_file_too(
        self, home: HomeBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = begin(home)
        before = path.read_bytes()
        opened: list[int] = []
        real = rewrite._swap

        def swap_and_be_opened(path: Path, file: BinaryIO, written: Path, kept: Path, copied_bytes: int) -> bool:
            done = real(path, file, written, kept, copied_bytes)
            opened.append(os.open(kept, os.O_WRONLY | os.O_APPEND))
            return done

        monkeypatch.setattr(rewrite, "_swap", swap_and_be_opened)
        with pytest.raises(InUseError, match="in this moment"):
            relocate_file(path, home.aster_home, str(tmp_path))
        os.write(opened[0], b"1}\n")
        os.close(opened[0])
        assert path.read_bytes() == before + b"1}\n"
        assert leftovers(home) == []

    def test_what_grows_while_it_is_copied_is_copied_again(
        self, home: HomeBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = begin(home)
        real = rewrite._copy
        grown: list[bytes] = []

        def copy_and_grow(*given: object) -> int:
            size_bytes = real(*given)  # type: ignore[arg-type]
            if not grown:
                grown.append(b"1}\n")
                with path.open("ab") as file:
                    file.write(grown[0])
            return size_bytes

        monkeypatch.setattr(rewrite, "_copy", copy_and_grow)
        moved = relocate_file(path, home.aster_home, str(tmp_path))
        assert moved.read_bytes().endswith(REST + b"1}\n")


def test_without_leases_a_session_that_changed_just_now_is_refused(
    home: HomeBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("fcntl.F_SETLEASE", raising=False)
    path = begin(home)
    os.utime(path)
    with pytest.raises(InUseError, match=f"less than {QUIET_S:g} s ago"):
        relocate_file(path, home.aster_home, str(tmp_path))
    os.utime(path, (1_700_000_000, 1_700_000_000))
    assert relocate_file(path, home.aster_home, str(tmp_path)).exists()
