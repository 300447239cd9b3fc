"""What the machine lacks for a moment (memory, open files) is not held against a source: the next ingest reads it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from index.ingest import ingest
from persist.agents import AGENTS
from persist.events import Note, Parsed
from persist.sources import Line, Parser, Record, Source, State
from tests import builders as make
from tests.builders import HomeBuilder
from tests.index.conftest import dump_of, rebuilt_dump, rows


@pytest.mark.parametrize(
    "lack", [OSError(24, "Too many open files"), MemoryError()], ids=lambda lack: type(lack).__name__
)
def test_a_note_is_read_again_when_the_machine_can(
    lack: Exception, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_source: Source, _data: bytes) -> Note:
        raise lack

    home = HomeBuilder(isolated)
    home.block("plain", "a body")
    settings = home.settings()
    with monkeypatch.context() as starved:
        starved.setattr("index.settings.AGENTS", {**AGENTS, "aster": replace(AGENTS["aster"], read_note=fail)})
        report = ingest(settings)
    assert report.agents["aster"].sources.failed == 1
    again = ingest(settings)
    assert again.agents["aster"].sources.failed == 0
    assert dump_of(settings.index_path) == rebuilt_dump(settings)


class StarvedParser:
    """Aster's own parser, but the machine gives out at the third record."""

    def __init__(self, inner: Parser, lack: Exception) -> None:
        self._inner = inner
        self._lack = lack
        self._left = 2

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def feed(self, record: Record, line: Line) -> Parsed:
        if self._left == 0:
            raise self._lack
        self._left -= 1
        return self._inner.feed(record, line)


@pytest.mark.parametrize(
    "lack", [OSError(5, "Input/output error"), MemoryError()], ids=lambda lack: type(lack).__name__
)
def test_a_known_source_keeps_its_rows_when_reading_it_anew_fails_half_way(
    lack: Exception, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def starved_parser(source: Source, state: State | None) -> Parser:
        parser = AGENTS["aster"].open_parser(source, state)
        return cast(Parser, StarvedParser(parser, lack)) if source.path.endswith("lost.jsonl") else parser

    home = HomeBuilder(isolated)
    lost = home.aster("lost", make.aster_header("lost", 0), *(make.aster_prompt(f"old {n}", n) for n in range(1, 5)))
    settings = home.settings()
    ingest(settings)
    home.aster("lost", make.aster_header("lost", 0), *(make.aster_prompt(f"new {n}", n) for n in range(1, 6)))
    home.aster("other", make.aster_header("other", 0), make.aster_prompt("beside it", 1))
    with monkeypatch.context() as starved:
        replaced = replace(AGENTS["aster"], open_parser=starved_parser)
        starved.setattr("index.settings.AGENTS", {**AGENTS, "aster": replaced})
        report = ingest(settings)
    counts = report.agents["aster"].sources
    assert (counts.held, counts.new, counts.failed, counts.replaced) == (1, 1, 0, 0)
    assert [problem.path for problem in report.problems] == [str(lost)]
    texts = {text for (text,) in rows(settings, "SELECT text FROM prompts")}
    assert texts == {"old 1", "old 2", "old 3", "old 4", "beside it"}
    assert ingest(settings).agents["aster"].sources.held == 0
    assert dump_of(settings.index_path) == rebuilt_dump(settings)
