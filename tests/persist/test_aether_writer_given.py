"""Events that another program hands to Aether's store: Aether has no catch-all, so every field is checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from persist.aether.incoming import checked, read_event
from persist.errors import ShapeError
from tests.persist import aether_records as make

DATA = Path(__file__).parent.parent / "data" / "aether"
CURRENT = (DATA / "5b0c7f1e-2d34-4c1b-9a57-0e6f4d2a91c3.jsonl").read_bytes().split(b"\n")[1:-1]
OUTCOMES = json.loads((DATA / "expected-current-aether.json").read_bytes())


@pytest.mark.parametrize("line", CURRENT, ids=lambda line: str(CURRENT.index(line) + 2))
def test_every_line_of_the_current_format_is_taken_as_it_is_or_never_kept(line: bytes) -> None:
    event = read_event(line)
    if event is not None:
        assert json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode() == line


def holders(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every key and entry inside a value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [here for key, inner in inside for here in ((*path, key), *holders(inner, (*path, key)))]


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    copied = json.loads(json.dumps(value))
    holder = copied
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = new
    return copied


KEPT = [json.loads(line) for line in CURRENT if read_event(line) is not None]


@pytest.mark.parametrize("event", KEPT, ids=lambda event: str(KEPT.index(event)))
def test_a_value_of_the_wrong_kind_is_refused_wherever_it_stands(event: dict[str, Any]) -> None:
    """Each value in turn becomes one that no field of Aether's takes; the event must not pass."""
    for path in holders(event):
        wrong: Any
        for wrong in (-1, [[]]):
            if isinstance(path[-1], int) and wrong == [[]]:
                continue
            number_fits = wrong == -1 and (
                "usd" in str(path[-1]) or "million" in str(path[-1]) or path[-1] == "usage_ratio"
            )
            if number_fits:
                continue
            with pytest.raises(ShapeError):
                checked(put(event, path, wrong))


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ([1], "the line is a list"),
        ({"sessionId": "x"}, "metadata is written when a session is started"),
        ({"kind": "other"}, "'kind' is none of user, agent, control"),
        ({"kind": "user", "data": {"type": "clear_context"}}, r"data\.type is none of message, clearContext"),
        ({"kind": "user", "data": {"type": "message", "messageId": "x", "content": "hi"}}, r"data\.content is text"),
        (make.prompt("x", content=[{"type": "video"}]), "is none of text, image, audio"),
        (make.prompt("x", content=[{"type": "image", "data": "x", "mimeType": "y"}]), "mime_type is missing"),
        ({"kind": "agent", "data": "Done"}, "data is text where an object is expected"),
        ({"kind": "agent", "data": {"Text": {"message_id": "m"}}}, r"data\.category is missing"),
        (make.agent("tool", "refused", request=make.request(), reason="no"), "none that Aether knows"),
        (make.agent("tool", "call", request={**make.request(), "arguments": {}}), "arguments is an object"),
        (make.agent("message", "text", message_id="m", chunk="x", is_complete=1), "is a number where true or false"),
        (make.agent("turn", "retry_scheduled", purpose="chat", attempt=2**32, max_attempts=3, delay_ms=1), r"2\^32"),
        (make.agent("turn", "llm_call_ended", purpose="chat",
                    outcome={"status": "failed", "error": "x", "will_retry": False, "http_status": 70000}), r"2\^16"),
        (make.ended("max_turns_reached"), r"status is none of completed, cancelled, failed"),
        (make.ended("failed"), r"event\.outcome\.error is missing"),
        (make.agent("context", "compaction_started", message_count=9), "compaction_id is missing"),
        (make.agent("context", "usage_updated", usage={"input_tokens": None}), "input_tokens is no whole number"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_what_aether_calls_malformed_is_refused_by_its_key(event: Any, reason: str) -> None:
    with pytest.raises(ShapeError, match=reason):
        checked(event)


def test_a_prompt_and_a_continuation_get_an_id_where_they_have_none() -> None:
    prompt = checked({"kind": "user", "data": {"type": "message", "content": [{"type": "text", "text": "hi"}]}})
    assert prompt is not None
    assert list(prompt["data"]) == ["type", "message_id", "content"]
    assert len(prompt["data"]["message_id"]) == 36
    given = make.auto_continue("go")
    del given["data"]["event"]["message_id"]
    continued = checked(given)
    assert continued is not None
    assert len(continued["data"]["event"]["message_id"]) == 36


def test_keys_that_aether_does_not_know_stay_and_optional_ones_may_be_missing() -> None:
    event = {**make.text("x"), "mood": [1]}
    assert checked(event) == event
    assert checked(make.agent("context", "usage_updated", usage={})) is not None
    assert checked(make.agent("tool", "error", error={"id": "c", "name": "n", "error": "x"})) is not None


@pytest.mark.parametrize("name", sorted(OUTCOMES), ids=lambda name: name[:8])
def test_whatever_current_aether_calls_malformed_is_never_written_and_all_else_is(name: str) -> None:
    lines = (DATA / name).read_bytes().split(b"\n")
    written = []
    for number, line in enumerate(lines, start=1):
        try:
            written += [number] if line.strip() and read_event(line.strip()) is not None else []
        except ShapeError:
            continue
    told = OUTCOMES[name]
    wrong = set(written) & set(told["malformed_lines"] + told["transient_lines"])
    assert all("message_id" not in json.loads(lines[number - 1])["data"] for number in wrong), "which is given"
    assert set(told["persisted_lines"]) <= set(written)
