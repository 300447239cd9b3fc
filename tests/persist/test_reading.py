"""Reading a source from any checkpoint: the numbers, classes and times of its lines, whatever stands in them.

With the real agents and their sample files. Public faults B11, B15, B18, B40 and B127; DESIGN laws 3, 5 and 6.
"""

from __future__ import annotations

import errno
import io
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persist.agents import AGENTS
from persist.reading import MAX_SKIPPED_TYPES, OTHER_TYPES, Checkpoint, ReadLine, SourceReader
from tests import builders as make
from tests.persist.sample_files import DATA, FILES, REPOSITORY, read, source

AGENT_NAMES = list(AGENTS)
STATE_BYTES = 64 * 1024
every_file = pytest.mark.parametrize(("agent", "path"), FILES, ids=[f"{name}-{path.stem[:24]}" for name, path in FILES])
every_agent = pytest.mark.parametrize("agent", AGENT_NAMES)
seeds = st.integers(0, 2**32)


def through_json(checkpoint: Checkpoint) -> Checkpoint:
    """Return the checkpoint as a later process finds it, written as the index writes it."""
    written = json.dumps(checkpoint.save(), ensure_ascii=False, allow_nan=False).encode()
    assert len(written) < STATE_BYTES
    return Checkpoint.load(json.loads(written))


class Grown:
    """A file that is read whenever it has grown, from the checkpoint left before: what ingests keep of it."""

    def __init__(self, agent: str, path: Path | str = "/h/x/s.jsonl") -> None:
        self.agent = agent
        self.path = path
        self.lines: list[ReadLine] = []
        self.start = Checkpoint()
        self.reader: SourceReader | None = None

    def read(self, data: bytes) -> None:
        """Read on; rows from the first unfinished line on are replaced."""
        before = json.dumps(self.start.save())
        lines, self.reader = read(self.agent, data, self.start, self.path)
        assert json.dumps(self.start.save()) == before, "reading changed the checkpoint it began from"
        self.lines = [line for line in self.lines if line.number < self.start.line_number] + lines
        self.start = through_json(self.reader.checkpoint)

    def assert_equals_one_pass(self, data: bytes) -> None:
        lines, reader = read(self.agent, data, None, self.path)
        assert self.reader is not None
        assert self.lines == lines
        assert told(self.reader) == told(reader)


def told(reader: SourceReader) -> dict[str, Any]:
    return {
        "final": reader.final.save(),
        "checkpoint": reader.checkpoint.save(),
        "pending": reader.bytes_pending,
        "head": reader.final.head_time(),
    }


def good(agent: str, number: int) -> bytes:
    """Return a good line of the agent; the first of a file is its head."""
    minute = number if number % 3 else number - 2
    if agent == "aster":
        record = make.aster_header("s1", 0) if number == 0 else make.aster_prompt(f"p{number}", minute)
        if number % 4 == 3:
            record = make.aster_answer(f"a{number}", minute, (5, 7))
        if number % 5 == 4:
            record = {**record, "ts": None}
    elif agent == "aether":
        record = make.aether_metadata("s1", 0) if number == 0 else make.aether_prompt(f"p{number}")
        if number % 4 == 3:
            record = make.aether_answer(f"a{number}", f"m{number}")
    elif agent == "codex":
        record = make.codex_header("s1", 0) if number == 0 else make.codex_prompt(f"p{number}", minute)
        if number % 4 == 3:
            record = make.codex_answer(f"a{number}", minute)
        if number % 5 == 4:
            record = {**record, "timestamp": "never"}
    elif agent in ("pi", "omp"):
        record = make.pi_header("s1", 0) if number == 0 else make.pi_prompt(f"p{number}", f"e{number}", minute)
        if number % 4 == 3:
            record = make.pi_answer(f"a{number}", f"e{number}", minute, tokens=3)
        if number % 5 == 4:
            record = {**record, "timestamp": "never"}
    else:
        record = make.claude_prompt(f"p{number}", "s1", f"u{number}", minute)
        if number % 4 == 3:
            record = make.claude_answer(
                f"a{number}", "s1", f"u{number}", minute, message_id=f"m{number}", output_tokens=3
            )
        if number % 5 == 4:
            record = {**record, "timestamp": "never"}
    return json.dumps(record, ensure_ascii=False).encode()


UNKNOWN = {
    "aster": b'{"type":"new_thing","x":1}',
    "aether": b'{"kind":"new_thing","data":{"type":"x"}}',
    "claude-code": b'{"type":"new_thing","sessionId":"s1"}',
    "codex": b'{"type":"new_thing","payload":{}}',
    "pi": b'{"type":"new_thing","id":"e1"}',
    "omp": b'{"type":"new_thing","id":"e1"}',
}
LINE_KINDS = ["good"] * 3 + ["blank", "unknown", "torn", "bytes", "zeros", "glued", "both", "rest", "scalar"]
BLANKS = [b"", b"\r", b"  \t", "\u00a0\u2028".encode(), b"\xef\xbb\xbf"]


def mixture(agent: str, random: Random, length: int) -> tuple[list[bytes], list[str]]:
    """Return random lines without their ends, and the class that each must come to."""
    lines, classes = [good(agent, 0)], ["indexed"]
    for number in range(1, length):
        line = good(agent, number)
        kind = random.choice(LINE_KINDS)
        lines.append(
            {
                "good": line,
                "blank": random.choice(BLANKS),
                "unknown": UNKNOWN[agent],
                "torn": line[: random.randrange(1, len(line))],
                "bytes": line.replace(b"p", b"\xff").replace(b"a", b"a\xe2\x80", 1),
                "zeros": b"\0" * random.randrange(1, 99) + line,
                "glued": line + good(agent, number + 1),
                "both": line[: random.randrange(1, len(line))] + line,
                "rest": line + b" rest",
                "scalar": random.choice([b"5", b'"x"', b"null", b"[]", b"true"]),
            }[kind]
        )
        classes.append(
            {"good": "indexed", "glued": "indexed", "blank": "skipped", "unknown": "skipped"}.get(kind, "damaged")
        )
    return lines, classes


class TestNothingVanishes:
    @settings(max_examples=200, deadline=None)
    @given(seeds, st.sampled_from(AGENT_NAMES))
    def test_every_line_is_in_one_class_and_every_byte_is_accounted_for(self, seed: int, agent: str) -> None:
        random = Random(seed)  # noqa: S311
        lines, classes = mixture(agent, random, random.randrange(1, 25))
        data = b"".join(line + random.choice([b"\n", b"\r\n"]) for line in lines)
        tail = random.choice([b"", b" ", b'{"type', good(agent, 99)])
        found, reader = read(agent, data + tail)
        counts = reader.final.counts
        wanted = Counter([*classes, *(["indexed"] if tail == good(agent, 99) else [])])
        assert counts.seen == counts.indexed + counts.skipped + counts.damaged == wanted.total()
        assert {"indexed": counts.indexed, "skipped": counts.skipped, "damaged": counts.damaged} == {
            name: wanted[name] for name in ("indexed", "skipped", "damaged")
        }
        assert counts.skipped_types.total() == counts.skipped
        assert [line.outcome for line in found] == [name for name in classes if name != "skipped"] + (
            ["indexed"] if tail == good(agent, 99) else []
        )
        assert reader.final.offset_bytes + reader.bytes_pending == len(data + tail) == reader.bytes_read
        assert reader.checkpoint.offset_bytes == len(data)
        for line in found:
            assert (line.error is not None) == (line.outcome == "damaged") == (line.error_excerpt is not None)
            written = (data + tail)[line.offset_bytes : line.offset_bytes + line.length_bytes]
            assert written.rstrip(b"\r") == lines[line.number - 1] if line.number <= len(lines) else written == tail

    @every_agent
    def test_what_a_damaged_line_still_held_is_indexed(self, agent: str) -> None:
        line = good(agent, 1)
        whole = read(agent, good(agent, 0) + b"\n" + line + b"\n")[0][-1].events
        for broken in (b"\0\0" + line, line[:20] + line, line + b" rest", line + b"\0"):
            found = read(agent, good(agent, 0) + b"\n" + broken + b"\n")[0][-1]
            assert found.outcome == "damaged"
            assert found.events == whole

    def test_glued_records_are_events_of_one_line(self) -> None:
        data = good("aster", 0) + good("aster", 1) + good("aster", 2) + b"\n" + good("aster", 3) + b"\n"
        first, second = read("aster", data)[0]
        assert [(event.event_index, event.turn_index) for event in first.events] == [(0, 0), (1, 1)]
        assert [(event.event_index, event.turn_index) for event in second.events] == [(2, 1)]
        assert first.outcome == "indexed"

    def test_glued_to_its_head_an_event_without_time_has_the_head_s(self) -> None:
        (line,), _ = read("aether", good("aether", 0) + good("aether", 1) + b"\n")
        assert [(event.sort_ts, event.ts_source) for event in line.events] == [(make.at(0), "session")]

    def test_unknown_types_are_counted_by_name(self) -> None:
        unknown = [{"type": f"new{number % 3}", "x": number} for number in range(200)]
        talk = [{**make.aster_prompt(f"m{number}", number), "new_key": {}} for number in range(10)]
        found, reader = read("aster", make.lines(make.aster_header("s", 0) | {"v": 99}, *unknown, *talk))
        assert reader.final.counts.skipped_types == {"unknown:new0": 67, "unknown:new1": 67, "unknown:new2": 66}
        assert len([event for line in found for event in line.events]) == 10
        assert reader.final.counts.damaged == 0

    def test_an_oversize_line_is_damage_and_what_follows_is_read(self) -> None:
        data = make.lines(make.aster_header("s", 0), b"x" * 5000, make.aster_prompt("after", 1), b"y" * 5000)
        found, reader = read("aster", data, max_line_bytes=1024)
        assert [line.outcome for line in found] == ["indexed", "damaged", "indexed", "damaged"]
        assert found[1].error == "a line of 5000 bytes is over the limit"
        assert found[3].length_bytes == 5000
        again, _ = read("aster", data, reader.checkpoint, max_line_bytes=1024)
        assert again == []


class TestAnyCutEqualsOnePass:
    @every_file
    def test_of_a_sample(self, agent: str, path: Path) -> None:
        data = path.read_bytes()
        random = Random(path.stem)  # noqa: S311
        for _ in range(8):
            cuts = sorted(random.randrange(len(data) + 1) for _ in range(random.randrange(1, 8)))
            grown = Grown(agent, path)
            for cut in [*cuts, len(data)]:
                grown.read(data[:cut])
                grown.assert_equals_one_pass(data[:cut])

    @every_file
    def test_around_every_line_end_of_a_sample(self, agent: str, path: Path) -> None:
        data = path.read_bytes()
        ends = [at for at, byte in enumerate(data) if byte == 0x0A]
        grown = Grown(agent, path)
        for cut in sorted({max(0, end + by) for end in ends[:40] for by in (-1, 0, 1, 2)}):
            grown.read(data[:cut])
            grown.assert_equals_one_pass(data[:cut])

    @settings(max_examples=150, deadline=None)
    @given(seeds, st.sampled_from(AGENT_NAMES))
    def test_of_a_mixture(self, seed: int, agent: str) -> None:
        random = Random(seed)  # noqa: S311
        lines, _ = mixture(agent, random, random.randrange(1, 15))
        data = b"\n".join(lines) + random.choice([b"", b"\n"])
        grown = Grown(agent)
        for cut in [*sorted(random.randrange(len(data) + 1) for _ in range(random.randrange(6))), len(data)]:
            grown.read(data[:cut])
            grown.assert_equals_one_pass(data[:cut])

    @every_agent
    def test_at_every_single_byte(self, agent: str) -> None:
        lines = [*(good(agent, number) for number in range(4)), "{} 漢".encode(), b"", UNKNOWN[agent]]
        data = b"\xef\xbb\xbf" + b"\r\n".join(lines)
        grown = Grown(agent)
        for cut in range(len(data) + 1):
            grown.read(data[:cut])
            grown.assert_equals_one_pass(data[:cut])

    @every_file
    def test_from_the_start_of_any_line_with_its_checkpoint(self, agent: str, path: Path) -> None:
        data = path.read_bytes()
        reader = SourceReader(AGENTS[agent], source(agent, path), io.BytesIO(data))
        whole: list[ReadLine] = []
        for line in reader:
            whole.append(line)
            assert reader.final.line_number == line.number + 1
        assert [line.number for line in whole] == sorted({line.number for line in whole})
        indexes = [numbered.event_index for line in whole for numbered in line.events]
        assert indexes == list(range(len(indexes))) and reader.final.event_index == len(indexes)  # noqa: PT018

    def test_reading_that_is_given_up_leaves_a_checkpoint_to_go_on_from(self) -> None:
        data = b"".join(good("claude-code", number) + b"\n" for number in range(9))
        whole, _ = read("claude-code", data)
        reader = SourceReader(AGENTS["claude-code"], source("claude-code"), io.BytesIO(data))
        reading = iter(reader)
        first = [next(reading) for _ in range(4)]
        assert isinstance(reading, Iterator)
        reading.close()  # type: ignore[attr-defined]
        assert first + read("claude-code", data, through_json(reader.checkpoint))[0] == whole


class Failing(io.RawIOBase):
    """A file on a failing disk: gives at most ``most_bytes`` at once, and an error from byte ``good_bytes`` on."""

    def __init__(self, data: bytes, good_bytes: int, most_bytes: int) -> None:
        super().__init__()
        self._file = io.BytesIO(data[:good_bytes])
        self._most_bytes = most_bytes

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._file.seek(offset, whence)

    def readinto(self, buffer: Any, /) -> int:
        data = self._file.read(min(len(buffer), self._most_bytes))
        if not data:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        buffer[: len(data)] = data
        return len(data)


class TestFailingReads:
    @settings(max_examples=150, deadline=None)
    @given(seeds, st.sampled_from(AGENT_NAMES), st.sampled_from([1, 7, 100, 4096]))
    def test_an_error_in_the_middle_leaves_a_valid_beginning(self, seed: int, agent: str, most_bytes: int) -> None:
        random = Random(seed)  # noqa: S311
        lines, _ = mixture(agent, random, random.randrange(2, 15))
        data = b"\n".join(lines) + b"\n"
        failing = io.BufferedReader(Failing(data, random.randrange(len(data)), most_bytes), 64)
        reader = SourceReader(AGENTS[agent], source(agent), failing)
        kept: list[ReadLine] = []
        with pytest.raises(OSError, match=os.strerror(errno.EIO)):
            kept.extend(reader)
        assert all(line.number < reader.checkpoint.line_number for line in kept)
        assert reader.bytes_pending == 0
        rest, again = read(agent, data, through_json(reader.checkpoint))
        whole, once = read(agent, data)
        assert kept + rest == whole
        assert told(again) == told(once)


class TestTails:
    @every_agent
    def test_a_whole_last_line_without_its_end_is_used_at_once_and_read_again(self, agent: str) -> None:
        head, last = good(agent, 0) + b"\n" + good(agent, 1) + b"\n", good(agent, 2)
        found, reader = read(agent, head + last)
        assert found[-1].number == 3
        assert (reader.checkpoint.offset_bytes, reader.checkpoint.line_number) == (len(head), 3)
        assert (reader.final.offset_bytes, reader.bytes_pending) == (len(head) + len(last), 0)
        assert reader.final.counts.indexed == reader.checkpoint.counts.indexed + 1
        again, _ = read(agent, head + last + b"\n", reader.checkpoint)
        assert again == found[-1:]

    @pytest.mark.parametrize(
        "tail", [b" ", b'{"a', b"12", b"[1]", b'"x"', b'{"a":1}{"b":2}', b"\0\0", b'{"a":"\xe6\xbc', b"{} x"]
    )
    @every_agent
    def test_any_other_last_line_is_pending_not_damage(self, agent: str, tail: bytes) -> None:
        data = good(agent, 0) + b"\n"
        found, reader = read(agent, data + tail)
        assert reader.bytes_pending == len(tail)
        assert reader.final.save() == reader.checkpoint.save()
        assert reader.final.counts.damaged == 0
        assert reader.checkpoint.offset_bytes == len(data)
        assert all(line.number == 1 for line in found)

    def test_a_torn_tail_completed_later(self) -> None:
        folders = [DATA / "faults/B11" / step / "sessions/alpha" for step in ("step1", "step2")]
        for name, wanted in (("01KBVGBANKTTTTTTTTTTTTTTTT", (361, 74, 2, 4)), ("01KBVGBANKNNNNNNNNNNNNNNNN", None)):
            before, after = ((folder / f"{name}.jsonl").read_bytes() for folder in folders)
            grown = Grown("aster")
            grown.read(before)
            assert grown.reader is not None
            if wanted is not None:
                events = sum(len(line.events) for line in grown.lines)
                assert (grown.start.offset_bytes, grown.reader.bytes_pending, events) == wanted[:3]
            grown.read(after)
            grown.assert_equals_one_pass(after)
            assert grown.start.counts.damaged == 0
            if wanted is not None:
                assert sum(len(line.events) for line in grown.lines) == wanted[3]

    @every_agent
    def test_mark_windows_ends_and_blank_lines(self, agent: str) -> None:
        lines = [good(agent, 0), b"", good(agent, 1), b"", good(agent, 2)]
        plain, _ = read(agent, b"\n".join(lines))
        windows, reader = read(agent, b"\xef\xbb\xbf" + b"\r\n".join(lines))
        assert [line.events for line in windows] == [line.events for line in plain]
        assert [line.traits for line in windows] == [line.traits for line in plain]
        assert reader.final.session_id == "s1"
        assert reader.final.counts.damaged == 0
        assert windows[1].offset_bytes == 3 + len(lines[0]) + 2 + 2
        assert not any((event.event.text or "").endswith("\r") for line in windows for event in line.events)


class TestTimes:
    def test_each_event_has_the_best_time_that_is_known_where_it_stands(self) -> None:
        records = [
            make.aster_prompt("before the head", 0) | {"ts": "never"},
            make.aster_header("s", 1),
            make.aster_prompt("after the head", 0) | {"ts": 0},
            make.aster_prompt("with a time", 4),
            make.aster_answer("later", 5),
            make.aster_prompt("without", 0) | {"ts": None},
            make.aster_prompt("earlier", 3),
            make.aster_prompt("without again", 0) | {"ts": "1970-01-01T00:00:00Z"},
        ]
        found, reader = read("aster", make.lines(*records))
        assert [(event.sort_ts, event.ts_source) for line in found for event in line.events] == [
            (None, None),
            (make.at(1), "session"),
            (make.at(4), "record"),
            (make.at(5), "record"),
            (make.at(5), "previous"),
            (make.at(3), "record"),
            (make.at(3), "previous"),
        ]
        at = reader.final
        assert (at.created_at, at.first_ts, at.latest_ts, at.last_ts) == tuple(map(make.at, (1, 4, 5, 3)))
        assert at.head_time() == make.at(1)
        assert at.counts.bad_times == 3

    def test_a_title_is_no_activity(self) -> None:
        header, title = make.aster_header("s", 1), make.aster_title("Named", 90)
        talk = [make.aster_prompt("p", 4), make.aster_answer("a", 5)]
        untimed = make.aster_prompt("without", 0) | {"ts": None}
        for records, active in (
            ([header, *talk, title], 5),
            ([header, *talk, title, make.aster_title("Again", 95)], 5),
            ([header, title, *talk], 5),
            ([title, *talk, untimed], 5),
            ([header, *talk, title, make.aster_answer("earlier", 3)], 5),
        ):
            at = read("aster", make.lines(*records))[1].final
            assert at.active_ts == make.at(active)
            timed = [record["ts"] for record in records if record.get("ts")]
            assert (at.first_ts, at.last_ts) == (timed[0], timed[-1])
            assert (at.earliest_ts, at.latest_ts) == (min(timed), max(timed))
        for records in ([header, title], [header, title, untimed], [header]):
            assert read("aster", make.lines(*records))[1].final.active_ts is None

    def test_turns_begin_with_prompts(self) -> None:
        records = [make.aster_header("s", 0), make.aster_answer("early", 1), make.aster_prompt("p", 2)]
        records += [make.aster_answer("a", 3), make.aster_prompt("q", 4), make.aster_title("t", 5)]
        found, reader = read("aster", make.lines(*records))
        assert [event.turn_index for line in found for event in line.events] == [None, 0, 0, 1, 1]
        assert reader.final.has_talk


class TestWhatAFileIs:
    @every_agent
    def test_a_file_is_recognised_by_any_record_of_its_agent(self, agent: str) -> None:
        for data, wanted in ((good(agent, 0), True), (b'{"x":1}', False), (b"[1]", False), (b"", False)):
            reader = read(agent, data + b"\n")[1]
            assert reader.final.recognised == reader.checkpoint.recognised == wanted

    def test_its_head_tells_where_it_came_from(self) -> None:
        for keys, wanted in (({}, False), ({"parent": "p"}, True), ({"imported_from": "codex:c"}, True)):
            reader = read("aster", make.lines(make.aster_header("s", 0, **keys), make.aster_prompt("p", 1)))[1]
            assert (reader.final.names_parent, reader.final.session_id) == (wanted, "s")


class TestBounds:
    @every_agent
    def test_a_checkpoint_stays_small_however_long_the_file(self, agent: str) -> None:
        grown = Grown(agent)
        data = bytearray()
        for number in range(1500):
            name = f"{number:04d}" + "\U0001f680" * 80
            data += good(agent, number) + b"\n"
            data += make.lines(
                {"type": name, "kind": name, "data": {"type": name}},
                {"type": "message", "role": name, "content": "x"},
                {"type": "message", "role": "assistant", "tool_calls": [{"id": name, "function": {"name": name}}]},
                {"kind": "agent", "data": {"category": name, "event": {"type": name}}},
                {"kind": "agent", "data": {"ToolCall": {"request": {"id": name, "name": name, "arguments": name}}}},
                make.claude_tool_call(name, name, name, number) | {"cwd": name, "gitBranch": name, "version": name},
            )
            if number % 100 == 99:
                grown.read(bytes(data))
        grown.assert_equals_one_pass(bytes(data))
        assert len(grown.start.counts.skipped_types) <= MAX_SKIPPED_TYPES + 1

    def test_types_beyond_the_bound_are_counted_together(self) -> None:
        records = [{"type": f"t{number}"} for number in range(MAX_SKIPPED_TYPES + 50)] * 2
        _, reader = read("aster", make.lines(*records))
        types = reader.final.counts.skipped_types
        assert types["unknown:t0"] == 2
        assert types[OTHER_TYPES] == 100
        assert types.total() == reader.final.counts.skipped == len(records)

    @every_agent
    def test_numbers_and_nesting_beyond_the_limits(self, agent: str) -> None:
        odd = [
            "9223372036854775808",
            "1e999",
            "NaN",
            "9" * 350,
            "9" * 5000,
            "[" * 900 + "]" * 900,
            "[" * 10**5 + "]" * 10**5,
        ]
        lines = [good(agent, 0)]
        for value in odd:
            lines.append(good(agent, 3)[:-1] + f',"usage":{value},"ts":{value},"timestamp":{value}}}'.encode())
            lines.append(good(agent, 3).replace(b'"a3"', value.encode()).replace(b"7}", value.encode() + b"}"))
            lines.append(json.dumps(make.claude_tool_call("c", "s1", "u", 1, x="@")).replace('"@"', value).encode())
        found, reader = read(agent, b"\n".join([*lines, good(agent, 1)]) + b"\n")
        assert found[-1].number == len(lines) + 1
        assert found[-1].outcome == "indexed"
        assert reader.final.counts.seen == len(lines) + 1
        for number in numbers_in([(line.events, line.usage) for line in found]):
            assert -(2**63) <= number < 2**63  # NaN and infinities are not


def numbers_in(value: Any) -> Iterator[float]:
    if isinstance(value, int | float):
        yield value
    elif isinstance(value, list | tuple):
        for element in value:
            yield from numbers_in(element)


class TestCheckpoint:
    @every_file
    def test_survives_json(self, agent: str, path: Path) -> None:
        _, reader = read(agent, path.read_bytes(), None, path)
        for checkpoint in (reader.checkpoint, reader.final, Checkpoint()):
            assert through_json(checkpoint) == checkpoint

    @pytest.mark.parametrize(
        "change",
        [{"version": 0}, {"version": None}, {"counts": [1, 2]}, {"counts": None}, {"surprise": 1}],
        ids=["older", "none", "few-counts", "no-counts", "unknown-key"],
    )
    def test_anything_else_is_refused(self, change: dict[str, Any]) -> None:
        with pytest.raises((KeyError, TypeError, ValueError)):
            Checkpoint.load({**Checkpoint().save(), **change})


def test_the_encoding_of_the_machine_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(make.lines(make.aster_header("s", 0), make.aster_prompt("ğ “quoted” 漢", 1)))
    script = (
        "import sys; from tests.persist.sample_files import read;"
        "lines, _ = read('aster', open(sys.argv[1], 'rb').read());"
        "print(ascii([numbered.event.text for line in lines for numbered in line.events]))"
    )
    options = ["-X", "utf8=0", "-X", "warn_default_encoding", "-W", "error::EncodingWarning"]
    done = subprocess.run(
        [sys.executable, *options, "-c", script, path],
        env={"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        check=False,
    )
    assert (done.stderr.decode(), done.stdout.decode().strip()) == ("", ascii(["ğ “quoted” 漢"]))
