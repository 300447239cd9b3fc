"""Events that another program hands in as JSON: what is taken, in which form it stands in the file, what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from persist import history
from persist.aster import SessionWriter, Summary, Transcript, history_path, to_chat_messages
from persist.aster.incoming import read_event
from persist.errors import ShapeError

SAMPLES = Path(__file__).parents[1] / "data" / "aster" / "sessions"
TS = "2026-08-19T07:12:08.737352513Z"


def given(**record: Any) -> dict[str, Any]:
    return read_event(json.dumps(record).encode()).record


def create(home: Path) -> SessionWriter:
    return SessionWriter.create(home, "/w/app", "/w/app")


def append(writer: SessionWriter, *records: dict[str, Any]) -> int:
    return writer.given([read_event(json.dumps(record).encode()) for record in records])


def tail(writer: SessionWriter) -> str:
    return writer.path.read_text("utf-8").splitlines()[-1]


@pytest.mark.parametrize("path", sorted(SAMPLES.rglob("*.jsonl")), ids=lambda path: path.stem)
def test_every_event_that_aster_wrote_comes_out_as_it_stands(path: Path, tmp_path: Path) -> None:
    writer = create(tmp_path)
    seen = 0
    for line in path.read_bytes().split(b"\n")[1:-1]:
        try:
            kind = json.loads(line).get("type")
        except ValueError:
            continue
        if kind in ("message", "summary", "eviction", "title"):
            writer.given([read_event(line)])
            assert tail(writer).encode() == line
            seen += 1
    assert seen == len(Transcript.load(writer.path).events) - 1


def test_keys_come_in_asters_order_and_unknown_ones_stay_behind(tmp_path: Path) -> None:
    writer = create(tmp_path)
    append(writer, {"mood": [1], "ts": TS, "content": "hi", "role": "user", "type": "message", "model": "m"})
    assert tail(writer) == (f'{{"type":"message","role":"user","content":"hi","ts":"{TS}","mood":[1],"model":"m"}}')


def test_nulls_and_empty_lists_are_left_out_and_a_missing_time_is_now(tmp_path: Path) -> None:
    writer = create(tmp_path)
    append(writer, {"type": "message", "role": "assistant", "content": "x", "tool_calls": None, "usage": None,
                    "annotations": [], "reasoning": None, "tool_call_id": None})  # fmt: skip
    record = json.loads(tail(writer))
    assert list(record) == ["type", "role", "content", "ts"]
    assert record["ts"].endswith("Z")


def test_a_tool_call_need_not_say_that_it_is_a_function(tmp_path: Path) -> None:
    writer = create(tmp_path)
    append(writer, {"type": "message", "role": "assistant",
                    "tool_calls": [{"id": "c", "function": {"name": "run", "arguments": "{}"}}]})  # fmt: skip
    assert '"tool_calls":[{"id":"c","type":"function","function":{"name":"run","arguments":"{}"}}]' in tail(writer)


def test_half_a_surrogate_pair_is_a_sign_of_a_cut_and_costs_no_event(tmp_path: Path) -> None:
    writer = create(tmp_path)
    writer.given([read_event(b'{"type":"message","role":"user","content":"a\\ud83d b \\ud83d\\ude80"}')])
    assert json.loads(tail(writer))["content"] == "a\ufffd b 🚀"


M = {"type": "message"}
CALL = {"id": "c", "type": "function", "function": {"name": "run", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ([1], "the line is a list"),
        ({}, "'type' is none of message, summary, eviction, title"),
        ({"type": "note"}, "'type' is none of"),
        ({"type": "session", "id": "x"}, "never appended"),
        ({**M, "content": "x"}, "'role' is none of"),
        ({**M, "role": "developer", "content": "x"}, "'role' is none of"),
        ({**M, "role": "user"}, "'content' is missing"),
        ({**M, "role": "user", "content": ["x"]}, "'content' is a list, not text"),
        ({**M, "role": "user", "content": "x", "tool_calls": [CALL]}, "only an assistant's has"),
        ({**M, "role": "assistant"}, "neither content nor tool_calls nor reasoning"),
        ({**M, "role": "assistant", "tool_calls": []}, "neither content"),
        ({**M, "role": "tool", "content": "x"}, "tool_call_id is on every message of role tool"),
        ({**M, "role": "user", "content": "x", "tool_call_id": "c"}, "and on no other"),
        ({**M, "role": "assistant", "tool_calls": {}}, "'tool_calls' is an object, not a list"),
        ({**M, "role": "assistant", "tool_calls": [{**CALL, "type": "x"}]}, "is not 'function'"),
        ({**M, "role": "assistant", "tool_calls": [{**CALL, "id": ""}]}, "'id' is empty"),
        ({**M, "role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "x", "arguments": {}}}]},
         "'arguments' is an object, not text"),
        ({**M, "role": "user", "content": "x", "ts": "yesterday"}, "'ts' is no time"),
        ({**M, "role": "user", "content": "x", "ts": "2026-08-19T07:12:08"}, "'ts' is no time"),
        ({**M, "role": "user", "content": "x", "ts": "2026-13-19T07:12:08Z"}, "'ts' is no time"),
        ({**M, "role": "user", "content": "x", "ts": 1787123528}, "'ts' is no time"),
        ({**M, "role": "assistant", "content": "x", "usage": {"prompt_tokens": -1}}, "no whole count"),
        ({**M, "role": "assistant", "content": "x", "usage": {"prompt_tokens": 1.0}}, "no whole count"),
        ({**M, "role": "assistant", "content": "x", "usage": {"prompt_tokens": True}}, "no whole count"),
        ({**M, "role": "assistant", "content": "x", "reasoning": "why"}, "reasoning is text, not an object"),
        ({**M, "role": "assistant", "content": "x", "annotations": [{}]}, "url_citation of an annotation"),
        ({"type": "summary"}, "'content' is missing"),
        ({"type": "summary", "content": " "}, "'content' is empty"),
        ({"type": "summary", "content": "x", "keeps_from_line": 0}, "counted from 1"),
        ({"type": "summary", "content": "x", "keep_last": 2, "replaces_through": 2}, "names its place once"),
        ({"type": "eviction", "index": 4}, "'chars' is missing"),
        ({"type": "title", "title": " \n"}, "'title' is empty"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_what_aster_would_not_read_again_is_refused_by_its_key(record: Any, reason: str) -> None:
    with pytest.raises(ShapeError, match=reason) as caught:
        read_event(json.dumps(record).encode())
    assert "yesterday" not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"no", "not JSON at character 0"),
        (b'{"type":"title","title":"a"} {}', "not JSON at character 29"),
        (b'{"type":"title","title":"a","title":"b"}', "a key comes twice"),
        (b'{"type":"title","title":"a\xff"}', "not UTF-8 at byte 26"),
        (b'\xef\xbb\xbf{"type":"title","title":"a"}', "not JSON"),
        (b'{"type":"title","title":"a","x":NaN}', "NaN or an infinity"),
        (b'{"type":"title","title":"a","x":1e999}', "too large"),
        (b'{"type":"title","title":"a","x":' + b"9" * 5000 + b"}", "too many digits"),
        (b'{"type":"title","title":"a","x":' + b"[" * 127 + b"]" * 127 + b"}", "nested too deeply"),
        (b"[" * 200_000, "nested too deeply"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_line_that_is_not_plain_json_is_refused(line: bytes, reason: str) -> None:
    with pytest.raises(ShapeError, match=reason):
        read_event(line)


class TestSummaries:
    """A summary that comes as JSON says where the kept part begins, in Aster's count and in the file's lines."""

    def chat(self, tmp_path: Path, summary: dict[str, Any]) -> tuple[list[str], Summary]:
        writer = create(tmp_path)
        talk = [{"type": "message", "role": role, "content": f"{role[0]}{n}"} for n in range(1, 6)
                for role in ("user", "assistant")]  # fmt: skip
        assert append(writer, *talk, {"type": "summary", "content": "S", **summary}, talk[0]) == 12
        transcript = Transcript.load(writer.path)
        (told,) = [event for event in transcript.events if isinstance(event, Summary)]
        return [message.content.rpartition("\n")[2] for message in to_chat_messages(transcript)], told

    @pytest.mark.parametrize(
        ("summary", "kept", "numbers"),
        [
            ({}, "S u3 a3 u4 a4 u5 a5 u1", (4, 6)),
            ({"keep_last": 1}, "S a5 u1", (9, 11)),
            ({"keep_last": 0}, "S u1", (10, 12)),
            ({"keeps_from_line": 10}, "S u5 a5 u1", (8, 10)),
            ({"replaces_through": 4}, "S u3 a3 u4 a4 u5 a5 u1", (4, None)),
        ],
        ids=str,
    )
    def test_the_position(
        self, tmp_path: Path, summary: dict[str, Any], kept: str, numbers: tuple[int, int | None]
    ) -> None:
        chat, told = self.chat(tmp_path, summary)
        assert " ".join(chat) == kept
        assert (told.replaces_through, told.keeps_from_line) == numbers


def test_prompts_reach_the_prompt_history_in_order(tmp_path: Path) -> None:
    writer = create(tmp_path)
    append(writer, *({"type": "message", "role": role, "content": role + n} for n in "12" for role in
                     ("user", "assistant", "system")))  # fmt: skip
    assert [entry.prompt for entry in history.read(history_path(tmp_path)).entries] == ["user1", "user2"]


def test_a_session_cannot_take_the_prompt_historys_name(tmp_path: Path) -> None:
    from persist.errors import RefusedError

    with pytest.raises(RefusedError, match="as the prompt history is"):
        SessionWriter.create(tmp_path, "/w", "/w", session_id="Prompt_History")
    assert not tmp_path.joinpath("sessions").exists()


def test_of_many_prompts_at_once_the_newest_hundred_are_in_the_history(tmp_path: Path) -> None:
    writer = create(tmp_path)
    append(writer, *({"type": "message", "role": "user", "content": f"p{number}"} for number in range(30)))
    for first, after in ((30, 120), (120, 121), (121, 400)):
        append(writer, *({"type": "message", "role": "user", "content": f"p{n}"} for n in range(first, after)))
        kept = [entry.prompt for entry in history.read(history_path(tmp_path)).entries]
        assert kept == [f"p{number}" for number in range(after - 100, after)]
        assert history_path(tmp_path).read_bytes().count(b"\n") == 100
