"""The chapter "Consolidation" of the page about the memory: its loop runs with a model, and its plan is one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from persist.memory import MemoryStore
from persist.memory.plan import MAX_LESSON_CHARACTERS, parse_plan
from tests.builders import HomeBuilder, aster_answer, aster_header, aster_prompt
from tests.conftest import REPOSITORY, Asx
from tests.docs.with_asx import blocks, run_sh, variables

PAGE = (REPOSITORY / "docs" / "memory.md").read_text(encoding="utf-8")
CHAPTER = PAGE.partition("## Consolidation\n")[2].partition("\n## ")[0]
(LOOP,) = [text for kind, text in blocks("memory.md") if kind == "sh" and "--schema" in text]
(PLAN,) = [text for kind, text in blocks("memory.md") if kind == "json"]
MODEL = """#!/bin/sh
cat > asked-$$.txt
echo '```json'
echo '{"lessons": ["Answer of a model."], "new": [{"title": "Port", "text": "It is 5432."}]}'
echo '```'
"""


@pytest.mark.skipif(shutil.which("jq") is None, reason="the loop needs jq")
def test_the_loop_consolidates_each_session_once(isolated: Path, tmp_path: Path, asx: Asx) -> None:
    home = HomeBuilder(isolated)
    for id_, turns in (("01k5p3a", 2), ("01k5p3b", 1)):
        said = [aster_prompt(f"Which port, {number}?", number) for number in range(turns)]
        folder = {"cwd": str(tmp_path), "repo_root": str(tmp_path)}
        home.aster(id_, aster_header(id_, 0, **folder), *said, aster_answer("5432", 9))
    model = tmp_path / "my-model"
    model.write_text(MODEL)
    model.chmod(0o700)
    environment = variables(tmp_path)
    environment = {**environment, "PATH": f"{tmp_path}:{environment['PATH']}"}
    for _ in range(2):
        run_sh(LOOP, tmp_path, environment)
    (asked,) = tmp_path.glob("asked-*.txt")
    text = asked.read_text()
    assert "json-schema.org" in text
    assert "  Which port, 1?" in text
    store = MemoryStore(home.aster_home / "memory")
    assert store.peek("Port").note.source_session == "01k5p3a"
    assert store.read_project() == "# Project memory\n\n- Answer of a model.\n"


def test_its_plan_is_one(asx: Asx, isolated: Path) -> None:
    plan = parse_plan(PLAN.encode())
    store = MemoryStore(isolated / ".local" / "share" / "aster" / "memory")
    for title in ("pip", "uv", "Flaky upload"):
        store.remember("x", title)
    done = asx("memory", "apply", "-", "--yes", "--json", stdin=json.dumps(json.loads(PLAN))).json()
    assert [one["op"] for one in done["done"]] == ["remember", "remember", "supersede", "archive", "append_project"]
    assert store.peek("uv").note.body == plan.merge[0].into.text


def test_its_numbers_are_those_of_the_code() -> None:
    assert f"at most {MAX_LESSON_CHARACTERS} characters" in CHAPTER
    assert "24,000 bytes" in CHAPTER
