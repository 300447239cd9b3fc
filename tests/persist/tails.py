"""Reading on from a saved state, for tests of any agent's parser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from persist.errors import ShapeError
from persist.events import Parsed
from persist.reading import Checkpoint, ReadLine, SourceReader
from persist.sources import TRANSCRIPT, Agent, Line, Parser, Source, Stat


def source_of(agent: str, path: str | Path, path_tells: str = "") -> Source:
    return Source(agent, TRANSCRIPT, str(path), "/h", Stat(0, 0, 0, 0), path_tells)


def feed(parser: Parser, value: Any, number: int) -> Parsed | str:
    """Feed one record; a shape error, the only one allowed, must leave the state as it was."""
    before = json.dumps(parser.save())
    try:
        return parser.feed(value, Line(number, 0))
    except ShapeError as error:
        assert json.dumps(parser.save()) == before
        return str(error)


def saved_and_opened(agent: Agent, of: Source, parser: Parser) -> Parser:
    """Return a parser that goes on from the state of another, as a checkpoint keeps that."""
    return agent.open_parser(of, json.loads(json.dumps(parser.save())))


def read(agent: Agent, of: Source, start: Checkpoint | None = None) -> tuple[list[ReadLine], SourceReader]:
    """Read a source's file from its beginning, or on from a checkpoint."""
    with Path(of.path).open("rb") as file:
        reader = SourceReader(agent, of, file, start)
        return list(reader), reader


def assert_a_cut_changes_nothing(agent: Agent, of: Source, whole: list[ReadLine], cut: int) -> None:
    """Cut the file of ``of``, read it, make it whole again and read on: that must give ``whole``."""
    path = Path(of.path)
    content = path.read_bytes()
    path.write_bytes(content[:cut])
    first, reader = read(agent, of)
    path.write_bytes(content)
    rest, _ = read(agent, of, Checkpoint.load(json.loads(json.dumps(reader.checkpoint.save()))))
    kept = [line for line in first if line.offset_bytes < reader.checkpoint.offset_bytes]
    assert [*kept, *rest] == whole, cut


def line_ends(content: bytes) -> list[int]:
    """Return the offsets behind each newline."""
    return [at + 1 for at, byte in enumerate(content) if byte == 10]
