"""Public faults of discovery and of sessions told by several files, at the command line: one command, real files."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from tests import builders as make
from tests.builders import HomeBuilder
from tests.conftest import Asx


@pytest.fixture
def home(isolated: Path) -> HomeBuilder:
    return HomeBuilder(isolated)


def talk(session: str, text: str, **keys: Any) -> list[make.Record]:
    answered = make.claude_answer(
        f"as to {text}", session, f"{session}-2", 2, message_id=f"{session}-m", output_tokens=5
    )
    return [make.claude_prompt(text, session, f"{session}-1", 1, **keys), {**answered, **keys}]


def query(asx: Asx, sql: str) -> Any:
    return asx("query", sql, "--json").json()["rows"]


def test_b01_each_folder_of_the_records_is_a_project_of_its_own(home: HomeBuilder, asx: Asx) -> None:
    folders = ("/w/shop-api", "/w/shop.api", "/w/shop_api")
    for number, cwd in enumerate(folders):
        home.claude(f"s{number}", *talk(f"s{number}", "heron", cwd=cwd), project="-w-shop-api")
    assert asx("ingest", "--quiet").code == 0
    listed = asx("sessions", "list", "--all", "--json").json()["sessions"]
    assert sorted(session["project"] for session in listed) == sorted(folders)
    for number, cwd in enumerate(folders):
        (only,) = asx("sessions", "list", "--project", cwd, "--json").json()["sessions"]
        assert (only["id"], only["cwd"]) == (f"s{number}", cwd)


def test_b03_no_folder_at_all_is_told_by_name_and_empties_nothing(home: HomeBuilder, asx: Asx) -> None:
    home.claude("s", *talk("s", "heron"))
    assert asx("ingest", "--quiet").code == 0
    home.claude_home.rename(home.home / "away")
    told = asx("ingest")
    assert told.code != 0
    assert str(home.claude_home) in told.stderr
    assert query(asx, "SELECT text FROM prompts") == [["heron"]]


def test_b03_a_machine_without_any_agent(home: HomeBuilder, asx: Asx) -> None:
    told = asx("ingest")
    assert told.code == 1
    assert "no agent's folder was found; looked at " in told.stderr
    for path in (home.claude_home, home.aster_home, home.home / ".codex", home.home / ".pi"):
        assert str(path) in told.stderr
    assert asx("ingest", "--json").code == 1


def test_b07_a_session_that_was_compressed_since_is_named(home: HomeBuilder, asx: Asx) -> None:
    path = home.claude("s", *talk("s", "heron"))
    home.claude("t", *talk("t", "egret"))
    assert asx("ingest", "--quiet").code == 0
    compressed = path.with_name("s.jsonl.gz")
    compressed.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    told = asx("ingest", "--json").json()
    assert told["agents"]["claude-code"]["sources"]["removed"] == 1
    assert [problem["path"] for problem in told["problems"]] == [str(compressed)]
    assert "compressed" in told["problems"][0]["message"]
    assert told["lines"]["damaged"] == 0
    assert query(asx, "SELECT text FROM prompts") == [["egret"]]


def test_b07_what_is_not_read_is_counted_by_kind(home: HomeBuilder, asx: Asx) -> None:
    path = home.claude("s", *talk("s", "heron"))
    for name in ("t.jsonl.gz", "u.jsonl.gz"):
        path.with_name(name).write_bytes(gzip.compress(path.read_bytes()))
    path.with_name("v.jsonl").mkdir()
    told = asx("ingest")
    assert "by kind: 2 compressed, 1 not a file" in told.stderr
    assert query(asx, "SELECT text FROM prompts") == [["heron"]]


def test_b09_what_the_agent_deleted_leaves_with_its_hits_and_the_history_stays(home: HomeBuilder, asx: Asx) -> None:
    paths = [home.claude(f"s{number}", *talk(f"s{number}", f"heron {number}")) for number in range(5)]
    home.claude_history(*(make.claude_history_entry(f"heron {number}", f"s{number}", number) for number in range(5)))
    assert asx("ingest", "--quiet").code == 0
    for path in paths[:2]:
        path.unlink()
    assert asx("ingest", "--json").json()["agents"]["claude-code"]["sources"]["removed"] == 2
    hits = asx("search", "heron", "--in", "answers", "--json").json()
    assert hits["total"] == 3
    known = "SELECT session_id, in_transcript FROM prompt_history ORDER BY 1"
    after = [["s0", 0], ["s1", 0], ["s2", 1], ["s3", 1], ["s4", 1]]
    assert query(asx, known) == after
    assert asx("verify").code == 0
    assert asx("rebuild", "--quiet").code == 0
    assert query(asx, known) == after


def test_b10_what_is_no_session_is_named_and_an_exported_copy_counts_nothing_twice(home: HomeBuilder, asx: Asx) -> None:
    records = talk("s", "heron")
    home.claude("s", *records)
    home.claude("s", *records, project="exports")
    home.claude("events", {"level": "info"}, {"level": "warn"})
    home.claude("numbers", b"1", b"2")
    home.claude("empty")
    told = asx("ingest", "--json").json()
    not_ours = {Path(problem["path"]).stem: problem["message"] for problem in told["problems"]}
    assert not_ours.keys() == {"events", "numbers", "empty"}
    assert all(not_ours.values())
    assert query(asx, "SELECT session_id, turns FROM sessions") == [["s", 1]]
    assert query(asx, "SELECT count(*), sum(output_tokens) FROM llm_calls") == [[1, 5]]
    (only,) = asx("sessions", "list", "--all", "--with-children", "--json").json()["sessions"]
    assert (only["with_children"]["calls"], only["with_children"]["output_tokens"]) == (1, 5)


@pytest.mark.parametrize("order", [("p1", "p2"), ("p2", "p1")])
def test_b30_a_session_of_two_folders_is_shown_whole(order: tuple[str, str], home: HomeBuilder, asx: Asx) -> None:
    records = [make.claude_prompt(f"swallow {number}", "twice", f"u{number}", number) for number in range(6)]
    for project in order:
        home.claude("twice", *(records[:4] if project == "p1" else records), project=project)
        assert asx("ingest", "--quiet").code == 0
    told = asx("sessions", "show", "twice", "--json").json()
    assert [event["text"] for event in told["events"] if event["canonical"]] == [f"swallow {n}" for n in range(6)]
    assert (told["turns"], len(told["paths"]), told["with_children"]["turns"]) == (6, 2, 6)
    assert asx("search", "swallow", "--json").json()["total"] == 6


def test_b34_a_summary_stands_beside_what_it_sums_up(home: HomeBuilder, asx: Asx) -> None:
    """Aster's and Claude Code's: marked as what it is, and no prompt; the words themselves are found first."""
    typed = [make.aster_prompt(f"swallow {number}", number) for number in range(8)]
    summary = {"type": "summary", "content": "swallow, all of it", "replaces_through": 4, "ts": make.at(5.5)}
    home.aster("a", make.aster_header("a", 0), *typed[:6], summary, *typed[6:])
    prompts = [make.claude_prompt(f"swallow {number}", "c", f"u{number}", number) for number in range(8)]
    compact = make.claude_prompt("swallow, summed up", "c", "u-summary", 5.5, isCompactSummary=True)
    home.claude("c", *prompts[:6], compact, *prompts[6:])
    assert asx("ingest", "--quiet").code == 0
    assert query(asx, "SELECT agent, turns FROM sessions ORDER BY 1") == [["aster", 8], ["claude-code", 8]]
    marked = "SELECT text, is_prompt FROM events WHERE event_type = 'context_compaction_result' ORDER BY 1"
    assert query(asx, marked) == [["swallow, all of it", 0], ["swallow, summed up", 0]]
    found = asx("search", "swallow", "--all", "--json").json()
    assert sorted((hit["text"], hit["count"]) for hit in found["hits"]) == [(f"swallow {n}", 2) for n in range(8)]
    assert {hit["event_type"] for hit in found["hits"]} == {"user_message"}
    both = asx("search", "swallow", "--in", "answers", "--json").json()
    assert {hit["event_type"] for hit in both["hits"]} == {"context_compaction_result"}
    for best_first in (["--sort", "relevance"], ["--words"], ["--regex", "--sort", "relevance"]):
        ranked = asx("search", "swallow", "--in", "prompts,answers", *best_first, "--json").json()["hits"]
        assert [hit["event_type"] for hit in ranked] == ["user_message"] * 8 + ["context_compaction_result"] * 2
    assert "  summary  " in asx("search", "all of it", "--in", "answers").stdout
