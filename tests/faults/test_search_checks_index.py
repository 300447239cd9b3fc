"""Public faults of search at the command line: the index that is missing, damaged, being made, or of an old SQLite;
readers that leave early; texts that begin with a dash.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import pytest

from tests import builders as make
from tests.builders import HomeBuilder
from tests.conftest import REPOSITORY, Asx

SOON_S: Final = 5.0
"""Whole processes on a busy machine; a wait for the lock of a rebuild would be longer."""


@pytest.fixture
def home(isolated: Path) -> HomeBuilder:
    return HomeBuilder(isolated)


@pytest.fixture
def index(isolated: Path) -> Path:
    return isolated / ".cache" / "aster-index" / "index.sqlite"


def type_in(home: HomeBuilder, *texts: str, session: str = "s", **header: Any) -> Path:
    prompts = (make.aster_prompt(text, minute) for minute, text in enumerate(texts, start=1))
    return home.aster(session, make.aster_header(session, 0, **header), *prompts)


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONWARNINGS": "error"}


def test_without_an_index_a_pipe_is_told_how_to_make_one(home: HomeBuilder, index: Path, asx: Asx) -> None:
    type_in(home, "heron")
    told = asx("search", "heron", "--json")
    assert (told.code, told.json()["error"]["kind"], told.json()["error"]["hint"]) == (3, "no_index", "asx ingest")
    plain = asx("search", "heron")
    assert (plain.code, plain.stdout, plain.stderr.count("\n")) == (3, "", 1)
    assert str(index) in plain.stderr
    assert not index.exists()


def break_pages(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for page in range(8192, len(data), 8192):
        data[page : page + 4000] = b"\xa5" * 4000
    path.write_bytes(data)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:20_000])


def other_bytes(path: Path) -> None:
    path.write_bytes(b"no database at all\n" * 1000)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("damage", [break_pages, cut, other_bytes, folder], ids=lambda one: one.__name__)
@pytest.mark.parametrize(
    "mode", [(), ("--words",), ("--regex",), ("--in", "tools", "--deep"), ("--recent",)], ids=" ".join
)
def test_a_damaged_index_is_told_in_one_sentence_and_cured_as_it_says(
    damage: Any, mode: tuple[str, ...], home: HomeBuilder, index: Path, asx: Asx
) -> None:
    type_in(home, *(f"heron {number} " + "reed " * 300 for number in range(50)))
    call = make.claude_tool_call("t1", "c", "u2", 2, command="heron " + "x" * 3000)
    home.claude("c", make.claude_prompt("go", "c", "u1", 1), call)
    assert asx("ingest").code == 0
    damage(index)
    for flags in ((), ("--no-refresh",)):
        plain = asx("search", *mode, *flags, "heron")
        assert (plain.code, plain.stdout) == (4, ""), plain
        sentence = plain.stderr.strip().splitlines()[-1]
        assert str(index) in sentence
        assert not re.search(r"Traceback|not foreseen|OperationalError", plain.stderr)
        told = asx("search", *mode, *flags, "heron", "--json")
        assert (told.code, told.json()["error"]["kind"]) == (4, "index_unusable")
    if damage is folder:
        index.rmdir()
    assert asx("rebuild").code == 0
    assert asx("search", *mode, "heron").code == 0


def test_an_empty_file_is_no_index_yet(home: HomeBuilder, index: Path, asx: Asx) -> None:
    type_in(home, "heron")
    index.parent.mkdir(parents=True)
    index.touch()
    told = asx("search", "heron", "--json")
    assert (told.code, told.json()["error"]["kind"]) == (3, "no_index")
    assert asx("ingest").code == 0
    assert asx("search", "heron").code == 0


def test_while_another_process_rebuilds_every_answer_is_right_and_soon(
    home: HomeBuilder, index: Path, asx: Asx
) -> None:
    for number in range(150):
        talk = (make.aster_prompt(f"heron {number} {place} " + "reed " * 400, place) for place in range(40))
        home.aster(f"s{number}", make.aster_header(f"s{number}", number), *talk)
    assert asx("ingest").code == 0
    rebuilding = subprocess.Popen(
        [sys.executable, "-m", "cli", "rebuild", "--quiet"],
        cwd=REPOSITORY, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    while rebuilding.poll() is None and not list(index.parent.glob("index.sqlite.new-*")):
        time.sleep(0.001)
    type_in(home, "a kingfisher came", session="news")
    met_it = 0
    while rebuilding.poll() is None:
        began = time.monotonic()
        told = asx("search", "heron", "--count", "--json")
        assert time.monotonic() - began < SOON_S
        assert (told.code, told.json()["total"]) == (0, 6000)
        state = told.json()["index"]
        if state["why_not"] == "busy":
            met_it += 1
            assert state["stale"] is True
            missed = asx("search", "kingfisher")
            assert missed.code == 0 or "another process is writing it" in missed.stderr or rebuilding.poll() is not None
    assert rebuilding.communicate()[1] == b""
    assert rebuilding.returncode == 0
    assert met_it
    assert asx("search", "kingfisher", "--json").json()["total"] == 1


def test_an_answer_without_a_fresh_index_says_so(home: HomeBuilder, index: Path, asx: Asx) -> None:
    type_in(home, "heron")
    assert asx("ingest").code == 0
    type_in(home, "kingfisher", session="news")
    missed = asx("search", "--no-refresh", "kingfisher")
    assert missed.code == 1
    assert "asx ingest" in missed.stderr
    assert asx("search", "--no-refresh", "kingfisher", "--json").json()["index"]["stale"] is True


def test_b60_an_old_sqlite_is_told_in_one_line(home: HomeBuilder, index: Path) -> None:
    type_in(home, "one")
    code = (
        "import sqlite3, sys\n"
        "sqlite3.sqlite_version_info = sqlite3.dbapi2.sqlite_version_info = (3, 31, 1)\n"
        "sqlite3.sqlite_version = sqlite3.dbapi2.sqlite_version = '3.31.1'\n"
        "from cli.app import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    for command in (["ingest"], ["rebuild"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *command], cwd=REPOSITORY, env=environment(), capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 4
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1
        assert "needs SQLite 3.40.0 or newer, found 3.31.1" in done.stderr
        assert not index.exists()
        assert [path.name for path in index.parent.glob("*")] in ([], ["index.sqlite.lock"])


READS: Final = (
    ("search", "reed", "--all"),
    ("search", "reed", "--all", "--json"),
    ("search", "reed", "--all", "--jsonl"),
    ("search", "reed", "--all", "--lines"),
    ("search", "--words", "reed", "--all", "--jsonl"),
    ("search", "--regex", "re+d", "--all", "--lines"),
    ("sessions", "show", "big"),
    ("sessions", "show", "big", "--json"),
    ("query", "SELECT a.text FROM events a, events b", "--limit", "9999"),
    ("query", "SELECT a.text FROM events a, events b", "--limit", "9999", "--json"),
)


@pytest.mark.parametrize("words", READS, ids=" ".join)
def test_b107_a_pager_that_reads_slowly_and_quits_is_no_failure(
    words: tuple[str, ...], home: HomeBuilder, asx: Asx
) -> None:
    """The pipe is full while the command still writes; then the reader goes."""
    type_in(home, *(f"reed number {number} " + "x" * 200 for number in range(2000)), session="big")
    assert asx("ingest").code == 0
    with subprocess.Popen(
        [sys.executable, "-m", "cli", *words],
        cwd=REPOSITORY, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as writing:  # fmt: skip
        assert writing.stdout is not None
        assert writing.stderr is not None
        assert writing.stdout.read(1)
        time.sleep(0.5)
        assert writing.poll() is None, "more than a pipe holds"
        writing.stdout.close()
        assert writing.stderr.read() == b""
        assert writing.wait(20) in {0, 128 + signal.SIGPIPE}


@pytest.mark.parametrize("words", [READS[0], READS[1], READS[2], READS[3]], ids=" ".join)
def test_b107_a_full_disk_is_a_failure(words: tuple[str, ...], home: HomeBuilder, asx: Asx) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    type_in(home, *(f"reed number {number}" for number in range(200)), session="big")
    assert asx("ingest").code == 0
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "cli", *words], cwd=REPOSITORY, env=environment(), stdout=full,
            stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 6
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["-x", "--force", "-1"])
def test_b108_names_and_titles_that_begin_with_a_dash(name: str, home: HomeBuilder, asx: Asx) -> None:
    home.aster("s", make.aster_header("s", 0), make.aster_prompt("one", 1), make.aster_title(f"{name} of it", 2))
    home.block(name, f"a note of {name} inside")
    assert asx("ingest").code == 0
    (title,) = asx("search", "--json", "--in", "titles", "--", name).json()["hits"]
    assert title["session_title"] == f"{name} of it"
    for words in (("recall", "--", name), ("memory", "show", "--", name)):
        shown = asx(*words)
        assert (shown.code, f"a note of {name} inside" in shown.stdout) == (0, True), words
    found = asx("search", "--in", "memory", "--", name)
    assert f"asx memory show -- {name}" in found.stdout
    for typed in (["search", name], ["recall", name], ["memory", "show", name]):
        refused = asx(*typed)
        assert refused.code == 2, typed
        assert " -- " in refused.stderr, typed
