"""The parser may be cut anywhere: its state is small, JSON, and all that goes on needs."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persist.agents.aether.calls import MAX_OPEN_CALLS
from persist.agents.aether.records import AetherParser
from persist.errors import ShapeError
from persist.lines import decode_line
from persist.sources import Line

DATA = Path(__file__).parent.parent / "data" / "aether"
RECORDS = [
    record
    for path in sorted(DATA.glob("*.jsonl"))
    for data in path.read_bytes().split(b"\n")
    for record in decode_line(data).records
]
HERE = Line(1, 0)
STATE_BYTES = 64 * 1024

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=5),
    st.sampled_from(["", "Done", "Cancelled", "user", "agent", "tool", "text", "ended"]),
)  # fmt: skip
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=4), inner, max_size=2)),
    max_leaves=4,
)


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths_of(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from paths_of(inner, (*path, index))


def replaced(value: Any, path: Any, new: Any, remove: bool) -> Any:
    if not path:
        return new
    key, *rest = path
    if isinstance(value, dict):
        if remove and not rest:
            return {name: inner for name, inner in value.items() if name != key}
        return {**value, key: replaced(value[key], rest, new, remove)}
    return [replaced(inner, rest, new, remove) if index == key else inner for index, inner in enumerate(value)]


@st.composite
def mutated(draw: Any) -> Any:
    record = draw(st.sampled_from(RECORDS))
    for _ in range(draw(st.integers(0, 2))):
        path = draw(st.sampled_from(list(paths_of(record))))
        record = replaced(record, path, draw(values), draw(st.booleans()))
    return record


def outcome(parser: AetherParser, record: Any) -> Any:
    try:
        return parser.feed(record, HERE)
    except ShapeError as error:
        return str(error)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(RECORDS), mutated()), max_size=25), st.data())
def test_any_cut_gives_what_one_pass_gives(records: Any, data: Any) -> None:
    cut = data.draw(st.integers(0, len(records)))
    whole = AetherParser()
    wanted = [outcome(whole, record) for record in records]
    first = AetherParser()
    found = [outcome(first, record) for record in records[:cut]]
    second = AetherParser(json.loads(json.dumps(first.save())))
    assert (second.session_id, second.recognised) == (first.session_id, first.recognised)
    found += [outcome(second, record) for record in records[cut:]]
    assert repr(found) == repr(wanted)
    assert second.save() == whole.save()


@settings(max_examples=600, deadline=None)
@given(mutated())
def test_no_record_raises_anything_but_a_shape_error_nor_changes_the_state_then(record: Any) -> None:
    parser = AetherParser()
    parser.feed(RECORDS[0], HERE)
    before = json.dumps(parser.save())
    try:
        parser.feed(record, HERE)
    except ShapeError:
        assert json.dumps(parser.save()) == before
    json.dumps(parser.save())


@settings(max_examples=200, deadline=None)
@given(values)
def test_no_value_at_all_raises_anything_but_a_shape_error(value: Any) -> None:
    for record in (value, {"kind": "agent", "data": value}, {"kind": "user", "data": value}, {"sessionId": value}):
        outcome(AetherParser(), record)


def old_call(call_id: str, arguments: str) -> dict[str, Any]:
    request = {"id": call_id, "name": "t", "arguments": arguments}
    return {"kind": "agent", "data": {"ToolCall": {"request": request}}}


def piece(call_id: str, chunk: str) -> dict[str, Any]:
    return {"kind": "agent", "data": {"ToolCallUpdate": {"tool_call_id": call_id, "chunk": chunk}}}


@pytest.mark.parametrize(
    "text", ["x" * 3000, "\x00" * 3000, "😀" * 3000, '"\\' * 3000], ids=["x", "nul", "emoji", "quote"]
)
def test_state_stays_small_whatever_is_open(text: str) -> None:
    parser = AetherParser()
    for number in range(300):
        parser.feed(old_call(f"{number}{text[:50]}", text), HERE)
        for _ in range(3):
            parser.feed(piece(f"{number}{text[:50]}", text), HERE)
        assert len(json.dumps(parser.save())) < STATE_BYTES


def test_only_the_latest_calls_are_kept_open() -> None:
    parser = AetherParser()
    for number in range(MAX_OPEN_CALLS + 5):
        parser.feed(old_call(str(number), ""), HERE)
    kept = [entry[0] for entry in parser.save()["calls"]]
    assert kept == [str(number) for number in range(5, MAX_OPEN_CALLS + 5)]


def test_a_call_beyond_the_bound_gives_no_half_arguments() -> None:
    parser = AetherParser()
    parser.feed(old_call("c", ""), HERE)
    for _ in range(100):
        parser.feed(piece("c", "x" * 1000), HERE)
    answer = {"kind": "agent", "data": {"ToolResult": {"result": {"id": "c", "name": "t", "result": "r"}}}}
    assert parser.feed(answer, HERE).events[0].tool_arguments is None


def test_state_of_another_version_is_refused() -> None:
    with pytest.raises(ValueError, match="version"):
        AetherParser({**AetherParser().save(), "version": 0})
