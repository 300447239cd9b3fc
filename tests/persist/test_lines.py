"""Physical lines and the JSON values they hold: every trap of a parser, every way in which records are broken.

Faults B13, B16, B20, B35, B119 and B127 of the public list; what stands at the end of a torn file is Aster's own table.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import time
import tracemalloc
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from persist.lines import MAX_LINE_BYTES, RawLine, decode, decode_line, excerpt, iter_lines

DATA = Path(__file__).parents[1] / "data"
MIB = 1024 * 1024
SAMPLES = sorted([*DATA.glob("a*/**/*.jsonl"), *DATA.glob("claude_code/*.jsonl")])


class ShortReads(io.BytesIO):
    """A file that gives at most so many bytes at once, as pipes and network drives do."""

    def __init__(self, data: bytes, most_bytes: int) -> None:
        super().__init__(data)
        self.most_bytes = most_bytes

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(self.most_bytes if size is None or size < 0 else min(size, self.most_bytes))


def split(data: bytes) -> list[tuple[int, bytes, bool]]:
    """Find the lines another way: one byte after the other."""
    lines: list[tuple[int, bytes, bool]] = []
    start = 0
    for at in range(len(data)):
        if data[at] == 0x0A:
            lines.append((start, data[start:at], True))
            start = at + 1
    if start < len(data):
        lines.append((start, data[start:], False))
    return lines


PIECES = [b"\n", b"\n", b"\r\n", b"\r", b"\0", b"a", b"{}", b" ", b"\xff", b"\xe2\x80", "\u2028\x85\x1c".encode()]
contents = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join), st.binary(max_size=60)
)  # fmt: skip


class TestIterLines:
    @settings(max_examples=400, deadline=None)
    @given(contents, st.integers(1, 40))
    @example(b"", 1)
    @example(b"\n", 1)
    @example(b"a\r\n\xe2\x80\xa8\rb\0c\n\n", 3)
    def test_equals_another_split_and_offsets_cut_the_file_to_the_line(self, data: bytes, most_bytes: int) -> None:
        found = list(iter_lines(ShortReads(data, most_bytes)))
        assert [(raw.offset_bytes, raw.data, raw.terminated) for raw in found] == split(data)
        assert [raw.number for raw in found] == list(range(1, len(found) + 1))
        for raw in found:
            assert data[raw.offset_bytes : raw.offset_bytes + raw.length_bytes] == raw.data
            assert not raw.oversize

    @settings(max_examples=200, deadline=None)
    @given(contents, st.integers(1, 40))
    def test_begins_at_any_line(self, data: bytes, most_bytes: int) -> None:
        whole = list(iter_lines(io.BytesIO(data)))
        for at, raw in enumerate(whole):
            assert list(iter_lines(ShortReads(data, most_bytes), raw.offset_bytes, raw.number)) == whole[at:]

    @settings(max_examples=400, deadline=None)
    @given(contents, st.integers(1, 40), st.integers(1, 12))
    @example(b"aa\naaaaaa\na", 40, 4)
    def test_a_line_is_oversize_by_its_length_alone(self, data: bytes, most_bytes: int, limit_bytes: int) -> None:
        found = list(iter_lines(ShortReads(data, most_bytes), max_line_bytes=limit_bytes))
        assert len(found) == len(split(data))
        for raw, (offset, line, terminated) in zip(found, split(data), strict=True):
            assert (raw.offset_bytes, raw.length_bytes, raw.terminated) == (offset, len(line), terminated)
            assert raw.oversize == (len(line) > limit_bytes)
            assert line.startswith(raw.data) if raw.oversize else line == raw.data

    @pytest.mark.parametrize("end", [b"\n{}\n", b""], ids=["terminated", "at-the-end"])
    def test_an_oversize_line_is_counted_in_bounded_memory(self, end: bytes, tmp_path: Path) -> None:
        with (tmp_path / "f").open("w+b", buffering=0) as file:
            file.write(b"{}\n")
            file.truncate(3 + 200 * MIB)  # a hole: it takes no room on disk
            file.seek(0, io.SEEK_END)
            file.write(end)
            tracemalloc.start()
            first, huge, *rest = iter_lines(file, max_line_bytes=4 * MIB)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert first == RawLine(1, 0, b"{}", True, 2)
        assert (huge.number, huge.offset_bytes, huge.length_bytes, huge.oversize) == (2, 3, 200 * MIB, True)
        assert len(huge.data) <= 1024
        assert huge.terminated == bool(end)
        assert rest == ([RawLine(3, 4 + 200 * MIB, b"{}", True, 2)] if end else [])
        assert peak < 16 * MIB

    def test_a_line_of_50_mb_between_two_records_is_read_whole(self) -> None:
        data = b'{"a":1}\n{"b":"' + b"x" * (50 * MIB) + b'"}\n{"c":3}\n'
        first, large, last = iter_lines(io.BytesIO(data))
        assert decode_line(first.data).records + decode_line(last.data).records == [{"a": 1}, {"c": 3}]
        assert len(decode(large.data)["b"]) == 50 * MIB

    def test_the_limit_is_exact(self) -> None:
        data = b"x" * MAX_LINE_BYTES + b"\n" + b"x" * (MAX_LINE_BYTES + 1) + b"\n"
        assert [raw.oversize for raw in iter_lines(io.BytesIO(data))] == [False, True]

    def test_a_file_that_cannot_be_read_says_so(self, tmp_path: Path) -> None:
        with (tmp_path / "f").open("wb") as file, pytest.raises(OSError, match="read"):
            list(iter_lines(file))


def deep(levels: int, inside: bytes = b"1") -> bytes:
    return b"[" * levels + inside + b"]" * levels


def depth_of(value: Any) -> int:
    depth = 0
    while isinstance(value, list):
        value = value[0]
        depth += 1
    return depth


TRAPS: list[tuple[str, bytes, list[Any]]] = [
    ("object", b'{"a":1}', [{"a": 1}]),
    ("carriage-return", b'{"a":1}\r', [{"a": 1}]),
    ("white-space-around", b' \t{"a":1} \t\r', [{"a": 1}]),
    ("unicode-white-space-around", "\u00a0{}\u2028\u3000\x85".encode(), [{}]),
    ("bom", b'\xef\xbb\xbf{"a":1}\r', [{"a": 1}]),
    ("lone-high-surrogate", rb'{"a":"x\ud83d"}', [{"a": "x\ufffd"}]),
    ("lone-low-surrogate", rb'["\udc00y"]', [["\ufffdy"]]),
    ("reversed-pair", rb'"\udc00\ud800"', ["\ufffd\ufffd"]),
    ("good-pair", rb'{"a":"\ud83d\ude80","b":"\ud800"}', [{"a": "\U0001f680", "b": "\ufffd"}]),
    ("surrogate-key", rb'{"\ud800":[{"\udfff":"\ud800"}]}', [{"\ufffd": [{"\ufffd": "\ufffd"}]}]),
    ("escaped-backslash-is-no-surrogate", rb'{"a":"\\ud800"}', [{"a": r"\ud800"}]),
    ("nan", b'{"a":NaN,"b":[Infinity,-Infinity]}', [{"a": None, "b": [None, None]}]),
    ("beyond-a-float", b'{"a":1e999,"b":-1e999}', [{"a": None, "b": None}]),
    ("2**63", b'{"a":9223372036854775808}', [{"a": 2**63}]),
    ("2**70", b'{"a":1180591620717411303424}', [{"a": 2**70}]),
    ("5000-digits", b'{"a":' + b"9" * 5000 + b"}", [{"a": None}]),
    ("minus-5000-digits", b"[-" + b"9" * 5000 + b"]", [[None]]),
    ("key-twice", b'{"a":1,"a":2}', [{"a": 2}]),
    ("key-twice-the-slow-way", b'{"a":1,"a":NaN,"b":1,"b":2}', [{"a": None, "b": 2}]),
    ("escaped-nul", rb'{"a":"x\u0000y"}', [{"a": "x\0y"}]),
    ("raw-control-character", b'{"a":"x\x01\ty"}', [{"a": "x\x01\ty"}]),
    ("raw-line-separators", '{"a":"\u2028\u2029\x85"}'.encode(), [{"a": "\u2028\u2029\x85"}]),
    ("lone-carriage-return", b'{"a":1,\r"b":2}', [{"a": 1, "b": 2}]),
    ("glued", b'{"a":1}{"b":2}', [{"a": 1}, {"b": 2}]),
    ("glued-three-with-blanks", '{"a":1} {"b":2}\r\u00a0{"c":NaN}'.encode(), [{"a": 1}, {"b": 2}, {"c": None}]),
    ("scalar", b"5", [5]),
    ("text", b'"x"', ["x"]),
    ("null", b"null", [None]),
]  # fmt: skip

BLANKS = [
    "",
    " ",
    "\r",
    "\t \r",
    "\ufeff",
    "\u00a0",
    "\u2028",
    "\u3000\u2003",
    "\x85",
    "\x0b\x0c",
    "\u1680\u202f\u205f",
]

DAMAGED: list[tuple[str, bytes, list[Any]]] = [
    ("torn", b'{"a":1,"b":"x', []),
    ("not-json", b"hello", []),
    ("not-quite-white-space", b"\x1c", []),
    ("bytes-that-are-not-utf8", b'{"a":"x\xffy"}', [{"a": "x\ufffdy"}]),
    ("cut-inside-a-character", '{"a":"漢'.encode()[:-1], []),
    ("overlong", b'{"a":"\xc0\xaf"}', [{"a": "\ufffd\ufffd"}]),
    ("encoded-surrogate", b'{"a":"\xed\xa0\x80"}', [{"a": "\ufffd\ufffd\ufffd"}]),
    ("rest-behind", b'{"a":1} xyz', [{"a": 1}]),
    ("brace-too-many", b'{"a":1}}', [{"a": 1}]),
    ("comma-between", b'{"a":1},{"b":2}', [{"a": 1}, {"b": 2}]),
    ("zeros-before", b"\0" * 4096 + b'{"a":1}', [{"a": 1}]),
    ("zeros-behind", b'{"a":1}' + b"\0" * 512, [{"a": 1}]),
    ("zeros-between", b'{"a":1}' + b"\0" * 512 + b' {"b":2}\r', [{"a": 1}, {"b": 2}]),
    ("zeros-alone", b"\0" * 512 + b"\r", []),
    ("zeros-then-record-then-rest", b'\0\0{"a":1}x', [{"a": 1}]),
    ("zeros-in-the-middle-of-a-record", b'{"a":1,\0\0\0"b":{"c":2}}', []),
    ("zeros-over-the-end-of-a-record", b'{"a":{"b":1}\0\0\0{"a":2}', [{"a": 2}]),
    ("100000-lists", deep(100_000), []),
    ("5000-objects", b'{"a":' * 5000 + b"1" + b"}" * 5000, []),
    ("record-before-a-torn-one", b'{"a":1}{"b":{"c":2},"d":', [{"a": 1}]),
    ("record-between-two-torn", b'{"a":"x{"a":1}{"a":', [{"a": 1}]),
    ("three-torn-and-a-record", b'{"a":"x{"a":tru{"a":-{"a":1}', [{"a": 1}]),
    ("single-quotes", b"{'a':1}", []),
    ("rest-of-a-record-then-a-record", b'ent","m":{"b":{"c":1}}}{"a":1}', [{"a": 1}]),
]  # fmt: skip


class Records:
    """Random records that begin with the key ``outer``, which nothing nested in them has; by seed."""

    def __init__(self, seed: int, alphabet: str = 'ab {}[]":,\\é漢\U0001f680\n') -> None:
        self.random = Random(seed)  # noqa: S311
        self.alphabet = alphabet

    def text(self) -> str:
        return "".join(self.random.choices(self.alphabet, k=self.random.randrange(6)))

    def value(self, depth: int = 0) -> Any:
        kind = self.random.randrange(9 if depth < 4 else 5)
        if kind > 6:
            return self.members(depth + 1)
        if kind > 4:
            return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        return (None, True, self.random.randrange(-99, 99), self.random.uniform(-9, 9), self.text())[kind]

    def members(self, depth: int = 0) -> dict[str, Any]:
        return {f"k{self.text()}": self.value(depth) for _ in range(self.random.randrange(4))}

    def record(self) -> tuple[dict[str, Any], bytes]:
        """Return a record and how it is written: in ASCII or not, compact or not."""
        record = {"outer": self.random.randrange(9), **self.members()}
        separators = self.random.choice([(",", ":"), (", ", ": ")])
        is_ascii = self.random.random() < 0.5
        return record, json.dumps(record, ensure_ascii=is_ascii, separators=separators).encode()

    def torn(self) -> bytes:
        """Return the beginning of a record, at least a byte and less than the whole."""
        whole = self.record()[1]
        return whole[: self.random.randrange(1, len(whole))]


seeds = st.integers(0, 2**32)


class TestDecodeLine:
    @pytest.mark.parametrize(("data", "wanted"), [trap[1:] for trap in TRAPS], ids=[trap[0] for trap in TRAPS])
    def test_what_can_be_read_is_read_without_damage(self, data: bytes, wanted: list[Any]) -> None:
        assert decode_line(data) == (wanted, None)

    @pytest.mark.parametrize("text", BLANKS, ids=ascii)
    def test_white_space_is_a_blank_line(self, text: str) -> None:
        assert decode_line(text.encode()) == ([], None)

    @pytest.mark.parametrize(("data", "wanted"), [case[1:] for case in DAMAGED], ids=[case[0] for case in DAMAGED])
    def test_damage_is_told_and_whole_values_are_saved(self, data: bytes, wanted: list[Any]) -> None:
        records, damage = decode_line(data)
        assert records == wanted
        assert damage

    @pytest.mark.parametrize("levels", [100, 400, 490, 800])
    def test_nesting_never_ends_at_the_interpreters_limit(self, levels: int) -> None:
        for data in (deep(levels), deep(levels, b"NaN"), deep(levels, rb'"\ud800"'), deep(levels) + b"{}"):
            assert depth_of(decode_line(data).records[0]) == levels

    def test_the_sentence_names_the_place(self) -> None:
        assert decode_line(b'  {"a":1}\0\0\0{}').damage == "3 zero bytes at character 9 of the line"
        assert decode_line(b'  {"a":1}\0{}').damage == "1 zero byte at character 9 of the line"
        assert decode_line(b'{"\xff":1}').damage == "invalid UTF-8 at byte 2 of the line"
        assert decode_line(deep(5000)).damage == "nested too deeply at character 0 of the line"

    @pytest.mark.parametrize(
        ("data", "wanted"),
        [
            (rb"no", "0 of the line"),
            (rb'  {"a":}', "7 of the line: value expected"),
            (rb'{"long":"' + b"x" * 30_000 + rb' \\ \q"}', "30013 of the line: invalid escape"),
            (rb'{"a":"\u12"}', "7 of the line: invalid \\u escape"),
            (rb'{"a":"b', "5 of the line: string without an end"),
            (rb'{"a":', "5 of the line: cut off"),
            (rb'{"a":1 "b":2}', "7 of the line: comma expected"),
            (rb'{"a" 1}', "5 of the line: colon expected"),
            (rb'{"a":1, 2}', "8 of the line: key expected"),
            ('{"ä":"€", }'.encode(), "10 of the line: key expected"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_the_sentence_names_where_json_ends_and_why(self, data: bytes, wanted: str) -> None:
        assert decode_line(data).damage == f"not JSON at character {wanted}"

    def test_the_place_is_that_of_the_decoder(self) -> None:
        line = b'{"a":[1,true,null,{"b":"c"}],"d":-1.5e3}'
        for cut in range(1, len(line)):
            data = line[:cut] + b"\x01" + line[cut:]
            with contextlib.suppress(json.JSONDecodeError):
                assert json.loads(data, strict=False)
                continue
            with pytest.raises(json.JSONDecodeError) as caught:
                json.loads(data, strict=False)
            assert f"at character {caught.value.pos} of" in (decode_line(data).damage or ""), data

    @settings(max_examples=300, deadline=None)
    @given(st.binary(max_size=80))
    def test_any_bytes_give_text_that_can_be_written(self, data: bytes) -> None:
        records, damage = decode_line(data)
        json.dumps(records, ensure_ascii=False, allow_nan=False).encode()
        assert records or damage or not data.decode().removeprefix("\ufeff").strip()

    @settings(max_examples=300, deadline=None)
    @given(seeds, st.sampled_from([0.5, 1e300, math.inf, -math.inf, math.nan, 2**63 - 1, "\ud83d\ude80"]))
    def test_agrees_with_the_standard_decoder(self, seed: int, odd: Any) -> None:
        some = Records(seed)
        written = json.dumps({**some.members(), "odd": [odd, some.value()]})
        wanted = json.loads(written, parse_constant=lambda _: None)
        assert decode_line(written.encode()) == ([wanted], None)
        assert decode_line(f"{written} {written}".encode()) == ([wanted, wanted], None)


class TestDecode:
    def test_takes_exactly_one_value(self) -> None:
        assert decode(b'\xef\xbb\xbf {"a":NaN}') == {"a": None}
        for data in (b"", b" ", b"{}{}", b"{} x", b'{"a":"\xff"}', b"\0{}"):
            with pytest.raises(ValueError, match=r"JSON|zero|UTF-8|stray"):
                decode(data)


class TestExcerpt:
    @settings(max_examples=200, deadline=None)
    @given(st.binary(max_size=1200), st.integers(0, 240))
    @example(b"a" + "\U0001f680".encode() * 300, 240)
    def test_is_the_beginning_as_text(self, data: bytes, limit_characters: int) -> None:
        text = data.decode("utf-8", "replace").replace("\0", "\ufffd")
        assert excerpt(data, limit_characters) == text[:limit_characters]


class TestTornAndGlued:
    """``spec/aster.md`` 2.8: what stands in a file after an append behind an unfinished line."""

    @settings(max_examples=800, deadline=None)
    @given(seeds)
    def test_the_event_behind_a_fragment_is_recovered_wherever_it_was_cut(self, seed: int) -> None:
        some = Records(seed)
        torn, (new, written) = some.torn(), some.record()
        records, damage = decode_line(torn + written)
        assert records == [new], torn + written
        assert damage

    @settings(max_examples=400, deadline=None)
    @given(seeds)
    def test_of_many_whole_and_torn_ones_the_whole_are_recovered(self, seed: int) -> None:
        some = Records(seed)
        wanted, line = [], b""
        is_damaged = False
        for _ in range(some.random.randrange(1, 6)):
            if some.random.random() < 0.4:
                line += some.torn()
                is_damaged = True
            else:
                record, written = some.record()
                wanted.append(record)
                line += written
        records, damage = decode_line(line)
        assert records == wanted, line
        assert (damage is not None) == is_damaged

    @settings(max_examples=200, deadline=None)
    @given(seeds, st.integers(1, 5000))
    def test_zeros_between_and_around_hide_nothing(self, seed: int, zeros: int) -> None:
        some = Records(seed)
        (one, first), (other, second) = some.record(), some.record()
        records, damage = decode_line(b"\0" * zeros + first + b"\0" * zeros + second + b"\0")
        assert records == [one, other]
        assert damage == f"{zeros} zero byte{'s' * (zeros > 1)} at character 0 of the line"

    @pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem[:24])
    def test_real_records_cut_at_every_byte(self, path: Path) -> None:
        whole = [line.rstrip(b"\r") for line in path.read_bytes().split(b"\n") if decode_line(line).damage is None]
        objects = [line for line in whole if line.startswith(b'{"') and len(decode_line(line).records) == 1]
        for torn, new in pairwise(objects):
            if torn.split(b":")[0] != new.split(b":")[0]:
                continue
            for cut in range(1, len(torn), max(1, len(torn) // 100)):
                records, damage = decode_line(torn[:cut] + new)
                assert records == decode_line(new).records, (torn[:cut], new)
                assert damage

    def test_a_long_torn_list_of_objects_does_not_hide_the_next_event(self) -> None:
        torn = b'{"type":"message","parts":[' + b'{"type":"text","text":"x"},' * 5000 + b'{"type":"te'
        assert decode_line(torn + b'{"type":"title"}').records == [{"type": "title"}]

    def test_a_swallowed_record_is_found_behind_many_parts_that_begin_like_it(self) -> None:
        torn = b'{"type":"message","parts":[' + b'{"type":"text","text":"x"},' * 5000
        assert decode_line(torn + b'{"type":"title"}').records == [{"type": "title"}]

    def test_where_a_value_was_due_only_the_first_key_tells_a_record_from_a_nested_object(self) -> None:
        assert decode_line(b'{"type":"a","x":{"type":"b"}').records == [{"type": "b"}]
        assert decode_line(b'{"type":"a","x":{"id":"b"}').records == []
        assert decode_line(b'{"type":"a","x":[{"type":"b"},{"type":"c"}').records == [{"type": "c"}]


class TestNested:
    @settings(max_examples=800, deadline=None)
    @given(seeds)
    def test_objects_inside_a_torn_record_are_no_records(self, seed: int) -> None:
        torn = Records(seed).torn()
        assert decode_line(torn).records == [], torn

    @settings(max_examples=800, deadline=None)
    @given(seeds)
    def test_nor_inside_one_with_a_wrong_byte(self, seed: int) -> None:
        some = Records(seed, 'ab []":,\\漢')  # no opening brace in texts: a quote behind it looks like a glued record
        whole = some.record()[1]
        at = some.random.randrange(len('{"outer"'), len(whole))
        wrong = bytes([some.random.choice(b'x"}[],:\\\0\xff ')])  # nor one as the wrong byte
        line = whole[:at] + wrong + whole[at + some.random.randrange(2) :]
        assert all("outer" in record for record in decode_line(line).records if isinstance(record, dict)), line

    @pytest.mark.parametrize(
        "line",
        [
            b'{"type":"progress","data":{"message":{"role":"user","content":"inner"}}',
            b'{"a" 1,"b":{"c":1},"d":[{"e":2},{"f":3}]}',
            b'{"a":1,"b":{"c":1}}'[1:],
            b'{"a":[{"b":1},{"b":2}',
            b'{"b":' + b'{"a":' * 1029 + b"1" + b"}" * 600,
        ],
    )  # fmt: skip
    def test_examples(self, line: bytes) -> None:
        assert [record for record in decode_line(line).records if isinstance(record, dict)] == []


HOSTILE: dict[str, bytes] = {
    "objects-never-closed": b'{"a":' * (MIB // 5),
    "braces-and-quotes": b'{"' * 200_000,
    "spaced-braces-and-quotes": b'{ "' * 200_000,
    "braces": b"{" * MIB,
    "brackets": b"[" * MIB,
    "quotes": b'"' * MIB,
    "backslashes": b'{"' + b"\\" * MIB,
    "escaped-quotes-never-closed": b'{"' + b'\\"' * (MIB // 2),
    "lists-of-objects-never-closed": b'{"a":[' + b'{"a":1},' * (MIB // 8),
    "same-key-a-hundred-deep-then-a-long-list": b'{"a":[' * 100 + b'{"a":1},' * (MIB // 8),
    "same-key-a-hundred-deep-around-a-long-list": b'{"a":[' * 100 + b'{"a":1},' * (MIB // 8) + b'{"a":1}',
    "objects-without-commas": b'{"a":[' + b'{"a":1} 2 ' * (MIB // 10),
    "zeros-and-broken-records": b'\0{"a"' * (MIB // 5),
    "zeros-and-records": b'\0{"a":1}' * (MIB // 8),
    "torn-records": b'{"a":1,' * (MIB // 7),
    "blanks": b" " * MIB + b"x",
    "brace-and-blanks": (b"{" + b" " * 1000) * (MIB // 1000),
    "lone-surrogates": b'["' + rb"\ud800" * (MIB // 6) + b'"]',
    "digits": b"[" + b"9" * MIB + b"]",
    "bytes-that-are-not-utf8": b"\xff" * MIB,
    "nested-lists": deep(100_000) * 5,
    "nested-lists-in-objects": b'{"a":[[' * (MIB // 7),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_lines_are_read_in_bounded_time(name: str) -> None:
    begin = time.process_time()
    decode_line(HOSTILE[name])
    assert time.process_time() - begin < 2.0


class TestPublicFaults:
    def test_zero_bytes(self) -> None:
        data = (DATA / "faults/B13/step1/sessions/alpha/01KBVGBANKZZZZZZZZZZZZZZZZ.jsonl").read_bytes()
        lines = [(raw, decode_line(raw.data)) for raw in iter_lines(io.BytesIO(data))]
        damaged = [(raw.number, raw.offset_bytes) for raw, decoded in lines if decoded.damage]
        assert damaged[0] == (3, 245)
        told = json.dumps([decoded.records for _, decoded in lines])
        assert all(word in told for word in ("north", "east", "south", "west"))
        assert r"\u0000" not in told

    def test_line_separators(self) -> None:
        data = (DATA / "faults/B16/sessions/alpha/01KBVGBANKMMMMMMMMMMMMMMMM.jsonl").read_bytes()
        records = [decode(raw.data) for raw in iter_lines(io.BytesIO(data))]
        texts = [record["content"].encode() for record in records[1:]]
        assert len(records) == 9
        assert [len(text) for text in texts] == [20, 20, 19, 18, 18, 18, 18, 18]

    def test_lone_surrogates(self) -> None:
        data = (DATA / "faults/B35/sessions/alpha/01KBVGBANKSSSSSSSSSSSSSSSS.jsonl").read_bytes()
        decoded = [decode_line(raw.data) for raw in iter_lines(io.BytesIO(data))]
        assert all(damage is None for _, damage in decoded)
        texts = [record["content"] for (record,), _ in decoded if record.get("content")]
        assert [len(text.encode()) for text in texts] == [19, 18, 21, 20, 20]
        assert "\U0001f680" in texts[3]
