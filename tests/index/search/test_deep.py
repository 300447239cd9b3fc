"""Whole texts of tools: a deep search equals a scan of every text in the files, and says what it could not read."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.ingest import ingest
from index.match.form import form
from index.match.query import read_query
from index.match.spans import find_spans
from index.opening import open_reader
from index.search import deep, line_runs
from index.search.deep import find_in_whole
from index.search.matches import Match
from index.search.sieve import FOLDING_TO_ASCII, AsciiSieve, KeySieve, may_rewrite, sieve_of
from index.search.tools import Told
from index.settings import Settings
from index.transcripts import read_events
from tests import builders as make
from tests.builders import HomeBuilder, Record
from tests.index.match.definition import TEXTS, code_points
from tests.index.search.test_tools import (
    aether_call,
    aether_result,
    call,
    known_texts,
    odd_text,
    result,
    scope_of,
    some_queries,
)

SESSION = "01kaaaaaaaaaaaaaaaaaaaaaaa"
LONG = "x" * 600

WRITERS: tuple[Callable[[Any], str], ...] = (
    lambda value: json.dumps(value, ensure_ascii=False),
    lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")),
    json.dumps,
    lambda value: json.dumps(value).replace("/", "\\/"),
    lambda value: json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f").replace("\\n", "\\u000A"),
    lambda value: json.dumps(value).replace("e", "\\u0065").replace("\\\\u0065", "e"),
    lambda value: json.dumps(value, ensure_ascii=False).replace("\\t", "\t").replace("\\u001b", "\x1b"),
    lambda value: json.dumps(value, ensure_ascii=False, indent=1).replace("\n", " "),
)
"""Ways of writing the same record in one line; the last but one is none that orjson takes."""


def whole(settings: Settings, connection: sqlite3.Connection, text: str, told: Told | None = None) -> Iterator[Match]:
    query = read_query(text)
    return find_in_whole(settings, connection, scope_of(connection), query, query.spans, told or Told())


def whole_texts(settings: Settings, connection: sqlite3.Connection) -> list[tuple[int, str, str]]:
    """Return every canonical text of a tool, whole, in order, by reading every file from its beginning."""
    events: dict[tuple[str, int], Any] = {}
    for agent, kind, path, root in connection.execute(
        """SELECT a.name, s.kind, s.path, s.root FROM source_rows s JOIN agents a ON a.id = s.agent_id
        WHERE s.events > 0"""
    ):
        for event in read_events(settings, agent, kind, path, root, frozenset()):
            events[path, event.event_index] = event
    found = []
    for one in known_texts(connection):
        event = events[one.order[3], one.event_index]
        found.append((one.event_index, one.part, (event.text if one.part == "text" else event.tool_arguments) or ""))
    return found


def check(settings: Settings, queries: list[str]) -> int:
    """Compare a deep search with a scan, query by query; return how many hits there were."""
    hits = 0
    with closing(open_reader(settings.index_path)) as connection:
        told = Told()
        texts = whole_texts(settings, connection)
        index_of = {row[0]: row[1] for row in connection.execute("SELECT id, event_index FROM event_rows")}
        for text in queries:
            query = read_query(text)
            expected = [(*one, tuple(spans)) for one in texts if (spans := find_spans(one[2], query.form, query.exact))]
            found = [
                (index_of[match.id], match.part, match.text, match.spans)
                for match in whole(settings, connection, text, told)
            ]
            assert found == expected, text
            hits += len(found)
        assert told.unread == []
    return hits


def odd_value(rng: Random) -> Any:
    """Return a value of JSON that may be written back in another way."""
    numbers = ("1E5", "-0", "1.50", "12345678901234567890123", "1e999", "NaN", "0.1000000000000000055", "17", "true")
    return [odd_text(rng), {odd_text(rng, 2): odd_text(rng, 60)}, *rng.sample(numbers, 3), odd_text(rng) * 40]


def written(record: Record, rng: Random) -> bytes:
    """Return a record as one line; texts that name a number become that number."""
    line = rng.choice(WRITERS)(record)
    for number in ("1E5", "-0", "1.50", "12345678901234567890123", "1e999", "NaN", "0.1000000000000000055", "17"):
        line = line.replace(f'"{number}"', number)
    return line.encode("utf-8", "surrogatepass")


@pytest.fixture(scope="module")
def settings_of_odd_world(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    rng = Random(42)  # noqa: S311
    home = HomeBuilder(tmp_path_factory.mktemp("deep"))
    for number in range(4):
        session_id = f"01k{number:023d}"
        records = [make.aster_header(session_id, number)]
        for place in range(40):
            minute = rng.randrange(number, number + 6)
            arguments = rng.choice((odd_value(rng), json.dumps(odd_value(rng)), odd_text(rng)))
            records.append(call(f"c{place}", "Bash", arguments, minute))
            records.append(result(f"c{place}", rng.choice((odd_text(rng, 150), [odd_text(rng, 90)] * 3)), minute))
        home.aster(session_id, *(written(record, rng) for record in records))
    aether = [make.aether_metadata("tele-1", 3)]
    for place in range(40):
        aether.append(aether_call(f"a{place}", "shell", odd_value(rng)))
        keys = rng.choice(({}, {"arguments": odd_value(rng)}))
        aether.append(aether_result(f"a{place}", "shell", rng.choice((odd_text(rng, 150), odd_value(rng))), **keys))
    for place in range(4):
        request = {"id": f"d{place}", "name": "task"}
        event = {"type": "task_cancelled", "request": request, "task_id": odd_text(rng, 200)}
        aether.append({"kind": "agent", "data": {"category": "tool", "event": event}})
    home.aether("tele-1", *(written(record, rng) for record in aether))
    claude: list[Record] = []
    for place in range(40):
        claude.append(make.claude_tool_call(f"t{place}", "s-1", f"u{place}", place, q=odd_value(rng)))
        claude.append(make.claude_tool_result(f"t{place}", odd_text(rng, 150), "s-1", f"v{place}", place))
    home.claude("s-1", *(written(record, rng) for record in claude))
    settings = home.settings()
    problems = ingest(settings).problems
    assert {problem.kind for problem in problems} == {"damaged_line"}  # some ways of writing spoil some texts
    assert len(problems) < 100
    return settings


EVERY_TRAP = ["null", "nul", "1e", "100000.0", "1e+", "e16", "-0", "1.5", "12", "cancelled", " cancelled", "n", "u",
              "u0", "u00", "u001", "u001b", "1b[0m", "[0m", "file", "ss", "k", "K", "i", "ist", "/", "\\", '"', "\\n",
              "\x7f", "word :", "true,"]  # fmt: skip


def respelt_parts(settings: Settings, seed: int, number: int) -> list[str]:
    with closing(open_reader(settings.index_path)) as connection:
        texts = [text for _, _, text in whole_texts(settings, connection) if text]
    assert sum(len(text) > 600 for text in texts) > 100
    return some_queries(Random(seed), texts, number)  # noqa: S311


def test_equals_a_scan_of_all_files(settings_of_odd_world: Settings) -> None:
    assert check(settings_of_odd_world, [*EVERY_TRAP, *respelt_parts(settings_of_odd_world, 3, 20)]) > 1000


@pytest.mark.slow
def test_equals_a_scan_of_all_files_for_many_queries(settings_of_odd_world: Settings) -> None:
    assert check(settings_of_odd_world, respelt_parts(settings_of_odd_world, 4, 200)) > 2000


def test_texts_that_are_let_go_come_all_the_same(
    settings_of_odd_world: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deep, "HELD_CHARACTERS", 2000)
    assert check(settings_of_odd_world, ["word", "a", "404"]) > 100


def test_letters_that_fold_to_ascii_are_all_known() -> None:
    letters = (letter for group in code_points() for letter in group if not letter.isascii())
    found = {letter for letter in letters if any(map(str.isascii, form(letter, False) + form(letter, True)))}
    assert found == set(FOLDING_TO_ASCII)


@given(TEXTS, st.data())
def test_no_line_is_passed_over_that_holds_the_query(text: str, data: st.DataObject) -> None:
    """A text stands in its line as a string, or as a string within compact JSON that was a value there."""
    draw = data.draw
    text = text + draw(st.text(st.characters(exclude_categories=["Cs"]), max_size=20)) or "i"
    as_json = draw(st.booleans())
    value: Any = {"q": [text, 1e5, None]} if as_json else text
    stored = json.dumps(value, ensure_ascii=False, separators=(",", ":")) if as_json else text
    start = draw(st.integers(0, len(stored) - 1))
    query = stored[start : start + draw(st.integers(1, 12))]
    query = query.lower() if draw(st.booleans()) else query
    if not query.strip() or not read_query(query).spans(stored):
        return
    line = draw(st.sampled_from(WRITERS))({"content": value}).encode()
    sieve = sieve_of(read_query(query))
    assert sieve.may_hold(line) or (sieve.is_number and may_rewrite(line))
    assert sieve.may_hold_some(b'{"a":1}\n' + line + b"\n") or sieve.is_number


def test_most_lines_are_passed_over() -> None:
    line = json.dumps({"content": "plain words\nand a naïve café, \x1b[0m 12", "n": 5}, ensure_ascii=False).encode()
    for query, kind in (("needle", AsciiSieve), ("Needle/x", AsciiSieve), ("данные", KeySieve), ("検索", KeySieve)):
        sieve = sieve_of(read_query(query))
        assert isinstance(sieve, kind)
        assert not sieve.may_hold(line)
        assert not (sieve.is_number and may_rewrite(line))


def long_world(home: HomeBuilder) -> tuple[Settings, Path]:
    path = home.aster(SESSION, make.aster_header(SESSION, 0), result("c", f"{LONG} needle 1", 1),
                      result("d", f"needle {LONG} 2", 2), result("e", "a short needle", 3))  # fmt: skip
    settings = home.settings()
    ingest(settings)
    return settings, path


def found_in(settings: Settings, text: str = "needle") -> tuple[list[str], list[tuple[str, str]]]:
    with closing(open_reader(settings.index_path)) as connection:
        told = Told()
        texts = [match.text.replace("x", "") for match in whole(settings, connection, text, told)]
        return texts, told.unread


def test_finds_what_lies_behind_the_head(home: HomeBuilder) -> None:
    settings, _ = long_world(home)
    assert found_in(settings) == (["a short needle", "needle  2", " needle 1"], [])


def test_a_file_that_is_gone_or_no_file_is_searched_in_its_heads_and_told(home: HomeBuilder) -> None:
    settings, path = long_world(home)
    path.unlink()
    assert found_in(settings) == (["a short needle", "needle "], [(str(path), "No such file or directory")])
    os.mkfifo(path)
    assert found_in(settings) == (["a short needle", "needle "], [(str(path), "it is not a file")])


def test_a_file_that_was_rewritten_is_compared_line_by_line(home: HomeBuilder) -> None:
    settings, path = long_world(home)
    whole_file = path.read_bytes()
    path.write_bytes(whole_file.replace(b"needle 1", b"noodle 1"))
    texts, unread = found_in(settings)
    assert texts == ["a short needle", "needle  2"]  # the text of the same length and head is what stands there now
    assert unread == []
    path.write_bytes(whole_file.replace(b"x needle 1", b"xx needle 1"))
    assert found_in(settings)[0] == ["a short needle", "needle "]
    assert found_in(settings)[1] == [(str(path), "line 2 is no longer what was indexed; run: asx ingest")]
    path.write_bytes(whole_file[: whole_file.index(b"needle xxx")])
    texts, unread = found_in(settings)
    assert texts == ["a short needle", "needle ", " needle 1"]
    assert unread == [(str(path), "line 3 is no longer what was indexed; run: asx ingest")]


def test_a_file_that_grew_is_what_was_indexed(home: HomeBuilder) -> None:
    settings, path = long_world(home)
    with path.open("ab") as file:
        file.write(make.lines(result("f", f"{LONG} needle new", 4)))
    assert found_in(settings) == (["a short needle", "needle  2", " needle 1"], [])
    assert found_in(settings, "nothing of it") == ([], [])


def test_an_unfinished_last_line_is_read_again(home: HomeBuilder) -> None:
    path = home.aster(SESSION, make.aster_header(SESSION, 0), end=make.lines(result("c", f"{LONG} needle", 1))[:-1])
    settings = home.settings()
    ingest(settings)
    assert found_in(settings) == ([" needle"], [])
    path.write_bytes(path.read_bytes() + b"\n")
    assert found_in(settings) == ([" needle"], [])


def test_arguments_in_pieces_on_earlier_lines_are_found(home: HomeBuilder) -> None:
    def piece(chunk: str) -> Record:
        event = {"type": "call_update", "tool_call_id": "c", "chunk": chunk}
        return {"kind": "agent", "data": {"category": "tool", "event": event}}

    home.aether("tele-1", make.aether_metadata("tele-1", 0), aether_call("c", "shell", ""), piece('{"q":"' + LONG),
                piece(" nee"), piece('dle"}'), aether_result("c", "shell", "done"))  # fmt: skip
    settings = home.settings()
    ingest(settings)
    assert found_in(settings) == (['{"q":" needle"}'], [])
    assert found_in(settings, "nothing of it") == ([], [])


def test_lines_of_many_blocks_and_lines_over_the_limit(home: HomeBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_runs, "BLOCK_BYTES", 1000)
    huge = result("b", "y" * 5000 + " needle lost", 1)
    home.aster(SESSION, make.aster_header(SESSION, 0), huge, result("c", f"{LONG} needle 1", 1), huge, huge,
               result("d", LONG * 4 + " needle 2", 2), result("e", "z" * 3000, 3),
               end=make.lines(huge)[:-1])  # fmt: skip
    config = home.settings().places.config
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("limits:\n  max_line_bytes: 4000\n")
    settings = home.settings()
    assert settings.configuration.limits.max_line_bytes == 4000
    ingest(settings)
    assert found_in(settings) == ([" needle 2", " needle 1"], [])
    assert found_in(settings, "zzzz")[0] == ["z" * 3000]
    assert found_in(settings, "nothing of it") == ([], [])
