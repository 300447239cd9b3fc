"""From a block or a fact to the turn that it comes from, and from a session to what it wrote, on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from persist.memory import MemoryStore
from tests.builders import HomeBuilder, aster_header, aster_prompt, at, claude_prompt, claude_tool_call
from tests.cli.conftest import Run

SESSION = "01k5p3aaaaaaaaaaaaaaaaaaaa"
CLAUDE = "3f6d2c1e-0000-4000-8000-000000000001"


def call(name: str, arguments: str, minute: float) -> dict[str, object]:
    function = {"name": name, "arguments": arguments}
    return {
        "type": "message", "role": "assistant", "ts": at(minute),
        "tool_calls": [{"id": f"c{minute}", "type": "function", "function": function}],
    }  # fmt: skip


def line(op: str, minute: float, **keys: str) -> dict[str, str]:
    return {"ts": at(minute), "op": op, **keys}


@pytest.fixture
def home(isolated: Path) -> HomeBuilder:
    """A session that kept a block by the tool, one by hand and a fact, and one of Claude Code that ran the command."""
    home = HomeBuilder(isolated)
    home.aster(
        SESSION,
        aster_header(SESSION, 0),
        aster_prompt("When may we deploy?", 1),
        call("remember", '{"note":"Tuesday.","title":"Deploy window"}', 2),
        aster_prompt("And keep the fact.", 3),
        call("remember", '{"note":"Main is protected."}', 4),
        aster_prompt("Thanks.", 20),
    )
    home.claude(
        CLAUDE,
        claude_prompt("Keep the port.", CLAUDE, "u1", 1),
        claude_tool_call("t1", CLAUDE, "u2", 2, command="asx remember --title Port 'It is 5432.'"),
    )
    for name in ("deploy-window", "by-hand", "port", "unknown"):
        home.block(name, f"{name} is here.")
    home.facts("Main is protected.", "By nobody known.")
    home.journal(
        line("remember", 2.1, name="deploy-window", source_session=SESSION),
        line("append_project", 4.1, detail="Main is protected.", source_session=SESSION),
        line("remember", 5, name="by-hand", source_session=SESSION),
        line("remember", 2.5, name="port", source_session=CLAUDE),
        line("remember", 6, name="unknown", source_session="telegram-1"),
    )
    return home


@pytest.mark.parametrize("indexed", [True, False], ids=["with an index", "without"])
@pytest.mark.parametrize(
    ("name", "session", "event", "rule", "text"),
    [
        ("deploy-window", SESSION, "tool_call", "named", '{"note":"Tuesday.","title":"Deploy window"}'),
        ("ASTER.md:3", SESSION, "tool_call", "named", '{"note":"Main is protected."}'),
        ("by-hand", SESSION, "user_message", "time", "And keep the fact."),
        ("port", CLAUDE, "tool_call", "named", "asx remember --title Port"),
    ],
)
def test_a_note_leads_to_the_event_that_it_comes_from(
    name: str, session: str, event: str, rule: str, text: str, indexed: bool, home: HomeBuilder, run: Run
) -> None:
    if indexed:
        assert run("ingest", "--quiet").code == 0
    told = run("show", "--block", name, "--json").json()
    assert told["block"]["name"] == name
    assert told["session"]["id"] == session
    assert told["event"]["event_type"] == event
    assert text in (told["event"]["text"] or "") + (told["event"]["tool_arguments"] or "")
    assert (told["provenance"]["rule"], told["provenance"]["session_id"]) == (rule, session)
    shown = run("show", "--block", name)
    assert told["block"]["body"] in shown.stdout
    assert f":{told['event']['index']} --around 5" in shown.stderr
    if not indexed:
        return
    around = shown.stderr.split("asx show ")[1].split()[0]
    assert run("show", around, "--json").json()["event"] == told["event"]


def test_what_is_not_known_is_said(home: HomeBuilder, run: Run) -> None:
    by_nobody = run("show", "--block", "ASTER.md:4")
    assert (by_nobody.code, by_nobody.stdout) == (0, "By nobody known.\n")
    assert "neither its header nor the journal names the session" in by_nobody.stderr
    told = run("show", "--block", "unknown", "--json").json()
    assert (told["session"], told["event"], told["provenance"]["session_id"]) == (None, None, "telegram-1")
    assert "no session 'telegram-1'" in told["provenance"]["trouble"]
    assert "telegram-1 cannot be shown" in run("show", "--block", "unknown").stderr
    missing = run("show", "--block", "ASTER.md:99")
    assert (missing.code, "no fact 'ASTER.md:99'" in missing.stderr) == (1, True)


def test_any_line_of_a_fact_names_it(home: HomeBuilder, run: Run) -> None:
    facts = "- one\n\n  more of it\n\n      and code\n- two\n"
    (home.aster_home / "memory" / "ASTER.md").write_text(facts, encoding="utf-8")
    for line in (1, 2, 3, 5):
        assert run("memory", "show", f"ASTER.md:{line}").stdout.splitlines() == ["one", "more of it", "and code"]
    assert run("memory", "show", "ASTER.md:6").stdout == "two\n"


def test_what_a_plan_wrote_leads_to_the_session_as_a_whole(home: HomeBuilder, run: Run) -> None:
    store = MemoryStore(home.aster_home / "memory")
    done = store.apply({"session": SESSION, "new": [{"title": "Rates", "text": "Weekly."}], "lessons": ["Be kind."]})
    told = run("show", "--block", "Rates", "--json").json()
    assert (told["event"]["text"], told["provenance"]["rule"]) == ("Thanks.", "consolidated")
    assert told["provenance"]["step"] == done.step
    fact = run("show", "--block", "ASTER.md:5", "--json").json()
    assert (fact["block"]["body"], fact["provenance"]["rule"]) == ("Be kind.", "consolidated")
    listed = run("memory", "list", "--session", SESSION, "--json").json()
    assert {block["name"]: block["told_by"] for block in listed["blocks"]} == {
        "deploy-window": ["journal"], "by-hand": ["journal"], "rates": ["header", "journal"],
    }  # fmt: skip
    assert [fact["name"] for fact in listed["facts"]] == ["ASTER.md:3", "ASTER.md:5"]


def test_a_session_leads_to_what_it_wrote(home: HomeBuilder, run: Run) -> None:
    shown = run("memory", "list", "--session", "01k5p3")
    assert shown.code == 0
    assert [text.split()[1] for text in shown.stdout.splitlines()[1:3]] == ["by-hand", "deploy-window"]
    assert "ASTER.md:3" in shown.stdout
    assert run("memory", "archive", "by-hand").code == 0
    assert run("forget", "deploy-window").code == 0
    less = run("memory", "list", "--session", SESSION)
    assert "by-hand" not in less.stdout
    assert "1 archived block left out: --archived" in less.stderr
    assert "gone since: deploy-window; see: asx memory log" in less.stderr
    whole = run("memory", "list", "--archived", "--session", SESSION, "--json").json()
    assert [(block["name"], block["archived"]) for block in whole["blocks"]] == [("by-hand", True)]
    assert whole["gone"] == ["deploy-window"]
    nothing = run("memory", "list", "--session", "nobody-has-it")
    assert (nothing.code, nothing.stdout) == (1, "")
    assert "nothing in" in nothing.stderr
