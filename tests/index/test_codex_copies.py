"""Codex: what forks, sub-agents and archived copies repeat is told and counted once, whatever order they come in."""

from __future__ import annotations

from itertools import islice, permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest

from index.ingest import ingest
from index.settings import Settings
from index.verify import verify
from tests.builders import HomeBuilder
from tests.index.codex_world import NEW, OLD, Family, Style, family, name_of, put
from tests.index.conftest import dump_of, rebuilt_dump, rows

pytestmark = pytest.mark.usefixtures("quick_schema")

CALLS = "SELECT session_id, input_tokens, cache_read_tokens, output_tokens FROM llm_calls ORDER BY ts, session_id"
OWN_TOKENS = {"origin": [80, 180], "fork": [380], "fork-of-fork": [780], "agent-one": [30], "agent-two": [30]}
"""Input of each session's own calls, the 20 cached tokens of each apart."""


@pytest.fixture
def places(home: HomeBuilder, tmp_path: Path) -> Settings:
    return home.settings(tmp_path / "cache" / "index.sqlite")


def ingest_and_compare(places: Settings, *, prune: bool = True) -> None:
    ingest(places, prune=prune)
    assert dump_of(places.index_path) == rebuilt_dump(places)


def write(home: Path, members: Family, *names: str) -> None:
    for name in names or tuple(members.ids):
        put(home, name_of(members.ids[name]), members.records[name])


def calls(places: Settings, members: Family) -> dict[str, list[int]]:
    names = {session_id: name for name, session_id in members.ids.items()}
    told: dict[str, list[int]] = {}
    for session_id, input_tokens, cached, output in rows(places, CALLS):
        assert (cached, output) == (20, 10)
        told.setdefault(names[session_id], []).append(input_tokens)
    return told


def inherited(places: Settings, members: Family) -> dict[str, int]:
    names = {session_id: name for name, session_id in members.ids.items()}
    return {names[row[0]]: row[1] for row in rows(places, "SELECT session_id, inherited_calls FROM sessions")}


def without_chains(members: Family) -> Family:
    """Leave out the fork of a fork: see ``test_a_fork_of_a_fork_without_ids_of_turns``."""
    kept = [name for name in members.ids if name != "fork-of-fork"]
    return Family({name: members.ids[name] for name in kept}, {name: members.records[name] for name in kept})


def of(members: Family, told: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in told.items() if name in members.ids}


STYLES = {
    "turn ids": family(),
    "small turn ids": without_chains(family(plain_turns=True)),
    "no turn ids": without_chains(family(OLD)),
}


@pytest.mark.parametrize("members", STYLES.values(), ids=STYLES.keys())
class TestEachStyle:
    def test_each_call_is_counted_once(self, home: HomeBuilder, places: Settings, members: Family) -> None:
        write(home.home, members)
        put(home.home, name_of(members.ids["origin"], "archived_sessions"), members.records["origin"])
        ingest_and_compare(places)
        assert calls(places, members) == of(members, OWN_TOKENS)
        told = {"origin": 0, "fork": 2, "fork-of-fork": 3, "agent-one": 2, "agent-two": 2}
        assert inherited(places, members) == of(members, told)
        assert verify(places).ok

    def test_each_text_is_told_once(self, home: HomeBuilder, places: Settings, members: Family) -> None:
        write(home.home, members)
        put(home.home, name_of(members.ids["origin"], "archived_sessions"), members.records["origin"])
        ingest_and_compare(places)
        names = {session_id: name for name, session_id in members.ids.items()}
        prompts = rows(places, "SELECT session_id, text FROM prompts ORDER BY ts")
        said = [("origin", "plant the pear"), ("origin", "yes"), ("fork", "yes"), ("fork-of-fork", "yes")]
        assert [(names[session_id], text) for session_id, text in prompts] == [
            one for one in said if one[0] in members.ids
        ]
        answers = rows(places, "SELECT session_id, text FROM answers ORDER BY ts")
        said += [("agent-one", "prune"), ("agent-two", "prune")]
        assert [(names[session_id], text) for session_id, text in answers] == [
            (name, f"done: {text}") for name, text in said if name in members.ids
        ]
        turns = len(members.ids) + 1
        assert rows(places, "SELECT count(*) FROM tool_calls") == [(turns,)]
        assert rows(places, "SELECT count(*) FROM tool_results") == [(turns,)]

    def test_a_fork_whose_origin_is_gone_tells_all_it_has(
        self, home: HomeBuilder, places: Settings, members: Family
    ) -> None:
        write(home.home, members)
        ingest_and_compare(places)
        (home.home / ".codex" / name_of(members.ids["origin"])).unlink()
        ingest_and_compare(places)
        told = {"fork": [80, 180, 380], "fork-of-fork": [780], "agent-one": [30], "agent-two": [30]}
        assert calls(places, members) == of(members, told)
        assert inherited(places, members) == of(members, {"fork": 0, "fork-of-fork": 3, "agent-one": 2, "agent-two": 2})

    def test_any_order_of_ingests_equals_a_rebuild(self, home: HomeBuilder, places: Settings, members: Family) -> None:
        orders = list(permutations(members.ids))
        Random(4).shuffle(orders)  # noqa: S311
        final: set[tuple[str, ...]] = set()
        for number, order in enumerate(islice(orders, 6)):
            index = places.index_path.with_name(f"{number}.sqlite")
            for old in (home.home / ".codex").rglob("*.jsonl"):
                old.unlink()
            settings = home.settings(index)
            for name in order:
                write(home.home, members, name)
                ingest_and_compare(settings)
            final.add(tuple(line for line in dump_of(index) if "rollout" not in line))
        assert len(final) == 1

    def test_growing_files_equal_a_rebuild(self, home: HomeBuilder, places: Settings, members: Family) -> None:
        random = Random(7)  # noqa: S311
        lengths = dict.fromkeys(members.ids, 0)
        while any(lengths[name] < len(members.records[name]) for name in members.ids):
            for name, records in members.records.items():
                lengths[name] = min(len(records), lengths[name] + random.randrange(12))
                put(home.home, name_of(members.ids[name]), records[: lengths[name]])
            ingest_and_compare(places)
        assert calls(places, members) == of(members, OWN_TOKENS)


def test_b28_forks_of_one_turn_that_say_the_same_stay_apart(home: HomeBuilder, places: Settings) -> None:
    members = family()
    prompts = "SELECT count(*) FROM prompts WHERE text = 'yes'"
    write(home.home, members, "origin", "fork", "fork-of-fork")
    ingest_and_compare(places)
    assert rows(places, prompts) == [(3,)]


@pytest.mark.parametrize("members", [family(plain_turns=True), family(OLD)], ids=["small turn ids", "no turn ids"])
def test_a_fork_of_a_fork_without_ids_of_turns(home: HomeBuilder, places: Settings, members: Family) -> None:
    """A known limit: where turns have no ids of their own, nothing in the second fork tells where in its copied part
    the first fork's own records begin. Those are told and counted again; the origin's are not."""
    write(home.home, members, "origin", "fork", "fork-of-fork")
    ingest_and_compare(places)
    assert calls(places, members) == {"origin": [80, 180], "fork": [380], "fork-of-fork": [380, 780]}
    assert inherited(places, members) == {"origin": 0, "fork": 2, "fork-of-fork": 2}


def test_an_old_fork_names_its_origin_by_the_header_it_repeats(home: HomeBuilder, places: Settings) -> None:
    members = family(OLD, names_origin=False)
    write(home.home, members, "origin", "fork")
    ingest_and_compare(places)
    assert calls(places, members) == {"origin": [80, 180], "fork": [380]}
    assert inherited(places, members) == {"origin": 0, "fork": 2}
    assert rows(places, "SELECT forked_from FROM sessions ORDER BY created_at") == [(None,), (members.ids["origin"],)]


def test_a_fork_that_kept_the_times_is_a_copy_too(home: HomeBuilder, places: Settings) -> None:
    members = family()
    records = members.records["fork"]
    origin = members.records["origin"]
    put(home.home, name_of(members.ids["origin"]), origin)
    put(home.home, name_of(members.ids["fork"]), [records[0], *origin, *records[len(origin) + 1 :]])
    ingest_and_compare(places)
    assert calls(places, members) == {"origin": [80, 180], "fork": [380]}


def test_the_session_of_a_sub_agent_has_its_parent_and_no_prompts(home: HomeBuilder, places: Settings) -> None:
    members = family()
    write(home.home, members)
    ingest_and_compare(places)
    told = rows(places, "SELECT session_id, parent_session_id, forked_from, model, turns FROM sessions")
    origin = members.ids["origin"]
    assert {row[0]: row[1:] for row in told} == {
        origin: (None, None, "gpt-one", 2),
        members.ids["fork"]: (None, origin, "gpt-one", 3),
        members.ids["fork-of-fork"]: (None, members.ids["fork"], "gpt-two", 4),
        members.ids["agent-one"]: (origin, origin, "gpt-one", 0),
        members.ids["agent-two"]: (origin, origin, "gpt-one", 0),
    }


def test_a_session_that_moves_to_the_archive_is_one_session(home: HomeBuilder, places: Settings) -> None:
    members = family()
    origin = members.ids["origin"]
    first = put(home.home, name_of(origin), members.records["origin"])
    write(home.home, members, "fork")
    ingest_and_compare(places)
    archived = home.home / ".codex" / name_of(origin, "archived_sessions")
    archived.parent.mkdir()
    first.rename(archived)
    ingest_and_compare(places)
    assert calls(places, members) == {"origin": [80, 180], "fork": [380]}
    assert rows(places, "SELECT count(*) FROM sessions") == [(2,)]


def test_b30_a_copy_that_went_on_tells_what_it_has_more(home: HomeBuilder, places: Settings) -> None:
    members = family()
    records = members.records["origin"]
    put(home.home, name_of(members.ids["origin"], "archived_sessions"), records[:10])
    put(home.home, name_of(members.ids["origin"]), records)
    ingest_and_compare(places)
    assert calls(places, members) == {"origin": [80, 180]}
    assert rows(places, "SELECT text FROM prompts ORDER BY ts") == [("plant the pear",), ("yes",)]


@pytest.mark.parametrize("style", [NEW, OLD], ids=["turn ids", "no turn ids"])
def test_times_are_the_records_never_the_name_s(home: HomeBuilder, places: Settings, style: Style) -> None:
    members = family(style)
    write(home.home, members, "origin")
    ingest_and_compare(places)
    assert rows(places, "SELECT created_at, updated_at, project, cwd FROM sessions") == [
        ("2026-05-04T08:00:00.000Z", "2026-05-04T08:03:18.000Z", "/w/orchard", "/w/orchard")
    ]
    assert {day for (day,) in rows(places, "SELECT substr(ts, 1, 10) FROM events")} == {"2026-05-04"}


def test_a_prompt_that_only_the_history_knows_is_found(home: HomeBuilder, places: Settings) -> None:
    members = family()
    write(home.home, members, "origin")
    history = home.home / ".codex" / "history.jsonl"
    entries = [
        f'{{"session_id":"{members.ids["origin"]}","ts":1777881660,"text":"plant the pear"}}',
        '{"session_id":"gone","ts":1777881000,"text":"an older prompt"}',
    ]
    history.write_text("\n".join(entries) + "\n", "utf-8")
    ingest_and_compare(places)
    assert rows(places, "SELECT text, in_transcript FROM prompt_history ORDER BY ts") == [
        ("an older prompt", 0), ("plant the pear", 1),
    ]  # fmt: skip
    history.write_text(entries[1] + "\n", "utf-8")  # Codex cuts the beginning off
    ingest_and_compare(places)
    assert rows(places, "SELECT text FROM prompt_history") == [("an older prompt",)]
