"""What is written is harmless to a terminal, valid UTF-8, and as wide as asked."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli import cells, moments, output
from cli.snippets import character_span, excerpt, snippet
from cli.tables import Column, table, table_of_sentences

FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
TROUBLE = st.sampled_from('a\x1b\x07\x08\r\n\t\x7f\x9b\u202e\u202c\u2066\u200bé漢👩‍👩‍👧\u0301\ud800\udfff\\"')
TEXTS = st.text(st.one_of(TROUBLE, st.characters()), max_size=60)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("colour \x1b[31mred\x1b[0m", "colour \\x1b[31mred\\x1b[0m"),
        ("title \x1b]0;pwned\x07", "title \\x1b]0;pwned\\a"),
        ("link \x1b]8;;http://e.invalid\x1b\\text", "link \\x1b]8;;http://e.invalid\\x1b\\text"),
        ("c1 \x9b31m", "c1 \\x9b31m"),
        ("over\rwritten", "over\\rwritten"),
        ("back\b\b", "back\\b\\b"),
        ("bidi \u202efdp.exe\u202c", "bidi \\u202efdp.exe\\u202c"),
        ("del \x7f", "del \\x7f"),
        ("file \udcff name", "file \\udcff name"),
        ("line\r\nend\n\tkept", "line\nend\n\tkept"),
        ("joined 👩‍👩‍👧 kept", "joined 👩‍👩‍👧 kept"),
    ],
    ids=["colour", "title", "link", "C1", "return", "backspace", "direction", "DEL", "surrogate", "newlines", "joiner"],
)
def test_control_characters_are_shown_as_escapes(text: str, shown: str) -> None:
    assert output.safe(text) == shown


def test_one_line_stays_one_line() -> None:
    assert output.safe_line("a\nb\tc\r\nd") == "a\\nb\\tc\\r\\nd"


@given(TEXTS)
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    assert not FORBIDDEN.search(output.safe(text))
    assert not FORBIDDEN.search(output.safe_line(text))
    assert "\n" not in output.safe_line(text)


@given(TEXTS)
def test_json_is_harmless_and_decodes_to_the_text(text: str) -> None:
    written = output.json_text({"text": text})
    assert not FORBIDDEN.search(written)
    assert "\n" not in written
    assert json.loads(written.encode("utf-8"))["text"] == re.sub("[\ud800-\udfff]", "\ufffd", text)


def test_json_has_no_nan_and_exact_integers() -> None:
    value = {"a": [float("nan"), float("inf"), (float("-inf"), 1.5)], "n": 2**63 + 1}
    assert output.json_text(value) == '{"a":[null,null,[null,1.5]],"n":9223372036854775809}'


def test_json_is_one_compact_line_that_begins_with_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    output.emit_json({"name": "ğ “quoted” 漢"})
    assert capsys.readouterr().out == '{"schema_version":1,"name":"ğ “quoted” 漢"}\n'


@given(TEXTS, st.integers(1, 40))
def test_cutting_keeps_to_the_cells(text: str, room: int) -> None:
    shown = cells.cut(output.safe_line(text), room)
    assert cells.width(shown) <= room


COLUMNS = (Column("id"), Column("title", shrinks_to=6), Column("n", right=True, drop=1), Column("x", drop=2))


@given(st.lists(st.tuples(st.text(max_size=6), TEXTS, st.integers(), TEXTS), max_size=5), st.integers(24, 120))
def test_a_table_fits(rows: list[tuple[object, ...]], room: int) -> None:
    plain = [(output.safe_line(str(row[0]))[:12], *row[1:]) for row in rows]
    lines = table(COLUMNS, plain, room)
    assert len(lines) == len(rows) + 1
    assert max(map(cells.width, lines)) <= room


def test_a_narrow_table_keeps_its_ids_and_leaves_out_the_rest() -> None:
    rows = [("01m3gcw7w0bt3de2jg7ptjq2zj", "A long title that must shrink", 12, "much more to say")]
    assert table(COLUMNS, rows, 36) == [
        "id                          title",
        "01m3gcw7w0bt3de2jg7ptjq2zj  A long…",
    ]
    assert table(COLUMNS, rows, 60)[1] == "01m3gcw7w0bt3de2jg7ptjq2zj  A long ti…  12  much more to say"


def test_a_sentence_that_has_no_room_goes_on_below() -> None:
    columns = (Column("name", shrinks_to=6), Column("why"))
    rows = [("a-long-block-name", "it was untouched for a year and nobody marked it helpful"), ("b", "short")]
    assert table_of_sentences(columns, rows, 40) == [
        "name        why",
        "a-long-bl…  it was untouched for a year",
        "            and nobody marked it helpful",
        "b           short",
    ]
    assert table_of_sentences(columns, rows, 10_000) == table(columns, rows, 10_000)


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=5), st.integers(36, 120))
def test_no_word_of_a_sentence_is_lost(rows: list[tuple[object, ...]], room: int) -> None:
    lines = table_of_sentences((Column("name", shrinks_to=6), Column("why")), rows, room)
    shown = "\n".join(lines).split()
    for _, sentence in rows:
        assert [word for word in output.safe_line(str(sentence)).split() if word not in shown] == []


@pytest.mark.parametrize("text", ["漢" * 10_000, "👩‍👩‍👧" * 300, "e" + "\u0301" * 200], ids=["wide", "family", "marks"])
@pytest.mark.parametrize("asked", [1, 2, 3, 7, 40])
def test_a_snippet_is_never_longer_and_never_cut_inside_a_character(text: str, asked: int) -> None:
    middle = len(text) // 2
    span = (len(text[:middle].encode()), len(text[: middle + 3].encode()))
    cut = snippet(text, [span], asked)
    assert len(cut.text) <= asked
    assert text.encode()[cut.offset_bytes :].startswith(cut.text.encode())
    assert cut.offset_bytes <= span[0] < cut.offset_bytes + len(cut.text.encode())


@given(TEXTS.filter(bool), st.data(), st.integers(1, 80))
def test_an_excerpt_marks_its_span(text: str, data: st.DataObject, room: int) -> None:
    clean = re.sub("[\ud800-\udfff]", "?", text)
    start = data.draw(st.integers(0, len(clean) - 1))
    end = data.draw(st.integers(start + 1, len(clean)))
    span = (len(clean[:start].encode()), len(clean[:end].encode()))
    assert character_span(clean, span) == (start, end)
    shown = excerpt(clean, [span], room)
    marked = "".join(piece for piece, is_hit in shown.pieces if is_hit)
    assert marked
    assert clean[start:end].startswith(marked)
    assert "".join(piece for piece, _ in shown.pieces) in clean


NOW = datetime(2026, 3, 29, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("ago", "shown"),
    [
        (timedelta(seconds=59), "now"),
        (timedelta(seconds=-100), "now"),
        (timedelta(minutes=5), "5m"),
        (timedelta(hours=5), "5h"),
        (timedelta(days=3), "3d"),
        (timedelta(days=13, hours=23), "13d"),
        (timedelta(weeks=6), "6w"),
        (timedelta(days=800), "2y"),
    ],
    ids=str,
)
def test_ages(ago: timedelta, shown: str) -> None:
    assert moments.age(f"{NOW - ago:%Y-%m-%dT%H:%M:%S}.000Z", NOW) == shown


def test_sizes() -> None:
    assert [moments.size(n) for n in (0, 812, 1234, 34_000_000, 2_500_000_000_000)] == [
        *("0 B", "812 B", "1.2 kB", "34 MB", "2.5 TB")
    ]


def test_public_inputs_are_shown_without_control_characters(shared: Path) -> None:
    for file in (shared / "spec" / "faults" / "B122").rglob("*.*"):
        text = file.read_text(encoding="utf-8")
        for line in text.splitlines():
            if file.suffix == ".jsonl":
                line = str(json.loads(line))
                line += "".join(str(value) for value in json.loads(text.splitlines()[0]).values())
            assert not FORBIDDEN.search(output.safe(line))
