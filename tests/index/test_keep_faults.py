"""What may happen to an ingest that keeps: it is killed, the disk is full or read-only, originals change meanwhile."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import pytest

from index.ingest import ingest
from index.settings import Settings
from index.verify import verify
from persist.archive.catalogue import load_catalogue
from persist.archive.copying import bring_up_to_date, close_gone, remove_closed
from persist.compressed import plain
from tests import builders as make
from tests.builders import HomeBuilder, is_above_permissions
from tests.index.conftest import dump_of, rebuilt_dump, rows
from tests.index.keeping import archive_files, copy_of, keeping
from tests.index.processes import run_and_kill, run_on_small_disk, start
from tests.peak import peak_bytes

pytestmark = pytest.mark.usefixtures("quick_schema")


@pytest.fixture
def places(home: HomeBuilder, tmp_path: Path) -> Settings:
    return keeping(home.settings(tmp_path / "cache" / "index.sqlite"))


def write_sessions(home: HomeBuilder, count: int, size: int = 60_000) -> list[Path]:
    return [
        home.claude(f"s{n}", make.claude_prompt(f"prompt {n}", f"s{n}", f"u{n}", n),
                    make.claude_answer("a" * size, f"s{n}", f"v{n}", n), project=f"-w-{n % 3}")
        for n in range(count)
    ]  # fmt: skip


def contents_of(copy: Path) -> bytes:
    with copy.open("rb") as file:
        return plain(copy, file).read(-1)


def change_all(home: HomeBuilder, paths: list[Path], rng: Random, history: dict[Path, list[bytes]]) -> None:
    """Append to, rewrite or delete transcripts, and note every content each has had."""
    for path in paths:
        match rng.randrange(4):
            case 0 if path.exists():
                path.unlink()
            case 1:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(make.lines(make.claude_prompt(f"new {rng.random()}", path.stem, "u1", 1)) * 9)
            case _ if path.exists():
                with path.open("ab") as file:
                    file.write(make.lines(make.claude_answer("b" * 40_000, path.stem, f"w{rng.random()}", 2)))
            case _:
                pass
        if path.exists():
            history.setdefault(path, []).append(path.read_bytes())


def kill_often(home: HomeBuilder, places: Settings, times: int) -> int:
    paths = write_sessions(home, 8, 30_000)
    history = {path: [path.read_bytes()] for path in paths}
    rng = Random(times)  # noqa: S311
    began = time.monotonic()
    ingest(places)
    usual_s = time.monotonic() - began
    killed = 0
    for number in range(times):
        change_all(home, paths, rng, history)
        killed += run_and_kill(lambda: ingest(places, prune=True), rng.random() * usual_s)
        for copy in archive_files(places):
            if copy.name.startswith(".tmp-"):
                continue
            original = next(path for path in history if copy_of(places, path).name == copy.name.partition("~")[0])
            data = contents_of(copy)
            assert any(whole.startswith(data) for whole in history[original]), copy
        ingest(places, prune=True)
        for path in paths:
            if path.exists():
                assert copy_of(places, path).read_bytes() == path.read_bytes()
        assert not [copy for copy in archive_files(places) if copy.name.startswith(".tmp-")]
        if number % 5 == 4:
            assert dump_of(places.index_path) == rebuilt_dump(places)
    assert rows(places, "SELECT count(*) FROM session_files WHERE agent = 'claude-code'") == [(8,)]
    assert verify(places).ok
    return killed


def test_a_killed_ingest_leaves_beginnings_and_the_next_one_mends(home: HomeBuilder, places: Settings) -> None:
    assert kill_often(home, places, 5) > 0


@pytest.mark.soak
def test_fifty_killed_ingests_leave_beginnings(home: HomeBuilder, places: Settings) -> None:
    assert kill_often(home, places, 50) > 10


def test_a_full_disk_is_one_sentence_and_the_index_is_updated(home: HomeBuilder, places: Settings) -> None:
    write_sessions(home, 3)
    ingest(places)
    grown = home.claude("s1", make.claude_prompt("prompt 1", "s1", "u1", 1), project="-w-1")
    ingest(places)
    with grown.open("ab") as file:
        for n in range(6):  # of which the index keeps a head each
            file.write(make.lines(make.claude_tool_result(f"c{n}", "x" * 1_000_000, "s1", f"w{n}", 2)))
    before = copy_of(places, grown).read_bytes()

    def act() -> None:
        report = ingest(places)
        (problem,) = report.problems
        assert problem.kind == "not_kept"
        assert "was not copied to the archive: cannot append to" in problem.message
        assert "File too large" in problem.message

    assert places.index_path.stat().st_size < 2_000_000
    assert run_on_small_disk(act, 4_000_000) == (0, "")
    assert rows(places, "SELECT count(*) FROM events WHERE event_type = 'tool_result'") == [(6,)]
    after = copy_of(places, grown).read_bytes()
    assert after.startswith(before)
    assert grown.read_bytes().startswith(after)
    assert ingest(places).problems == []
    assert copy_of(places, grown).read_bytes() == grown.read_bytes()
    assert dump_of(places.index_path) == rebuilt_dump(places)


@pytest.mark.skipif(is_above_permissions(), reason="this process writes whatever the mode bits say")
def test_a_data_home_that_cannot_be_written_keeps_no_index_from_being_made(home: HomeBuilder, places: Settings) -> None:
    write_sessions(home, 3)
    data = places.places.data
    data.mkdir(parents=True)
    data.chmod(0o500)
    try:
        report = ingest(places)
    finally:
        data.chmod(0o700)
    assert [problem.kind for problem in report.problems] == ["not_kept"]
    assert rows(places, "SELECT count(*) FROM prompts") == [(3,)]


def test_an_archive_that_cannot_be_made_is_one_sentence(home: HomeBuilder, places: Settings) -> None:
    """As on a read-only disk, but for everybody: a file lies where the folder would."""
    write_sessions(home, 3)
    places.places.archive.parent.mkdir(parents=True)
    places.places.archive.write_bytes(b"mine")
    report = ingest(places)
    (problem,) = report.problems
    assert problem.kind == "not_kept"
    assert problem.message.endswith("; 3 transcripts were not copied")
    assert places.places.archive.read_bytes() == b"mine"
    assert rows(places, "SELECT count(*) FROM prompts") == [(3,)]


def test_one_copy_that_cannot_be_written_keeps_no_other_from_it(home: HomeBuilder, places: Settings) -> None:
    paths = write_sessions(home, 3)
    in_the_way = copy_of(places, paths[1]).parent
    in_the_way.parent.mkdir(parents=True)
    in_the_way.write_bytes(b"")
    report = ingest(places)
    assert [problem.path for problem in report.problems] == [str(paths[1])]
    assert copy_of(places, paths[2]).read_bytes() == paths[2].read_bytes()


def changing_while_read(path: Path, act: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``act`` happen once while the original is read for its copy."""
    real = os.fstat
    asked: list[int] = []

    def fstat(descriptor: int) -> os.stat_result:
        result = real(descriptor)
        if len(asked) < 2 and os.path.samestat(result, path.stat()):
            asked.append(descriptor)
            if len(asked) == 2:  # the first is that of opening it
                act()
        return result

    monkeypatch.setattr(os, "fstat", fstat)


@pytest.mark.parametrize("size_bytes", [0, 10, 300])
def test_an_original_that_shrinks_while_it_is_copied_spoils_no_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size_bytes: int
) -> None:
    path, folder = tmp_path / "s.jsonl", tmp_path / "archive"
    path.write_bytes(b"x" * 200)
    first = bring_up_to_date(str(path), folder, None, folder)
    with path.open("ab") as file:
        file.write(b"y" * 200)
    changing_while_read(path, lambda: os.truncate(path, size_bytes), monkeypatch)
    copied = bring_up_to_date(str(path), folder, first.stat, folder)
    monkeypatch.undo()
    assert copied.stat is None, "it must be looked at again"
    assert (folder / "s.jsonl").read_bytes() == b"x" * 200
    bring_up_to_date(str(path), folder, copied.stat, folder)
    assert (folder / "s.jsonl").read_bytes() == path.read_bytes()


def test_an_original_that_grows_or_goes_while_it_is_copied_gives_a_whole_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, folder = tmp_path / "s.jsonl", tmp_path / "archive"
    path.write_bytes(b"x" * 200)

    def grow() -> None:
        with path.open("ab") as file:
            file.write(b"y" * 50)

    changing_while_read(path, grow, monkeypatch)
    copied = bring_up_to_date(str(path), folder, None, folder)
    monkeypatch.undo()
    assert (folder / "s.jsonl").read_bytes() == b"x" * 200
    assert copied.stat is not None
    changing_while_read(path, path.unlink, monkeypatch)
    bring_up_to_date(str(path), folder, copied.stat, folder)
    monkeypatch.undo()
    assert (folder / "s.jsonl").read_bytes() == b"x" * 200 + b"y" * 50


def test_two_ingests_at_once_copy_everything_once(home: HomeBuilder, places: Settings, tmp_path: Path) -> None:
    """With one index, and with two that share the archive."""
    paths = write_sessions(home, 30)
    other = keeping(home.settings(tmp_path / "other" / "index.sqlite"))
    for round_ in range(3):
        children = [start(partial(ingest, each)) for each in (places, other, places, other)]
        assert [child.wait() for child in children] == [(0, "")] * 4
        for path in paths:
            assert copy_of(places, path).read_bytes() == path.read_bytes()
        assert len(archive_files(places)) == 30
        for path in paths[:: round_ + 1]:
            with path.open("ab") as file:
                file.write(make.lines(make.claude_prompt(f"again {round_}", path.stem, f"x{round_}", 3)))
    paths[0].unlink()
    for child in [start(partial(ingest, each)) for each in (places, other)]:
        assert child.wait() == (0, "")
    assert copy_of(places, paths[0]).with_name("s0.jsonl~1.zst").exists()
    ingest(places)
    assert dump_of(places.index_path) == rebuilt_dump(places)


def test_memory_is_a_piece_whatever_the_size_of_a_transcript(tmp_path: Path) -> None:
    path, folder = tmp_path / "big.jsonl", tmp_path / "archive"
    line = b"%d " % 10**9 + os.urandom(500).hex().encode() + b"\n"
    with path.open("wb") as file:
        for _ in range(60):
            file.write(line * 1000)

    def act() -> None:
        before = peak_bytes()
        bring_up_to_date(str(path), folder, None, folder)
        bring_up_to_date(str(path), folder, None, folder, compare_all=True)
        assert close_gone(folder, path.name, folder) is not None
        assert peak_bytes() - before < 40_000_000

    assert path.stat().st_size > 60_000_000
    assert start(act).wait() == (0, "")
    assert contents_of(folder / "big.jsonl~1.zst") == path.read_bytes()


def test_killed_between_closing_and_removing_mends_without_a_second_closed_copy(tmp_path: Path) -> None:
    path, folder = tmp_path / "s.jsonl", tmp_path / "archive"
    path.write_bytes(b"x" * 200)
    bring_up_to_date(str(path), folder, None, folder)
    closed = close_gone(folder, "s.jsonl", folder)
    assert sorted(each.name for each in folder.iterdir()) == ["s.jsonl", "s.jsonl~1.zst"]
    assert close_gone(folder, "s.jsonl", folder) == closed
    remove_closed(folder / "s.jsonl")
    assert close_gone(folder, "s.jsonl", folder) is None
    assert sorted(each.name for each in folder.iterdir()) == ["s.jsonl~1.zst"]


def test_an_unreadable_original_keeps_its_copy(home: HomeBuilder, places: Settings) -> None:
    path = write_sessions(home, 1)[0]
    ingest(places)
    data = path.read_bytes()
    make.make_unreadable(path)
    ingest(places)
    assert copy_of(places, path).read_bytes() == data
    catalogue = load_catalogue(places.places.archive, "claude-code")
    assert catalogue is not None
    assert catalogue.stat_of(str(path)) is not None
