"""The page about reports says what they do: its examples and statements run, and it names each report."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from index.query.run import run_query
from index.reports.named import Asked, get_report, run_report
from index.reports.statements import REPORTS
from tests.docs.test_docs import REPOSITORY, load_refresh
from tests.index.filled import never
from tests.index.report_world import build_index
from tests.terminal import on_a_terminal

PAGE = REPOSITORY / "docs" / "reports.md"
STATEMENTS = re.findall(r"(?<=^```sql\n).*?(?=^```$)", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_examples_print_what_the_page_shows() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert load_refresh().with_outputs(page) == page


@pytest.mark.slow
def test_the_terminal_shows_what_the_page_shows(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(REPOSITORY / "demo" / "home", isolated, dirs_exist_ok=True)
    monkeypatch.setenv("COLUMNS", "72")
    assert on_a_terminal("ingest", "--quiet", no_color="1")[0] == 0
    block = re.search(r"^```text\n\$ asx ([^\n]+)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert block is not None
    _, shown = on_a_terminal(*block[1].split(), no_color="1")
    assert shown.replace("\r\n", "\n") == block[2]


def test_the_page_names_each_report_and_no_other() -> None:
    table = PAGE.read_text(encoding="utf-8").split("## The reports\n", 1)[1].split("\n## ", 1)[0]
    named: list[str] = []
    for cell in re.findall(r"^\| (`.*?`) \|", table, re.MULTILINE):
        first, *others = re.findall(r"`([\w-]+)`", cell)
        named += [first, *(f"usage-by{other}" if other.startswith("-") else other for other in others)]
    assert sorted(named) == sorted(report.name for report in REPORTS)


def test_what_each_report_takes_is_what_the_page_says() -> None:
    told = {"time": ("since", "until"), "place": ("project", "agent"), "children": ("with_children",)}
    table = PAGE.read_text(encoding="utf-8").split("## The reports\n", 1)[1].split("\n## ", 1)[0]
    taken = dict(re.findall(r"^\| `([\w-]+)`.* \| ([\w, ]+) \|$", table, re.MULTILINE))
    for name, words in taken.items():
        if name != "report":
            assert get_report(name).parameters == tuple(one for word in words.split(", ") for one in told[word]), name


def test_every_statement_of_the_page_is_run() -> None:
    """Those that begin with a comment are reports of one's own: ``test_own_reports.py`` runs each of them."""
    questions = [text for text in STATEMENTS if not text.startswith("--")]
    assert [text.split("(", 1)[0] for text in questions] == ["WITH failed AS "]


def test_the_statements_of_the_page_run(tmp_path: Path) -> None:
    (by_session,) = [text for text in STATEMENTS if text.startswith("WITH failed AS")]
    (own,) = [text for text in STATEMENTS if text.startswith("-- Prompts that")]
    index = build_index(tmp_path)
    by_session = by_session.replace("'now'", "'2026-05-08'")
    assert run_query(index, by_session, on_overrun=never, timeout_s=20, heap_limit_bytes=None).rows == (
        ("Bash", 2, 1, 3, 60, None, 3),
        ("Read", 1, 1, 3, 60, None, 3),
        ("shell", 1, 1, 2, 130, 0.5, 1),
    )
    (tmp_path / "many-calls.sql").write_text(own, encoding="utf-8")
    report = get_report("many-calls", tmp_path)
    asked = Asked(since="2026-05-04T08:10:00.000Z", agents=("claude-code",))
    assert report.about == "Prompts that were followed by many tool calls"
    for least, prompts in ((1, ["Again, please"]), (3, [])):
        found = run_report(
            index, report, {"least": least}, asked, on_overrun=never, timeout_s=20, heap_limit_bytes=None
        )
        assert [row[2] for row in found.rows] == prompts
