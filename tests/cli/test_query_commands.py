"""``asx query``, ``asx report`` and ``asx schema`` as processes."""

from __future__ import annotations

import csv
import inspect
import io
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from cli import formats, query_options
from cli.commands import query, report
from index import reports
from index.query import LIMIT, MAX_CELL, TIMEOUT_S
from index.reports.statements import REPORTS
from tests.conftest import REPOSITORY, Asx
from tests.index.filled import sample_index

ODD = "SELECT 1e999, -1e999, x'ff00', 9007199254740993, 1 AS a, 2 AS a, CAST(x'ff' AS TEXT), NULL, char(0)"
MANY = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 100000) SELECT n, n || 'abc' FROM r"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    return sample_index(tmp_path_factory.mktemp("commands"), data)


def strict(text: str) -> Any:
    def refuse(name: str) -> None:
        raise ValueError(name)

    return json.loads(text, parse_constant=refuse)


def test_odd_values_are_strict_json(asx: Asx, index: Path) -> None:
    done = asx("query", "--json", "--index", index, ODD)
    found = strict(done.stdout)
    assert (done.code, done.stderr) == (0, "")
    assert found["schema_version"] == 1
    assert found["columns"].count("a") == 2
    assert found["rows"] == [[None, None, "<blob 2 bytes>", 9007199254740993, 1, 2, "\ufffd", None, "\0"]]
    assert (found["truncated_rows"], found["truncated_cells"]) == (False, False)


@pytest.mark.parametrize("form", [form for form in formats.FORMATS if form != formats.JSON])
def test_odd_values_print_in_every_form(asx: Asx, index: Path, form: str) -> None:
    done = asx("query", "--format", form, "--index", index, ODD)
    assert (done.code, done.stderr) == (0, "")
    assert "9007199254740993" in done.stdout
    if form == "csv":
        assert len(next(csv.reader(io.StringIO(done.stdout)))) == 9


def test_the_statement_comes_from_words_a_file_or_stdin(asx: Asx, index: Path, tmp_path: Path) -> None:
    file = tmp_path / "question.sql"
    file.write_text("-- a question\nSELECT :n + 1 AS next;\n", encoding="utf-8-sig")
    options = ("--index", index, "-p", "n=41")
    ways = [
        asx("query", *options, "SELECT", ":n + 1", "AS next"),
        asx("query", *options, "-f", file),
        asx("query", *options, "-", stdin="SELECT :n + 1 AS next"),
        asx("query", *options, "--", "-- a comment\nSELECT :n + 1 AS next"),
    ]
    assert [(way.code, way.stdout) for way in ways] == [(0, "next\n42\n")] * 4


def test_what_was_cut_is_told_on_stderr(asx: Asx, index: Path) -> None:
    done = asx("query", "--index", index, "--limit", "2", "--max-cell", "3", MANY)
    assert done.stdout == "n\tn || 'abc'\n1\t1ab\n2\t2ab\n"
    assert done.stderr.splitlines() == [
        "there are more than 2 rows; give --limit for more",
        "texts were cut to 3 characters; give --max-cell for more",
    ]


@pytest.mark.parametrize(
    ("words", "code", "kind"),
    [
        (("query", "DELETE FROM prose"), 7, "refused"),
        (("query", "SELEC"), 2, "usage"),
        (("query", " -- nothing"), 2, "usage"),
        (("query",), 2, "usage"),
        (("query", "--timeout", "0", "SELECT 1"), 2, "usage"),
        (("query", "-p", "novalue", "SELECT 1"), 2, "usage"),
        (("query", "-f", "missing.sql"), 6, "io"),
        (("query", "--timezone", "Mars/Olympus", "SELECT 1"), 2, "usage"),
        (("report", "no-such-report"), 1, "not_found"),
        (("report", "usage", "-p", "unknown=1"), 2, "usage"),
    ],
    ids=["refused", "syntax", "comment", "nothing", "time", "parameter", "file", "zone", "report", "report parameter"],
)
def test_failures_have_their_exit_code_and_kind(
    asx: Asx, index: Path, words: tuple[str, ...], code: int, kind: str
) -> None:
    done = asx(words[0], "--json", "--index", index, *words[1:])
    assert done.code == code
    assert strict(done.stdout)["error"]["kind"] == kind
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("-p", "a=1", "-p", "a=2"), "a is given twice"),
        (("-p", "a"), "'a' is not NAME=VALUE or NAME:=JSON"),
        (("-p", "a:=nul"), 'a:= takes JSON, like null, 5, "a text" or [1, 2]'),
        (("-p", "a:=9223372036854775808"), "a:=9223372036854775808 is a number that SQLite has not"),
        (("-p", "b=1", "-p", "a=1"), "the statement has no parameter :b; it has :a"),
        ((), "the statement needs a value for :a; give -p a=VALUE"),
    ],
    ids=["twice", "no value", "no json", "too large", "unknown", "missing"],
)
def test_a_wrong_parameter_is_told(asx: Asx, index: Path, given: tuple[str, ...], told: str) -> None:
    done = asx("query", "--json", "--index", index, *given, "SELECT :a")
    assert done.code == 2
    assert told in strict(done.stdout)["error"]["message"]


def test_parameters_have_the_types_they_look_like(asx: Asx, index: Path) -> None:
    sql = "SELECT typeof(:a), typeof(:b), typeof(:c), typeof(:d), :e IS NULL, (SELECT sum(value) FROM json_each(:f))"
    given = ("a=5", "b=1.5", "c=007", 'd:="5"', "e:=null", "f:=[1,2]")
    options = [word for one in given for word in ("-p", one)]
    rows = strict(asx("query", "--json", "--index", index, *options, sql).stdout)["rows"]
    assert rows == [["integer", "real", "text", "text", 1, 3]]


@pytest.mark.parametrize(
    ("written", "code"),
    [
        (b"\xef\xbb\xbf-- a question\r\nSELECT 41\r\n  + 1 AS next;\r\n", 0),
        (b"SELECT 42 AS next /* open", 0),
        ("SELECT 42 AS next".encode("utf-16"), 2),
        (b"SELECT 42 AS next\0", 2),
        (b"", 2),
        (b"-- SELECT 42", 2),
        (b"SELECT 42 AS next -- " + b"x" * 400_000, 2),
        (b"SELECT '" + b"x" * 100_000 + b"'", 2),
    ],
    ids=["mark and line ends", "open comment", "utf-16", "nul", "empty", "comment", "long file", "long statement"],
)
def test_a_file_is_read_as_editors_write_it(asx: Asx, index: Path, tmp_path: Path, written: bytes, code: int) -> None:
    file = tmp_path / "question.sql"
    file.write_bytes(written)
    for done in (
        asx("query", "--index", index, "-f", file),
        asx("query", "--index", index, "-", stdin=written),
        asx("query", "--index", index, "-f", "-", stdin=written),
    ):
        assert done.code == code
        assert done.stdout == ("next\n42\n" if code == 0 else "")
        assert (done.stderr == "") == (code == 0)


def test_a_file_and_words_exclude_each_other(asx: Asx, index: Path, tmp_path: Path) -> None:
    assert asx("query", "--index", index, "-f", tmp_path / "x.sql", "SELECT 1").code == 2


@pytest.mark.parametrize("sql", ["SELECT 1 AS a WHERE 0", "SELECT * FROM prompts WHERE text = 'nobody typed this'"])
def test_no_rows_are_an_answer(asx: Asx, index: Path, sql: str) -> None:
    done = asx("query", "--index", index, sql)
    assert (done.code, done.stderr) == (0, "no rows\n")
    assert strict(asx("query", "--json", "--index", index, sql).stdout)["rows"] == []


def test_a_missing_index_is_exit_code_3_and_nothing_is_made(asx: Asx, tmp_path: Path) -> None:
    for words in (("query", "SELECT 1"), ("report", "tools")):
        done = asx(words[0], "--index", tmp_path / "no" / "index.sqlite", words[1])
        assert done.code == 3
        assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_leaves_early_hears_no_complaint(index: Path) -> None:
    for form in ("--json", "--format=tsv"):
        running = subprocess.Popen(
            [sys.executable, "-m", "cli", "query", "--index", str(index), "--limit", "100000", form, MANY],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=REPOSITORY,
        )
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.read(10)
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(30) == 0
        running.stderr.close()


def test_the_time_zone_is_the_statements(asx: Asx, index: Path) -> None:
    sql = "SELECT datetime('2026-03-29T00:30:00.000Z', 'localtime') AS local"
    for zone, local in (("Europe/Berlin", "2026-03-29 01:30:00"), ("Asia/Tokyo", "2026-03-29 09:30:00")):
        assert asx("query", "--index", index, "--timezone", zone, sql).stdout == f"local\n{local}\n"


def test_a_report_and_its_sql_give_the_same(asx: Asx, index: Path) -> None:
    report = strict(asx("report", "usage", "--json", "--index", index).stdout)
    printed = strict(asx("query", "--json", "--index", index, report["sql"]).stdout)
    assert report["report"] == "usage"
    assert report["rows"] == printed["rows"] != []
    assert asx("report", "usage", "--sql").stdout == report["sql"] + "\n"


def test_reports_are_listed_without_an_index(asx: Asx, isolated: Path) -> None:
    folder = isolated / ".config" / "aster-index" / "reports"
    folder.mkdir(parents=True)
    (folder / "mine.sql").write_text("-- About mine\nSELECT :x", encoding="utf-8")
    found = strict(asx("report", "--json", env={"XDG_CONFIG_HOME": str(isolated / ".config")}).stdout)
    assert {"name": "mine", "about": "About mine", "parameters": ["x"]} in found["reports"]
    assert len(found["reports"]) == len(REPORTS) + 1


def test_the_schema_needs_no_index(asx: Asx) -> None:
    found = strict(asx("schema", "--json").stdout)
    assert found["generation"] == 1
    assert {"events", "prompts", "prompt_keys"} <= {table["name"] for table in found["tables"]}
    assert {"name", "about", "sql"} == set(found["examples"][0])
    text = asx("schema", "sessions")
    assert text.stdout.splitlines()[2].startswith("sessions (view): ")
    assert asx("schema", "no-such-view").code == 1
    assert "-- reports:" in text.stdout
    assert "WITH asked" not in text.stdout


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT modelname FROM llm_calls", "no such column: modelname, the nearest: model_name"),
        ("SELECT p.cost_usd FROM prompts p", "no such column: p.cost_usd, a column of llm_calls"),
        ("SELECT * FROM llm_call", "no such table: llm_call, the nearest: llm_calls"),
        ("SELECT zzzzzzzz FROM prompts", "no such column: zzzzzzzz; asx schema"),
    ],
)
def test_a_misspelt_name_is_told_with_the_nearest(asx: Asx, index: Path, sql: str, told: str) -> None:
    done = asx("query", "--index", index, sql)
    assert (done.code, told in done.stderr) == (2, True), done.stderr


def test_query_imports_nothing_heavy(index: Path) -> None:
    code = (
        "import sys; from cli.app import main; main(sys.argv[1:]);"
        "print([n for n in ('sqlalchemy', 'alembic', 'pydantic', 'ulid', 'rich', 'yaml') if n in sys.modules])"
    )
    for words in (("query", "--index", str(index), "SELECT 1"), ("report", "tools", "--index", str(index))):
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, cwd=REPOSITORY)
        assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n=5", 5),
        ("n=-5", -5),
        ("n=0", 0),
        ("n=1.50", 1.5),
        ("n=007", "007"),
        ("n=1e5", "1e5"),
        ("n=", ""),
        ("n=a=b", "a=b"),
        ("n=9999999999999999999", "9999999999999999999"),
        (":n=x", "x"),
        ("n= 5", " 5"),
        ("n:=null", None),
        ('n:="5"', "5"),
        ("n:=5", 5),
        ("n:=1e5", 1e5),
        ("n:=true", True),
        ("n:=[1, 2]", "[1, 2]"),
        ("n:=9223372036854775807", 2**63 - 1),
        ("n=:=x", ":=x"),
        ("$n=x", "x"),
    ],
)
def test_parameters_that_are_numbers_are_bound_as_numbers(text: str, value: object) -> None:
    found = query_options.read_parameters([text])["n"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("module", "timeout_s"), [(query, TIMEOUT_S), (report, reports.TIMEOUT_S)], ids=["query", "report"]
)
def test_the_defaults_are_the_librarys(module: ModuleType, timeout_s: float) -> None:
    """Written twice: the command line must not import what runs a statement to print its help."""
    defaults = inspect.signature(module.command).parameters
    assert [defaults[name].default for name in ("limit", "max_cell", "timeout")] == [LIMIT, MAX_CELL, timeout_s]
