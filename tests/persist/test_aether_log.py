"""Aether's log as a whole. Behaviours 1 to 32 of ``spec/aether.md`` 5, each a test ``test_bNN_…`` or a reason:

=====  =========================================================================================================
no.    where, or why not
=====  =========================================================================================================
1-6    here; 5 and 6 are kept in the answer as ``header_error`` and raised by ``metadata()``
7-12   here
13     here, with ``entries()``: the store keeps no running totals, the last sample is the last such event
14     here
15     here
16-17  here: the failed call's diagnostics stay in the entry's record, present or absent as written
18     not ours: how a provider's error becomes an event is the agent's runtime; no error is made here
19     here, with ``entries()``; the agent before any switch is the metadata's selected mode
20     turned round: a compaction without an id is read, because older logs have none and mean the same
21     here, as reading: the documented nested shape comes out as one event
22     here, as reading; writing agent events is the store's writer
23     here
24     not ours: builders for Aether's own tests; what they assert of persistence is 11
25     here
26     here, as the text of a prompt
27     not ours: adding up samples is the running agent's meter; the index adds usage records (DESIGN 6). That
       unpriced and all-zero samples are told apart is in ``test_aether_records.py`` (no cost is ``None``)
28     here: result meta stays in the entry's record untouched
29     here and in ``test_aether_eras.py``
30-32  here
=====  =========================================================================================================
"""

import json
from pathlib import Path
from typing import Any

import pytest

from persist.aether.log import AssembledCall, Entry, MetadataError, assembled_calls, read_log
from persist.agents.aether.events import TRANSIENT as TRANSIENT_TYPES
from persist.errors import NotFoundError, StoreIOError

DATA = Path(__file__).parent.parent / "data" / "aether"
EXPECTED = json.loads((DATA / "expected-current-aether.json").read_bytes())
CURRENT = DATA / "5b0c7f1e-2d34-4c1b-9a57-0e6f4d2a91c3.jsonl"
OLDEST = DATA / "07f4d1b3-8c25-4e69-9a0b-2d3c4e5f6a71.jsonl"
MIDDLE = DATA / "92e6a5d4-1f70-4b8c-a3d9-64b5c7d8e9f0.jsonl"
BROKEN = DATA / "c41d88a7-0b9e-4f35-8d21-96f0a7b3e5d2.jsonl"
CUT = DATA / "e9b2f6c0-5d47-4a1e-b3c8-7f0d1a2b3c4d.jsonl"

META = '{"sessionId":"s1","cwd":"/w","model":"a:b","selectedMode":"Planner","createdAt":"2026-09-29T07:41:12+00:00"}'
USER = '{"kind":"user","data":{"type":"message","message_id":"u","content":[{"type":"text","text":"hello"}]}}'
CHUNK = (
    '{"kind":"agent","data":{"category":"message","event":'
    '{"type":"text","message_id":"m","chunk":"x","is_complete":false}}}'
)
FAILED_TURN = (
    '{"kind":"agent","data":{"category":"turn","event":{"type":"ended","outcome":{"status":"failed","error":"e"}}}}'
)


def agent(category: str, **event: Any) -> str:
    return json.dumps({"kind": "agent", "data": {"category": category, "event": event}})


def entries(tmp_path: Path, *lines: str, end: str = "\n") -> list[Entry]:
    path = tmp_path / "s1.jsonl"
    path.write_bytes("\n".join(lines).encode() + end.encode())
    return list(read_log(path).entries())


def only(tmp_path: Path, line: str) -> Entry:
    (entry,) = entries(tmp_path, META, line)
    return entry


def numbers(path: Path, status: str) -> list[int]:
    return [entry.line.number for entry in read_log(path).entries() if entry.status == status]


@pytest.mark.parametrize("path", [CURRENT, OLDEST, MIDDLE, BROKEN, CUT], ids=lambda path: path.name[:8])
def test_everything_that_aether_persists_or_passes_over_is_classed_the_same(path: Path) -> None:
    wanted = EXPECTED[path.name]
    assert set(numbers(path, "persisted")) >= set(wanted["persisted_lines"])
    assert set(numbers(path, "transient")) >= set(wanted["transient_lines"])
    assert set(numbers(path, "malformed")) <= set(wanted["malformed_lines"])


def test_current_format_is_classed_exactly_as_aether_does() -> None:
    wanted = EXPECTED[CURRENT.name]
    assert numbers(CURRENT, "persisted") == wanted["persisted_lines"]
    assert numbers(CURRENT, "transient") == wanted["transient_lines"]
    assert len(list(read_log(CURRENT).entries())) == 56


def test_broken_log_is_classed_line_by_line() -> None:
    assert numbers(BROKEN, "persisted") == [5, 10, 11, 15, 18, 19, 20]
    assert numbers(BROKEN, "unknown") == [8, 9]
    assert numbers(BROKEN, "malformed") == [6, 7, 12, 13, 14, 18]
    assert numbers(BROKEN, "pending") == [21]
    assert all(entry.reason for entry in read_log(BROKEN).entries() if entry.status != "persisted")
    header = read_log(BROKEN).header
    assert header is not None
    assert (header.line.number, header.metadata.session_id) == (3, "c41d88a7-0b9e-4f35-8d21-96f0a7b3e5d2")


def test_offsets_point_at_the_lines() -> None:
    data = BROKEN.read_bytes()
    for entry in read_log(BROKEN).entries():
        assert data[: entry.line.offset_bytes].count(b"\n") == entry.line.number - 1
        assert entry.line.offset_bytes == 0 or data[entry.line.offset_bytes - 1 : entry.line.offset_bytes] == b"\n"


def test_b01_blank_lines_before_metadata_without_a_mode(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text('\n  \n\u3000\n{"sessionId":"s","cwd":"/w","model":"m","createdAt":"t"}\n', "utf-8")
    metadata = read_log(path).metadata()
    assert (metadata.session_id, metadata.selected_mode, metadata.created_at) == ("s", None, "t")


def test_b02_an_event_after_blanks_has_its_physical_line_number(tmp_path: Path) -> None:
    (entry,) = entries(tmp_path, META, "", " ", USER)
    assert (entry.status, entry.line.number) == ("persisted", 4)
    assert entry.event is not None
    assert entry.event.text == "hello"


def test_b03_an_incomplete_text_is_transient_with_its_line_number(tmp_path: Path) -> None:
    entry = only(tmp_path, CHUNK)
    assert (entry.status, entry.line.number, entry.reason) == ("transient", 2, "transient:message/text")


def test_b04_a_line_that_is_not_json_is_malformed_and_then_the_log_ends(tmp_path: Path) -> None:
    entry = only(tmp_path, "not json")
    assert (entry.status, entry.line.number, entry.record) == ("malformed", 2, None)


@pytest.mark.parametrize("content", ["", "\n", " \n\t\n\n"])
def test_b05_only_blank_lines_are_missing_metadata(tmp_path: Path, content: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(content)
    log = read_log(path)
    assert list(log.entries()) == []
    with pytest.raises(MetadataError, match="no metadata") as raised:
        log.metadata()
    assert raised.value.line_number is None


@pytest.mark.parametrize("first", ["garbage", "[]", '{"cwd":"/w"}', '{"sessionId":""}', USER, META + " tail"])
def test_b06_a_bad_first_line_is_invalid_metadata_at_line_1(tmp_path: Path, first: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(f"{first}\n{USER}\n")
    log = read_log(path)
    with pytest.raises(MetadataError) as raised:
        log.metadata()
    assert (raised.value.line_number, raised.value.path) == (1, path)
    assert "garbage" not in str(raised.value)
    assert "hello" in [entry.event.text for entry in log.entries() if entry.event], "what follows is still read"


@pytest.mark.parametrize(
    ("line", "event_type", "outcome"),
    [
        pytest.param(
            agent("turn", type="retry_scheduled", purpose="chat", attempt=1, max_attempts=3, delay_ms=9),
            "retry_scheduled", None, id="b07 retry",
        ),
        pytest.param(
            agent("turn", type="ended", outcome={"status": "cancelled"}), "turn_ended", "cancelled", id="b08 cancelled",
        ),
        pytest.param(
            agent("context", type="compaction_ended", compaction_id="c", outcome={"status": "completed"}),
            "context_compaction_ended", "completed", id="b09 compaction end",
        ),
        pytest.param(
            agent("session_usage", sequence=1, tokens={"input_tokens": 1, "output_tokens": 1}),
            "session_usage", None, id="b10 usage sample",
        ),
        pytest.param(
            agent("tool", type="refused", request={"id": "c", "name": "n", "arguments": "{}"}, reason="because"),
            "tool_refused", "refused", id="b25 refused call",
        ),
    ],
)  # fmt: skip
def test_b07_to_b10_and_b25_are_persisted(tmp_path: Path, line: str, event_type: str, outcome: str | None) -> None:
    entry = only(tmp_path, line)
    assert entry.status == "persisted"
    assert entry.event is not None
    assert (entry.event.event_type, entry.event.outcome) == (event_type, outcome)
    assert (entry.event.text == "because") == (event_type == "tool_refused")


def test_b11_an_incomplete_text_is_not_persisted(tmp_path: Path) -> None:
    assert only(tmp_path, CHUNK).event is None


def test_b12_sub_agent_progress_is_not_persisted_even_around_a_usage_sample(tmp_path: Path) -> None:
    inner = {"category": "session_usage", "event": {"sequence": 1, "tokens": {"input_tokens": 5}}}
    payload = {"task_id": "t", "agent_name": "a", "event": inner}
    request = {"id": "c", "name": "n", "arguments": "{}"}
    entry = only(tmp_path, agent("tool", type="sub_agent_progress", request=request, payload=payload))
    assert (entry.status, entry.event) == ("transient", None)


def usage_sequences(found: list[Entry]) -> list[int | None]:
    return [entry.event.measures.usage_sequence for entry in found if entry.event and entry.event.measures]


def test_b13_the_last_usage_sample_is_there_behind_a_failed_turn(tmp_path: Path) -> None:
    samples = [agent("session_usage", sequence=n, tokens={"input_tokens": n}) for n in (1, 2)]
    assert usage_sequences(entries(tmp_path, META, *samples, FAILED_TURN)) == [1, 2]
    assert usage_sequences(entries(tmp_path, META)) == []


def test_b14_a_message_has_its_text_and_a_clear_has_none(tmp_path: Path) -> None:
    message, clear = entries(tmp_path, META, USER, '{"kind":"user","data":{"type":"clearContext"}}')
    assert message.event is not None
    assert clear.event is not None
    assert (message.event.text, clear.event.text) == ("hello", None)
    assert (message.event.is_prompt, clear.event.is_prompt) == (True, False)


@pytest.mark.parametrize("number", range(2, 58))
def test_b15_b16_b17_b22_b28_every_current_line_stays_as_it_was_written(number: int) -> None:
    """Tags, diagnostics present or absent, result meta with or without a diff: nothing is renamed or added."""
    written = CURRENT.read_text("utf-8").split("\n")[number - 1]
    (entry,) = (entry for entry in read_log(CURRENT).entries() if entry.line.number == number)
    assert json.dumps(entry.record, ensure_ascii=False, separators=(",", ":")) == written


def test_b19_the_last_agent_is_that_of_the_last_switch() -> None:
    switches = [
        entry.record["data"]["to"]
        for entry in read_log(CURRENT).entries()
        if entry.event and entry.event.event_type == "agent_switched"
    ]
    assert switches[-1] == "Coder"
    assert read_log(CURRENT).metadata().selected_mode == "Planner"


@pytest.mark.parametrize(
    "event",
    [
        {"type": "compaction_started", "message_count": 2},
        {"type": "compaction_result", "summary": "short", "messages_removed": 2},
        {"type": "compaction_ended", "outcome": {"status": "failed", "error": "e"}},
    ],
    ids=lambda event: event["type"],
)
def test_b20_a_compaction_without_an_id_is_read(tmp_path: Path, event: dict[str, Any]) -> None:
    entry = only(tmp_path, agent("context", **event))
    assert entry.event is not None
    assert entry.event.text == event.get("summary")


def test_b21_the_nested_shape_of_a_text_is_one_event(tmp_path: Path) -> None:
    entry = only(tmp_path, agent("message", type="text", message_id="m", chunk="whole", is_complete=True))
    assert entry.event is not None
    assert (entry.event.event_type, entry.event.text, entry.event.message_id) == ("message_text", "whole", "m")


def test_b22_every_category_is_represented_and_read() -> None:
    seen = {
        entry.record["data"]["category"] for entry in read_log(CURRENT).entries() if entry.record["kind"] == "agent"
    }
    assert seen == {"message", "tool", "turn", "context", "model", "session_usage"}


def test_b23_only_the_end_of_a_turn_gives_a_turn_end() -> None:
    for path in (CURRENT, MIDDLE):
        for entry in read_log(path).entries():
            is_end = entry.record["data"].get("category") == "turn" and entry.record["data"]["event"]["type"] == "ended"
            assert (entry.event is not None and entry.event.event_type == "turn_ended") == is_end


def test_b26_media_and_empty_blocks_do_not_hide_the_text(tmp_path: Path) -> None:
    blocks = [
        {"type": "image", "data": "", "mime_type": "image/png"},
        {"type": "text", "text": "seen"},
    ]
    line = json.dumps({"kind": "user", "data": {"type": "message", "message_id": "u", "content": blocks}})
    entry = only(tmp_path, line)
    assert entry.event is not None
    assert entry.event.text == "seen"


@pytest.mark.parametrize(
    ("data", "status", "event_type"),
    [
        ({"ModelSwitched": {"previous": "a", "new": "b"}}, "persisted", "model_switched"),
        ({"Thought": {"message_id": "m", "chunk": "c", "is_complete": True}}, "persisted", "message_thought"),
        ({"Thought": {"message_id": "m", "chunk": "c", "is_complete": False}}, "transient", None),
        ({"ToolCallUpdate": {"tool_call_id": "c", "chunk": "{"}}, "transient", None),
    ],
    ids=["switch", "thought", "incomplete thought", "update"],
)
def test_b29_old_variants_are_classed_like_new_ones(
    tmp_path: Path, data: dict[str, Any], status: str, event_type: str | None
) -> None:
    entry = only(tmp_path, json.dumps({"kind": "agent", "data": data}))
    assert entry.status == status
    assert (entry.event.event_type if entry.event else None) == event_type


def test_b30_what_was_appended_is_loaded_in_order_without_the_transient(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    path.write_text(META + "\n")
    for line in (USER, CHUNK, FAILED_TURN):
        with path.open("a") as file:
            file.write(line + "\n")
    log = read_log(path)
    assert log.metadata().session_id == "s1"
    assert [e.event.event_type for e in log.entries() if e.event] == ["user_message", "turn_ended"]


def test_b31_a_malformed_last_line_hides_nothing(tmp_path: Path) -> None:
    found = entries(tmp_path, META, USER, "{broken")
    assert [(entry.line.number, entry.status) for entry in found] == [(2, "persisted"), (3, "malformed")]


@pytest.mark.parametrize("cut_bytes", [1, 30, 60])
def test_b32_a_torn_last_line_leaves_the_rest_readable_again_and_again(tmp_path: Path, cut_bytes: int) -> None:
    path = tmp_path / "s1.jsonl"
    torn = USER.replace("hello", "é" * 40).encode()[:-cut_bytes]
    path.write_bytes(f"{META}\n{USER}\n".encode() + torn)
    log = read_log(path)
    for _ in range(2):
        assert [entry.status for entry in log.entries()] == ["persisted", "pending"]


def test_a_last_line_without_newline_that_is_whole_is_used(tmp_path: Path) -> None:
    assert [entry.status for entry in entries(tmp_path, META, USER, end="")] == ["persisted"]


def test_bytes_that_are_not_utf8_spoil_their_own_line_only(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    path.write_bytes(META.encode() + b"\n" + b'{"kind":"\xff\n' + USER.encode() + b"\n")
    assert [(e.line.number, e.status) for e in read_log(path).entries()] == [(2, "malformed"), (3, "persisted")]


def test_an_event_glued_to_a_torn_line_is_kept(tmp_path: Path) -> None:
    found = entries(tmp_path, META, '{"kind":"agent","data":{"cat' + USER)
    assert [(entry.line.number, entry.status) for entry in found] == [(2, "persisted"), (2, "malformed")]


@pytest.mark.parametrize("pad", ["\u00a0", "\u3000", "\x0b", "\x0c", "\u2028"], ids=ascii)
def test_unicode_white_space_around_a_line_does_no_harm(tmp_path: Path, pad: str) -> None:
    found = entries(tmp_path, META, f"{pad}{USER}{pad}", pad)
    assert [(entry.line.number, entry.status) for entry in found] == [(2, "persisted")]


def test_the_example_of_every_transient_type_is_transient(tmp_path: Path) -> None:
    for name in sorted(TRANSIENT_TYPES - {"tool/call_update"}):
        category, event_type = name.split("/")
        assert only(tmp_path, agent(category, type=event_type)).reason == f"transient:{name}"


def test_a_missing_log_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        read_log(tmp_path / "none.jsonl")
    with pytest.raises(StoreIOError):
        read_log(tmp_path)


def test_oldest_log_gives_each_call_with_its_arguments() -> None:
    assert assembled_calls(read_log(OLDEST).entries()) == [
        AssembledCall("call_1", "coding__grep", '{"pattern":"thermocouple"}', 3, "tool_result", 7),
        AssembledCall("call_2", "coding__bash", '{"command":"make"}', 8, "tool_error", 9),
    ]


def test_middle_log_keeps_the_arguments_that_were_whole_from_the_start() -> None:
    (call,) = assembled_calls(read_log(MIDDLE).entries())
    assert (call.arguments, call.line_number, call.answer_line_number) == ('{"filePath":"coast.svg"}', 6, 9)


def test_background_call_ends_with_its_last_answer() -> None:
    calls = {call.call_id: call for call in assembled_calls(read_log(CURRENT).entries())}
    assert (calls["call_spawn_1"].answer_type, calls["call_spawn_1"].answer_line_number) == ("tool_task_completed", 30)
    assert len(calls) == 5


def test_arguments_told_only_in_pieces_are_put_together_without_a_bound(tmp_path: Path) -> None:
    def old(variant: str, **fields: Any) -> str:
        return json.dumps({"kind": "agent", "data": {variant: fields}})

    request = {"id": "c", "name": "write", "arguments": ""}
    pieces = ['{"text":"', *(["x" * 1000] * 200), '"}']
    updates = [old("ToolCallUpdate", tool_call_id="c", chunk=piece) for piece in pieces]
    (call,) = assembled_calls(entries(tmp_path, META, old("ToolCall", request=request), *updates))
    assert call.arguments == "".join(pieces)
    assert (call.answer_type, call.answer_line_number) == (None, None)


def test_an_answers_own_arguments_win_over_the_pieces(tmp_path: Path) -> None:
    request = {"id": "c", "name": "write", "arguments": ""}
    update = {"type": "call_update", "tool_call_id": "c", "chunk": '{"draft":"longer"}'}
    result = {"type": "result", "result": {**request, "arguments": '{"final":1}', "result": "r"}}
    lines = [agent("tool", type="call", request=request), agent("tool", **update), agent("tool", **result)]
    (call,) = assembled_calls(entries(tmp_path, META, *lines))
    assert call.arguments == '{"final":1}'
