"""What ``memory list``, ``show`` and ``recall NAME`` say of a block whose header and journal differ: the later holds.

As ``recall --prompt`` and ``memory decay`` judge it: nobody may read of a block what no command goes by.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run

SESSION = "01m3y9fha0vhf161j4dztyjypy"


@pytest.fixture
def memory(isolated: Path, run: Run) -> Path:
    """A pinned block that another program's rewrite left with that program's keys, and one that the journal ends."""
    words = ("remember", "--title", "Main rule", "--pin", "--alias", "force push", "--kind", "decision")
    assert run(*words, "--session", SESSION, "Never push to main.").code == 0
    folder = isolated / ".local" / "share" / "aster" / "memory"
    (folder / "main-rule.md").write_text(
        "---\nname: main-rule\ndescription: Never.\ncreated_at: 2025-01-01T00:00:00+00:00\n"
        "updated_at: 2090-01-01T00:00:00+00:00\n---\n\nNever push to main, ever.\n"
    )
    for name in ("npm", "pnpm"):
        (folder / f"{name}.md").write_text(
            f"---\nname: {name}\ndescription: {name} for the bundle\ncreated_at: 2025-01-01\n---\n\n"
            f"{name} builds the bundle.\n"
        )
    line = {"ts": "2025-02-01T00:00:00.000Z", "op": "supersede", "name": "npm", "by": "pnpm"}
    with (folder / "journal.jsonl").open("a") as journal:
        journal.write(json.dumps(line) + "\n")
    return folder


def looks(run: Run, name: str) -> list[dict[str, Any]]:
    """Return what each command says of a block."""
    listed = run("memory", "list", "--json").json()["blocks"]
    found = [next(block for block in listed if block["name"] == name)]
    found.append(run("memory", "show", name, "--json").json())
    found.append(run("recall", name, "--json").json())
    found.append(run("show", "--block", name, "--json").json()["block"])
    return found


def test_a_pin_that_a_rewrite_dropped_is_told_as_decay_goes_by_it(memory: Path, run: Run) -> None:
    told = looks(run, "main-rule")
    assert [(one["pinned"], one["kind"]) for one in told] == [(True, "decision")] * 4
    assert [one["aliases"] for one in told[1:]] == [["force push"]] * 3
    of_session = run("memory", "list", "--session", SESSION, "--json").json()["blocks"]
    assert [(one["name"], one["pinned"]) for one in of_session] == [("main-rule", True)]
    assert run("recall", "--prompt", "may I force push?").code == 0
    items = run("memory", "decay", "--as-of", "2099-06-01", "--json").json()["items"]
    assert "main-rule" not in [item["name"] for item in items]


def test_a_successor_that_the_journal_alone_names_is_told_as_recall_goes_by_it(memory: Path, run: Run) -> None:
    assert [one["superseded_by"] for one in looks(run, "npm")] == ["pnpm"] * 4
    assert [one["superseded_by"] for one in looks(run, "pnpm")] == [None] * 4
    items = run("recall", "--prompt", "what makes the website bundle?", "--json").json()["items"]
    assert [item["name"] for item in items] == ["pnpm"]


def test_a_fact_is_what_it_was(memory: Path, run: Run) -> None:
    assert run("remember", "Main is protected.").code == 0
    told = run("recall", "ASTER.md:3", "--json").json()
    assert (told["body"], told["pinned"], told["superseded_by"]) == ("Main is protected.", False, None)
