"""Aster's records become events: the samples, every leniency, public faults, and the laws of a parser.

Faults B15, B18, B19 and B20 are written here; B11, B13, B16 and B35 lie in ``tests/data/faults``.
"""

from __future__ import annotations

import copy
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persist.agents.aster import agent as aster
from persist.agents.aster.records import AsterParser
from persist.agents.aster.shapes import Call, calls_of, text_of
from persist.errors import ShapeError
from persist.events import EVENT_TYPES, Event, Parsed, Trait, Usage
from persist.lines import decode
from persist.reading import Checkpoint, ReadLine, SourceReader
from persist.sources import TRANSCRIPT, Line, Source, Stat

DATA = Path(__file__).parents[1] / "data"
SAMPLES = sorted((DATA / "aster" / "sessions").rglob("*.jsonl"))
AT = Line(1, 0)


def source(path: Path | str = "/s/sessions/x/a.jsonl") -> Source:
    return Source("aster", TRANSCRIPT, str(path), "/s", Stat(0, 0, 0, 0))


def reader(data: bytes, start: Checkpoint | None = None) -> tuple[list[ReadLine], SourceReader]:
    reading = SourceReader(aster.AGENT, source(), io.BytesIO(data), start)
    return list(reading), reading


def events(data: bytes) -> list[Event]:
    return [numbered.event for line in reader(data)[0] for numbered in line.events]


def feed(*records: Any) -> list[Parsed]:
    parser = AsterParser()
    return [parser.feed(record, AT) for record in records]


def message(role: str, **rest: Any) -> dict[str, Any]:
    return {"type": "message", "role": role, "ts": "2026-03-02T00:01:00Z", **rest}


def sample(name: str) -> bytes:
    return next(path for path in SAMPLES if path.stem == name).read_bytes()


class TestProjection:
    def test_the_full_sample(self) -> None:
        lines, reading = reader(sample("01M0CDSRD0M5N6FKF181V7JAJ0"))
        rows = [(line.number, n.turn_index, n.event) for line in lines for n in line.events]
        shown = [(number, turn, e.event_type, e.part, e.tool_name) for number, turn, e in rows]
        assert shown[:9] == [
            (2, 0, "user_message", 0, None),
            (3, 0, "message_thought", 0, None),
            (3, 0, "tool_call", 1, "search_files"),
            (3, 0, "tool_call", 2, "read_file"),
            (4, 0, "tool_result", 0, "search_files"),
            (5, 0, "tool_result", 0, "read_file"),
            (6, 0, "system_message", 0, None),
            (7, 0, "message_text", 0, None),
            (7, 0, "tool_call", 1, "edit_file"),
        ]
        assert shown[-7:] == [
            (15, 0, "context_eviction", 0, None),
            (16, 0, "message_thought", 0, None),
            (16, 0, "message_text", 1, None),
            (17, 0, "session_title", 0, None),
            (18, 1, "user_message", 0, None),
            (19, 1, "message_text", 0, None),
            (20, 1, "session_title", 0, None),
        ]
        assert reading.final.counts.damaged == reading.bytes_pending == 0
        assert [usage.output_tokens for line in lines for usage in line.usage] == [84, 120, 31, 24, 27, 58, 17]
        assert {usage.model_name for line in lines for usage in line.usage} == {"qwen/qwen3-coder"}

    def test_the_header_tells_the_facts(self) -> None:
        lines, reading = reader(sample("01m3gcw7w0bt3de2jg7ptjq2zj"))
        assert {trait.name: trait.value for trait in lines[0].traits} == {
            "cwd": "/home/mira/Büro/kassenbuch",
            "repo_root": "/home/mira/Büro/kassenbuch",
            "model": "anthropic/claude-sonnet-4.5",
            "version": "0.6.1",
            "schedule": "nightly-vat-check",
            "created_at": "2026-09-27T03:00:00.347Z",
        }
        assert reading.final.session_id == "01m3gcw7w0bt3de2jg7ptjq2zj"
        assert not reading.final.names_parent

    def test_a_title_of_a_person_ranks_above_one_of_the_agent_and_that_above_the_headers(self) -> None:
        header, titled, again, other, typed, same, named = feed(
            {"type": "session", "id": "x", "title": "From the header"},
            {"type": "title", "title": "Named"},
            {"type": "title", "title": "Named"},
            {"type": "title", "title": "Named again"},
            {"type": "title", "title": "Typed", "by": "person"},
            {"type": "title", "title": "Typed", "by": "person"},
            {"type": "title", "title": "Typed", "by": "somebody"},
        )
        assert list(header.traits) == [Trait("title", "From the header", rank=2)]
        assert list(titled.traits) == [Trait("title", "Named", rank=1)]
        assert list(again.traits) == []
        assert [event.text for event in again.events] == ["Named"]
        assert list(other.traits) == [Trait("title", "Named again", rank=1)]
        assert list(typed.traits) == [Trait("title", "Typed", rank=0)]
        assert list(same.traits) == []
        assert list(named.traits) == [Trait("title", "Typed", rank=1)]

    @pytest.mark.parametrize(
        ("header", "traits"),
        [
            ({"id": "claude-3f6d"}, [Trait("imported_from", "claude-code:3f6d", rank=1)]),
            ({"id": "codex-0197"}, [Trait("imported_from", "codex:0197", rank=1)]),
            ({"id": "opencode-ses-ab1"}, [Trait("imported_from", "opencode:ses-ab1", rank=1)]),
            (
                {"id": "opencode-ses-ab1", "imported_from": "opencode:ses_Ab1"},
                [Trait("imported_from", "opencode:ses_Ab1")],
            ),
            ({"id": "x", "imported_from": {"agent": "codex", "id": "0197"}}, [Trait("imported_from", "codex:0197")]),
            ({"id": "telegram-48151623"}, []),
            ({"id": "claude-"}, []),
        ],
    )
    def test_where_a_session_was_imported_from(self, header: dict[str, Any], traits: list[Trait]) -> None:
        parser = AsterParser()
        parsed = parser.feed({"type": "session", **header}, AT)
        assert list(parsed.traits) == traits
        assert parser.names_parent is bool(traits)

    def test_a_header_names_the_session_it_works_for(self) -> None:
        parser = AsterParser()
        parsed = parser.feed({"type": "session", "id": "x", "parent": "01kaa"}, AT)
        assert list(parsed.traits) == [Trait("parent", "01kaa")]
        assert parser.names_parent

    def test_a_failed_tool_is_an_error_and_a_call_finds_its_name(self) -> None:
        call = {"id": "c", "type": "function", "function": {"name": "run", "arguments": "{}"}}
        _, failed, unknown = feed(
            message("assistant", tool_calls=[call]),
            message("tool", content="error: no such file", tool_call_id="c"),
            message("tool", content="Error: not Aster's prefix", tool_call_id="other"),
        )
        assert [(e.event_type, e.outcome, e.tool_name) for e in failed.events] == [("tool_error", "failed", "run")]
        assert [(e.event_type, e.outcome, e.tool_name) for e in unknown.events] == [("tool_result", None, None)]

    @pytest.mark.parametrize(
        ("record", "expected"),
        [
            ({"content": "words"}, [("message_text", "words")]),
            ({"content": ""}, [("message_text", "")]),
            ({}, [("message_text", None)]),
            ({"content": "", "reasoning": {"text": "why"}}, [("message_thought", "why")]),
            ({"content": None, "tool_calls": [{"id": "c"}]}, [("tool_call", None)]),
            ({"content": "", "tool_calls": [{"id": "c"}]}, [("tool_call", None)]),
            ({"content": "go", "tool_calls": [{"id": "c"}]}, [("message_text", "go"), ("tool_call", None)]),
        ],
    )
    def test_what_an_assistant_message_comes_to(self, record: dict[str, Any], expected: list[Any]) -> None:
        (parsed,) = feed(message("assistant", **record))
        assert [(event.event_type, event.text) for event in parsed.events] == expected
        assert [event.part for event in parsed.events] == list(range(len(expected)))

    def test_a_blank_prompt_is_a_prompt(self) -> None:
        (parsed,) = feed(message("user", content="   "))
        assert [(event.text, event.is_prompt) for event in parsed.events] == [("   ", True)]

    def test_a_summary_and_an_eviction(self) -> None:
        folded, evicted = feed(
            {"type": "summary", "content": "short", "replaces_through": 6, "ts": "2026-03-02T00:01:00Z"},
            {"type": "eviction", "reason": "tool_result_over_budget", "role": "tool", "index": 4, "chars": 9},
        )
        assert [(e.kind, e.event_type, e.text) for e in folded.events] == [
            ("agent", "context_compaction_result", "short")
        ]
        assert [(e.kind, e.event_type, e.ts) for e in evicted.events] == [("control", "context_eviction", None)]

    def test_every_event_type_is_in_the_vocabulary(self) -> None:
        assert {event.event_type for path in SAMPLES for event in events(path.read_bytes())} <= set(EVENT_TYPES)


class TestLeniency:
    """Lines that Aster rejects whole or stops at (``spec/aster.md`` 1.2)."""

    @pytest.mark.parametrize(
        ("line", "text"),
        [
            ('{"type":"message","role":"user","content":"heron"}', "heron"),
            ('{"content":"heron","role":"user","type":"message"}', "heron"),
            ('{"type":"message","role":"user","content":"crane","content":"heron"}', "heron"),
            (
                '{"type":"message","role":"user","content":[{"type":"text","text":"he"},"ron",{"type":"image"}]}',
                "he\nron",
            ),
            ('{"type":"message","role":"user","content":{"text":"heron"}}', "heron"),
            ('{"type":"message","role":"user","content":"a\\ud800b"}', "a\ufffdb"),
            ('{"type":"message","role":"user","content":"heron","tool_calls":null,"annotations":null}', "heron"),
            ('{"type":"message","role":"user","content":"heron","ts":1770000000}', "heron"),
            ('{"type":"message","role":"user","content":null}', None),
            ('{"type":"message","role":"user","content":5}', None),
            ('{"type":"message","role":"user","content":[]}', None),
            ('{"type":"message","role":"user"}', None),
        ],
    )
    def test_a_message_is_read(self, line: str, text: str | None) -> None:
        (event,) = events(line.encode() + b"\n")
        assert (event.event_type, event.text) == ("user_message", text)

    @pytest.mark.parametrize(
        ("call", "expected"),
        [
            ({"id": "c", "function": {"name": "f", "arguments": '{"a": 1}'}}, Call("c", "f", '{"a": 1}')),
            ({"id": "c", "function": {"name": "f", "arguments": {"ä": [1, "x"]}}}, Call("c", "f", '{"ä":[1,"x"]}')),
            ({"id": "c", "name": "f", "arguments": "{}"}, Call("c", "f", "{}")),
            ({"function": {"name": "f"}}, Call(None, "f", None)),
            (5, Call(None, None, "5")),
        ],
    )
    def test_a_tool_call_is_read(self, call: Any, expected: Call) -> None:
        assert calls_of({"tool_calls": [call]}) == [expected]

    @pytest.mark.parametrize(
        ("usage", "expected"),
        [
            ({"prompt_tokens": 5, "completion_tokens": 2}, [(5, 2)]),
            ({"prompt_tokens": 5}, [(5, None)]),
            ({"prompt_tokens": 5.0, "completion_tokens": -1}, [(5, None)]),
            ({"prompt_tokens": 2**63, "completion_tokens": 1e999}, []),
            ({"prompt_tokens": 1.5, "completion_tokens": True}, []),
            (None, []),
            ([1], []),
        ],
    )
    def test_counts_that_fit_are_read(self, usage: Any, expected: list[Any]) -> None:
        (parsed,) = feed(message("assistant", content="x", usage=usage))
        assert [(use.input_tokens, use.output_tokens) for use in parsed.usage] == expected

    def test_a_missing_time_is_null_and_the_line_before_gives_its_place(self) -> None:
        lines, _ = reader(
            b'{"type":"message","role":"user","content":"a","ts":"2026-03-02T00:01:00Z"}\n'
            b'{"type":"message","role":"user","content":"b"}\n'
        )
        second = lines[1].events[0]
        assert (second.event.ts, second.sort_ts, second.ts_source) == (None, "2026-03-02T00:01:00.000Z", "previous")

    def test_the_header_may_stand_on_any_line_and_the_first_one_counts(self) -> None:
        head = b'{"type":"session","id":"%s","v":1,"model":"m"}\n'
        _, reading = reader(b'\n{"torn\n' + head % b"first" + head % b"second")
        assert reading.final.session_id == "first"
        assert reading.final.counts.skipped_types == {"blank": 1, "session:again": 1}

    def test_without_a_header_there_is_no_id_but_events(self) -> None:
        lines, reading = reader(b'{"type":"message","role":"user","content":"a"}\n')
        assert (reading.final.session_id, reading.final.recognised, len(lines)) == (None, True, 1)

    def test_foreign_lines_are_not_recognised(self) -> None:
        _, reading = reader(b'1\n{"event":"click"}\n{"type":"click"}\n[]\n')
        assert not reading.final.recognised
        assert reading.final.counts.damaged == 3
        assert reading.final.counts.skipped_types == {"unknown:click": 1}

    def test_an_unknown_role_is_counted_by_name(self) -> None:
        (parsed,) = feed(message("developer", content="x"))
        assert parsed.skipped == "unknown:message/developer"


class TestPublicFaults:
    def fault(self, name: str) -> bytes:
        return next((DATA / "faults").glob(f"{name}.jsonl")).read_bytes()

    def test_b11_a_torn_tail_is_pending_and_read_when_it_is_whole(self) -> None:
        torn = self.fault("B11/step1/sessions/alpha/01KBVGBANKTTTTTTTTTTTTTTTT")
        lines, reading = reader(torn)
        assert (reading.checkpoint.offset_bytes, reading.bytes_pending) == (361, 74)
        assert sum(len(line.events) for line in lines) == 2
        assert reading.final.counts.damaged == 0
        whole = self.fault("B11/step2/sessions/alpha/01KBVGBANKTTTTTTTTTTTTTTTT")
        more, _ = reader(whole, reading.checkpoint)
        assert [numbered.event for line in [*lines, *more] for numbered in line.events] == events(whole)
        assert len(events(whole)) == 4

    def test_b11_a_whole_last_line_without_newline_is_used_and_read_again(self) -> None:
        lines, reading = reader(self.fault("B11/step1/sessions/alpha/01KBVGBANKNNNNNNNNNNNNNNNN"))
        assert [numbered.event.text for line in lines for numbered in line.events] == ["plover one", "plover two"]
        more, _ = reader(self.fault("B11/step2/sessions/alpha/01KBVGBANKNNNNNNNNNNNNNNNN"), reading.checkpoint)
        assert [numbered.event.text for line in more for numbered in line.events] == ["plover two", "plover three"]

    def test_b13_zero_bytes_hide_nothing(self) -> None:
        found = events(self.fault("B13/step2/sessions/alpha/01KBVGBANKZZZZZZZZZZZZZZZZ"))
        texts = " ".join(event.text or "" for event in found)
        assert all(word in texts for word in ("north", "east", "west", "south", "centre"))
        assert "\0" not in texts
        assert len(found) == 5

    def test_b15_bom_crlf_blank_lines_and_no_last_newline(self) -> None:
        data = (
            b'\xef\xbb\xbf{"type":"session","id":"x","v":1}\r\n\r\n'
            b'{"type":"message","role":"user","content":"heron"}\r\n{"type":"message","role":"user","content":"crane"}'
        )
        lines, reading = reader(data)
        assert reading.final.session_id == "x"
        assert [(line.number, line.offset_bytes) for line in lines] == [(3, 40), (4, 92)]
        assert [numbered.event.text for line in lines for numbered in line.events] == ["heron", "crane"]
        assert reading.final.counts.damaged == 0

    def test_b16_only_a_line_feed_ends_a_line(self) -> None:
        found = events(self.fault("B16/sessions/alpha/01KBVGBANKMMMMMMMMMMMMMMMM"))
        assert [len((event.text or "").encode()) for event in found] == [20, 20, 19, 18, 18, 18, 18, 18]

    def test_b18_new_types_fields_and_versions(self) -> None:
        records: list[Any] = [{"type": "session", "id": "x", "v": 99, "mood": "new"}]
        records += [{"type": f"new{number % 3}", "deep": {"er": [number]}} for number in range(200)]
        records += [message("user", content="heron", extra={"a": 1}) for _ in range(10)]
        lines, reading = reader("".join(json.dumps(record) + "\n" for record in records).encode())
        assert sum(len(line.events) for line in lines) == 10
        assert list(lines[0].traits) == [Trait("version", "format 99")]
        assert reading.final.counts.skipped_types == {"unknown:new0": 67, "unknown:new1": 67, "unknown:new2": 66}
        assert reading.final.counts.damaged == 0

    def test_b19_one_instant_in_six_spellings_and_five_that_are_none(self) -> None:
        good: list[Any] = [
            1772409600, 1772409600000, "2026-03-02T00:00:00Z", "2026-03-02T05:30:00+05:30",
            "2026-03-02T00:00:00.000000000Z", "2026-03-02 00:00:00Z",
        ]  # fmt: skip
        bad: list[Any] = [None, "", 0, -1, "10000-01-01T00:00:00Z"]
        parsed = feed(*({**message("user", content="x"), "ts": ts} for ts in [*good, *bad]))
        assert [part.events[0].ts for part in parsed] == ["2026-03-02T00:00:00.000Z"] * 6 + [None] * 5

    def test_b20_numbers_and_nesting_beyond_the_limits(self) -> None:
        use = b'{"type":"message","role":"assistant","content":"heron","usage":{"prompt_tokens":%s}}\n'
        odd = [b"9223372036854775808", b"1e999", b"NaN", b"9" * 5000, b'1,"prompt_tokens":2']
        data = b"".join(use % number for number in odd)
        data += b'{"type":"message","role":"user","content":%s%s}\n' % (b"[" * 100_000, b"]" * 100_000)
        data += b'{"type":"message","role":"user","content":"last"}\n'
        lines, reading = reader(data)
        assert [line.events[0].event.text for line in lines if line.events] == ["heron"] * 5 + ["last"]
        assert [use.input_tokens for line in lines for use in line.usage] == [2]
        assert [line.number for line in lines if line.error] == [6]
        assert reading.final.counts.seen == 7

    def test_arguments_nested_to_the_decoders_limit_are_read_or_refused_as_a_shape(self) -> None:
        deep = decode(b'{"a":' + b"[" * 1000 + b"]" * 1000 + b"}")
        call = {"id": "c", "function": {"name": "f", "arguments": deep}}
        try:
            (parsed,) = feed(message("assistant", tool_calls=[call]))
        except ShapeError:
            return
        assert parsed.events[0].tool_arguments is not None

    def test_b35_lone_surrogates(self) -> None:
        found = events(self.fault("B35/sessions/alpha/01KBVGBANKSSSSSSSSSSSSSSSS"))
        assert [len((event.text or "").encode()) for event in found[:5]] == [19, 18, 21, 20, 20]
        assert "\U0001f680" in (found[3].text or "")
        assert all("heron" in (event.text or "") for event in found)


class TestLaws:
    @pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
    @settings(max_examples=40, deadline=None)
    @given(data=st.data())
    def test_any_cut_read_in_two_equals_one_pass(self, path: Path, data: st.DataObject) -> None:
        whole = path.read_bytes()
        cut = data.draw(st.integers(0, len(whole)))
        first, at_cut = reader(whole[:cut])
        saved = json.loads(json.dumps(at_cut.checkpoint.save()))
        again = Checkpoint.load(saved)
        second, at_end = reader(whole, again)
        kept = [line for line in first if line.number < again.line_number]
        once, one_pass = reader(whole)
        assert kept + second == once
        assert at_end.final.save() == one_pass.final.save()

    @settings(max_examples=150, deadline=None)
    @given(data=st.data())
    def test_a_mutated_record_raises_only_a_shape_error_and_leaves_the_state(self, data: st.DataObject) -> None:
        records = [json.loads(line) for path in SAMPLES for line in path.read_bytes().split(b"\n") if _is_json(line)]
        parser = AsterParser()
        for record in records[: data.draw(st.integers(0, 10))]:
            parser.feed(record, AT)
        mutated = _mutated(copy.deepcopy(data.draw(st.sampled_from(records))), data)
        before = json.dumps(parser.save())
        try:
            parsed = parser.feed(mutated, AT)
        except ShapeError:
            assert json.dumps(parser.save()) == before
            return
        assert all(isinstance(event, Event) and event.event_type in EVENT_TYPES for event in parsed.events)
        assert all(isinstance(use, Usage) for use in parsed.usage)
        assert not parsed.usage or parsed.events
        json.dumps(parser.save())

    def test_the_state_stays_small_whatever_is_recorded(self) -> None:
        parser = AsterParser()
        parser.feed({"type": "session", "id": "i" * 1_000_000, "model": "m" * 1_000_000, "cwd": "c" * 1_000_000}, AT)
        parser.feed({"type": "title", "title": "t" * 1_000_000}, AT)
        calls = [{"id": f"{n}" + "\U0001f680" * 150, "function": {"name": "\U0001f680" * 300}} for n in range(2000)]
        parser.feed(message("assistant", tool_calls=calls), AT)
        assert len(json.dumps(parser.save())) < 64 * 1024
        parsed = parser.feed(message("tool", content="x", tool_call_id=f"{1999}" + "\U0001f680" * 150), AT)
        assert parsed.events[0].tool_name == "\U0001f680" * 200

    def test_text_of_never_raises(self) -> None:
        for value in (None, True, 1, 1.5, "", [], {}, [[["x"]]], [{"text": 5}], {"text": ["x"]}):
            assert text_of(value) in (None, "")


def _is_json(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


_ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def _mutated(value: Any, data: st.DataObject) -> Any:
    """Replace one value somewhere in a record, or take it away."""
    if isinstance(value, dict) and value and data.draw(st.integers(0, 4)):
        key = data.draw(st.sampled_from(sorted(value)))
        if data.draw(st.booleans()):
            value[key] = _mutated(value[key], data)
        else:
            del value[key]
        return value
    if isinstance(value, list) and value and data.draw(st.booleans()):
        value[0] = _mutated(value[0], data)
        return value
    return data.draw(_ODD)
