"""Every statement of docs/sql.md runs and gives what the page shows, and so does every line for another program.

After a change on purpose: ``UPDATE_GOLDEN=1 pytest tests/docs/test_sql_page.py`` writes what is shown anew.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from index.describe import describe
from tests.conftest import REPOSITORY
from tests.index.filled import snapshot

PAGE = REPOSITORY / "docs" / "sql.md"
TODAY = "2026-10-06"
PARAMETERS = {":project": "project=/home/mira/src/tidewatch"}
QUESTION = re.compile(
    r"^### (?P<title>[^\n]+)\n(?P<lead>.*?)```sql\n(?P<sql>.*?)```\n\n```text\n(?P<shown>.*?)```", re.M | re.S
)
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.M | re.S)
QUESTIONS = {found["title"]: found for found in QUESTION.finditer(PAGE.read_text(encoding="utf-8"))}
AGENTS = {"aether": 8, "aster": 15, "claude-code": 5}


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    spec = importlib.util.spec_from_file_location("docs_refresh", REPOSITORY / "docs" / "refresh.py")
    assert spec is not None
    assert spec.loader is not None
    refresh = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(refresh)
    with refresh.sample_home() as folder:
        assert "in the index" in refresh.run_asx(["ingest"], folder)
        yield folder


def variables(home: Path) -> dict[str, str]:
    return {**os.environ, "HOME": str(home), "PYTHONPATH": str(REPOSITORY), "TZ": "UTC"}


def asx(home: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "cli", *words],
        capture_output=True,
        text=True,
        env=variables(home),
        cwd=home,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def answer(home: Path, sql: str) -> str:
    given = [word for name, value in PARAMETERS.items() if name in sql for word in ("-p", value)]
    told = asx(home, "query", "--format", "table", *given, "--", sql.replace("'now'", f"'{TODAY}'"))
    return "".join(f"{line.rstrip()}\n" for line in told.splitlines())


def test_there_are_ten_questions_and_every_statement_is_one() -> None:
    assert len(QUESTIONS) == 10
    assert PAGE.read_text(encoding="utf-8").count("```sql") == len(QUESTIONS)


@pytest.mark.parametrize("title", QUESTIONS)
def test_a_question_has_the_answer_that_is_shown(home: Path, title: str) -> None:
    found = answer(home, QUESTIONS[title]["sql"])
    if os.environ.get("UPDATE_GOLDEN"):
        page = PAGE.read_text(encoding="utf-8")
        part = next(part for part in QUESTION.finditer(page) if part["title"] == title)
        PAGE.write_text(page[: part.start("shown")] + found + page[part.end("shown") :], encoding="utf-8")
        return
    assert found.count("\n") > 1, "an example without rows shows nothing"
    assert found == QUESTIONS[title]["shown"]


@pytest.mark.parametrize("title", QUESTIONS)
def test_a_question_runs_today_as_it_stands(home: Path, title: str) -> None:
    sql = QUESTIONS[title]["sql"]
    given = [word for name, value in PARAMETERS.items() if name in sql for word in ("-p", value)]
    assert json.loads(asx(home, "query", "--json", *given, "--", sql))["columns"]


@pytest.mark.parametrize("title", QUESTIONS)
def test_a_question_reads_public_names_only(title: str) -> None:
    public = {table.name for table in describe().tables}
    sql = QUESTIONS[title]["sql"]
    named_inside = set(re.findall(r"(\w+) AS \(", sql))
    read = set(re.findall(r"\b(?:FROM|JOIN)\s+(\w+)", sql))
    assert read
    assert read <= public | named_inside


def test_the_cost_of_failures_is_what_the_calls_say(home: Path) -> None:
    """The same by hand: the one failure that can be attributed, its message, that message's call."""
    shown = QUESTIONS["Which tools failed most last week, and what did that cost?"]["sql"].replace(
        "'now'", f"'{TODAY}'"
    )
    found = json.loads(asx(home, "query", "--json", shown))
    rows = {row[0]: dict(zip(found["columns"], row, strict=True)) for row in found["rows"]}
    lines = (home / ".claude" / "projects").rglob("6b1f0c52-7d3e-4a86-8f15-2c9e4d7a1b30.jsonl")
    records = [json.loads(line) for line in next(lines).read_text(encoding="utf-8").splitlines()]
    parts = [(one, part) for one in records for part in blocks(one)]
    failed = next(part["tool_use_id"] for _, part in parts if part.get("is_error"))
    usage = next(one["message"]["usage"] for one, part in parts if part.get("id") == failed)
    assert rows["Bash"]["failures"] == 1
    assert rows["Bash"]["not_attributable"] == 0
    assert rows["Bash"]["output_tokens"] == usage["output_tokens"]
    assert rows["Bash"]["input_tokens"] == sum(value for name, value in usage.items() if "input_tokens" in name)
    assert (rows["Bash"]["cost_usd"], rows["Bash"]["unpriced"]) == (None, 1)
    assert rows["coding__bash"]["not_attributable"] == rows["coding__bash"]["failures"] > 0
    assert rows["coding__bash"]["output_tokens"] is None


def blocks(record: dict[str, object]) -> list[dict[str, str]]:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


class TestOtherPrograms:
    """The page's own lines, run in a shell as a reader pastes them, where the program is installed."""

    def line(self, program: str) -> str:
        lines: list[str] = [
            line for block in SHELL.findall(PAGE.read_text(encoding="utf-8")) for line in block.splitlines()
        ]
        return next(line for line in lines if line.startswith(f"{program} "))

    def run(self, home: Path, tmp_path: Path, line: str) -> str:
        """Run a line with ``asx`` on the path; nothing in the index's folder may change."""
        path = os.pathsep.join((str(tmp_path), str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
        if shutil.which(line.split()[0], path=path) is None:
            pytest.skip(f"{line.split()[0]} is not installed")
        program = tmp_path / "asx"
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m cli "$@"\n', encoding="utf-8")
        program.chmod(0o755)
        index = Path(asx(home, "paths", "index").strip())
        asx(home, "query", "SELECT 1")  # the first reader after a writer writes the -shm anew
        before = snapshot(index.parent)
        environment = {**variables(home), "PATH": path}
        done = subprocess.run(
            ["sh", "-c", line], capture_output=True, text=True, env=environment, cwd=tmp_path, check=False
        )
        assert snapshot(index.parent) == before
        assert done.returncode == 0, done.stderr
        return done.stdout

    def test_sqlite3(self, home: Path, tmp_path: Path) -> None:
        told = self.run(home, tmp_path, self.line("sqlite3"))
        assert told.splitlines() == [f"{agent}|{count}" for agent, count in AGENTS.items()]

    def test_sqlite3_cannot_write_that_way(self, home: Path, tmp_path: Path) -> None:
        begin, _, _ = self.line("sqlite3").partition(' "SELECT')
        with pytest.raises(AssertionError, match="readonly database"):
            self.run(home, tmp_path, f'{begin} "DELETE FROM meta"')

    def test_datasette(self, home: Path, tmp_path: Path) -> None:
        sql = "select+agent,count(*)+from+prompts+group+by+agent"
        line = f"{self.line('datasette')} --get '/index.json?sql={sql}&_shape=arrays'"
        assert dict(json.loads(self.run(home, tmp_path, line))["rows"]) == AGENTS

    def test_duckdb(self, home: Path, tmp_path: Path) -> None:
        extension = find_spec("duckdb_extension_sqlite_scanner")
        if extension is None or extension.origin is None:
            pytest.skip("DuckDB's extension for SQLite is not installed, and tests fetch nothing")
        fetched = next(Path(extension.origin).parent.rglob("*.duckdb_extension"))
        place = (
            home / ".duckdb" / "extensions" / fetched.parent.name / "linux_amd64"
        )  # where DuckDB keeps what it fetched
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(fetched, place)
        told = self.run(home, tmp_path, self.line("duckdb").replace("duckdb -c", "duckdb -csv -c"))
        assert dict(row.split(",") for row in told.split()[1:]) == {name: str(count) for name, count in AGENTS.items()}
