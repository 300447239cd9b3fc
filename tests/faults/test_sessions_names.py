"""Session files and ids as nobody should write them: each can be listed and deleted, and nothing else is touched."""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path

import pytest

from tests import builders as make
from tests.builders import HomeBuilder
from tests.cli.conftest import Run
from tests.cli.conftest import run as run

FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
IDS = ["../../canary", "/etc/passwd", "a\x1b[5mb\nc", "🧾", "x" * 3000, "-rf", "%", "*", "..", "a:b", "aster:x",
       unicodedata.normalize("NFD", "café"), "S1", "İ"]  # fmt: skip


@pytest.fixture
def home(isolated: Path) -> HomeBuilder:
    return HomeBuilder(isolated)


def files(home: HomeBuilder) -> set[str]:
    return {path.name for path in (home.aster_home / "sessions").rglob("*.jsonl")}


@pytest.mark.parametrize("session_id", IDS, ids=range(len(IDS)))
def test_an_odd_id_in_a_header_is_one_to_delete_by_as_it_is_listed(
    home: HomeBuilder, run: Run, session_id: str
) -> None:
    canary = home.aster_home / "sessions" / "canary.jsonl"
    home.aster("odd", make.aster_header(session_id, 0), make.aster_prompt("x", 1))
    home.aster("s1", make.aster_header("s1", 0), make.aster_prompt("x", 1))
    canary.write_bytes(make.lines(make.aster_header("canary", 0)))
    listed = run("sessions", "list", "--all", "--json").json()["sessions"]
    assert session_id in {one["id"] for one in listed} or len(session_id) > 1000
    shown = run("sessions", "list", "--all")
    assert not FORBIDDEN.search(shown.stdout)
    done = run("sessions", "delete", "--yes", "--", f"aster:{session_id}")
    assert done.code == 0, done.stderr
    assert not FORBIDDEN.search(done.stdout + done.stderr)
    assert files(home) == {"s1.jsonl", "canary.jsonl"}


def test_a_file_name_that_is_not_utf_8_or_not_for_a_terminal(home: HomeBuilder, run: Run) -> None:
    folder = home.aster("s1", make.aster_header("s1", 0), make.aster_prompt("x", 1)).parent
    names = [b"\xff\xfe.jsonl", b"new\nline\x1b[5m.jsonl", b"--yes.jsonl", b" .jsonl", "é\u202e.jsonl".encode()]
    for number, name in enumerate(names):
        path = os.path.join(os.fsencode(folder), name)  # noqa: PTH118 - a name of bytes
        with open(path, "wb") as file:  # noqa: PTH123 - the same
            file.write(make.lines(make.aster_header(f"odd-{number}", 0), make.aster_prompt("x", 1)))
    done = run("sessions", "delete", "--yes", *(f"odd-{number}" for number in range(len(names))))
    assert done.code == 0, done.stderr
    assert not FORBIDDEN.search(done.stdout + done.stderr)
    assert files(home) == {"s1.jsonl"}


def test_canaries_outside_stay_whatever_is_typed(home: HomeBuilder, run: Run, tmp_path: Path) -> None:
    home.aster("s1", make.aster_header("s1", 0), make.aster_prompt("x", 1))
    canaries = [home.aster_home / "canary.jsonl", home.home / "canary.jsonl", tmp_path / "canary.jsonl"]
    for canary in canaries:
        canary.write_bytes(make.lines(make.aster_header("canary", 0)))
    typed = [
        "../canary",
        "../../canary",
        "..%2fcanary",
        "alpha/../../canary",
        str(tmp_path / "canary"),
        "canary",
        "./s1",
        "s1/",
    ]
    for text in typed:
        for command in (["delete", "--yes"], ["rename"], ["relocate"]):
            words = [text] if command[0] == "delete" else [text, "/"]
            assert run("sessions", *command, *words).code in (1, 7)
    assert all(canary.read_bytes() == make.lines(make.aster_header("canary", 0)) for canary in canaries)
    assert files(home) == {"s1.jsonl"}
