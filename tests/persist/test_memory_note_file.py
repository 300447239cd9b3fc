"""Editing one field of a note: that field is read back, and every other byte of the file is where it was."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from persist.memory.frontmatter import Value, read_frontmatter
from persist.memory.note_file import FIELD_ORDER, has_header, new_note, with_body, with_fields

HAND_MADE = (
    b"---\r\n# kept by hand\r\nname: 'Database naming'   \r\ntags: [no, 1.10]\r\n\r\n"
    b'description: "tables: singular"\r\nreviewed: 2026-01-02\r\n---\r\n\r\nTables are singular.'
)


def changed_lines(before: bytes, after: bytes) -> tuple[list[bytes], list[bytes]]:
    """Return the lines that went and that came: what is left of both without their common beginning and end."""
    old, new = before.split(b"\n"), after.split(b"\n")
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    return old, new


def test_a_field_that_is_there_changes_on_its_line_alone() -> None:
    after = with_fields(HAND_MADE, {"description": "how tables are named"})
    assert changed_lines(HAND_MADE, after) == (
        [b'description: "tables: singular"\r'],
        [b"description: how tables are named\r"],
    )


@pytest.mark.parametrize("value", ["/one\n/two", "/one\n\n  /two\n/three", "a: b\n- c\n---\nd"])
def test_a_value_of_several_lines_is_written_where_lines_end_in_crlf_too(value: str) -> None:
    """Quotes are part of the text there, so it is written as YAML's literal lines."""
    after = with_fields(HAND_MADE, {"project": value})
    assert read_frontmatter(after.decode())[0]["project"] == value
    assert after.startswith(HAND_MADE[: HAND_MADE.index(b"---\r\n\r\n")])
    assert b"\n" not in after.replace(b"\r\n", b"")


def test_a_field_that_is_new_is_one_more_line_at_the_headers_end() -> None:
    after = with_fields(HAND_MADE, {"superseded_by": "schema-rules"})
    assert changed_lines(HAND_MADE, after) == ([], [b"superseded_by: schema-rules\r"])
    assert after.index(b"superseded_by") < after.index(b"\r\n---\r\n\r\nTables")


def test_what_is_there_already_changes_nothing() -> None:
    assert with_fields(HAND_MADE, {"reviewed": "2026-01-02"}) == HAND_MADE


def test_a_field_is_taken_away_with_what_belongs_to_it_and_comments_stay() -> None:
    data = b"---\nname: a\naliases:\n# two of them\n  - b\n  - c\npinned: true\n---\n\nBody\n"
    assert with_fields(data, {"aliases": None}) == b"---\nname: a\n# two of them\npinned: true\n---\n\nBody\n"


def test_a_list_is_replaced_whole() -> None:
    data = b"---\nname: a\naliases:\n- b\n# said Ann\n- c\nx: 1\n---\nBody\n"
    after = with_fields(data, {"aliases": ["b", "c", "d"]})
    assert after == b"---\nname: a\naliases: [b, c, d]\n# said Ann\nx: 1\n---\nBody\n"


def test_of_a_repeated_key_the_last_one_changes_because_it_is_the_one_that_counts() -> None:
    after = with_fields(b"---\nname: a\nkind: x\nkind: y\n---\nB\n", {"kind": "z"})
    assert after == b"---\nname: a\nkind: x\nkind: z\n---\nB\n"
    assert with_fields(after, {"kind": None}) == b"---\nname: a\n---\nB\n"


def test_a_key_within_another_value_is_not_the_key() -> None:
    data = b"---\nname: outer\nsource:\n  name: inner\n---\nB\n"
    assert with_fields(data, {"name": "other"}) == b"---\nname: other\nsource:\n  name: inner\n---\nB\n"


def test_a_key_that_only_the_lenient_reading_finds_is_set_behind_it() -> None:
    data = b"---\nname: tab\n\tdescription: tab indented\n---\nB\n"
    after = with_fields(data, {"description": "new"})
    assert after == b"---\nname: tab\n\tdescription: tab indented\ndescription: new\n---\nB\n"
    assert read_frontmatter(after.decode())[0] == {"name": "tab", "description": "new"}


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"# Scratch\n\nNo header.\n",
        b"---\n- a\n- list\n---\n\nbody\n",
        b"--- \nnever closed",
        b"\xef\xbb\xbfplain",
    ],
)
def test_a_file_without_a_header_gets_one_in_front_of_every_byte_it_has(text: bytes) -> None:
    assert not has_header(text)
    after = with_fields(text, {"name": "scratch", "superseded_by": "b"})
    mark = b"\xef\xbb\xbf" if text.startswith(b"\xef\xbb\xbf") else b""
    assert after == mark + b"---\nname: scratch\nsuperseded_by: b\n---\n\n" + text.removeprefix(mark)
    assert read_frontmatter(after.decode("utf-8-sig"))[1] == text.decode("utf-8-sig").strip()


def test_bytes_that_are_not_utf8_stay() -> None:
    data = b"---\nname: caf\xe9\n---\n\nbody \xff\xfe\n"
    assert with_fields(data, {"pinned": "true"}) == b"---\nname: caf\xe9\npinned: true\n---\n\nbody \xff\xfe\n"


def test_a_new_note_is_aster_s_byte_for_byte() -> None:
    fields = {
        "updated_at": "2026-09-28T11:20:05.700012933+00:00",
        "created_at": "2026-09-21T18:20:11.402118377+00:00",
        "description": "how Beleg numbers work: they restart each year",
        "name": "beleg-numbering",
        "source_session": "01m32j3he024b2zft51ksjccbw",
        "title": None,
    }
    assert new_note(fields, "\n Beleg numbers restart every January. \n") == (
        b"---\nname: beleg-numbering\ndescription: how Beleg numbers work: they restart each year\n"
        b"source_session: 01m32j3he024b2zft51ksjccbw\ncreated_at: 2026-09-21T18:20:11.402118377+00:00\n"
        b"updated_at: 2026-09-28T11:20:05.700012933+00:00\n---\n\nBeleg numbers restart every January.\n"
    )


def test_another_body_leaves_the_header() -> None:
    head = HAND_MADE[: HAND_MADE.index(b"Tables")]
    assert with_body(HAND_MADE, " new\n---\nname: x \n") == head + b"new\n---\nname: x\r\n"
    assert with_body(b"---\nname: a\n---", "b") == b"---\nname: a\n---\n\nb\n"


KEYS = st.sampled_from([*FIELD_ORDER, "tags", "x-own", "reviewed"])
ODD = st.sampled_from(
    ["", "no", "1.10", "2026-01-02", "null", "~", "fix #12", "a: b: c", '"quoted: v"', "'it''s'", '"never closed',
     "*odd", "&a value", "[a, b]", "[[wiki]] more", "{a: b}", "!tag x", "> 5 items", "| pipe", "`cmd: --flag`", "@at",
     "%x", "- dash", "? who", "\U0001f600 caf\u00e9", "\u6f22\u5b57", "tab\there", "---", "x" * 300, "back\\slash",
     "\x85\u2028mid", "# c"]
)  # fmt: skip
TEXTS = st.one_of(ODD, st.text(max_size=40)).map(lambda text: re.sub(r"[\r\n]", " ", text).strip())
KEY_LINES = st.builds(lambda key, value, gap: [f"{key}:{gap}{value}"], KEYS, TEXTS, st.sampled_from([" ", "", "   "]))
BLOCKS = st.builds(
    lambda key, values, dash: [f"{key}:", *(f"{dash}{value}" for value in values)],
    KEYS, st.lists(TEXTS, min_size=1, max_size=3), st.sampled_from(["- ", "  - ", "  ", "\t"]),
)  # fmt: skip
LOOSE = st.sampled_from([["# a comment"], [""], ["stray words"], ["  indented"], ["   "]])
PARTS = st.lists(st.one_of(KEY_LINES, KEY_LINES, BLOCKS, LOOSE), max_size=7)
HEADERS = PARTS.map(lambda parts: [line for part in parts for line in part])
EOLS = st.sampled_from(["\n", "\r\n"])
BODIES = st.one_of(st.text(max_size=60), st.sampled_from(["", "Body", "a\n---\nb", "no end"]))
VALUES: st.SearchStrategy[Value] = st.one_of(TEXTS.filter(bool), st.lists(TEXTS.filter(bool), min_size=1, max_size=3))


def file_of(header: list[str], eol: str, body: str, *, mark: bool) -> bytes:
    text = ("\ufeff" if mark else "") + eol.join(["---", *header, "---", "", body])
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()


@settings(max_examples=200)
@given(HEADERS, EOLS, BODIES, st.booleans(), KEYS, VALUES)
@example(["name: 'a'", "description: *x"], "\r\n", "b", False, "description", "&x y")
@example(["name: a", "name: b"], "\n", "b", True, "name", "x\x85")
def test_whatever_somebody_wrote_one_field_changes_and_nothing_else(
    header: list[str], eol: str, body: str, mark: bool, key: str, value: Value
) -> None:
    before = file_of(header, eol, body, mark=mark)
    after = with_fields(before, {key: value})
    was, was_body = read_frontmatter(before.decode())
    now, now_body = read_frontmatter(after.decode())
    written = [element.strip() for element in value] if isinstance(value, list) else value.strip()
    assert now[key] == written
    assert {name: text for name, text in now.items() if name != key} == {
        name: text for name, text in was.items() if name != key
    }
    assert now_body == was_body
    if not has_header(before):
        return
    went, came = changed_lines(before, after)
    assert len(came) - len(went) <= 2
    is_plain = not any(key in line for line in header)
    assert not (is_plain and went), "a line that says nothing of the key is gone"


@settings(max_examples=100)
@given(HEADERS, EOLS, BODIES, st.booleans(), KEYS)
def test_taking_a_field_away_takes_nothing_else(header: list[str], eol: str, body: str, mark: bool, key: str) -> None:
    before = file_of(header, eol, body, mark=mark)
    if not has_header(before):
        return
    was, was_body = read_frontmatter(before.decode())
    now, now_body = read_frontmatter(with_fields(before, {key: None}).decode())
    assert now.get(key, "") == ""
    assert {name: text for name, text in now.items() if name != key} == {
        name: text for name, text in was.items() if name != key
    }
    assert now_body == was_body


@settings(max_examples=100)
@given(st.dictionaries(st.sampled_from(FIELD_ORDER), TEXTS, min_size=1), st.text(max_size=80))
def test_what_is_written_is_read_again(fields: dict[str, str], body: str) -> None:
    fields = {"name": "n", **fields}
    values, read = read_frontmatter(new_note(fields, body).decode())
    assert values == fields
    assert read == body.strip()
