"""No statement that can be written leaves a trace: SQLite's grammar, tried against the guard.

Each statement runs in a child process, under a guard of its own as in ``asx query``. After each the bytes of the index
and of its ``-wal``, the names in its folder, and two folders that a statement could write to (the working directory,
and the one for temporary files) are what they were; a folder's own time tells of a file that came and went.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from index.query.guard_rules import FUNCTIONS
from tests.conftest import REPOSITORY
from tests.index.filled import sample_index
from tests.index.statement_grammar import Fate, Grammar, Statement
from tests.index.statement_runner import LAYERS

SEEDS = [pytest.param(1), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 7))]
BATCH = 700
REFUSED, ANSWERED, FAILED, SEVERAL = "QueryRefusedError", "answered", "QueryFailedError", "SeveralStatementsError"
ALLOWED = {
    Fate.ANSWERED: {ANSWERED, FAILED},
    Fate.HARMLESS: {ANSWERED, FAILED, SEVERAL, REFUSED},
    Fate.NEVER_ANSWERED: {FAILED, SEVERAL, REFUSED},
}
WRITING_LAYERS = {
    "the read-only file and the authorizer",
    "the transaction, the file and the limits",
    "sorting in memory",
}
"""Holes through which something reaches the disk; behind each of the others another layer still stands."""
QUICK_LAYERS = {"the functions", "sorting in memory"}
BIG_SORT = (
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 80000) "
    "SELECT max(t) FROM (SELECT hex(n) || '................................' AS t FROM r ORDER BY t DESC "
    "LIMIT -1 OFFSET 1)"
)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    return sample_index(tmp_path_factory.mktemp("filled"), data)


class World:
    """An index, a working directory and a folder for temporary files, and a child process that runs statements."""

    def __init__(self, folder: Path, index: Path, layer: str | None) -> None:
        self.index = folder / "index" / index.name
        self._places = [self.index.parent, folder / "cwd", folder / "temporary"]
        shutil.copytree(index.parent, self.index.parent)
        for place in self._places[1:]:
            place.mkdir()
        temporary = dict.fromkeys(("TMPDIR", "SQLITE_TMPDIR", "TEMP", "TMP"), str(self._places[2]))
        self._child = subprocess.Popen(
            [sys.executable, "-m", "tests.index.statement_runner", str(self.index), *([layer] if layer else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=self._places[1],
            env={**os.environ, **temporary, "PYTHONPATH": str(REPOSITORY), "PYTHONDONTWRITEBYTECODE": "1"},
        )

    def run(self, sql: str) -> str:
        """Return how the statement ended in the child."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(json.dumps(sql) + "\n")
        self._child.stdin.flush()
        return self._child.stdout.readline().strip()

    def trace(self) -> list[Any]:
        """Return all that a statement may not change."""
        kept = [path for path in (self.index, self.index.with_name(f"{self.index.name}-wal")) if path.exists()]
        files = [(path.read_bytes(), path.stat().st_ino, path.stat().st_mode, path.stat().st_mtime_ns) for path in kept]
        folders = [(sorted(path.name for path in place.iterdir()), place.stat().st_mtime_ns) for place in self._places]
        return [files, folders]

    def close(self) -> None:
        """End the child by ending its stdin."""
        self._child.communicate(timeout=60)


@contextmanager
def world(folder: Path, index: Path, layer: str | None = None) -> Iterator[World]:
    opened = World(folder, index, layer)
    try:
        assert opened.run("SELECT 1") == ANSWERED
        yield opened
    finally:
        opened.close()


def faults(statements: Iterable[Statement], of: World, ended: Counter[str]) -> list[str]:
    """Run statements and return what was wrong with each that should have ended otherwise; count how they ended."""
    found = []
    before = of.trace()
    for statement in statements:
        how = of.run(statement.sql)
        ended[how] += 1
        if how not in ALLOWED[statement.fate]:
            found.append(f"{how or 'the process died'}: {statement.sql!r}")
        after = of.trace()
        if after != before:
            found.append(f"a trace on disk: {statement.sql!r}")
            before = after
        if not how or len(found) > 20:
            break
    return found


@contextmanager
def watching(index: Path) -> Iterator[sqlite3.Connection]:
    """Give another connection to the index; while it is open nobody who closes takes the ``-wal`` away."""
    with closing(sqlite3.connect(f"file:{index}?mode=ro", uri=True)) as connection:
        data_version(connection)
        yield connection


def data_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


def tried(statements: Iterable[Statement], folder: Path, index: Path) -> Counter[str]:
    """Run statements in a world of their own; nothing may be wrong and nobody may see a change."""
    ended: Counter[str] = Counter()
    with world(folder, index) as of, watching(of.index) as watcher:
        before = data_version(watcher)
        assert faults(statements, of, ended) == []
        assert data_version(watcher) == before
        assert watcher.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    return ended


@pytest.mark.parametrize("seed", SEEDS)
def test_no_statement_of_the_grammar_leaves_a_trace(filled: Path, tmp_path: Path, seed: int) -> None:
    ended = tried(Grammar(filled, seed).statements(BATCH), tmp_path, filled)
    assert ended.total() == BATCH
    # Neither side is tried too little: a generator that only makes mistakes would prove nothing.
    assert ended[REFUSED] > BATCH // 3
    assert ended[ANSWERED] > BATCH // 10


def test_every_pragma_in_every_form(filled: Path, tmp_path: Path) -> None:
    ended = tried(Grammar(filled, 0).every_pragma(), tmp_path, filled)
    assert ended.total() > 500
    assert 0 < ended[ANSWERED] < 40


def test_every_virtual_table_module(filled: Path, tmp_path: Path) -> None:
    assert tried(Grammar(filled, 0).every_module(), tmp_path, filled)[REFUSED] > 50


def test_every_function_that_is_not_on_the_list(filled: Path, tmp_path: Path) -> None:
    assert tried(Grammar(filled, 0).every_unlisted_function(FUNCTIONS), tmp_path, filled)[REFUSED] > 30


def test_a_large_sort_makes_no_file(filled: Path, tmp_path: Path) -> None:
    assert tried([Statement(BIG_SORT, Fate.ANSWERED)], tmp_path, filled)[ANSWERED] == 1


@pytest.mark.parametrize(
    "layer", [pytest.param(name, marks=[] if name in QUICK_LAYERS else [pytest.mark.slow]) for name in LAYERS]
)
def test_a_guard_with_a_hole_is_seen(filled: Path, tmp_path: Path, layer: str) -> None:
    grammar = Grammar(filled, 1)
    statements = [Statement(BIG_SORT, Fate.ANSWERED), *grammar.statements(BATCH // 2)]
    with world(tmp_path, filled, layer) as of, watching(of.index):
        found = faults(statements, of, Counter())
    assert found != []
    assert any(fault.startswith("a trace on disk") for fault in found) == (layer in WRITING_LAYERS)
