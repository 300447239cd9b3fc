"""Public faults of read-only SQL, at the command line: harmless statements, statements without end, odd values."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from cli.commands import query, report, schema
from index.reports.statements import REPORTS
from tests.conftest import REPOSITORY, Asx, Result
from tests.index.filled import sample_index, snapshot

LIMIT_S = 0.5
COUNT = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r) SELECT count(*) FROM r"
CROSS = "SELECT 1 FROM event_types a, event_types b, event_types c, event_types d, event_types e WHERE " + (
    "length(a.name || b.name || c.name || d.name || e.name) < 0"
)
ENDLESS = {
    "recursion": COUNT,
    "cross join": CROSS,
    "recursion in a subquery": f"SELECT * FROM ({COUNT})",
    "cross join in a subquery": f"SELECT (SELECT count(*) FROM ({CROSS}))",
    "recursion in an order": f"SELECT agent FROM sources ORDER BY ({COUNT})",
    "cross join in an order": f"SELECT agent FROM sources ORDER BY ({CROSS})",
}

SHELL = [
    line
    for page in (REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md")))
    for block in re.findall(r"^```sh\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)
    for line in block.splitlines()
    if line.startswith(("asx query", "asx report", "asx schema"))
]
BUILT_IN = {one.name for one in REPORTS}
EXAMPLES = [
    line
    for line in dict.fromkeys((*query.EXAMPLES, *report.EXAMPLES, *schema.EXAMPLES, *SHELL))
    if not line.startswith("asx report ") or line.split()[2] in BUILT_IN  # the others are a reader's own
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    return sample_index(tmp_path_factory.mktemp("sql"), data)


def cases(data: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((data / "faults" / "B103" / "statements.json").read_text("utf-8"))
    return found


@pytest.mark.parametrize("number", range(16))
def test_b103_a_harmless_statement_is_accepted_and_limited(number: int, data: Path, index: Path, asx: Asx) -> None:
    case = cases(data)[number]
    done = asx("query", "--json", "--limit", "3", "--index", index, "-f", "-", stdin=case["sql"])
    assert (done.code, done.stderr) == (0, "")
    found = done.json()
    assert found["rows"][0][0] == case["first"]
    assert len(found["rows"]) <= 3
    assert found["truncated_rows"] == (number == 15)


@pytest.mark.parametrize("name", ENDLESS)
def test_b104_a_query_that_never_gives_a_row_is_stopped_at_the_limit(name: str, index: Path, asx: Asx) -> None:
    before = snapshot(index.parent)
    began = time.monotonic()
    done = asx("query", "SELECT 1", "--json", "--index", index)
    start_s = time.monotonic() - began
    began = time.monotonic()
    stopped = asx("query", ENDLESS[name], "--timeout", str(LIMIT_S), "--json", "--index", index)
    took_s = time.monotonic() - began
    assert (done.code, stopped.code, stopped.stderr) == (0, 7, "")
    assert stopped.json()["error"]["kind"] == "timeout"
    assert f"{LIMIT_S:g} s" in stopped.json()["error"]["message"]
    assert LIMIT_S <= took_s < LIMIT_S + 0.5 + 2 * start_s
    assert asx("query", "SELECT 1", "--json", "--index", index).json()["rows"] == [[1]]
    assert snapshot(index.parent) == before


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample home, to be indexed at the first use and only read after it."""
    home = tmp_path_factory.mktemp("examples") / "home"
    shutil.copytree(REPOSITORY / "demo" / "home", home)
    (home / "question.sql").write_text("-- a question\nSELECT count(*) AS prompts FROM prompts;\n", encoding="utf-8")
    return home


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_documented_line_with_a_statement_or_a_report_runs(example: str, ingested: Path, asx: Asx) -> None:
    def run(*words: str, stdin: bytes = b"") -> Result:
        return asx(*words, env={"HOME": str(ingested)}, cwd=ingested, stdin=stdin)

    assert run("ingest", "--quiet").code == 0
    line, _, _ = example.partition(" > ")
    line, _, file = line.partition(" < ")
    told = run(*shlex.split(line, comments=True)[1:], stdin=(ingested / file).read_bytes() if file else b"")
    assert (told.code, bool(told.stdout)) == (0, True), told.stderr
