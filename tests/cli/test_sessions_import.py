"""``asx sessions import``: what it prints, its exit codes, and that the index counts nothing twice."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests import builders as make
from tests.cli.conftest import OnATerminal, Run
from tests.conftest import Asx
from tests.persist.import_world import (
    CLAUDE_ID,
    CODEX_ID,
    PROJECT,
    World,
    claude_lines,
    files_below,
    said,
    strict_records,
)

FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
TOTALS = (
    "SELECT count(*) FROM prompts",
    "SELECT count(*) FROM answers",
    "SELECT count(*) FROM tool_calls",
    "SELECT count(*) FROM tool_results",
    "SELECT count(*), sum(input_tokens), sum(output_tokens) FROM llm_calls",
    "SELECT count(*) FROM user_messages",
)


@pytest.fixture
def world(isolated: Path) -> World:
    return World(isolated)


def _talk(session_id: str) -> bytes:
    return claude_lines(
        make.claude_prompt("find the xylophone", session_id, "u1", 0),
        make.claude_tool_call("c1", session_id, "u2", 1, command="ls"),
        make.claude_tool_result("c1", "nothing", session_id, "u3", 2),
        make.claude_answer("No xylophone.", session_id, "u4", 3, message_id="m1", output_tokens=7),
    )


def _totals(run: Run) -> list[Any]:
    return [run("query", statement, "--json").json()["rows"] for statement in TOTALS]


def _hits(run: Run, *words: str) -> list[tuple[str, str]]:
    told = run("search", *words, "--json").json()
    return [(hit["agent"], hit["session_id"]) for hit in told["hits"]]


class TestTheIndex:
    """DESIGN 6, "Copies": an import is a copy as a whole while its original is in the index."""

    def test_totals_are_the_same_before_and_after(self, world: World, run: Run) -> None:
        world.samples()
        world.claude("-w-gamma", "a", _talk("a"))
        world.codex("0197d3aa-5555-7222-8333-444455556666", make.lines(
            make.codex_header("0197d3aa-5555-7222-8333-444455556666", 0), make.codex_prompt("two", 1),
            make.codex_answer("three", 2)))  # fmt: skip
        assert run("ingest").code == 0
        before = _totals(run)
        done = run("sessions", "import", "--all", "--from", "claude-code,codex", "--json")
        assert done.code == 0
        assert len(done.json()["sessions"]) == 4
        assert run("ingest").code == 0
        assert _totals(run) == before
        assert run("verify").code == 0

    def test_the_copy_is_found_when_the_original_is_gone_and_hidden_while_it_is_there(
        self, world: World, run: Run
    ) -> None:
        original = world.claude("-w-gamma", "a", _talk("a"))
        other = world.claude("-w-gamma", "b", claude_lines(make.claude_prompt("stays", "b", "b1", 0)))
        assert run("ingest").code == 0
        assert run("sessions", "import", "--all").code == 0
        assert _hits(run, "xylophone") == [("claude-code", "a")]
        original.unlink()
        assert run("ingest", "--prune").code == 0
        assert other.exists()
        assert _hits(run, "xylophone") == [("aster", "claude-a")]
        assert _hits(run, "xylophone", "--in", "answers") == [("aster", "claude-a")]
        world.claude("-w-gamma", "a", _talk("a"))
        assert run("ingest").code == 0
        assert _hits(run, "xylophone") == [("claude-code", "a")]

    def test_what_the_index_does_not_read_is_found_at_once(self, world: World, run: Run) -> None:
        world.samples()
        assert run("ingest").code == 0
        assert _hits(run, "RSS") == []
        assert run("sessions", "import", "--all").code == 0
        assert _hits(run, "--no-refresh", "RSS") == [("aster", "opencode-ses-ab1")]

    def test_no_index_is_needed_and_none_is_made(self, world: World, run: Run) -> None:
        world.samples()
        assert run("sessions", "import", "--all").code == 0
        assert not (world.home / ".cache" / "aster-index").exists()

    def test_an_import_is_not_the_latest_session(self, world: World) -> None:
        from persist.aster.listing import latest, list_sessions

        world.samples().run()
        assert latest(list_sessions([world.data]).sessions) is None


class TestWhatItPrints:
    def test_the_json(self, world: World, run: Run) -> None:
        world.samples()
        done = run("sessions", "import", "--all", "--json")
        told = done.json()
        assert (done.code, told["ok"], told["dry_run"]) == (0, True, False)
        sources = {source["source"]: source for source in told["sources"]}
        assert sources["claude-code"] == {
            "source": "claude-code", "imported": [f"claude-{CLAUDE_ID}"], "skipped_existing": 0, "empty": 0,
            "failed": 0, "other_projects": 0, "outside_range": 0, "sub_agents": 0, "excluded": 0, "dry_run": False,
        }  # fmt: skip
        assert list(sources) == ["claude-code", "codex", "cursor", "opencode", "hermes"]
        assert sources["opencode"]["sub_agents"] == 1
        session = told["sessions"][0]
        path = world.data / "sessions" / "home-mira-notes-site" / f"claude-{CLAUDE_ID}.jsonl"
        assert session == {
            "source": "claude-code", "status": "imported", "id": f"claude-{CLAUDE_ID}", "original_id": CLAUDE_ID,
            "path": str(path), "source_path": str(
                world.home / ".claude" / "projects" / "-home-mira-notes-site" / f"{CLAUDE_ID}.jsonl"),
            "title": "Draft the about page", "created_at": "2026-06-30T08:00:01.120Z", "cwd": PROJECT, "messages": 6,
            "damaged": 0, "changed_since": False, "reason": None,
        }  # fmt: skip
        again = run("sessions", "import", "--all", "--json").json()
        assert [source["skipped_existing"] for source in again["sources"]] == [1, 1, 2, 1, 1]
        assert all(source["imported"] == [] for source in again["sources"])

    def test_the_table(self, world: World, run: Run) -> None:
        world.samples()
        dry = run("sessions", "import", "--all", "--dry-run")
        assert dry.code == 0
        assert dry.stdout.count("would import") == 6
        assert "6 sessions would be imported" in dry.stderr
        assert not (world.data / "sessions").exists()
        done = run("sessions", "import", "--all")
        assert re.search(rf"^imported +claude-{CLAUDE_ID} +2026-06-30 08:00 +6 +Draft the ", done.stdout, re.M)
        assert "6 sessions imported" in done.stderr
        again = run("sessions", "import", "--all")
        assert len(re.findall("^there +", again.stdout, re.MULTILINE)) == 6
        assert "0 sessions imported, 6 already there" in again.stderr

    def test_only_this_project_unless_told(self, world: World, asx: Asx, tmp_path: Path) -> None:
        world.samples()
        here = asx("sessions", "import")
        assert (here.code, here.stdout) == (1, "")
        assert "6 of other projects (--all imports them)" in here.stderr
        world.claude("-x", "mine", claude_lines(make.claude_prompt("hello", "mine", "u1", 0, cwd=str(tmp_path))))
        done = asx("sessions", "import", "--json")
        assert done.code == 0
        assert [session["id"] for session in done.json()["sessions"]] == ["claude-mine"]

    @pytest.mark.parametrize(
        ("words", "ids"),
        [
            (["--from", "codex"], [f"codex-{CODEX_ID}"]),
            (["--from", "claude"], [f"claude-{CLAUDE_ID}"]),
            (["--from", "hermes,opencode"], ["hermes-20260705-101500-ab12", "opencode-ses-ab1"]),
            (["--since", "2026-07-01"], [f"codex-{CODEX_ID}"]),
            (["--since", "2026-06-30", "--until", "2026-06-30"], [f"claude-{CLAUDE_ID}"]),
        ],
    )
    def test_which(self, words: list[str], ids: list[str], world: World, run: Run) -> None:
        world.samples()
        told = run("sessions", "import", "--all", *words, "--json").json()
        assert [session["id"] for session in told["sessions"]] == ids

    def test_text_only(self, world: World, run: Run) -> None:
        world.samples()
        assert run("sessions", "import", "--all", "--text-only", "--from", "claude-code").code == 0
        (path,) = world.targets()
        records = strict_records(path)
        assert said(records) == [("user", "draft an about page"), ("assistant", "Here is a draft.")]
        assert len(records) == 3

    def test_a_failure_is_named_and_the_rest_is_done(self, world: World, run: Run) -> None:
        world.samples()
        world.hermes_path.write_bytes(b"no database" * 100)
        done = run("sessions", "import", "--all", "--json")
        told = done.json()
        assert (done.code, told["ok"]) == (6, False)
        (failed,) = [session for session in told["sessions"] if session["status"] == "failed"]
        assert (failed["source"], failed["source_path"]) == ("hermes", str(world.hermes_path))
        assert "database" in failed["reason"]
        plain = run("sessions", "import", "--all")
        assert plain.code == 6
        assert f"{world.hermes_path}: it cannot be read as a database" in plain.stderr
        assert len(plain.stdout.splitlines()) == 6

    def test_damaged_lines_are_told(self, world: World, run: Run) -> None:
        path = world.claude("-w-gamma", "a", _talk("a") + b"{broken\n")
        done = run("sessions", "import", "--all")
        assert done.code == 0
        assert f"{path}: 1 damaged record left out, the rest imported" in done.stderr

    def test_nothing_at_all(self, world: World, run: Run) -> None:
        done = run("sessions", "import", "--all")
        assert (done.code, done.stdout) == (1, "")
        assert "0 sessions imported" in done.stderr
        assert run("sessions", "import", "--all", "--json").json()["sessions"] == []

    @pytest.mark.parametrize("words", [["--from", "gemini"], ["--since", "soon"], ["--from", ""]])
    def test_mistakes(self, words: list[str], run: Run) -> None:
        assert run("sessions", "import", *words).code == 2

    def test_nothing_of_a_transcript_reaches_the_terminal_as_a_command(
        self, world: World, run: Run, on_a_terminal: OnATerminal
    ) -> None:
        evil = "\x1b[2J\x9b1m\u202eevil\r\n"
        world.claude(
            "-w-gamma",
            "a",
            claude_lines(
                make.claude_prompt(evil, "a", "u1", 0, cwd=f"/w/{evil}"),
                {"type": "ai-title", "aiTitle": evil, "sessionId": "a"},
            )
            + b"{broken\n",
        )
        for words in (["--dry-run"], []):
            done = run("sessions", "import", "--all", *words)
            assert done.code == 0
            assert not FORBIDDEN.search(done.stdout + done.stderr)
        code, shown = on_a_terminal("sessions", "import", "--all")
        assert code == 0
        assert "\x1b[2J" not in shown
        assert json.loads(run("sessions", "import", "--all", "--json").stdout)["sessions"][0]["status"] == "existing"


def test_other_roots_of_the_configuration_are_looked_into(world: World, run: Run, tmp_path: Path) -> None:
    elsewhere = World(tmp_path / "laptop")
    elsewhere.claude("-w-gamma", "a", _talk("a"))
    config = world.home / ".config" / "aster-index" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(f"roots:\n  claude-code: [{elsewhere.home / '.claude'}]\nexcludes: ['**/secret/**']\n")
    elsewhere.claude("secret", "b", _talk("b"))
    told = run("sessions", "import", "--all", "--json").json()
    assert [session["id"] for session in told["sessions"]] == ["claude-a"]
    assert told["sources"][0]["excluded"] == 1


def test_foreign_files_stay_as_they_are(world: World, asx: Asx) -> None:
    world.samples()
    with sqlite3.connect(world.opencode_path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("UPDATE session SET title = 'in the log'")
        connection.commit()
        before = files_below(world.home)
        assert asx("sessions", "import", "--all").code == 0
        after = files_below(world.home)
        shm = [name for name in before if name.endswith("-shm")]
        assert {name: after[name] for name in before if name not in shm} == {
            name: file for name, file in before.items() if name not in shm
        }
        assert {name for name in after if not name.startswith(".local/share/aster/")} == set(before)
    connection.close()
    assert strict_records(world.data / "sessions" / "home-mira-notes-site-feed" / "opencode-ses-ab1.jsonl")[0][
        "title"
    ] == "in the log"  # fmt: skip


def test_the_log_of_an_import_names_no_text(world: World, asx: Asx) -> None:
    world.claude("-w-gamma", "a", _talk("a") + b'{"broken": "xylophone\n')
    done = asx("sessions", "import", "--all")
    assert done.code == 0
    assert "xylophone" not in done.stdout + done.stderr
