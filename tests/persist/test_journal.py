"""The memory journal: order, damaged lines, torn tails, and reading on from any place."""

from __future__ import annotations

from pathlib import Path

import pytest

from persist.errors import ShapeError, StoreIOError
from persist.events import JournalEntry
from persist.memory.journal import JournalParser, read_journal
from persist.sources import Line, Parser, Record

LINE = Line(1, 0)


def write(folder: Path, content: bytes) -> Path:
    path = folder / "journal.jsonl"
    path.write_bytes(content)
    return path


def test_the_sample_newest_first(data: Path) -> None:
    entries, damaged = read_journal(data / "aster" / "memory" / "journal.jsonl")
    assert (len(entries), damaged) == (11, 1)
    assert entries[0] == JournalEntry("2026-09-28T11:20:05.700Z", "remember", "beleg-numbering")
    assert entries[-1] == JournalEntry("2026-08-30T17:00:00.500Z", "remember", "old-deploy-host")
    assert entries[-2].detail == "Deploys leave from the main branch only"
    assert entries[-2].source_session == "telegram-48151623"
    assert [entry.ts for entry in entries] == sorted((entry.ts for entry in entries), key=str, reverse=True)


def test_of_equal_times_the_later_line_is_newer_and_unreadable_times_are_last(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        b'{"ts":"soon","op":"recall","name":"x"}\n'
        b'{"ts":"2026-01-01T00:00:00.0001Z","op":"remember","name":"a"}\n'
        b'{"ts":"2026-01-01T00:00:00.0002Z","op":"archive","name":"a"}\n',
    )
    entries, damaged = read_journal(path)
    assert [(entry.op, entry.ts is None) for entry in entries] == [
        ("archive", False),
        ("remember", False),
        ("recall", True),
    ]
    assert damaged == 0


def test_bad_bytes_and_glued_lines_cost_only_themselves(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        b'{"ts":"2026-01-01T00:00:00Z","op":"recall","name":"caf\xe9"}\n\n'
        b'{"ts":"2026-01-02T00:00:00Z","op":"recall","name":"a"}{"ts":"2026-01-03T00:00:00Z","op":"recall"}\n'
        b'{"ts":"2026-01-04T00:00:00Z","op":"recall","name":["a"]}\n'
        b'{"ts":"2026-01-05T00:00:00Z","op":"forget","name":"b"}',
    )
    entries, damaged = read_journal(path)
    assert [entry.name for entry in entries] == ["b", None, "a", "caf\ufffd"]
    assert damaged == 2


def test_a_line_that_is_still_being_written_is_not_damage(tmp_path: Path) -> None:
    path = write(tmp_path, b'{"ts":"2026-01-01T00:00:00Z","op":"recall"}\n{"ts":"2026-01-0')
    entries, damaged = read_journal(path)
    assert (len(entries), damaged) == (1, 0)


def test_a_missing_journal_is_empty_and_a_folder_is_an_error(tmp_path: Path) -> None:
    assert read_journal(tmp_path / "none.jsonl") == ([], 0)
    with pytest.raises(StoreIOError):
        read_journal(tmp_path)


def test_the_parser_keeps_operations_and_ignores_keys_that_are_not_ours() -> None:
    parser: Parser = JournalParser()
    assert parser.recognised is False
    record = {
        "op": "supersede",
        "new": {"key": 1},
        "by": "b",
        "name": "a",
        "ts": "2026-01-01T00:00:00Z",
        "detail": None,
    }
    parsed = parser.feed(record, LINE)
    assert parsed.journal == (JournalEntry("2026-01-01T00:00:00.000Z", "supersede", "a", by="b"),)
    assert (parser.recognised, parser.session_id, parser.names_parent) == (True, None, False)
    assert JournalParser(parser.save()).recognised is True


@pytest.mark.parametrize(
    "record",
    [
        pytest.param([], id="list"),
        pytest.param("text", id="text"),
        pytest.param({"ts": "2026-01-01T00:00:00Z"}, id="no op"),
        pytest.param({"ts": "2026-01-01T00:00:00Z", "op": 1}, id="op is a number"),
        pytest.param({"op": "recall"}, id="no time"),
        pytest.param({"ts": "2026-01-01T00:00:00Z", "op": "recall", "name": {"secret": 1}}, id="name is an object"),
    ],
)
def test_another_shape_is_refused_and_changes_nothing(record: Record) -> None:
    parser = JournalParser()
    with pytest.raises(ShapeError) as raised:
        parser.feed(record, LINE)
    assert "secret" not in str(raised.value)
    assert parser.save() == JournalParser().save()
