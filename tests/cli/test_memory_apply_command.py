"""``asx memory apply``: a look, the deed and the way back, on the command line, and what the index knows then."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli.commands import memory_apply
from persist.memory import MemoryStore
from tests.cli.conftest import Run
from tests.conftest import Asx
from tests.persist.plan_world import PLAN, blocks, everything, facts, fill

APPLIED = {
    *("schema_version", "ok", "dry_run", "step", "session", "was_done", "was_begun", "done", "left", "open_steps"),
    "journal_error",
}
DONE = {"op", "name", "entry", "title", "path", "is_new", "by", "version", "detail", "changed_since"}


@pytest.fixture
def memory(isolated: Path) -> Path:
    folder = isolated / ".local" / "share" / "aster" / "memory"
    fill(folder)
    return folder


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(PLAN))
    return path


def written(path: Path, **plan: Any) -> Path:
    path.write_text(json.dumps(plan))
    return path


def test_a_look_then_the_deed_then_the_way_back(memory: Path, plan: Path, run: Run) -> None:
    before, known, at_first = blocks(memory), facts(memory), everything(memory)
    looked = run("memory", "apply", plan)
    assert looked.code == 0
    assert [line.split()[0] for line in looked.stdout.splitlines()] == [
        "what", "new", "write", "supersede", "new", "archive", "archive", "write", "supersede", "archive", "add", "add"
    ]  # fmt: skip
    assert looked.stderr.splitlines() == [
        "- Known already.: stands in ASTER.md already", "nothing was changed; --yes does it"
    ]  # fmt: skip
    assert everything(memory) == at_first
    done = run("memory", "apply", plan, "--yes", "--json").json()
    assert set(done) == APPLIED
    assert all(set(one) == DONE for one in done["done"])
    assert (done["ok"], done["dry_run"], done["session"]) == (True, False, PLAN["session"])
    assert (memory / "both.md").is_file()
    again = run("memory", "apply", plan, "--yes")
    assert (again.code, again.stdout) == (0, "")
    assert again.stderr == f"this plan was applied before, as {done['step']}; nothing is left to do\n"
    back = run("memory", "apply", "--revert", done["step"][:10])
    assert "nothing was changed; --yes does it" in back.stderr
    assert [line.split()[0] for line in back.stdout.splitlines()[1:4]] == ["take", "take", "bring"]
    assert (memory / "both.md").is_file()
    assert run("memory", "apply", "--revert", done["step"], "--yes").code == 0
    assert (blocks(memory), facts(memory)) == (before, known)
    assert "was taken back before" in run("memory", "apply", "--revert", done["step"], "--yes").stderr


def test_stdin_and_a_session_from_outside(memory: Path, asx: Asx) -> None:
    text = '```json\n{"lessons": ["One."]}\n```\n'
    done = asx("memory", "apply", "-", "--yes", "--session", "s9", "--json", stdin=text)
    assert (done.code, done.json()["session"]) == (0, "s9")
    named = json.dumps({"session": "s9", "lessons": ["One."]})
    assert asx("memory", "apply", "-", "--yes", "--session", "s9", "--json", stdin=named).json()["was_done"]
    other = asx("memory", "apply", "-", "--yes", "--session", "s8", stdin=named)
    assert (other.code, "the plan names another session, s9" in other.stderr) == (2, True)


def test_faults_are_told_each_on_a_line_and_as_json(memory: Path, tmp_path: Path, run: Run) -> None:
    before = everything(memory)
    bad = written(tmp_path / "bad.json", archive=[{"name": "Nowhere at all", "reason": "r"}], merge=[
        {"from": ["One"], "into": {"title": "One", "text": "x"}}, {"from": ["one"], "into": {"title": "Z", "text": "x"}}
    ])  # fmt: skip
    shown = run("memory", "apply", bad, "--yes")
    assert (shown.code, shown.stdout) == (2, "")
    assert shown.stderr.splitlines() == [
        "asx: the plan has 2 faults, and nothing was changed:",
        "merge[1].from[0]: is about block 'one', as merge[0].into.title is; one entry for each block",
        "archive[0].name: there is no block 'Nowhere at all'; see: asx memory list",
        "hint: asx memory apply --schema prints what a plan may say",
    ]
    error = run("memory", "apply", bad, "--json").json()["error"]
    assert (error["kind"], error["message"].count("\n")) == ("usage", 2)
    one = run("memory", "apply", written(tmp_path / "one.json", lessons=[""]))
    assert "asx: lessons[0]: is empty\n" in one.stderr
    assert everything(memory) == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "give a plan, or --revert and a step, or --schema"),
        (["x.json", "--schema"], "give a plan, or --revert and a step, or --schema"),
        (["x.json", "--revert", "01K"], "give a plan, or --revert and a step, or --schema"),
        (["--revert", "01K", "--session", "s"], "is for a plan that is applied"),
        (["x.json", "--session", " "], "is empty"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_meant_is_a_usage_error(words: list[str], said: str, run: Run, tmp_path: Path) -> None:
    typed = [str(written(tmp_path / "x.json", lessons=["x"])) if word == "x.json" else word for word in words]
    told = run("memory", "apply", *typed)
    assert told.code == 2
    assert said in told.stderr


@pytest.mark.parametrize(
    ("words", "code", "kind"),
    [(["/nowhere/plan.json"], 6, "io"), (["--revert", "01KBVGBANK"], 1, "not_found"), (["/"], 6, "io")],
    ids=["no file", "no step", "a folder"],
)
def test_what_is_not_there(words: list[str], code: int, kind: str, memory: Path, run: Run) -> None:
    told = run("memory", "apply", *words, "--json")
    assert (told.code, told.json()["error"]["kind"]) == (code, kind)


def test_the_schema_stands_alone_on_stdout(run: Run) -> None:
    schema = json.loads(run("memory", "apply", "--schema").stdout)
    assert schema["$schema"].startswith("https://json-schema.org/")
    assert set(schema["properties"]) == {"session", "summary", "new", "merge", "archive", "lessons"}
    assert run("memory", "apply", "--schema", "--json").json()["schema"] == schema


def test_every_word_of_the_journal_has_one_for_a_person() -> None:
    assert set(memory_apply._WORDS) == {"remember", "supersede", "archive", "append_project", "restore", "forget"}


def test_the_index_follows(memory: Path, plan: Path, run: Run) -> None:
    assert run("ingest", "--quiet").code == 0
    step = run("memory", "apply", plan, "--yes", "--json").json()["step"]
    shown = run("search", "--in", "memory", "--no-refresh", "--json", "rates.csv")
    assert [hit["name"] for hit in shown.json()["hits"]] == ["rates"]
    told = run(
        "query", "--json", "SELECT name FROM memory_blocks WHERE archived = 1 AND agent = 'aster' ORDER BY 1"
    ).json()
    assert [row[0] for row in told["rows"]] == ["one", "two", "useless"]
    assert run("memory", "apply", "--revert", step, "--yes").code == 0
    assert run("search", "--in", "memory", "--no-refresh", "rates.csv").code == 1
    told = run(
        "query", "--json", "SELECT name FROM memory_blocks WHERE archived = 0 AND agent = 'aster' ORDER BY 1"
    ).json()
    assert [row[0] for row in told["rows"]] == [
        "beside", "four", "old-host", "one", "over", "three", "two", "useless"
    ]  # fmt: skip
    assert run("verify", "--json").json()["ok"]


def test_a_plan_that_was_cut_short_is_told_of(memory: Path, plan: Path, run: Run, tmp_path: Path) -> None:
    done = MemoryStore(memory).apply(PLAN)
    journal = memory / "journal.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))
    other = run("memory", "apply", written(tmp_path / "other.json", lessons=["Other."]))
    assert (
        f"{done.step} was cut short: apply its plan again, or: asx memory apply --revert {done.step} --yes"
        in other.stderr
    )
    rest = run("memory", "apply", plan)
    assert "the rest of a plan that was cut short; --yes does it" in rest.stderr
    assert run("memory", "apply", plan, "--yes", "--json").json()["was_begun"]
    assert run("memory", "apply", plan, "--json").json()["was_done"]
