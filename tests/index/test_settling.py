"""What depends on more than one source: copies, forks, imports, growing answers, histories, provider calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from index.ingest import ingest
from index.search import SearchRequest, search
from index.settings import Settings
from index.verify import verify
from tests import builders as make
from tests.builders import HomeBuilder
from tests.index.conftest import dump_of, rebuilt_dump, rows

pytestmark = pytest.mark.usefixtures("quick_schema")


@pytest.fixture
def places(home: HomeBuilder, tmp_path: Path) -> Settings:
    return home.settings(tmp_path / "cache" / "index.sqlite")


def ingest_and_compare(places: Settings, *, prune: bool = True) -> None:
    ingest(places, prune=prune)
    assert dump_of(places.index_path) == rebuilt_dump(places)


def texts(places: Settings, view: str = "prompts") -> list[str]:
    return [text for (text,) in rows(places, f"SELECT text FROM {view} ORDER BY text, source_path")]


def conversation(session: str, *extra: make.Record) -> list[make.Record]:
    return [
        make.claude_prompt("graft the pear", session, "u1", 1),
        make.claude_answer("grafted", session, "u2", 2, message_id="m1", request_id="r1", output_tokens=50),
        *extra,
    ]


def test_a_fork_stays_whole_when_its_original_goes(home: HomeBuilder, places: Settings) -> None:
    original = home.claude("s-one", *conversation("s-one"))
    home.claude("s-two", *conversation("s-two", make.claude_prompt("and the plum", "s-two", "u3", 3)))
    ingest_and_compare(places)
    assert texts(places) == ["and the plum", "graft the pear"]
    calls = "SELECT session_id, output_tokens FROM llm_calls"
    assert rows(places, calls) == [("s-one", 50)]
    assert rows(places, "SELECT inherited_calls FROM sessions ORDER BY session_id") == [(0,), (1,)]

    original.unlink()
    ingest_and_compare(places)
    assert texts(places) == ["and the plum", "graft the pear"]
    assert rows(places, calls) == [("s-two", 50)]
    assert rows(places, "SELECT session_id, inherited_calls FROM sessions") == [("s-two", 0)]


def test_a_session_older_than_all_others_becomes_canonical(home: HomeBuilder, places: Settings) -> None:
    home.claude("s-one", *conversation("s-one"))
    ingest_and_compare(places)
    home.claude("s-two", make.claude_prompt("before", "s-two", "u0", -60), *conversation("s-two"))
    ingest_and_compare(places)
    assert rows(places, "SELECT DISTINCT session_id FROM prompts") == [("s-two",)]
    assert rows(places, "SELECT session_id FROM llm_calls") == [("s-two",)]


def test_a_rewritten_file_that_now_holds_copies_settles_them(home: HomeBuilder, places: Settings) -> None:
    home.claude("s-one", *conversation("s-one"))
    home.claude("s-two", *conversation("s-two"))
    other = make.claude_answer("pruned", "s-three", "u7", 1, message_id="m9", request_id="r9", output_tokens=5)
    home.claude("s-three", make.claude_prompt("something else", "s-three", "u9", 1), other)
    ingest_and_compare(places)
    home.claude("s-three", *conversation("s-three"))
    ingest_and_compare(places)
    assert texts(places) == ["graft the pear"]
    assert rows(places, "SELECT session_id, output_tokens FROM llm_calls") == [("s-one", 50)]


@pytest.mark.parametrize("way", ["header", "slug"])
def test_an_import_is_a_copy_while_its_original_is_here(way: str, home: HomeBuilder, places: Settings) -> None:
    keys: dict[str, Any] = {"imported_from": {"agent": "claude-code", "id": "s-one"}} if way == "header" else {}
    session = "01K0000000000000000000000A" if way == "header" else "claude-s-one"
    home.aster(session, make.aster_header(session, 9, **keys), make.aster_prompt("graft the pear", 1))
    home.aster("01K0000000000000000000000B", make.aster_header("b", 9), make.aster_prompt("mine", 1))
    original = home.claude("s-one", *conversation("s-one"))
    home.claude("s-two", make.claude_prompt("unrelated", "s-two", "u5", 5))
    ingest_and_compare(places)
    assert rows(places, "SELECT agent, text FROM prompts ORDER BY 2") == [
        ("claude-code", "graft the pear"), ("aster", "mine"), ("claude-code", "unrelated"),
    ]  # fmt: skip
    original.unlink()
    ingest_and_compare(places)
    assert rows(places, "SELECT agent FROM prompts WHERE text = 'graft the pear'") == [("aster",)]
    home.claude("s-one", *conversation("s-one"))
    ingest_and_compare(places)
    assert rows(places, "SELECT agent FROM prompts WHERE text = 'graft the pear'") == [("claude-code",)]


def test_a_session_stops_being_an_import_with_the_file_that_said_so(home: HomeBuilder, places: Settings) -> None:
    home.claude("s-one", *conversation("s-one"))
    origin = {"agent": "claude-code", "id": "s-one"}
    said = home.aster("s-x", make.aster_header("s-x", 1, imported_from=origin), make.aster_prompt("first", 1))
    home.aster("s-x", make.aster_header("s-x", 2), make.aster_prompt("second", 2), project="other")
    home.aster("s-y", make.aster_header("s-y", 2))
    ingest_and_compare(places)
    assert texts(places) == ["graft the pear"]
    said.unlink()
    ingest_and_compare(places)
    assert texts(places) == ["graft the pear", "second"]


def test_growing_copies_count_once_in_their_final_text(home: HomeBuilder, places: Settings) -> None:
    """B26."""

    def grown(text: str, uuid: str, tokens: int, request: str | None = "r1") -> make.Record:
        return make.claude_answer(text, "s", uuid, 1, message_id="m1", request_id=request, output_tokens=tokens)

    path = home.claude("s", make.claude_prompt("write", "s", "u0", 0), grown("Once", "u1", 5))
    ingest_and_compare(places)
    for record in (grown("Once upon", "u2", 60, None), grown("Once upon a time", "u3", 180)):
        with path.open("ab") as file:
            file.write(make.lines(record))
        ingest_and_compare(places)
    single = make.claude_answer("Fine.", "s", "u4", 2, message_id="m2", request_id="r2", output_tokens=7)
    no_id = make.claude_answer("No id.", "s", "u5", 3, output_tokens=11)
    with path.open("ab") as file:
        file.write(make.lines(single, no_id))
    ingest_and_compare(places)
    assert texts(places, "answers") == ["Fine.", "No id.", "Once upon a time"]
    assert rows(places, "SELECT output_tokens FROM llm_calls ORDER BY 1") == [(7,), (11,), (180,)]


def test_streamed_copies_of_the_public_fault(home: HomeBuilder, places: Settings, data: Path) -> None:
    """B26, the folder's own file: totals use 180, the single copy and the record without id."""
    fault = data / "faults" / "B26"
    if not fault.is_dir():
        pytest.skip("the input of B26 is not among the test data")
    root = next(fault.rglob("projects")).parent
    places = home.settings(places.index_path, CLAUDE_CONFIG_DIR=str(root))
    ingest_and_compare(places)
    outputs = [output for (output,) in rows(places, "SELECT output_tokens FROM llm_calls")]
    assert 180 in outputs
    assert not {5, 60} & set(outputs)
    assert len(set(texts(places, "answers"))) == len(texts(places, "answers"))


def test_two_separate_yes_stay_two(home: HomeBuilder, places: Settings) -> None:
    """B28: at different times, at no time at all, and in two sessions; one record written twice is one."""
    home.aether("a", make.aether_metadata("a", 1), make.aether_prompt("yes"), make.aether_prompt("yes"))
    home.aether("b", make.aether_metadata("b", 2), make.aether_prompt("yes"))
    home.claude("c", make.claude_prompt("yes", "c", "u1", 1), make.claude_prompt("yes", "c", "u2", 2),
                make.claude_prompt("yes", "c", "u2", 2))  # fmt: skip
    home.aster("d", make.aster_header("d", 0), make.aster_prompt("yes", 1), make.aster_prompt("yes", 2))
    ingest_and_compare(places)
    turns = "SELECT session_id, turns FROM sessions ORDER BY 1"
    assert rows(places, turns) == [("a", 2), ("b", 1), ("c", 2), ("d", 2)]
    assert len(texts(places)) == 7


def test_the_same_ids_in_unrelated_files_are_no_copies(home: HomeBuilder, places: Settings) -> None:
    """B29."""
    for session, text in (("s-one", "oak"), ("s-two", "elm")):
        home.claude(session, make.claude_prompt(text, session, "r1", 1), make.claude_answer(text, session, "r2", 2))
    ingest_and_compare(places)
    assert texts(places) == ["elm", "oak"]
    assert texts(places, "answers") == ["elm", "oak"]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["short first", "long first"])
def test_one_session_in_two_folders_is_told_once(order: tuple[int, int], home: HomeBuilder, places: Settings) -> None:
    """B30."""
    told = [make.claude_prompt(f"line {number}", "x", f"u{number}", number) for number in range(6)]
    parts = (("p1", told[:4]), ("p2", told))
    for number in order:
        project, records = parts[number]
        home.claude("x", *records, project=project)
        ingest_and_compare(places)
    assert texts(places) == [f"line {number}" for number in range(6)]
    assert rows(places, "SELECT session_id, turns FROM sessions") == [("x", 6)]


def test_equal_usage_of_different_messages_is_summed(home: HomeBuilder, places: Settings) -> None:
    for session, message in (("s-one", "m1"), ("s-two", "m2")):
        answer = make.claude_answer("ok", session, f"u-{session}", 1, message_id=message, output_tokens=9)
        home.claude(session, answer)
    ingest_and_compare(places)
    assert rows(places, "SELECT sum(output_tokens), count(*) FROM llm_calls") == [(18, 2)]


def test_a_prompt_that_only_a_history_knows_is_found_and_a_shared_one_once(home: HomeBuilder, places: Settings) -> None:
    transcript = home.claude("s-one", *conversation("s-one"))
    home.claude("s-two", make.claude_prompt("unrelated", "s-two", "u5", 5))
    home.claude_history(
        make.claude_history_entry("graft the pear", "s-one", 1),
        make.claude_history_entry("graft the pear", "s-gone", 2),
        make.claude_history_entry("only here", "s-gone", 3),
        make.claude_history_entry("unrelated", None, 4),
    )
    home.prompt_history("aster", make.history_entry("of aster", "01K", 1))
    ingest_and_compare(places)
    known = "SELECT text, session_id, from_history FROM prompts ORDER BY 1, 2"
    assert rows(places, known) == [
        ("graft the pear", "s-gone", 1), ("graft the pear", "s-one", 0), ("of aster", "01K", 1),
        ("only here", "s-gone", 1), ("unrelated", "s-two", 0),
    ]  # fmt: skip
    transcript.unlink()
    ingest_and_compare(places)
    assert ("graft the pear", "s-one", 1) in rows(places, known)


def test_a_subagent_is_a_session_with_a_parent(home: HomeBuilder, places: Settings) -> None:
    home.claude("s-one", *conversation("s-one"))
    home.claude_agent("s-one", "a7", make.claude_prompt("look", "s-one", "u8", 3, agentId="a7", isSidechain=True),
                      make.claude_answer("seen", "s-one", "u9", 4, agentId="a7", isSidechain=True))  # fmt: skip
    ingest_and_compare(places)
    assert rows(places, "SELECT session_id, parent_session_id FROM sessions ORDER BY 1") == [
        ("s-one", None), ("s-one/a7", "s-one"),
    ]  # fmt: skip
    assert rows(places, "SELECT session_id FROM answers WHERE text = 'seen'") == [("s-one/a7",)]


def test_a_fork_names_its_origin_and_works_for_nobody(home: HomeBuilder, places: Settings) -> None:
    home.claude("s-one", *conversation("s-one"))
    copied = [{**record, "forkedFrom": {"sessionId": "s-one"}} for record in conversation("s-two")]
    home.claude("s-two", *copied, make.claude_prompt("on my own", "s-two", "u7", 5))
    again = home.claude("s-two", make.claude_prompt("x", "s-two", "u6", 9, **FORK), project="p2")
    known = "SELECT session_id, parent_session_id, forked_from FROM sessions ORDER BY 1"
    ingest_and_compare(places)
    assert rows(places, known) == [("s-one", None, None), ("s-two", None, "s-one")], "the first file's word counts"
    (home.claude_home / "projects" / "-w-gamma" / "s-two.jsonl").unlink()
    ingest_and_compare(places)
    assert rows(places, known) == [("s-one", None, None), ("s-two", None, "s-origin")]
    again.unlink()
    ingest_and_compare(places)
    assert rows(places, known) == [("s-one", None, None)]


def test_the_project_of_a_historys_prompt_is_its_sessions(home: HomeBuilder, places: Settings) -> None:
    """As a search says it: the session's project if it is indexed, else the folder that the history names."""
    transcript = home.claude("s-one", make.claude_prompt("hi", "s-one", "u1", 1, cwd="/w/of-session"))
    home.claude_history(
        {**make.claude_history_entry("only here", "s-one", 2), "project": "/w/of-history"},
        {**make.claude_history_entry("of nobody", None, 3), "project": "/w/of-history"},
    )
    known = "SELECT text, project FROM prompts WHERE from_history = 1 ORDER BY 1"
    ingest_and_compare(places)
    assert rows(places, known) == [("of nobody", "/w/of-history"), ("only here", "/w/of-session")]
    searched = {hit.text: hit.project for hit in search(places, SearchRequest("o", limit=None)).hits}
    assert searched.items() >= dict(rows(places, known)).items()
    transcript.unlink()
    ingest_and_compare(places)
    assert rows(places, known) == [("of nobody", "/w/of-history"), ("only here", "/w/of-history")]


def test_three_projects_in_one_folder_are_three(home: HomeBuilder, places: Settings) -> None:
    """B01: the folder's name is never turned back into a path."""
    for number, cwd in enumerate(("/w/shop-api", "/w/shop.api", "/w/shop_api")):
        home.claude(f"s{number}", make.claude_prompt("hi", f"s{number}", f"u{number}", 1, cwd=cwd), project="-w-shop")
    ingest_and_compare(places)
    projects = "SELECT project, count(*) FROM sessions GROUP BY 1 ORDER BY 1"
    assert rows(places, projects) == [("/w/shop-api", 1), ("/w/shop.api", 1), ("/w/shop_api", 1)]


def test_a_summary_does_not_hide_what_it_replaces(home: HomeBuilder, places: Settings) -> None:
    """B34."""
    talk = [make.aster_prompt(f"question {number}", number) for number in range(6)]
    summary = {"type": "summary", "content": "all of it", "replaces_through": 4, "ts": make.at(7)}
    home.aster(
        "s", make.aster_header("s", 0), *talk, summary, *(make.aster_prompt(f"later {n}", 8 + n) for n in (0, 1))
    )
    ingest_and_compare(places)
    assert len(texts(places)) == 8
    summaries = "SELECT text FROM events WHERE event_type = 'context_compaction_result'"
    assert rows(places, summaries) == [("all of it",)]


def test_most_sources_gone_at_once_are_held_until_pruned(home: HomeBuilder, places: Settings) -> None:
    """B09: removals are told; a great loss is held back, also when other sources come; and ends by itself."""
    paths = [home.claude(f"s{number}", *conversation(f"s{number}")) for number in range(5)]
    ingest_and_compare(places)
    for path in paths[:2]:
        path.unlink()
    report = ingest(places)
    assert report.agents["claude-code"].sources.removed == 2
    assert any("deletes its transcripts" in note for note in report.notes)
    contents = [path.read_bytes() for path in paths[2:]]
    away = [path.rename(path.with_suffix(".away")) for path in paths[2:]]
    report = ingest(places)
    assert report.agents["claude-code"].sources.held == 3
    assert any("--prune" in note for note in report.notes)
    assert [path for path, _ in verify(places).apart] == [str(path) for path in paths[2:]]
    for number in range(10, 20):  # three of thirteen are no longer most of them
        home.claude(f"s{number}", *conversation(f"s{number}"))
        ingest(places)
    assert rows(places, "SELECT count(*) FROM sources WHERE status = 'held'") == [(3,)]
    assert verify(places).ok
    away[0].rename(paths[2])
    ingest(places)
    held = rows(places, "SELECT path FROM sources WHERE status = 'held' ORDER BY 1")
    assert held == [(str(path),) for path in paths[3:]]
    assert rows(places, "SELECT status FROM sources WHERE path = ?", str(paths[2])) == [("indexed",)]
    paths[3].write_bytes(contents[1] + make.lines(make.claude_prompt("back again", "s3", "u33", 9)))
    ingest_and_compare(places)
    assert "back again" in texts(places)


def test_what_was_ignored_or_empty_is_not_called_indexed_when_it_comes_back(
    home: HomeBuilder, places: Settings
) -> None:
    folder = home.claude("s-one", *conversation("s-one")).parent
    home.claude("odd", b"7")
    home.claude("empty")
    ingest_and_compare(places)
    away = folder.rename(home.home / "away")  # the files' own times stay as they were
    assert ingest(places).agents["claude-code"].sources.held == 1
    away.rename(folder)
    ingest_and_compare(places, prune=False)
    assert rows(places, "SELECT status, count(*) FROM sources GROUP BY 1") == [("ignored", 2), ("indexed", 1)]


FORK = {"forkedFrom": {"sessionId": "s-origin"}}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("s-b", "p2", 5, {}), ("s-a", "p1", 1, FORK)),
        (("s-b", "p2", 1, {}), ("s-a", "p1", 5, {})),
        (("s-b", "p2", 1, {}), ("s-a", "p1", None, {})),
        (("s-a", "p2", 1, {}), ("s-b", "p1", 1, {})),
        (("s-a", "p1", 1, {}), ("s-a", "p2", 1, {})),
    ],
    ids=["names no parent", "earlier head", "known head", "session id", "path"],
)
@pytest.mark.parametrize("turned", [False, True], ids=["in order", "turned"])
def test_the_canonical_copy_is_the_first_by_the_rule(
    first: tuple[str, str, float | None, make.Record], second: tuple[str, str, float | None, make.Record],
    turned: bool, home: HomeBuilder, places: Settings,
) -> None:  # fmt: skip
    """DESIGN 6: by (head names a parent, head time, session id, path, line), whatever came first."""
    told = make.claude_prompt("told twice", "s", "u1", 9)
    del told["timestamp"]
    for session, project, minute, keys in (second, first) if turned else (first, second):
        head = make.claude_prompt("own", session, f"u-{session}-{project}", minute or 0, **keys)
        record = {**told, "sessionId": session}
        if minute is None:
            del head["timestamp"]
        home.claude(session, head, record, {**record, "cwd": "/w/later"}, project=project)
        ingest_and_compare(places)
    canonical = rows(places, "SELECT session_id, source_path, line_number FROM prompts WHERE text = 'told twice'")
    assert [(session, Path(path).parent.name, line) for session, path, line in canonical] == [(first[0], first[1], 2)]


def test_a_source_found_through_another_root_moves_there(home: HomeBuilder, places: Settings, tmp_path: Path) -> None:
    home.claude("s-one", *conversation("s-one"))
    below = home.settings(places.index_path, CLAUDE_CONFIG_DIR=str(home.claude_home / "projects"))
    ingest(below)
    ingest(places)
    assert rows(places, "SELECT root FROM sources") == [(str(home.claude_home),)]
    ingest_and_compare(places)
