"""Every report of one's own that the page about reports shows is put where it belongs and run as ``asx report NAME``.

An example is a ``sh`` block that writes ``NAME.sql`` into the folder of ``asx paths reports``, or a ``sql`` block that
begins with a comment. A new one is run without a change here, and then wants its row in ``SHAPES``.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from persist.agents import AGENTS
from tests.conftest import REPOSITORY, Asx
from tests.docs.with_asx import blocks, run_sh, variables

OF_OPTIONS: Final = frozenset({"since", "until", "project", "below", "agent", "with_children"})
"""Names that the options bind; any other wants ``-p``."""
NAME: Final = re.compile(r"(?<![:\w]):([a-z_]+)\b")
WRITTEN: Final = re.compile(r'\$\(asx paths reports\)/([\w-]+)\.sql"')


class Example(NamedTuple):
    """A report of the page: its name, and the block that makes it."""

    name: str
    kind: str
    text: str


class Shape(NamedTuple):
    """What a report gives of the sample home: its columns, and of each row what its first values say."""

    columns: tuple[str, ...]
    begins: tuple[tuple[object, ...], ...]


SHAPES: Final = {
    "failing-twice": Shape(("tool_name", "errors", "sessions", "last_at"), (("coding__bash", 3, 2),)),
    "prompts-that-were-followed-by-many-tool-calls": Shape(
        ("sort_ts", "agent", "text", "calls"),
        (
            ("2026-08-19T07:12:08.737Z", "aster"),
            ("2026-09-29T07:41:12.482Z", "aether"),
            ("2026-10-05T07:58:10.131Z", "claude-code"),
        ),
    ),
}


def examples() -> list[Example]:
    """Return the page's own reports in its order; a ``sql`` block is called by its first line."""
    found = []
    for kind, text in blocks("reports.md"):
        if kind == "sh":
            found += [Example(name, kind, text) for name in WRITTEN.findall(text)]
        elif kind == "sql" and text.startswith("-- "):
            name = "-".join(re.findall(r"\w+", text.partition("\n")[0].lower()))
            found.append(Example(name, kind, text))
    return found


@pytest.fixture
def sample(isolated: Path, asx: Asx) -> Path:
    """The folder for reports in the sample home, which is indexed; the folder is not made yet."""
    shutil.copytree(REPOSITORY / "demo" / "home", isolated, dirs_exist_ok=True)
    assert asx("ingest", "--quiet").code == 0
    return Path(asx("paths", "reports").stdout.strip())


def put(example: Example, folder: Path, tmp_path: Path) -> Path:
    """Make the report as the page says; return its file."""
    path = folder / f"{example.name}.sql"
    if example.kind == "sh":
        run_sh(example.text, tmp_path, variables(tmp_path))
    else:
        folder.mkdir(parents=True)
        path.write_text(example.text, encoding="utf-8")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("example", examples(), ids=[example.name for example in examples()])
def test_it_runs_and_gives_what_it_promises(example: Example, sample: Path, tmp_path: Path, asx: Asx) -> None:
    path = put(example, sample, tmp_path)
    lines = path.read_text(encoding="utf-8").splitlines()
    names = tuple(dict.fromkeys(NAME.findall("\n".join(line for line in lines if not line.startswith("--")))))
    listed = {one["name"]: one for one in asx("report", "--json").json()["reports"]}[example.name]
    assert listed == {"name": example.name, "about": lines[0].removeprefix("-- "), "parameters": [*names]}

    own = [word for name in names if name not in OF_OPTIONS for word in ("-p", f"{name}=3")]
    told = asx("report", example.name, *own, "--json").json()
    assert "error" not in told, told
    shape = SHAPES.get(example.name)
    assert shape is not None, f"SHAPES does not say what {example.name} gives: {told['columns']}, {told['rows']}"
    assert tuple(told["columns"]) == shape.columns
    assert len(told["rows"]) == len(shape.begins)
    for row, begin in zip(told["rows"], shape.begins, strict=True):
        assert tuple(row[: len(begin)]) == begin

    for name, all_of_it, nothing in (
        ("since", "2000-01-01", "2090-01-01"),
        ("until", "2090-01-01", "2000-01-01"),
        ("agent", ",".join(AGENTS), "omp"),
    ):
        if name in names:
            assert asx("report", example.name, *own, f"--{name}", all_of_it, "--json").json()["rows"] == told["rows"]
            assert asx("report", example.name, *own, f"--{name}", nothing, "--json").json()["rows"] == []


def test_no_shape_is_of_a_report_that_the_page_no_longer_shows() -> None:
    assert [example.name for example in examples()] == list(SHAPES)


def test_each_report_that_the_page_runs_is_the_program_s_or_made_by_a_block() -> None:
    from index.reports.statements import REPORTS

    known = {report.name for report in REPORTS} | {example.name for example in examples()}
    called = re.findall(r"asx report ([a-z][\w-]*)", "".join(text for _, text in blocks("reports.md")))
    assert called
    assert set(called) <= known
