"""The README's chapter on the store shows what is on the disk; the page of comparisons has whole tables."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import pytest

from persist.aster import SessionWriter, Transcript
from persist.memory import MemoryStore
from tests.builders import HomeBuilder, claude_prompt
from tests.conftest import REPOSITORY, Asx

CHAPTER: Final = (
    (REPOSITORY / "README.md").read_text(encoding="utf-8").split("\n## The store\n", 1)[1].split("\n## ", 1)[0]
)
TREE, BLOCK = re.findall(r"^```text\n(.*?)^```$", CHAPTER, re.MULTILINE | re.DOTALL)
(SESSION,) = re.findall(r"^```json\n(.*?)^```$", CHAPTER, re.MULTILINE | re.DOTALL)
PROJECT: Final = "/home/mira/src/tidewatch"
TIMES: Final = re.compile(r"^((?:created|updated)_at: ).*$", re.MULTILINE)
COMPATIBILITY: Final = (REPOSITORY / "docs" / "compatibility.md").read_text(encoding="utf-8")


def write_session(home: Path) -> SessionWriter:
    header, prompt, answer = map(json.loads, SESSION.splitlines())
    writer = SessionWriter.create(
        home, PROJECT, PROJECT, session_id=header["id"], created_at=header["created_at"]
    )  # fmt: skip
    writer.user(prompt["content"], ts=prompt["ts"])
    writer.assistant(answer["content"], ts=answer["ts"])
    return writer


def write_block(folder: Path) -> Path:
    told = dict(line.split(": ", 1) for line in BLOCK.split("\n---\n")[0].splitlines()[1:])
    change = MemoryStore(folder).remember(
        BLOCK.split("\n---\n\n")[1].strip(), told["title"], description=told["description"],
        session=told["source_session"],
    )  # fmt: skip
    assert change.path is not None
    return change.path


def test_the_session_is_written_as_it_is_shown(tmp_path: Path) -> None:
    writer = write_session(tmp_path)
    assert writer.path.read_text(encoding="utf-8") == SESSION
    assert Transcript.load(writer.path).damaged == ()


def test_the_block_is_written_as_it_is_shown(tmp_path: Path) -> None:
    path = write_block(tmp_path)
    assert TIMES.sub(r"\1…", path.read_text(encoding="utf-8")) == TIMES.sub(r"\1…", BLOCK)
    shape = re.compile(r"_at: 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3,9})?\+00:00$", re.MULTILINE)
    assert len(shape.findall(path.read_text(encoding="utf-8"))) == len(shape.findall(BLOCK)) == 2


def test_the_tree_is_what_the_commands_make(isolated: Path, asx: Asx) -> None:
    home = HomeBuilder(isolated)
    root, *places = [line.strip().split("  ")[0] for line in TREE.splitlines()]
    assert str(home.aster_home) == root.replace("~", str(isolated)).rstrip("/")
    write_session(home.aster_home)
    path = write_block(home.aster_home / "memory")
    MemoryStore(path.parent).remember("Another text.", MemoryStore(path.parent).peek(path.stem).title)
    MemoryStore(path.parent).append_project("a fact")
    home.claude("theirs", claude_prompt("hello", "theirs", "u1", 1))
    assert asx("ingest", "--keep", "--quiet").code == 0
    for place in places:
        pattern = place.rstrip("/…") + ("/**/*" if place.endswith(("/", "…")) else "")
        assert [one for one in home.aster_home.glob(pattern) if one.is_file()], place
    shown = {place.split("/")[0] for place in places}
    assert {one.name for one in home.aster_home.iterdir()} == shown
    assert {one.name for one in (home.aster_home / "memory").iterdir() if one.name not in (".lock", ".redo")} == {
        place.split("/")[1] for place in places if place.startswith("memory/")
    }


@pytest.mark.parametrize("heading", re.findall(r"^## (.+)$", COMPATIBILITY, re.MULTILINE))
def test_every_table_of_the_comparison_is_one_table(heading: str) -> None:
    """A row behind an empty line is shown as text, not as a row."""
    part = COMPATIBILITY.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    for table in re.split(r"\n\s*\n", part):
        rows = [line for line in table.splitlines() if line.startswith("|")]
        if rows:
            assert re.fullmatch(r"\|(?: --- \|)+", rows[1]), rows[0]
            assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {rows[0].count("|")}
