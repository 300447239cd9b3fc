"""Sessions of pi across files: forks, copies, branches and one session in two folders, through a real index."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from index.ingest import ingest
from index.settings import Settings
from index.verify import verify
from tests.builders import HomeBuilder, at, lines
from tests.index.conftest import dump_of, rebuilt_dump, rows

pytestmark = pytest.mark.usefixtures("quick_schema")

ORIGIN = "44444444-aaaa-4aaa-8aaa-000000000004"
FORK = "55555555-aaaa-4aaa-8aaa-000000000005"
NAMES = {
    "branches": f"2026-05-04T08-00-00-000Z_{ORIGIN}",
    "fork-of-branches": f"2026-05-04T08-20-00-000Z_{FORK}",
    "first-version": "2026-05-04T08-00-00-000Z_11111111-aaaa-4aaa-8aaa-000000000001",
}
TOTALS = "SELECT count(*), sum(input_tokens), sum(output_tokens), round(sum(cost_usd), 6) FROM llm_calls"

Record = dict[str, Any]


@pytest.fixture
def places(home: HomeBuilder, tmp_path: Path) -> Settings:
    return home.settings(tmp_path / "i" / "index.sqlite")


def folder(home: HomeBuilder, project: str = "--w-orchard--") -> Path:
    path = home.home / ".pi" / "agent" / "sessions" / project
    path.mkdir(parents=True, exist_ok=True)
    return path


def put(home: HomeBuilder, data: Path, name: str, project: str = "--w-orchard--") -> Path:
    return Path(shutil.copy(data / "pi" / f"{name}.jsonl", folder(home, project) / f"{NAMES[name]}.jsonl"))


def write(home: HomeBuilder, name: str, records: Sequence[Record], project: str = "--w--") -> Path:
    path = folder(home, project) / f"{name}.jsonl"
    path.write_bytes(lines(*records))
    return path


def header(session_id: str, minute: float = 0, **keys: Any) -> Record:
    return {"type": "session", "version": 3, "id": session_id, "timestamp": at(minute), "cwd": "/w", **keys}


def prompt(text: str, minute: float, entry_id: str | None = None) -> Record:
    named = {} if entry_id is None else {"id": entry_id, "parentId": None}
    return {"type": "message", **named, "timestamp": at(minute), "message": {"role": "user", "content": text}}


def answer(
    text: str, minute: float, entry_id: str | None = None, tokens: int = 1, response_id: str | None = None
) -> Record:
    named = {} if entry_id is None else {"id": entry_id, "parentId": None}
    message: Record = {
        "role": "assistant", "content": [{"type": "text", "text": text}], "provider": "acme", "model": "m",
        "usage": {"input": tokens, "output": tokens, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": tokens / 10}},
    }  # fmt: skip
    if response_id is not None:
        message["responseId"] = response_id
    return {"type": "message", **named, "timestamp": at(minute), "message": message}


def assert_sound(places: Settings) -> None:
    assert dump_of(places.index_path) == rebuilt_dump(places)
    assert verify(places).differences == ()


def test_a_branch_in_one_file_is_said_once_and_a_fork_of_it_counts_nothing_twice(
    home: HomeBuilder, data: Path, places: Settings
) -> None:
    put(home, data, "branches")
    ingest(places)
    alone = rows(places, TOTALS)
    assert alone == [(3, 9, 12, 0.7)]
    put(home, data, "fork-of-branches")
    ingest(places)
    assert rows(places, TOTALS) == [(4, 16, 20, 1.5)]
    assert rows(places, "SELECT session_id, turns, events, forked_from FROM sessions ORDER BY session_id") == [
        (ORIGIN, 3, 6, None),
        (FORK, 3, 6, ORIGIN),
    ]
    assert rows(places, "SELECT session_id, text FROM prompts ORDER BY sort_ts") == [
        (ORIGIN, "plant a tree"), (ORIGIN, "an apple"), (ORIGIN, "a plum"), (FORK, "water it"),
    ]  # fmt: skip
    assert rows(places, "SELECT sum(canonical), count(*) FROM events") == [(8, 12)]
    assert_sound(places)


def test_when_the_origin_goes_the_fork_tells_what_it_brought_along(
    home: HomeBuilder, data: Path, places: Settings
) -> None:
    origin = put(home, data, "branches")
    put(home, data, "fork-of-branches")
    ingest(places)
    origin.unlink()
    ingest(places, prune=True)
    assert rows(places, TOTALS) == [(3, 13, 16, 1.3)]
    assert rows(places, "SELECT text FROM prompts ORDER BY sort_ts") == [("plant a tree",), ("a plum",), ("water it",)]
    assert_sound(places)


def test_any_order_of_ingests_equals_a_rebuild(home: HomeBuilder, data: Path, tmp_path: Path) -> None:
    files = [put(home, data, name) for name in NAMES]
    files.append(write(home, "2026-05-04T09-00-00-000Z_66", [
        header("66", 30, parentSession=str(files[1])),
        *(json.loads(line) for line in files[1].read_bytes().splitlines()[1:]),
        answer("And again.", 31, "b0000009", 16),
    ]))  # fmt: skip
    dumps = []
    for number, order in enumerate(list(permutations(files))[::5]):
        places = home.settings(tmp_path / str(number) / "index.sqlite")
        away = {path: path.rename(path.with_suffix(".away")) for path in order}
        for path in order:
            away[path].rename(path)
            ingest(places)
        dumps.append(dump_of(places.index_path))
    assert all(dump == dumps[0] for dump in dumps)
    assert dumps[0] == rebuilt_dump(places)
    assert rows(places, TOTALS + " WHERE project <> '/w/orchard'") == [(1, 16, 16, 1.6)]


def test_copies_of_the_first_version_have_no_ids_and_are_found_all_the_same(
    home: HomeBuilder, data: Path, places: Settings
) -> None:
    origin = put(home, data, "first-version")
    records = [json.loads(line) for line in origin.read_bytes().splitlines()]
    write(home, "2026-05-04T08-30-00-000Z_2222", [
        header("2222", 30, branchedFrom=str(origin)), *records[1:9], prompt("and then?", 31),
    ])  # fmt: skip
    ingest(places)
    assert rows(places, TOTALS) == [(2, 15, 26, 0.03)]
    assert rows(places, "SELECT text FROM prompts ORDER BY sort_ts") == [
        ("graft the pear tree",), ("yes",), ("yes",), ("and then?",),
    ]  # fmt: skip
    assert_sound(places)


def test_b30_one_session_in_two_folders_is_one_session(home: HomeBuilder, places: Settings) -> None:
    four = [header("s"), prompt("one", 1, "e1"), answer("two", 2, "e2", 1), prompt("three", 3, "e3")]
    six = [*four, answer("four", 4, "e4", 2), prompt("five", 5, "e5")]
    for first, second in ((four, six), (six, four)):
        write(home, "2026-05-04T08-00-00-000Z_s", first, "--p1--")
        ingest(places)
        write(home, "2026-05-04T08-00-00-000Z_s", second, "--p2--")
        ingest(places)
        assert rows(places, "SELECT text FROM events WHERE canonical = 1 ORDER BY sort_ts") == [
            ("one",), ("two",), ("three",), ("four",), ("five",),
        ]  # fmt: skip
        assert rows(places, "SELECT session_id, turns FROM sessions") == [("s", 3)]
        assert rows(places, TOTALS) == [(2, 3, 3, 0.3)]
        assert_sound(places)


def test_b28_b29_equal_words_and_equal_ids_are_no_copies(home: HomeBuilder, places: Settings) -> None:
    write(home, "a", [header("a"), prompt("yes", 1, "e1"), answer("done", 2, "e2"), prompt("yes", 3, "e3"),
                      prompt("yes", 3, "e3")])  # fmt: skip
    write(home, "b", [header("b"), prompt("no", 1, "e1"), answer("done", 5, "e2")])
    ingest(places)
    assert rows(places, "SELECT text FROM prompts ORDER BY text") == [("no",), ("yes",), ("yes",)]
    assert rows(places, TOTALS) == [(2, 2, 2, 0.2)]
    assert_sound(places)


def test_a_server_that_gives_one_id_to_two_answers_made_two_calls(home: HomeBuilder, places: Settings) -> None:
    records = [header("a"), answer("x", 1, "e1", 5, "chatcmpl-7"), answer("y", 2, "e2", 3, "chatcmpl-7")]
    write(home, "2026-05-04T08-00-00-000Z_a", records)
    write(home, "2026-05-04T08-10-00-000Z_b", [
        header("b", 10, parentSession="/h/2026-05-04T08-00-00-000Z_a.jsonl"), *records[1:],
        answer("z", 11, "e3", 1, "chatcmpl-7"),
    ])  # fmt: skip
    ingest(places)
    assert rows(places, TOTALS) == [(3, 9, 9, 0.9)]
    assert rows(places, "SELECT session_id, count(*) FROM llm_calls GROUP BY 1 ORDER BY 1") == [("a", 2), ("b", 1)]
    assert_sound(places)


def test_a_file_that_a_later_pi_converted_is_read_anew(home: HomeBuilder, data: Path, places: Settings) -> None:
    path = put(home, data, "first-version")
    ingest(places)
    before = rows(places, TOTALS)
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    converted = [{**records[0], "version": 3}, *({**record, "id": f"{number:08x}", "parentId": None}
                                                 for number, record in enumerate(records[1:]))]  # fmt: skip
    path.write_bytes(lines(*converted, prompt("once more", 20, "f1")))
    ingest(places)
    assert rows(places, TOTALS) == before
    assert rows(places, "SELECT count(*) FROM prompts") == [(4,)]
    assert_sound(places)


def test_calls_without_counts_are_calls_whose_tokens_are_unknown(
    home: HomeBuilder, data: Path, places: Settings
) -> None:
    shutil.copy(data / "pi" / "every-kind-of-entry.jsonl", folder(home) / "e.jsonl")
    ingest(places)
    assert rows(
        places, "SELECT count(*), count(output_tokens), count(cost_usd), sum(output_tokens) FROM llm_calls"
    ) == [(5, 4, 4, 57)]
    assert rows(places, "SELECT title, model FROM sessions") == [("Orchard", "m-local")]
    assert rows(places, "SELECT text FROM cancellations ORDER BY sort_ts, event_index") == [
        ("",), ("Request was aborted.",),
    ]  # fmt: skip
    assert_sound(places)
