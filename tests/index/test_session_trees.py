"""Trees of sessions: who works for whom in the end, whatever comes, goes and stands in the files."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from index.ingest import ingest
from index.settings import Settings
from index.settle.trees import Place, places, settle_trees
from index.statements import TOUCHED_TABLES
from tests import builders as make
from tests.builders import HomeBuilder
from tests.index.conftest import dump_of, rebuilt_dump, rows

pytestmark = pytest.mark.usefixtures("quick_schema")

TREE = "SELECT session_id, root_session_id, parent_session_id, depth FROM session_tree ORDER BY 1"


@pytest.fixture
def settings(home: HomeBuilder) -> Settings:
    return home.settings()


def write(home: HomeBuilder, session: str, parent: str | None = None) -> Path:
    keys = {} if parent is None else {"parent": parent}
    return home.aster(session, make.aster_header(session, 1, **keys), make.aster_prompt(session, 2))


def ingest_and_compare(settings: Settings) -> None:
    ingest(settings, prune=True)
    assert dump_of(settings.index_path) == rebuilt_dump(settings)


def test_each_session_is_in_the_tree_once_with_the_one_at_the_top(home: HomeBuilder, settings: Settings) -> None:
    for session, parent in (("a", None), ("b", "a"), ("c", "b"), ("d", "a"), ("e", None), ("f", "not-indexed")):
        write(home, session, parent)
    ingest_and_compare(settings)
    assert rows(settings, TREE) == [
        ("a", "a", None, 0), ("b", "a", "a", 1), ("c", "a", "b", 2), ("d", "a", "a", 1), ("e", "e", None, 0),
        ("f", "f", "not-indexed", 0),
    ]  # fmt: skip


def test_a_parent_that_comes_later_and_goes_again_moves_all_below_it(home: HomeBuilder, settings: Settings) -> None:
    for session, parent in (("b", "a"), ("c", "b"), ("d", "c")):
        write(home, session, parent)
    ingest_and_compare(settings)
    places = "SELECT session_id, root_session_id, depth FROM session_tree ORDER BY 1"
    alone = [("b", "b", 0), ("c", "b", 1), ("d", "b", 2)]
    assert rows(settings, places) == alone
    first = write(home, "a")
    ingest_and_compare(settings)
    assert rows(settings, places) == [("a", "a", 0), ("b", "a", 1), ("c", "a", 2), ("d", "a", 3)]
    write(home, "a", "top")
    write(home, "top")
    ingest_and_compare(settings)
    assert rows(settings, places)[-2:] == [("d", "top", 4), ("top", "top", 0)]
    first.unlink()
    ingest_and_compare(settings)
    assert rows(settings, places) == [*alone, ("top", "top", 0)]


def test_a_session_that_gets_another_parent_takes_its_own_along(home: HomeBuilder, settings: Settings) -> None:
    for session, parent in (("a", None), ("b", None), ("c", "a"), ("d", "c")):
        write(home, session, parent)
    ingest_and_compare(settings)
    write(home, "c", "b")
    ingest_and_compare(settings)
    assert rows(settings, TREE)[-2:] == [("c", "b", "b", 1), ("d", "b", "c", 2)]


@pytest.mark.parametrize(
    ("parents", "expected"),
    [
        ({"a": "a"}, [("a", "a", 0)]),
        ({"a": "b", "b": "a"}, [("a", "a", 0), ("b", "b", 0)]),
        ({"a": "b", "b": "c", "c": "a", "d": "c", "e": "d"},
         [("a", "a", 0), ("b", "b", 0), ("c", "c", 0), ("d", "c", 1), ("e", "c", 2)]),
    ],
    ids=["itself", "two", "a tail below three"],
)  # fmt: skip
@pytest.mark.parametrize("one_by_one", [False, True])
def test_sessions_on_a_cycle_are_their_own_roots_and_nothing_is_lost(
    parents: dict[str, str], expected: list[tuple[str, str, int]], one_by_one: bool, home: HomeBuilder,
    settings: Settings,
) -> None:  # fmt: skip
    for session, parent in parents.items():
        path = write(home, session, parent)
        if one_by_one:
            ingest_and_compare(settings)
    ingest_and_compare(settings)
    assert rows(settings, "SELECT session_id, root_session_id, depth FROM session_tree ORDER BY 1") == expected
    assert rows(settings, "SELECT parent_session_id FROM session_tree ORDER BY session_id") == [
        (parents[session],) for session in sorted(parents)
    ]
    path.unlink()
    ingest_and_compare(settings)
    assert len(rows(settings, TREE)) == len(parents) - 1


def test_a_parent_is_one_of_the_same_agent(home: HomeBuilder, settings: Settings) -> None:
    home.aether("a", make.aether_metadata("a", 0), make.aether_prompt("hello"))
    write(home, "b", "a")
    ingest_and_compare(settings)
    assert rows(settings, "SELECT agent, session_id, root_session_id FROM session_tree ORDER BY 1") == [
        ("aether", "a", "a"), ("aster", "b", "b"),
    ]  # fmt: skip


def test_a_session_of_two_files_has_one_place(home: HomeBuilder, settings: Settings) -> None:
    write(home, "a")
    write(home, "b", "a")
    home.aster("b", make.aster_header("b", 5), make.aster_prompt("again", 6), project="beta")
    ingest_and_compare(settings)
    assert rows(settings, TREE) == [("a", "a", None, 0), ("b", "a", "a", 1)]


def straightforward(parents: Mapping[int, int | None], session: int) -> tuple[int, int]:
    """Return a session's place by walking up step by step and looking for what comes again."""
    path: list[int] = []
    at: int | None = session
    while at is not None and at not in path:
        path.append(at)
        at = parents.get(at)
    if at is None:
        return path[-1], len(path) - 1
    begin = path.index(at)
    return (session, 0) if begin == 0 else (path[begin], begin)


@pytest.mark.parametrize("seed", range(200))
def test_places_are_those_of_a_walk_from_each_session(seed: int) -> None:
    rng = Random(seed)  # noqa: S311
    sessions = rng.sample(range(1000), rng.randint(1, 14))
    parents = {one: rng.choice((None, *sessions)) for one in sessions}
    whole = {one: Place(*straightforward(parents, one)) for one in sessions}
    assert places(parents, {}) == whole

    def is_below(one: int, other: int) -> bool:
        seen: set[int | None] = set()
        at: int | None = one
        while at is not None and at not in seen:
            if at == other:
                return True
            seen.add(at)
            at = parents[at]
        return False

    changed = rng.choice(sessions)
    parents[changed] = rng.choice((None, *sessions))
    again = {one: parents[one] for one in sessions if is_below(one, changed)}
    settled = {one: place for one, place in whole.items() if one not in again}
    assert settled | places(again, settled) == {one: Place(*straightforward(parents, one)) for one in sessions}


def _chain(number: int) -> int | None:
    return number - 1 if number else None


def _ring(number: int) -> int | None:
    return (number - 1) % 20_000


@pytest.mark.parametrize("above", [_chain, _ring, lambda _: 0, lambda _: None], ids=["chain", "ring", "star", "flat"])
def test_twenty_thousand_sessions_are_placed_in_a_moment(above: Callable[[int], int | None], empty_index: Path) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        with closing(sqlite3.connect(empty_index)) as empty:
            empty.backup(connection)
        connection.execute("INSERT INTO agents (id, name) VALUES (1, 'aster')")
        stored = ((number, f"s{number}", None if above(number) is None else f"s{above(number)}")
                  for number in range(20_000))  # fmt: skip
        connection.executemany(
            "INSERT INTO session_rows (id, agent_id, session_id, parent_session_id) VALUES (?, 1, ?, ?)", stored
        )
        for statement in TOUCHED_TABLES:
            connection.execute(statement)
        connection.execute("INSERT INTO touched_session SELECT id FROM session_rows")
        begin = time.process_time()
        settle_trees(connection)
        settled_s = time.process_time() - begin
        begin = time.process_time()
        found = connection.execute("SELECT count(*), count(DISTINCT root_session_id) FROM session_tree").fetchone()
        read_s = time.process_time() - begin
    assert found == (20_000, 1 if above in (_chain,) or above(7) == 0 else 20_000)
    assert settled_s < 2
    assert read_s < 0.5
    print(f"settled in {settled_s:.3f} s, read in {read_s:.3f} s")
