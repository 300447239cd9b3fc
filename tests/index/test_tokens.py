"""Every call of a provider is counted once: what each agent writes, and what ``llm_calls`` makes of it."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import pytest

from index.ingest import ingest
from index.settings import Settings
from tests import builders as make
from tests.builders import HomeBuilder, Record
from tests.index.conftest import dump_of, rebuilt_dump, rows

pytestmark = pytest.mark.usefixtures("quick_schema")

COUNTS = "input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens"
OUTPUT = "SELECT output_tokens FROM llm_calls ORDER BY 1"


@pytest.fixture
def settings(home: HomeBuilder) -> Settings:
    return home.settings()


def calls(settings: Settings, sql: str = OUTPUT) -> list[Any]:
    """Bring the index up to date, compare it with a rebuild, and return what a statement says; one column as values."""
    ingest(settings, prune=True)
    assert dump_of(settings.index_path) == rebuilt_dump(settings)
    found = rows(settings, sql)
    return [row[0] for row in found] if found and len(found[0]) == 1 else found


def answer(
    session: str, uuid: str, usage: Record | None, *, message: str | None = "m1", request: str | None = "r1",
    model: str = "m-2", **keys: Any,
) -> Record:  # fmt: skip
    record = make.claude_answer(f"text of {uuid}", session, uuid, 1, message_id=message, request_id=request, **keys)
    record["message"]["model"] = model
    if usage is not None:
        record["message"]["usage"] = usage
    return record


def output(tokens: Any, **more: Any) -> Record:
    return {"input_tokens": 3, "output_tokens": tokens, **more}


# Claude Code.


@pytest.mark.parametrize("order", [(5, 60, 180), (180, 60, 5), (60, 180, 60)])
def test_a_streamed_answer_counts_with_its_last_and_largest_number(
    order: tuple[int, ...], home: HomeBuilder, settings: Settings
) -> None:
    """B26."""
    home.claude("s", *(answer("s", f"u{number}", output(tokens)) for number, tokens in enumerate(order)))
    assert calls(settings) == [180]


def test_an_answer_on_several_lines_repeats_its_usage_and_counts_once(home: HomeBuilder, settings: Settings) -> None:
    """B26."""
    usage = output(50, cache_read_input_tokens=1000, cache_creation_input_tokens=7)
    home.claude("s", *(answer("s", f"u{number}", usage) for number in range(4)))
    assert calls(settings, f"SELECT {COUNTS} FROM llm_calls") == [(3, 50, 1000, 7, None)]


def test_a_stream_that_grows_between_two_ingests_counts_once(home: HomeBuilder, settings: Settings) -> None:
    """B26."""
    path = home.claude("s", answer("s", "u1", output(5)))
    assert calls(settings) == [5]
    for uuid, tokens in (("u2", 60), ("u3", 180), ("u4", 180)):
        with path.open("ab") as file:
            file.write(make.lines(answer("s", uuid, output(tokens))))
        assert calls(settings) == [tokens]


def test_another_request_for_the_same_message_is_another_call(home: HomeBuilder, settings: Settings) -> None:
    home.claude("s", answer("s", "u1", output(5), request="r1"), answer("s", "u2", output(7), request="r2"))
    assert calls(settings) == [5, 7]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_missing_request_joins_the_first_that_is_named(place: int, home: HomeBuilder, settings: Settings) -> None:
    """B26."""
    records = [answer("s", "u1", output(5), request="r1"), answer("s", "u2", output(7), request="r2")]
    records.insert(place, answer("s", "u3", output(100), request=None))
    home.claude("s", *records)
    assert calls(settings) == [7, 100]


def test_records_without_any_id_count_each(home: HomeBuilder, settings: Settings) -> None:
    """B26, B28."""
    twice = answer("s", "u1", output(9), message=None)
    home.claude("s", twice, twice, answer("s", "u2", output(9), message=None, request=None))
    assert calls(settings) == [9, 9]


@pytest.mark.parametrize("pointer", [{}, {"forkedFrom": {"sessionId": "s-one"}}], ids=["no pointer", "named"])
def test_what_a_fork_brings_along_counts_for_its_origin(pointer: Record, home: HomeBuilder, settings: Settings) -> None:
    begun = [("u1", output(50), "m1"), ("u2", output(20), "m2")]
    original = home.claude("s-one", *(answer("s-one", uuid, usage, message=message) for uuid, usage, message in begun))
    copied = [answer("s-two", uuid, usage, message=message, **pointer) for uuid, usage, message in begun]
    home.claude("s-two", *copied, answer("s-two", "u3", output(4), message="m3"))
    each = "SELECT session_id, sum(output_tokens) FROM llm_calls GROUP BY 1 ORDER BY 1"
    inherited = "SELECT session_id, inherited_calls FROM sessions ORDER BY 1"
    assert calls(settings, each) == [("s-one", 70), ("s-two", 4)]
    assert rows(settings, inherited) == [("s-one", 0), ("s-two", 2)]
    original.unlink()
    assert calls(settings, each) == [("s-two", 74)]
    assert rows(settings, inherited) == [("s-two", 0)]


def test_a_call_that_went_on_in_the_fork_counts_whole_and_for_its_origin(home: HomeBuilder, settings: Settings) -> None:
    home.claude("s-one", answer("s-one", "u1", output(5)))
    home.claude("s-two", answer("s-two", "u1", output(5)), answer("s-two", "u2", output(90)))
    assert calls(settings, "SELECT session_id, output_tokens FROM llm_calls") == [("s-one", 90)]


def test_one_session_in_two_files_counts_once(home: HomeBuilder, settings: Settings) -> None:
    """B30."""
    begun = [answer("s", f"u{number}", output(10 + number), message=f"m{number}") for number in range(3)]
    home.claude("s", *begun, project="p1")
    home.claude("s", *begun, answer("s", "u9", output(99), message="m9"), project="p2")
    assert calls(settings) == [10, 11, 12, 99]


def test_equal_numbers_of_different_messages_are_summed(home: HomeBuilder, settings: Settings) -> None:
    """B28."""
    home.claude("s", answer("s", "u1", output(9)), answer("s", "u2", output(9), message="m2", request="r2"))
    home.claude("t", answer("t", "u3", output(9), message="m3", request="r3"))
    assert calls(settings) == [9, 9, 9]


def test_a_sub_agents_calls_are_its_own(home: HomeBuilder, settings: Settings) -> None:
    home.claude("s", answer("s", "u1", output(5)))
    home.claude_agent("s", "a7", answer("s", "u2", output(8), message="m2", agentId="a7", isSidechain=True))
    each = "SELECT session_id, output_tokens FROM llm_calls ORDER BY 1"
    assert calls(settings, each) == [("s", 5), ("s/a7", 8)]


def test_what_the_program_wrote_itself_is_no_call(home: HomeBuilder, settings: Settings) -> None:
    zero = dict.fromkeys(("input_tokens", "output_tokens", "cache_read_input_tokens"), 0)
    home.claude("s", answer("s", "u1", zero, model="<synthetic>"), answer("s", "u2", zero, message="m2"))
    assert calls(settings, "SELECT message_id, input_tokens, output_tokens FROM llm_calls") == [("m2", 0, 0)]


def test_unknown_is_null_and_nothing_is_nought(home: HomeBuilder, settings: Settings) -> None:
    home.claude(
        "s",
        answer("s", "u1", {"output_tokens": 1}, message="m1"),
        answer("s", "u2", {"output_tokens": 2, "input_tokens": 0, "cache_read_input_tokens": 0}, message="m2"),
        answer("s", "u3", output(3), message="m3", costUSD=0),
        answer("s", "u4", output(4), message="m4", costUSD=0.25),
        answer("s", "u5", output(5), message="m5", costUSD="0.25"),
        answer("s", "u6", output(6), message="m6", costUSD=-1),
        answer("s", "u7", output(7), message="m7", costUSD=True),
    )
    found = calls(settings, "SELECT output_tokens, input_tokens, cache_read_tokens, cost_usd FROM llm_calls ORDER BY 1")
    assert found == [
        (1, None, None, None), (2, 0, 0, None), (3, 3, None, 0.0), (4, 3, None, 0.25), (5, 3, None, None),
        (6, 3, None, None), (7, 3, None, None),
    ]  # fmt: skip
    assert rows(settings, "SELECT sum(cost_usd), count(*) - count(cost_usd) FROM llm_calls") == [(0.25, 5)]


@pytest.mark.parametrize("odd", [-1, 2**53 + 1, 2**63, 10**400, 1.5, "12", True, None, [], {}, "NaN", "Infinity"])
def test_what_is_no_count_is_unknown_and_hides_no_other(odd: Any, home: HomeBuilder, settings: Settings) -> None:
    usage = output(odd, cache_read_input_tokens=odd, cache_creation_input_tokens=4)
    line = json.dumps(answer("s", "u1", usage)).replace('"NaN"', "NaN").replace('"Infinity"', "Infinity")
    home.claude("s", line.encode(), answer("s", "u2", output(6), message="m2"))
    assert calls(settings, f"SELECT {COUNTS} FROM llm_calls ORDER BY message_id") == [
        (3, None, None, 4, None), (3, 6, None, None, None),
    ]  # fmt: skip


def test_a_known_number_stands_before_an_unknown_one(home: HomeBuilder, settings: Settings) -> None:
    home.claude("s", answer("s", "u1", output(None)), answer("s", "u2", output(0)))
    assert calls(settings) == [0]


@pytest.mark.parametrize(("made", "thought", "whole"), [(100, 30, 100), (30, 30, 30), (30, 100, 130), (None, 9, None)])
def test_reasoning_is_within_the_output(
    made: int | None, thought: int, whole: int | None, home: HomeBuilder, settings: Settings
) -> None:
    """More reasoning than output shows that it was counted beside it."""
    home.claude("s", answer("s", "u1", output(made, output_tokens_details={"thinking_tokens": thought})))
    assert calls(settings, "SELECT output_tokens, reasoning_tokens FROM llm_calls") == [(whole, thought)]


# Aether.


def sample(
    number: int, tokens: Record, *, cost: float | None = 0.5, total: int = 10_000, agent: str = "root"
) -> Record:
    return {"kind": "agent", "data": {"category": "session_usage", "event": {
        "sequence": number,
        "source": {"agent_id": agent, "parent_agent_id": None, "task_id": None, "agent_name": "Planner"},
        "purpose": "chat", "model": {"provider": "acme", "model_id": "m-1", "pricing": None},
        "tokens": {"input_tokens": 0, "output_tokens": 0, **tokens},
        "estimated_cost": None if cost is None else {"total_usd": cost},
        "totals": {"tokens": {"input_tokens": total, "output_tokens": total}, "estimated_usd": 9.0,
                   "unpriced_calls": 0},
    }}}  # fmt: skip


def aether(home: HomeBuilder, session: str, *records: Record, name: str | None = None) -> Path:
    return home.aether(name or session, make.aether_metadata(session, 0), make.aether_prompt("go"), *records)


def test_aethers_cached_tokens_come_out_of_its_input(home: HomeBuilder, settings: Settings) -> None:
    inside = {"input_tokens": 5120, "output_tokens": 210, "cache_read_tokens": 4096, "cache_creation_tokens": 512,
              "reasoning_tokens": 64}  # fmt: skip
    beside = {"input_tokens": 100, "output_tokens": 1, "cache_read_tokens": 900}
    alone = {"input_tokens": 70, "output_tokens": 2}
    aether(home, "s", sample(1, inside), sample(2, beside), sample(3, alone))
    assert calls(settings, f"SELECT {COUNTS} FROM llm_calls ORDER BY line_number") == [
        (512, 210, 4096, 512, 64), (100, 1, 900, None, None), (70, 2, None, None, None),
    ]  # fmt: skip


def test_aethers_running_totals_are_never_added(home: HomeBuilder, settings: Settings) -> None:
    samples = [sample(number, {"output_tokens": 10}, total=10 * number) for number in (1, 2, 3)]
    aether(home, "s", *samples, sample(4, {"output_tokens": 5}, total=35, agent="helper"))
    total = "SELECT count(*), sum(output_tokens), sum(cost_usd), min(provider), max(model_name) FROM llm_calls"
    assert calls(settings, total) == [(4, 35, 2.0, "acme", "m-1")]


def test_aethers_unpriced_call_has_no_cost_and_a_free_one_has_none_to_pay(
    home: HomeBuilder, settings: Settings
) -> None:
    aether(home, "s", sample(1, {"output_tokens": 1}, cost=None), sample(2, {"output_tokens": 2}, cost=0.0))
    assert calls(settings, "SELECT output_tokens, cost_usd FROM llm_calls ORDER BY 1") == [(1, None), (2, 0.0)]


def test_aethers_equal_samples_are_separate_calls_also_of_two_sessions(home: HomeBuilder, settings: Settings) -> None:
    """B28: nothing but its place tells such a sample apart."""
    same = sample(1, {"output_tokens": 7})
    aether(home, "s", same, same)
    aether(home, "t", same)
    assert calls(settings, "SELECT session_id, output_tokens FROM llm_calls ORDER BY 1") == [
        ("s", 7), ("s", 7), ("t", 7),
    ]  # fmt: skip


def test_aethers_conflict_copy_counts_what_only_it_has(home: HomeBuilder, settings: Settings) -> None:
    """B30: both files begin alike and then differ; each sample counts once."""
    first, second, third = (sample(number, {"output_tokens": 10**number}) for number in range(3))
    aether(home, "s", first, second)
    copy = aether(home, "s", first, third, name="s (conflict)")
    assert calls(settings) == [1, 10, 100]
    copy.unlink()
    assert calls(settings) == [1, 10]


# Aster.


def test_asters_rounds_count_each_and_what_it_does_not_write_is_unknown(home: HomeBuilder, settings: Settings) -> None:
    records = [make.aster_header("s", 0, model="acme/m-1"), make.aster_prompt("go", 1),
               make.aster_answer("yes", 2, (10, 4)), make.aster_answer("yes", 3, (10, 4)),
               make.aster_answer("without", 4)]  # fmt: skip
    home.aster("s", *records)
    home.aster("s", *records, make.aster_answer("more", 5, (0, 0)), project="conflict")
    found = calls(settings, f"SELECT {COUNTS}, cost_usd, model_name FROM llm_calls ORDER BY ts")
    unknown = (None, None, None, None)
    assert found == [
        (10, 4, *unknown, "acme/m-1"), (10, 4, *unknown, "acme/m-1"), (0, 0, *unknown, "acme/m-1"),
    ]  # fmt: skip


# Any files, in any order.

Call: TypeAlias = tuple[str, str | None, str | None, int | None]
"""Session, message, request, output: what is compared."""


def counted_by_hand(home: HomeBuilder) -> Counter[Call]:
    """Read every file whole and count each call once, by the rule as DESIGN states it."""
    return _claude_by_hand(home) + _aether_by_hand(home)


def _claude_by_hand(home: HomeBuilder) -> Counter[Call]:
    told: list[tuple[tuple[bool, str, str, str, int], Record]] = []
    for path in (home.claude_home / "projects").rglob("*.jsonl"):
        records = [json.loads(line) for line in path.read_bytes().splitlines()]
        if not records:
            continue
        rank = ("forkedFrom" in records[0], records[0]["timestamp"], records[0]["sessionId"], str(path))
        told.extend(((*rank, number), record) for number, record in enumerate(records))
    told.sort(key=lambda one: one[0])
    found: Counter[Call] = Counter()
    seen: set[str] = set()
    messages: dict[str, list[tuple[str, str | None, int]]] = defaultdict(list)
    for (_, _, session, _, _), record in told:
        usage = record["message"].get("usage")
        if usage is None:
            continue
        if "id" in record["message"]:
            messages[record["message"]["id"]].append((session, record.get("requestId"), usage["output_tokens"]))
        elif record["uuid"] not in seen:
            seen.add(record["uuid"])
            found[session, None, record.get("requestId"), usage["output_tokens"]] += 1
    for message, records in messages.items():
        named = [request for _, request, _ in records if request]
        groups: dict[str | None, list[tuple[str, str | None, int]]] = defaultdict(list)
        for one in records:
            groups[one[1] or (named[0] if named else None)].append(one)
        for group in groups.values():
            most = max(tokens for _, _, tokens in group)
            request = next(request for _, request, tokens in group if tokens == most)
            found[group[0][0], message, request, most] += 1
    return found


def _aether_by_hand(home: HomeBuilder) -> Counter[Call]:
    sessions: dict[str, Counter[str]] = defaultdict(Counter)
    for path in (home.home / ".aether" / "sessions").glob("*.jsonl"):
        head, *rest = [json.loads(line) for line in path.read_bytes().splitlines()]
        samples = Counter(json.dumps(one["data"]["event"]["tokens"]) + str(one["data"]["event"]["sequence"])
                          for one in rest if one["data"].get("category") == "session_usage")  # fmt: skip
        sessions[head["sessionId"]] |= samples
    found: Counter[Call] = Counter()
    for session, told in sessions.items():
        for one, times in told.items():
            tokens, _ = json.JSONDecoder().raw_decode(one)
            found[session, None, None, tokens["output_tokens"]] += times
    return found


class Files:
    """Random transcripts of both agents, and the changes that happen to them."""

    def __init__(self, home: HomeBuilder, rng: Random) -> None:
        self._home = home
        self._rng = rng
        self._number = 0

    def change(self) -> None:
        """Make one change."""
        changes = (self._new, self._new, self._grow, self._grow, self._fork, self._copy, self._sample, self._twin,
                   self._remove, self._rewrite)  # fmt: skip
        self._rng.choice(changes)()

    def _paths(self) -> list[Path]:
        return sorted((self._home.claude_home / "projects").rglob("*.jsonl"))

    def _answer(self, session: str) -> Record:
        self._number += 1
        message = self._rng.choice(("m1", "m2", "m3", None))
        record = answer(session, f"u{self._number}", output(self._rng.randrange(1, 40)), message=message,
                        request=self._rng.choice(("r1", "r2", None)))  # fmt: skip
        return {**record, "timestamp": make.at(self._number)}

    def _new(self) -> None:
        session = self._rng.choice("abcde")
        records = [self._answer(session) for _ in range(self._rng.randint(1, 4))]
        self._home.claude(session, *records, project=self._rng.choice(("p1", "p2")))

    def _grow(self) -> None:
        if paths := self._paths():
            path = self._rng.choice(paths)
            with path.open("ab") as file:
                file.write(make.lines(self._answer(_session_of(path))))

    def _fork(self) -> None:
        if paths := self._paths():
            path = self._rng.choice(paths)
            new = f"f{self._number}"
            records = [{**json.loads(line), "sessionId": new} for line in path.read_bytes().splitlines()]
            if self._rng.random() < 0.5:
                records = [{**record, "forkedFrom": {"sessionId": _session_of(path)}} for record in records]
            else:
                for record in records:
                    record.pop("forkedFrom", None)
            self._home.claude(new, *records, self._answer(new))

    def _copy(self) -> None:
        if paths := self._paths():
            path = self._rng.choice(paths)
            path.with_name(f"{path.stem}-copy.jsonl").write_bytes(path.read_bytes())

    def _sample(self) -> None:
        session = self._rng.choice("xyz")
        samples = [sample(number, {"output_tokens": self._rng.randrange(1, 5)}) for number in range(1, 4)]
        aether(self._home, session, *samples)

    def _twin(self) -> None:
        logs = sorted((self._home.home / ".aether" / "sessions").glob("?.jsonl"))
        if logs:
            path = self._rng.choice(logs)
            kept = path.read_bytes().splitlines(keepends=True)[: self._rng.randint(1, 4)]
            kept.append(make.lines(sample(9, {"output_tokens": self._rng.randrange(1, 5)})))
            path.with_name(f"{path.stem}-twin.jsonl").write_bytes(b"".join(kept))

    def _remove(self) -> None:
        files = [*self._paths(), *sorted((self._home.home / ".aether" / "sessions").glob("*.jsonl"))]
        if files:
            self._rng.choice(files).unlink()

    def _rewrite(self) -> None:
        if paths := self._paths():
            path = self._rng.choice(paths)
            kept = path.read_bytes().splitlines(keepends=True)
            path.write_bytes(b"".join(self._rng.sample(kept, self._rng.randint(1, len(kept)))))


def _session_of(path: Path) -> str:
    return str(json.loads(path.read_bytes().splitlines()[0])["sessionId"])


@pytest.mark.parametrize("seed", range(16))
def test_whatever_happens_to_the_files_each_call_counts_once(seed: int, home: HomeBuilder, settings: Settings) -> None:
    rng = Random(seed)  # noqa: S311
    files = Files(home, rng)
    for _ in range(12):
        for _ in range(rng.randint(1, 3)):
            files.change()
        found = calls(settings, "SELECT session_id, message_id, request_id, output_tokens FROM llm_calls")
        assert Counter(found) == counted_by_hand(home)
    assert found
