"""The hook's log: private, bounded, and never in the way."""

import json
import os
import stat
from pathlib import Path

import pytest

from persist.hook_log import MAX_LOG_BYTES, MAX_MESSAGE_CHARACTERS, Trouble, note_trouble, older, read_troubles


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "made" / "index.sqlite-hook.log"


def test_what_is_noted_is_read_in_order(log: Path) -> None:
    note_trouble(log, "usage", "first\nsecond line \u202e \x1b")
    note_trouble(log, "io", "then")
    found = read_troubles(log)
    assert [(one.kind, one.message) for one in found] == [("usage", "first\nsecond line \u202e \x1b"), ("io", "then")]
    assert found[0].ts <= found[1].ts
    assert log.read_bytes().count(b"\n") == 2


def test_it_is_private_from_the_first_byte(log: Path) -> None:
    mask = os.umask(0)
    try:
        note_trouble(log, "io", "x")
    finally:
        os.umask(mask)
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.parent.stat().st_mode) == 0o700


def test_it_stays_small_and_keeps_the_newest(log: Path) -> None:
    for number in range(2000):
        note_trouble(log, "io", f"{number} " + "x" * 1000)
    assert log.stat().st_size <= MAX_LOG_BYTES
    assert older(log).stat().st_size <= MAX_LOG_BYTES
    assert sorted(path.name for path in log.parent.iterdir()) == [log.name, older(log).name]
    numbers = [int(one.message.split()[0]) for one in read_troubles(log)]
    assert numbers == list(range(2000 - len(numbers), 2000))
    assert len(numbers) > 100
    assert all(len(one.message) == MAX_MESSAGE_CHARACTERS for one in read_troubles(log))


def test_many_hooks_at_once_give_up_no_more_than_one_would(log: Path) -> None:
    """Each finds the log full; the first of them begins a new one, and the others must not put that away as well."""
    line = json.dumps({"ts": "2026-01-01T00:00:00.000Z", "kind": "io", "message": "x" * 300}) + "\n"
    log.parent.mkdir()
    for _ in range(20):
        older(log).unlink(missing_ok=True)
        log.write_text(line * (MAX_LOG_BYTES // len(line)))
        begin, go = os.pipe()
        children = []
        for _number in range(12):
            child = os.fork()
            if not child:
                os.close(go)
                os.read(begin, 1)  # until all are there
                note_trouble(log, "io", "y" * 300)
                os._exit(0)
            children.append(child)
        os.close(begin)
        os.close(go)
        assert {os.waitpid(child, 0)[1] for child in children} == {0}
        assert len(read_troubles(log)) == MAX_LOG_BYTES // len(line) + 12


def test_a_line_that_a_full_disk_cut_costs_only_itself(log: Path) -> None:
    log.parent.mkdir()
    log.write_bytes(b'{"ts": "2026-01-01T00:00:00.000Z", "ki')
    note_trouble(log, "io", "whole")
    assert [one.message for one in read_troubles(log)] == ["whole"]


def test_only_what_is_recent_is_asked_for(log: Path) -> None:
    log.parent.mkdir()
    lines = [{"ts": f"2026-01-0{day}T00:00:00.000Z", "kind": "io", "message": str(day)} for day in (1, 2, 3)]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert [one.message for one in read_troubles(log, "2026-01-02T00:00:00.000Z")] == ["2", "3"]


def test_damage_costs_only_itself(log: Path) -> None:
    log.parent.mkdir()
    good = json.dumps({"ts": "2026-01-01T00:00:00.000Z", "kind": "io", "message": "m"}).encode()
    odd = [b"\xff\x00", b"[]", b'{"ts":1,"kind":"io","message":"m"}', b"{" * 5000, b'{"ts":"x"}']
    log.write_bytes(b"\n".join([*odd, good, b'{"ts":']))
    assert read_troubles(log) == [Trouble("2026-01-01T00:00:00.000Z", "io", "m")]


def test_where_it_cannot_be_nothing_happens(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder.log").mkdir()
    (tmp_path / "link.log").symlink_to(tmp_path / "elsewhere")
    for path in (tmp_path / "file" / "log", tmp_path / "folder.log", tmp_path / "link.log", Path("/proc/none/log")):
        note_trouble(path, "io", "x")
        assert read_troubles(path) == []
    assert not (tmp_path / "elsewhere").exists()


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "log")
    note_trouble(tmp_path / "log", "io", "x")
    assert read_troubles(tmp_path / "log") == []
