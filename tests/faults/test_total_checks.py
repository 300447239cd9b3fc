"""Public faults of places and totals at the command line: which folder is read, who typed, what counts, which day."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import builders as make
from tests.builders import HomeBuilder
from tests.conftest import Asx

SPRING = ("2026-03-28T22:30:00Z", "2026-03-28T23:30:00Z", "2026-03-29T00:30:00Z", "2026-03-29T21:30:00Z",
          "2026-03-29T22:30:00Z")  # fmt: skip
ZONES = ("UTC", "America/New_York", "Asia/Kolkata", "Europe/Berlin")


@pytest.fixture
def home(isolated: Path) -> HomeBuilder:
    return HomeBuilder(isolated)


def asked(asx: Asx, sql: str, **env: str) -> Any:
    return asx("query", sql, "--json", env=env).json()["rows"]


PLACES = {
    "aster": ("ASTER_HOME", ".local/share/aster", "sessions/p/{}.jsonl"),
    "aether": ("AETHER_HOME", ".aether", "sessions/{}.jsonl"),
    "claude-code": ("CLAUDE_CONFIG_DIR", ".claude", "projects/p/{}.jsonl"),
    "codex": ("CODEX_HOME", ".codex", "sessions/2026/01/01/rollout-2026-01-01T00-00-00-{}.jsonl"),
    "pi": ("PI_CODING_AGENT_SESSION_DIR", ".pi/agent/sessions", "--p--/1_{}.jsonl"),
}


def put(agent: str, root: Path, session: str) -> None:
    records: dict[str, list[make.Record]] = {
        "aster": [make.aster_header(session, 0), make.aster_prompt(f"heron {session}", 1)],
        "aether": [make.aether_metadata(session, 0), make.aether_prompt(f"heron {session}")],
        "claude-code": [make.claude_prompt(f"heron {session}", session, f"u-{session}", 1)],
        "codex": [make.codex_header(session, 0), make.codex_prompt(f"heron {session}", 1)],
        "pi": [make.pi_header(session, 0), make.pi_prompt(f"heron {session}", f"e-{session}", 1)],
    }
    path = root / PLACES[agent][2].format(session)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(make.lines(*records[agent]))


@pytest.mark.parametrize("agent", PLACES)
def test_b02_the_root_that_a_variable_names_is_read_alone_and_named(
    agent: str, isolated: Path, tmp_path: Path, asx: Asx
) -> None:
    variable, default, _ = PLACES[agent]
    put(agent, isolated / default, "sa")
    put(agent, tmp_path / "moved", "sb")
    moved = {variable: f"{tmp_path}/moved/"}
    told = asx("ingest", "--json", env=moved).json()
    assert told["agents"][agent]["roots"] == [f"{tmp_path}/moved"]
    assert asked(asx, "SELECT session_id FROM sessions") == [["sb"]]


@pytest.mark.parametrize("agent", PLACES)
def test_b02_a_second_spelling_of_the_default_is_the_same_root(agent: str, isolated: Path, asx: Asx) -> None:
    variable, default, _ = PLACES[agent]
    put(agent, isolated / default, "sa")
    (isolated / "x").mkdir()
    spelled = f"{isolated}/x/../{default}/"
    for env in ({}, {variable: spelled}):
        told = asx("ingest", "--root", f"{agent}={spelled}", "--json", env=env).json()
        assert told["agents"][agent]["roots"] == [f"{isolated}/{default}"]
        assert asked(asx, "SELECT session_id, turns FROM sessions") == [["sa", 1]]


@pytest.mark.parametrize("agent", PLACES)
def test_b03_a_missing_folder_that_was_named_is_told_and_stops_nothing(
    agent: str, isolated: Path, tmp_path: Path, asx: Asx
) -> None:
    others = [name for name in PLACES if name != agent][:2]
    for other in others:
        put(other, isolated / PLACES[other][1], "sa")
    gone = f"{tmp_path}/gone"
    told = asx("ingest", env={PLACES[agent][0]: gone})
    assert told.code == 0
    assert f"{gone} does not exist; nothing was read there" in told.stderr.splitlines()
    assert asked(asx, "SELECT agent FROM sessions ORDER BY 1") == [[name] for name in sorted(others)]
    assert "does not exist" not in asx("ingest").stderr  # nobody named the default places of agents that are not used


def test_b03_a_missing_root_of_the_configuration_is_told_too(home: HomeBuilder, tmp_path: Path, asx: Asx) -> None:
    put("claude-code", home.claude_home, "sa")
    config = home.home / ".config" / "aster-index" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(f"roots: {{codex: ['{tmp_path}/gone']}}\n", encoding="utf-8")
    told = asx("ingest", env={"XDG_CONFIG_HOME": str(home.home / ".config")})
    assert (told.code, f"{tmp_path}/gone does not exist" in told.stderr) == (0, True)


def test_b24_machine_text_is_no_prompt_and_no_title(home: HomeBuilder, asx: Asx) -> None:
    results = [make.claude_tool_result(f"t{n}", "heron ok", "s", f"r{n}", n) for n in range(5)]
    meta = [make.claude_prompt(f"heron {n}", "s", f"m{n}", n, isMeta=True) for n in range(3)]
    first = make.claude_prompt("open the heron's gate", "s", "h1", 6)
    quoting = "what does <system-reminder>heron</system-reminder> do?"
    home.claude("s", *meta[:2], *results[:3], first, meta[2], *results[3:], make.claude_prompt(quoting, "s", "h2", 9))
    assert asx("ingest", "--quiet").code == 0
    assert asked(asx, "SELECT text FROM prompts ORDER BY event_index") == [["open the heron's gate"], [quoting]]
    assert asked(asx, "SELECT turns, title, first_prompt FROM sessions") == [[2, None, "open the heron's gate"]]
    assert asx("search", "heron", "--json").json()["total"] == 2
    (listed,) = asx("sessions", "list", "--all", "--json").json()["sessions"]
    assert listed["title"] in (None, "open the heron's gate")


@pytest.mark.parametrize("order", ["as written", "copies reversed", "in two ingests"])
def test_b26_the_totals_of_the_public_fault(order: str, data: Path, home: HomeBuilder, asx: Asx) -> None:
    (source,) = (data / "faults" / "B26").rglob("*.jsonl")
    lines = source.read_bytes().splitlines(keepends=True)
    if order == "copies reversed":
        lines[1:4] = lines[3:0:-1]
    path = home.claude_home / "projects" / "p" / source.name
    path.parent.mkdir(parents=True)
    if order == "in two ingests":
        path.write_bytes(b"".join(lines[:3]))
        assert asx("ingest", "--quiet").code == 0
    with path.open("ab" if order == "in two ingests" else "wb") as file:
        file.write(b"".join(lines[3:] if order == "in two ingests" else lines))
    assert asx("ingest", "--quiet").code == 0
    sums = "sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), sum(cache_write_tokens)"
    assert asked(asx, f"SELECT {sums} FROM llm_calls") == [[1140, 205, 800, 100]]
    assert asked(asx, "SELECT (SELECT count(*) FROM prompts), (SELECT count(*) FROM answers)") == [[2, 5]]
    found = asx("search", "Shall", "--in", "answers", "--json").json()
    assert [hit["text"].endswith("sonnetfinal") for hit in found["hits"]] == [True]
    assert asx("search", "zero then real", "--in", "answers", "--json").json()["total"] == 1


@pytest.mark.parametrize("zone", ZONES)
def test_b32_every_command_cuts_days_at_the_same_midnight(zone: str, home: HomeBuilder, asx: Asx) -> None:
    for number, stamp in enumerate(SPRING):
        record = {**make.claude_prompt(f"heron {number}", f"s{number}", f"u{number}", 1), "timestamp": stamp}
        home.claude(f"s{number}", record)
    assert asx("ingest", "--quiet").code == 0
    sql = "SELECT date(ts, 'localtime') AS day, count(*) FROM prompts GROUP BY day ORDER BY day"
    days: dict[str, int] = dict(asked(asx, sql, TZ=zone))
    assert sum(days.values()) == len(SPRING)
    assert asx("query", "--timezone", zone, sql, "--json").json()["rows"] == [list(day) for day in days.items()]
    reported = asx("report", "prompts-by-day", "--json", env={"TZ": zone}).json()
    at = [reported["columns"].index(name) for name in ("day", "prompts")]
    assert {row[at[0]]: row[at[1]] for row in reported["rows"]} == days
    for day, count in days.items():
        span = ("--since", day, "--until", day)
        assert asx("search", "heron", "--all", *span, "--json", env={"TZ": zone}).json()["total"] == count
        for words, env in (((), {"TZ": zone}), (("--timezone", zone), {"TZ": "Pacific/Kiritimati"})):
            only = asx("report", "activity-by-day", *span, *words, "--json", env=env).json()
            assert [(row[0], row[1]) for row in only["rows"]] == [(day, count)]


@pytest.mark.parametrize("agent", ["codex", "pi"])
def test_b34_a_summary_of_codex_and_pi_stands_beside_what_it_sums_up(agent: str, isolated: Path, asx: Asx) -> None:
    said = "swallow, summed up"
    if agent == "codex":
        summary: make.Record = {"timestamp": make.at(5.5), "type": "compacted", "payload": {
            "message": said, "replacement_history": [{"type": "message", "role": "user", "content": [
                {"type": "input_text", "text": f"swallow {number}"}]} for number in range(4)]}}  # fmt: skip
        typed = [make.codex_prompt(f"swallow {number}", number) for number in range(8)]
        records = [make.codex_header("s", 0), *typed[:6], summary, *typed[6:]]
    else:
        summary = {"type": "compaction", "id": "c", "timestamp": make.at(5.5), "summary": said,
                   "firstKeptEntryId": "e4", "tokensBefore": 9}  # fmt: skip
        typed = [make.pi_prompt(f"swallow {number}", f"e{number}", number) for number in range(8)]
        records = [make.pi_header("s", 0), *typed[:6], summary, *typed[6:]]
    path = isolated / PLACES[agent][1] / PLACES[agent][2].format("s")
    path.parent.mkdir(parents=True)
    path.write_bytes(make.lines(*records))
    assert asx("ingest", "--quiet").code == 0
    assert asked(asx, "SELECT turns FROM sessions") == [[8]]
    marked = "SELECT text, is_prompt FROM events WHERE event_type = 'context_compaction_result'"
    assert asked(asx, marked) == [[said, 0]]
    found = asx("search", "swallow", "--in", "all", "--all", "--json").json()
    assert sorted(hit["text"] for hit in found["hits"]) == sorted([said, *(f"swallow {n}" for n in range(8))])
    assert {hit["event_type"] for hit in found["hits"] if hit["text"] == said} == {"context_compaction_result"}
    assert asx("search", "swallow", "--json").json()["total"] == 8


def test_b09_most_files_gone_at_once_are_kept_and_told(home: HomeBuilder, asx: Asx) -> None:
    paths = [home.claude(f"s{n}", make.claude_prompt(f"heron {n}", f"s{n}", f"u{n}", n)) for n in range(5)]
    assert asx("ingest", "--quiet").code == 0
    for path in paths[:3]:
        path.unlink()
    told = asx("ingest")
    assert told.code == 6
    assert "--prune" in told.stderr
    assert asx("search", "heron", "--json").json()["total"] == 5
    assert asx("ingest", "--prune", "--quiet").code == 0
    assert json.loads(asx("search", "heron", "--json").stdout)["total"] == 2
