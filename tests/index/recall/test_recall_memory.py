"""The index finds, the file speaks: what is given out is what the file says now, and what is missing is told."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from index.ingest import ingest
from index.recall.recall import OUT_OF_TIME, MemoryAnswer, recall_memory
from index.settings import Settings
from persist.recall.scope import Place
from tests import builders as make
from tests.builders import HomeBuilder
from tests.conftest import REPOSITORY
from tests.index.recall.memory_world import AS_OF, names

PROMPT = "can we deploy the billing service this Friday?"
PLACE = Place("/w/alpha", "/w/alpha")


@pytest.fixture
def settings(home: HomeBuilder, quick_schema: None) -> Settings:
    home.block("deploy-friday", "No deploys on Friday after 14:00; the billing service never.", "when we deploy")
    home.block("postgres-pool", "Staging Postgres opens at most twenty connections.", "database connections")
    home.facts("the lantern is lit by zephyrctl", "invoices are rounded per line")
    settings = home.settings()
    ingest(settings)
    return settings


def ask(settings: Settings, prompt: str = PROMPT, place: Place = PLACE) -> MemoryAnswer:
    return recall_memory(settings, prompt, place, AS_OF)


def memory(settings: Settings) -> Path:
    return settings.places.data / "memory"


def test_a_block_is_given_as_its_file_has_it(settings: Settings) -> None:
    found = ask(settings)
    assert (found.status, names(found), found.from_index, found.notes) == ("ok", ["deploy-friday"], True, ())
    (given,) = found.given
    assert given.quoted.text == "No deploys on Friday after 14:00; the billing service never."
    assert given.quoted.path == str(memory(settings) / "deploy-friday.md")
    assert ask(settings, "what is the capital of Australia?").status == "nothing_relevant"


def test_without_an_index_and_without_time_the_facts_answer_and_what_is_missing_is_told(settings: Settings) -> None:
    settings.index_path.unlink()
    found = recall_memory(settings, PROMPT, PLACE, AS_OF, time_s=0)
    assert (found.status, names(found), found.notes[1:]) == ("nothing_relevant", [], (OUT_OF_TIME,))
    found = recall_memory(settings, "who lights the lantern, zephyrctl?", PLACE, AS_OF, time_s=0)
    assert names(found) == ["ASTER.md:3"]
    found = recall_memory(settings, PROMPT, PLACE, AS_OF, time_s=60)
    assert (names(found), found.notes[1:]) == (["deploy-friday"], ())


def test_a_fact_is_given_with_its_line_also_where_it_moved(settings: Settings) -> None:
    prompt = "who lights the lantern, zephyrctl?"
    assert [given.quoted.text for given in ask(settings, prompt).given] == ["the lantern is lit by zephyrctl"]
    path = memory(settings) / "ASTER.md"
    path.write_text("- another one\n- and more\n" + path.read_text(), encoding="utf-8")
    found = ask(settings, prompt)
    assert (found.status, names(found)) == ("stale", ["ASTER.md:5"])
    path.write_text("- the lantern is out, zephyrctl lights it no more\n", encoding="utf-8")
    ingest(settings)
    path.write_text("- nothing of it\n", encoding="utf-8")
    assert (ask(settings, prompt).status, ask(settings, prompt).given) == ("stale", ())


def test_a_changed_block_is_judged_as_it_is_now(home: HomeBuilder, settings: Settings) -> None:
    home.block("deploy-friday", "The billing service may go out on Friday, deploys are free again.", "when we deploy")
    found = ask(settings)
    assert (found.status, names(found)) == ("stale", ["deploy-friday"])
    assert found.given[0].quoted.text.startswith("The billing service may go out")
    prompt = "how many database connections may we open on staging?"
    assert names(ask(settings, prompt)) == ["postgres-pool"]
    home.block("postgres-pool", "Something about lanterns.", "lanterns")
    assert (ask(settings, prompt).status, ask(settings, prompt).given) == ("stale", ())


@pytest.mark.parametrize("key", ["superseded_by: postgres-pool", "project: /w/beta"], ids=["superseded", "elsewhere"])
def test_a_header_that_takes_a_block_out_counts_at_once(key: str, settings: Settings) -> None:
    path = memory(settings) / "deploy-friday.md"
    path.write_text(path.read_text().replace("created_at:", f"{key}\ncreated_at:"), encoding="utf-8")
    assert (ask(settings).status, ask(settings).given) == ("stale", ())


def test_a_removed_block_is_given_no_more_and_the_next_best_is(home: HomeBuilder, settings: Settings) -> None:
    home.block("deploy-monday", "Deploy the billing service on Monday, or on Friday morning.", "when we deploy")
    ingest(settings)
    assert set(names(ask(settings))) == {"deploy-friday", "deploy-monday"}
    (memory(settings) / "deploy-friday.md").unlink()
    assert (ask(settings).status, names(ask(settings))) == ("stale", ["deploy-monday"])
    (memory(settings) / "deploy-monday.md").unlink()
    assert (ask(settings).status, ask(settings).given) == ("stale", ())


def test_a_damaged_block_is_given_and_told(settings: Settings) -> None:
    path = memory(settings) / "deploy-friday.md"
    path.write_bytes(path.read_bytes() + b"\xff\xfe")
    ingest(settings)
    found = ask(settings)
    assert (found.status, names(found)) == ("damaged", ["deploy-friday"])
    assert "UTF-8" in found.notes[0]


@pytest.mark.parametrize("is_indexed", [True, False], ids=["held", "never indexed"])
def test_what_cannot_be_read_is_named(is_indexed: bool, home: HomeBuilder, settings: Settings) -> None:
    path = memory(settings) / "deploy-friday.md"
    make.make_unreadable(path)
    if is_indexed:
        ingest(settings)
    found = ask(settings)
    assert (found.status, found.given) == ("partial", ())
    assert str(path) in found.notes[-1]
    settings.index_path.unlink()
    found = ask(settings)
    assert (found.status, found.given, found.from_index) == ("partial", (), False)
    assert any(str(path) in note for note in found.notes)


def test_without_an_index_the_files_answer(settings: Settings) -> None:
    expected = ask(settings)
    for name in settings.index_path.parent.iterdir():
        name.unlink()
    found = ask(settings)
    assert (found.given, found.refused, found.terms) == (expected.given, expected.refused, expected.terms)
    assert (found.status, found.from_index) == ("ok", False)
    assert "no index" in found.notes[0]
    assert not settings.index_path.exists()


@pytest.mark.parametrize("damage", ["garbage", "other rules", "older tables", "busy"])
def test_an_index_that_cannot_answer_is_none(damage: str, settings: Settings) -> None:
    holder = None
    if damage == "garbage":
        settings.index_path.write_bytes(b"no database at all" * 100)
    else:
        with closing(sqlite3.connect(settings.index_path, isolation_level=None)) as connection:
            if damage == "other rules":
                connection.execute("UPDATE meta SET value = '1;1;2/2/2;aster=1' WHERE key = 'projection'")
            if damage == "older tables":
                connection.execute("UPDATE meta SET value = '1;1;2/2/2;aster=1' WHERE key = 'projection'")
                for table in ("memory_words", "candidate_rows", "block_names"):
                    connection.execute(f"DROP TABLE {table}")
        if damage == "busy":
            holder = sqlite3.connect(settings.index_path, isolation_level=None)
            holder.execute("PRAGMA locking_mode = exclusive")
            holder.execute("BEGIN EXCLUSIVE")
    try:
        found = ask(settings)
    finally:
        if holder is not None:
            holder.close()
    if damage == "busy" and found.from_index:
        pytest.skip("a reader passes a writer here")
    assert (found.status, names(found), found.from_index) == ("ok", ["deploy-friday"], False)
    assert found.notes


def test_another_agents_notes_are_recalled_in_their_project_alone(home: HomeBuilder, settings: Settings) -> None:
    for folder in ("-w-alpha", "-w-beta"):
        note = home.claude_home / "projects" / folder / "memory" / f"kestrel{folder}.md"
        note.parent.mkdir(parents=True)
        note.write_text(
            f"---\nname: kestrel {folder}\ndescription: how the kestrel gateway restarts\n---\n\nBy hand.\n"
        )
    ingest(settings)
    prompt = "restart the kestrel gateway"
    alpha = ["kestrel-w-alpha"]
    places = {"/w/alpha": alpha, "/w/alpha/src": alpha, "/w/beta": ["kestrel-w-beta"], "/w": [], "": []}
    for cwd, expected in places.items():
        found = ask(settings, prompt, Place(cwd, cwd))
        assert names(found) == expected, cwd
        assert found.status in ("ok", "nothing_relevant")
        assert {given.verdict.candidate.agent for given in found.given} <= {"claude-code"}


def test_two_runs_give_the_same_answer_and_read_only(settings: Settings) -> None:
    before = {path: path.read_bytes() for path in settings.index_path.parent.iterdir()}
    assert ask(settings) == ask(settings)
    assert {path: path.read_bytes() for path in settings.index_path.parent.iterdir()} == before


def test_nothing_heavy_is_imported_by_a_recall(settings: Settings) -> None:
    probe = """
import sys
from pathlib import Path
from index.recall.recall import recall_memory
from index.recall.turns import recall_turns
from index.settings import load_settings
from persist.places import current_environment
from persist.recall.scope import place_of
settings = load_settings(current_environment(), Path.cwd(), sys.argv[1])
place = place_of("/w/alpha")
found = recall_memory(settings, sys.argv[2], place, "2026-11-30T12:00:00.000Z")
turns = recall_turns(settings, sys.argv[2], place, "2026-11-30T12:00:00.000Z")
print(found.from_index, len(found.given), len(turns.hits))
heavy = ("sqlalchemy", "alembic", "pydantic", "ulid", "rich", "typer", "asyncio", "filelock", "yaml")
print([name for name in heavy if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", probe, settings.index_path, PROMPT],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "True 1 0\n[]\n"
