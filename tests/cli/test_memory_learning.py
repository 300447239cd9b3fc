"""``memory mark``, ``decay`` and ``review`` as typed, and every case of the evals that is about age and succession.

The memory of a case is written as files with the dates that it tells; the commands are the real ones.
"""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from persist.memory.blocks import list_blocks
from persist.memory.journal import iter_operations
from persist.memory.standing import noted, standings
from tests import builders as make
from tests.builders import HomeBuilder
from tests.cli.conftest import Run
from tests.conftest import REPOSITORY, Asx

EVALS: Final = yaml.safe_load((REPOSITORY / "tests" / "evals" / "memory-evals.yaml").read_text())
OPERATIONS: Final = {"recalled": "recall", "edited": "remember", "created": "remember", "superseded": "supersede"}
NOW: Final = str(EVALS["now"])


def cases(group: str) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in EVALS["cases"] if case["group"] == group]


@pytest.fixture
def memory(isolated: Path) -> Path:
    folder = isolated / ".local" / "share" / "aster" / "memory"
    folder.mkdir(parents=True)
    return folder


def write_case(memory: Path, case: dict[str, Any]) -> None:
    """Write a case's blocks and journal as the files of a memory."""
    stored = EVALS["stores"].get(case.get("store"), {}).get("blocks", [])
    for block in {block["name"]: block for block in [*stored, *case.get("blocks", [])]}.values():
        fields = {
            "name": block["name"],
            "description": block["description"],
            "created_at": f"{block.get('created', '2026-09-01')}T00:00:00+00:00",
            "kind": block.get("kind", "fact"),
            "superseded_by": block.get("superseded_by"),
            "pinned": "true" if block.get("pinned") else None,
        }
        lines = "".join(f"{key}: {value}\n" for key, value in fields.items() if value)
        (memory / f"{block['name']}.md").write_text(f"---\n{lines}---\n\n{block['body']}\n")
    with (memory / "journal.jsonl").open("w") as journal:
        for event in case.get("journal", []):
            line = {
                "ts": f"{event['at']}T12:00:00.000Z",
                "op": OPERATIONS.get(event["event"], event["event"]),
                "name": event["name"],
            }
            journal.write(json.dumps({**line, "by": event["by"]} if "by" in event else line) + "\n")


@pytest.mark.parametrize("case", cases("decay"))
def test_a_decay_case_of_the_evals(case: dict[str, Any], memory: Path, run: Run) -> None:
    write_case(memory, case)
    before = {path.name: path.read_bytes() for path in memory.glob("*.md")}
    archived = sorted(case["expect"].get("archived", []))
    dry = run("memory", "decay", "--as-of", NOW, "--json").json()
    assert (dry["dry_run"], [item["name"] for item in dry["items"]]) == (True, archived)
    assert {path.name: path.read_bytes() for path in memory.rglob("*.md")} == before
    done = run("memory", "decay", "--as-of", NOW, "--yes", "--json").json()
    assert [(item["name"], item["action"]) for item in done["items"]] == [(name, "archive") for name in archived]
    listed = run("memory", "list", "--archived", "--json").json()["blocks"]
    assert sorted(block["name"] for block in listed if block["archived"]) == archived
    active = {block["name"] for block in listed if not block["archived"]}
    assert active == {name.removesuffix(".md") for name in before} - set(archived)
    assert active >= set(case["expect"].get("active", [])) | set(case["expect"].get("recall", []))
    assert run("memory", "decay", "--as-of", NOW, "--yes", "--json").json()["items"] == []
    for name in archived:
        assert run("memory", "restore", name).code == 0
    assert {path.name: path.read_bytes() for path in memory.glob("*.md")} == before


@pytest.mark.parametrize("case", cases("supersede"))
def test_a_supersede_case_of_the_evals(case: dict[str, Any], memory: Path, run: Run) -> None:
    """What must not come back has a successor, what must come back has none; decay leaves what holds alone."""
    write_case(memory, case)
    assert run("memory", "decay", "--as-of", NOW, "--yes").code == 0
    notes = [noted(block.path.stem, block.note) for block in list_blocks(memory)]
    known = standings(notes, iter_operations(memory), f"{NOW}T00:00:00.000Z")
    assert all(known[name].superseded_by is None for name in case["expect"]["recall"])
    assert all(known[name].superseded_by for name in case["expect"].get("not", []) if name in known)


class TestMark:
    def test_says_which_block_and_is_in_the_journal(self, memory: Path, run: Run) -> None:
        run("remember", "--title", "Retry fixes flake", "Just retry.")
        told = run("memory", "mark", "Retry", "fixes", "flake", "harmful", "--session", "s1")
        assert (told.code, told.stdout, told.stderr) == (0, "retry-fixes-flake\n", "")
        again = run("memory", "mark", "retry-fixes-flake", "helpful", "--json").json()
        assert (again["ok"], again["kind"], again["name"], again["version"]) == (
            True,
            "block",
            "retry-fixes-flake",
            None,
        )
        entries = run("memory", "log", "--json").json()["entries"]
        assert [(entry["op"], entry["name"], entry["source_session"]) for entry in entries[:2]] == [
            ("helpful", "retry-fixes-flake", None),
            ("harmful", "retry-fixes-flake", "s1"),
        ]
        assert (memory / "journal.jsonl").read_bytes().count(b"\n") == 3

    def test_what_cannot_be_marked(self, memory: Path, run: Run) -> None:
        run("remember", "--title", "Package manager", "uv is used.")
        wrong = run("memory", "mark", "package-manager", "good")
        assert (wrong.code, wrong.stdout) == (2, "")
        assert "'good' is neither helpful nor harmful" in wrong.stderr
        gone = run("memory", "mark", "package-manger", "helpful")
        assert (gone.code, gone.stdout) == (1, "")
        assert "did you mean package-manager" in gone.stderr
        assert run("memory", "mark", "helpful").code == 2
        assert (memory / "journal.jsonl").read_bytes().count(b"\n") == 1

    def test_the_index_follows(self, run: Run) -> None:
        run("remember", "--title", "uv", "uv is used.")
        assert run("ingest", "--quiet").code == 0
        run("memory", "mark", "uv", "helpful")
        rows = run("query", "--json", "SELECT op, name FROM memory_journal ORDER BY line_number").json()["rows"]
        assert rows == [["remember", "uv"], ["helpful", "uv"]]
        assert run("verify").code == 0


class TestDecay:
    def test_as_people_read_it(self, memory: Path, run: Run) -> None:
        assert run("memory", "decay").stderr == "0 blocks would be archived, 0 blocks stay\n"
        run("remember", "--title", "Branch", "--kind", "note", "spike-3")
        run("remember", "--title", "Main", "--pin", "Never push to it.")
        dry = run("memory", "decay", "--as-of", "2090-01-01")
        assert dry.stdout.splitlines()[1].startswith("branch  note, untouched for ")
        assert dry.stderr == "1 block would be archived, 1 block stays; --yes archives\n"
        assert (memory / "branch.md").exists()
        done = run("memory", "decay", "--as-of", "2090-01-01", "-y")
        assert done.stderr == "1 block archived, 1 block stays; asx memory restore NAME brings one back\n"
        assert (memory / ".archive" / "branch.md").exists()
        assert (
            run("memory", "log", "--json", "--limit", "1").json()["entries"][0]["detail"].startswith("note, untouched")
        )
        assert run("memory", "decay", "--as-of", "soon").code == 2

    def test_a_dry_run_leaves_the_index_and_the_files_as_they_are(self, memory: Path, run: Run, isolated: Path) -> None:
        run("remember", "--title", "Branch", "--kind", "note", "spike-3")
        run("ingest", "--quiet")

        def everything() -> dict[str, tuple[int, int]]:
            files = (path for path in isolated.rglob("*") if path.is_file())
            return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in files}

        before = everything()
        assert len(run("memory", "decay", "--as-of", "2090-01-01", "--json").json()["items"]) == 1
        assert run("memory", "review").code == 1  # a block as young as this is nothing to see to
        assert everything() == before
        assert (memory / "branch.md").exists()

    def test_the_index_follows_when_many_blocks_go_at_once(self, memory: Path, run: Run) -> None:
        for number in range(12):
            (memory / f"old-{number}.md").write_text("---\ncreated_at: 2020-01-01\n---\n\nneedle\n")
        run("ingest", "--quiet")
        assert len(run("memory", "decay", "--yes", "--json").json()["items"]) == 12
        rows = run("query", "--json", "SELECT archived, count(*) FROM memory_blocks GROUP BY 1").json()["rows"]
        assert rows == [[1, 12]]
        assert run("verify").code == 0

    def test_what_cannot_be_archived_is_told(self, memory: Path, run: Run) -> None:
        for name in ("a", "b"):
            (memory / f"{name}.md").write_text("---\ncreated_at: 2020-01-01\n---\n\ntext\n")
        (memory / ".archive" / "a.md").mkdir(parents=True)
        told = run("memory", "decay", "--yes", "--json")
        assert told.code == 6
        assert [item["name"] for item in told.json()["items"]] == ["b"]
        assert len(told.json()["problems"]) == 1
        assert told.stderr.startswith("left: ")


class TestReview:
    def test_as_people_read_it(self, memory: Path, run: Run) -> None:
        nothing = run("memory", "review")
        assert (nothing.code, nothing.stdout) == (1, "")
        assert nothing.stderr == f"nothing to see to in 0 blocks and 0 facts in {memory}\n"
        memory.mkdir(parents=True, exist_ok=True)
        (memory / "uv.md").write_text("---\nname: uv\ndescription: uv\ncreated_at: 2020-01-01\n---\n\nuv is used.\n")
        run("remember", "the password: hunter22x")
        found = run("memory", "review")
        assert found.code == 0
        rows = [line for line in found.stdout.splitlines()[1:] if not line.startswith(" ")]  # a reason may be longer
        assert [line.split()[:2] for line in rows] == [
            ["ASTER.md:3", "secret"],
            ["uv", "never_recalled"],
        ]
        assert found.stderr == f"2 findings in 1 block and 1 fact in {memory}\n"
        assert "hunter22x" not in found.stdout + found.stderr + run("memory", "review", "--json").stdout

    @pytest.mark.parametrize("indexed", [False, True])
    def test_links_to_sessions_are_looked_up_everywhere(self, indexed: bool, run: Run, isolated: Path) -> None:
        home = HomeBuilder(isolated)
        home.claude("c-1234-session", make.claude_prompt("hello there", "c-1234-session", "u1", 1))
        started = run("sessions", "start", "--json").json()["id"]
        links = {
            "there": started, "prefix": started[:8], "other": "c-1234-session",
            "with-agent": "claude-code:c-1234-session",
            "gone": "01m3y9fha0vhf161j4dztyjypy", "chat": "telegram-48151623",
        }  # fmt: skip
        for title, session in links.items():
            run("remember", "--title", title, "--session", session, f"text of {title}")
        if indexed:
            run("ingest", "--quiet")
        items = run("memory", "review", "--json").json()["items"]
        assert [item["name"] for item in items if item["finding"] == "broken_source"] == ["chat", "gone"]

    def test_a_session_that_only_the_index_knows_is_no_broken_link(self, run: Run, isolated: Path) -> None:
        home = HomeBuilder(isolated)
        path = home.claude("gone-4711", make.claude_prompt("hello there", "gone-4711", "u1", 1))
        run("remember", "--title", "uv", "--session", "gone-4711", "uv is used.")
        run("ingest", "--quiet")
        path.unlink()

        def broken() -> list[str]:
            items = run("memory", "review", "--json").json()["items"]
            return [item["name"] for item in items if item["finding"] == "broken_source"]

        assert broken() == []
        for file in (isolated / ".cache" / "aster-index").iterdir():
            file.unlink()
        assert broken() == ["uv"]

    def test_an_index_that_cannot_be_asked_is_told(self, run: Run, isolated: Path) -> None:
        run("remember", "--title", "uv", "--session", "nowhere-1", "uv is used.")
        index = isolated / ".cache" / "aster-index" / "index.sqlite"
        index.parent.mkdir(parents=True)
        index.write_bytes(b"no database" * 100)
        told = run("memory", "review")
        assert "sessions were looked for among the files only" in told.stderr
        assert "broken_source" in told.stdout

    def test_a_configuration_that_cannot_be_read_costs_the_links_alone(self, run: Run, isolated: Path) -> None:
        run("remember", "--title", "uv", "--session", "nowhere-1", "uv is used.")
        config = isolated / ".config" / "aster-index" / "config.yaml"
        config.parent.mkdir(parents=True)
        config.write_text("agents: [")
        told = run("memory", "review")
        assert told.code == 1
        assert "links to sessions were not looked at" in told.stderr

    def test_a_block_that_was_made_just_now_was_never_recalled_and_is_no_finding(self, memory: Path, run: Run) -> None:
        run("remember", "--title", "uv", "uv is used.")
        told = run("memory", "review")
        assert (told.code, told.stderr) == (1, f"nothing to see to in 1 block and 0 facts in {memory}\n")


def test_learning_end_to_end_in_fresh_processes(asx: Asx) -> None:
    """What helped stays where its twin is archived; what harmed goes, comes back when restored, and then stays."""
    for title in ("Release checklist", "Office move", "Retry the flake"):
        assert asx("remember", "--title", title, "--kind", "note", f"How: {title}.").code == 0
    assert asx("memory", "mark", "Release checklist", "helpful").code == 0
    for _ in range(2):
        assert asx("memory", "mark", "Retry the flake", "harmful").code == 0
    now = asx("memory", "decay", "--yes", "--json").json()
    assert [item["name"] for item in now["items"]] == ["retry-the-flake"]
    assert asx("recall", "Retry the flake").code == 1
    assert asx("memory", "restore", "Retry the flake").code == 0
    assert asx("recall", "Retry the flake").code == 0
    assert asx("memory", "decay", "--yes", "--json").json()["items"] == []
    later = str(date.today() + timedelta(days=120))
    then = asx("memory", "decay", "--yes", "--as-of", later, "--json").json()
    assert [item["name"] for item in then["items"]] == ["office-move"]
    assert asx("recall", "Release checklist").code == 0
