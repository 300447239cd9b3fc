"""The memory context in the shape that Aster gives it."""

from __future__ import annotations

import json
from pathlib import Path

from persist.memory.context import INSTRUCTION, MAX_INDEX_ENTRIES, load_context, read_context


def test_the_sample(data: Path) -> None:
    expected = json.loads((data / "aster" / "expected.json").read_text(encoding="utf-8"))["memory"]["load_context"]
    text = load_context(data / "aster" / "memory")
    assert text == expected.replace("<fixed instruction line>", INSTRUCTION)


def test_nothing_at_all_is_empty(tmp_path: Path) -> None:
    assert load_context(tmp_path) == ""
    assert load_context(tmp_path / "none") == ""
    (tmp_path / "ASTER.md").write_text(" \n", encoding="utf-8")
    assert load_context(tmp_path) == ""


def test_only_facts(tmp_path: Path) -> None:
    (tmp_path / "ASTER.md").write_text("# Project memory\n\n- a\n", encoding="utf-8")
    assert load_context(tmp_path) == "## Memory\n\n# Project memory\n\n- a"


def test_only_a_block_with_a_description_on_two_lines(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\nname: a\ndescription: |\n  one\n  - two\n---\nBody", encoding="utf-8")
    assert load_context(tmp_path) == f"## Memory\n\n### Recallable memory\n{INSTRUCTION}\n- a \u2014 one - two"


def test_seventy_blocks_list_the_newest_sixty_and_say_so(tmp_path: Path) -> None:
    for number in range(70):
        (tmp_path / f"b{number:02}.md").write_text(
            f"---\nname: b{number:02}\nupdated_at: 2026-01-01T00:00:{number % 60:02}.{number:03}Z\n---\nBody",
            encoding="utf-8",
        )
    context = read_context(tmp_path)
    lines = context.text.split("\n")
    listed = [line for line in lines if line.startswith("- b")]
    assert (context.blocks, context.left_out) == (MAX_INDEX_ENTRIES, 10) == (len(listed), 10)
    assert lines[-1].startswith("- ... and 10 more blocks")
    assert listed[0] == "- b59"
    assert "- b00" not in listed
    assert "- b69" in listed
