"""Of two journal lines of one time the later line holds, whoever reads them: the index, the files, a list."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from index.ingest import ingest
from index.settings import Settings
from persist.memory.blocks import list_blocks
from persist.memory.known_blocks import known_blocks
from persist.memory.note_file import new_note
from tests.builders import HomeBuilder
from tests.index.recall.memory_world import PLACE, from_files, from_index

PROMPT = "which grommets does the sprocket need?"
MADE = "2026-01-01T08:00:00Z"
AT = "2026-02-01T08:00:00.000Z"


@pytest.fixture
def settings(home: HomeBuilder, quick_schema: None, tmp_path: Path) -> Settings:
    return home.settings(tmp_path / "cache" / "index.sqlite")


def write(folder: Path, names: list[str], lines: list[dict[str, str]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        fields = {"name": name, "description": f"Sprocket grommets of {name}", "created_at": MADE, "updated_at": MADE}
        (folder / f"{name}.md").write_bytes(new_note(fields, f"The {name} sprocket."))
    (folder / "journal.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))


@pytest.mark.parametrize("order", [("bee", "cat"), ("cat", "bee")])
def test_two_successors_of_one_time(order: tuple[str, str], settings: Settings) -> None:
    folder = settings.places.memory
    write(folder, ["ant", "bee", "cat"], [{"ts": AT, "op": "supersede", "name": "ant", "by": by} for by in order])
    ingest(settings)
    listed = {block.path.stem: block.note.superseded_by for block in known_blocks(list_blocks(folder))}
    assert listed["ant"] == order[1]
    for refused in (from_index(settings, PROMPT).refused, from_files(settings, PROMPT, PLACE).refused):
        assert [one.reason for one in refused if one.candidate.name == "ant"] == [f"superseded by {order[1]}"]


@pytest.mark.parametrize("order", [("helpful", "harmful"), ("harmful", "helpful")])
def test_two_marks_of_one_time(order: tuple[str, str], settings: Settings) -> None:
    write(settings.places.memory, ["ant", "bee"], [{"ts": AT, "op": op, "name": "ant"} for op in order])
    ingest(settings)
    names = ["ant", "bee"] if order[1] == "helpful" else ["bee", "ant"]
    for chosen in (
        [given.verdict for given in from_index(settings, PROMPT).given], from_files(settings, PROMPT, PLACE).chosen
    ):  # fmt: skip
        assert [one.candidate.name for one in chosen] == names
