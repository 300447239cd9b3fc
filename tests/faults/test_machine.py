"""What the machine lacks for a moment (memory, open files) is not held against a source: the next ingest reads it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from index.ingest import ingest
from persist.agents import AGENTS
from persist.events import Note
from persist.sources import Source
from tests.builders import HomeBuilder
from tests.index.conftest import dump_of, rebuilt_dump


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
