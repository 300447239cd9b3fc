"""Frontmatter: values stay the text that was written, whatever YAML would make of them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persist.lines import decode_line
from persist.memory.frontmatter import Value, read_frontmatter


def header(*lines: str, body: str = "Body.") -> str:
    return "\n".join(["---", *lines, "---", "", body, ""])


AS_WRITTEN = [
    "2026-01-02",
    "no",
    "yes",
    "1.10",
    "0x1F",
    "null",
    "12:30",
    "1_000",
    "0o17",
    "~",
    ".inf",
    "True",
    "!important",
]


@pytest.mark.parametrize("text", AS_WRITTEN)
def test_a_plain_value_is_the_text_that_was_written(text: str) -> None:
    assert read_frontmatter(header(f"name: {text}"))[0] == {"name": text}


@pytest.mark.parametrize("text", [text for text in AS_WRITTEN if not text.startswith("!")])
def test_an_element_of_a_list_is_the_text_that_was_written(text: str) -> None:
    assert read_frontmatter(header(f"tags: [{text}, b]"))[0] == {"tags": [text, "b"]}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tags: [a, b c]", ["a", "b c"]),
        ("tags: [a]", ["a"]),
        ("tags: []", []),
        ("tags:\n  - a\n  - b", ["a", "b"]),
        ("tags:\n- a\n- 'b: c'", ["a", "b: c"]),
        ('tags: ["a, b", c]', ["a, b", "c"]),
        ("tags: [a,\n  b]", ["a", "b"]),
        ("tags: # none of them old\n  - a", ["a"]),
        ("tags: a, b", "a, b"),
        ("tags: [[a], b]", "[[a], b]"),
        ("tags: [!important, b]", "[!important, b]"),
        ("tags:\n  - a: b", "- a: b"),
    ],
)
def test_lists(line: str, expected: Value) -> None:
    assert read_frontmatter(header(line)) == ({"tags": expected}, "Body.")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("d: how it works: it restarts", "how it works: it restarts"),
        ("d: fix #12 and go", "fix #12 and go"),
        ("d: # heading", "# heading"),
        ('d: "quoted: with colon"', "quoted: with colon"),
        ("d: 'it''s'", "it's"),
        ('d: "tab\\there"', "tab\there"),
        ('d: "done" # said so', "done"),
        ('d: "said" and left', '"said" and left'),
        ('d: "never closed', '"never closed'),
        ("d: >\n  folded\n  text", "folded text"),
        ("d: |\n  two\n  lines", "two\nlines"),
        ("d: goes\n  on", "goes on"),
        ("d: &a value", "value"),
        ("d: *unknown", "*unknown"),
        ("d: {a: b}", "{a: b}"),
        ("d:", ""),
        ("d:no space", "no space"),
        ("d: @someone", "@someone"),
        ("d: !!python/object/apply:os.system [x]", "!!python/object/apply:os.system [x]"),
    ],
)
def test_odd_values(line: str, expected: str) -> None:
    assert read_frontmatter(header(line)) == ({"d": expected}, "Body.")


def test_an_odd_value_does_not_change_the_others() -> None:
    values, _ = read_frontmatter(header('name: "n"', "description: *odd", "aliases:", "  - one", "  - two"))
    assert values == {"name": "n", "description": "*odd", "aliases": ["one", "two"]}


def test_a_nested_name_is_not_the_name() -> None:
    values, _ = read_frontmatter(header("name: outer", "source:", "  name: inner"))
    assert values == {"name": "outer", "source": "name: inner"}


def test_what_yaml_refuses_is_read_line_by_line() -> None:
    values, _ = read_frontmatter(header("name: tab", "\tdescription: tab indented"))
    assert values == {"name": "tab", "description": "tab indented"}


def test_the_last_of_a_repeated_key_wins() -> None:
    assert read_frontmatter(header("name: a", "name: b"))[0] == {"name": "b"}


def test_comments_blank_lines_and_stray_text_are_passed_over() -> None:
    values, _ = read_frontmatter(header("# a comment", "name: a", "", "stray", "description: d"))
    assert values == {"name": "a", "description": "d"}


def test_a_header_with_crlf_keeps_its_quotes() -> None:
    text = header("name: a", 'description: "tables: singular"', 'tags: ["x", y]').replace("\n", "\r\n")
    assert read_frontmatter(text)[0] == {"name": "a", "description": '"tables: singular"', "tags": ["x", "y"]}


def test_a_bom_and_white_space_before_the_header() -> None:
    assert read_frontmatter("\ufeff\n \n" + header("name: a")) == ({"name": "a"}, "Body.")


@pytest.mark.parametrize(
    "text",
    [
        "# Title\n\nText.",
        "---\nname: a\n\nNo end.",
        "---\nTwo rules, and text between them: kept.\n---\nMore.",
        "---\n- a\n- list\n---\nMore.",
        "---- not a header\nname: a\n---",
        "---",
        "",
    ],
)
def test_without_a_header_the_whole_text_is_the_body(text: str) -> None:
    assert read_frontmatter(text) == ({}, text)


def test_an_empty_header_is_one() -> None:
    assert read_frontmatter("---\n---\n\nBody.\n") == ({}, "Body.")


def test_a_rule_in_the_body_stays() -> None:
    assert read_frontmatter(header("name: a", body="One.\n---\nTwo."))[1] == "One.\n---\nTwo."


@pytest.mark.parametrize(
    "value",
    ["[" * 5000, "{a: " * 4000, "&a [*a, " * 60, "| " + "x" * 20_000, "\n  " + "- " * 4000 + "a"],
    ids=["brackets", "maps", "aliases", "long", "lists in lists"],
)
def test_a_value_that_yaml_would_choke_on_is_as_written_and_costs_little(value: str) -> None:
    start = time.process_time()
    assert read_frontmatter(header("name: n", f"d: {value}"))[0] == {"name": "n", "d": value.strip()}
    assert time.process_time() - start < 1.0


def test_text_below_what_yaml_refuses_is_kept() -> None:
    values, _ = read_frontmatter(header("d: *odd", "  and more", "name: n"))
    assert values == {"d": "*odd and more", "name": "n"}


@given(st.text())
def test_never_raises_and_loses_no_text_without_a_header(text: str) -> None:
    values, body = read_frontmatter(text)
    assert values or body in text


@given(st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), st.text(), min_size=1), st.text())
def test_never_raises_on_headers(values: dict[str, str], body: str) -> None:
    lines = [f"{key}: {value}" for key, value in values.items()]
    read_frontmatter(header(*lines, body=body))


def test_the_odd_headers_of_b86(data: Path) -> None:
    folder = data / "faults" / "B86" / "memory"
    read = {path.stem: read_frontmatter(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.md"))}
    assert len(read) == 14
    assert {stem: values.get("description") for stem, (values, _) in read.items()} == {
        "anchor": "value",
        "at": "@someone said so",
        "backtick": "`cmd: --flag` runs it",
        "colon": "note: this has a colon: and more",
        "dup": "same key twice",
        "empty": None,
        "good-one": "plain",
        "good-two": "quoted: with colon",
        "list": None,
        "quote": '"never closed',
        "star": "*important thing",
        "tab": "tab indented",
        "tag": '!!python/object/apply:os.system ["touch pwned"]',
        "wiki": "[[linked page]] and more",
    }
    assert read["dup"][0]["name"] == "dup-two"


HALVES = [
    ("\\ud83d\\ude80", "🚀"),
    ("\\ud83d", "\ufffd"),
    ("\\ude80 x", "\ufffd x"),
    ("\\ud83d\\ud83d\\ude80", "\ufffd🚀"),
]


@pytest.mark.parametrize(("escaped", "text"), HALVES)
def test_escaped_halves_of_a_character_are_read_as_json_lines_are(escaped: str, text: str) -> None:
    name = f'"launch {escaped}"'
    values, _ = read_frontmatter(header(f"name: {name}", f"aliases: [plain, {name}]", "tags:", f"  - {name}"))
    assert values == {"name": f"launch {text}", "aliases": ["plain", f"launch {text}"], "tags": [f"launch {text}"]}
    assert decode_line(f'"{escaped}"'.encode()).records == [text]
