"""ASTER.md: its facts, with line and byte offset."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persist.errors import StoreIOError
from persist.memory.project import parse_facts, read_project, read_project_bytes


def test_the_sample(data: Path) -> None:
    content = read_project_bytes(data / "aster" / "memory")
    assert content is not None
    facts = parse_facts(content)
    assert [(fact.text, fact.line_number) for fact in facts] == [
        ("Station ids are case-sensitive; never lower-case them", 3),
        ("Money is stored in cents, shown with a decimal comma", 4),
        ("Deploys leave from the main branch only", 5),
    ]
    for fact in facts:
        assert content[fact.offset_bytes :].startswith(b"- " + fact.text.encode())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- a\n* b\n", ["a", "b"]),
        ("- a\n  goes on\n- b", ["a\ngoes on", "b"]),
        ("- a\ntyped on two lines\n- b", ["a\ntyped on two lines", "b"]),
        ("- a\n\n  a second paragraph\n\nNot a fact.\n", ["a\na second paragraph"]),
        ("- a\n  - below\n  - below too\n- b", ["a\n- below\n- below too", "b"]),
        ("  - alone\n", ["alone"]),
        ("- a\n# Heading\ntext\n", ["a"]),
        ("- a\n---\ntext\n", ["a"]),
        ("- - -\n* * *\n-\n- \n", []),
        ("-no space\n*emphasis*\n", []),
        ("```\nnever closed\n\n- a\n", ["a"]),
        ("- [ ] open\n", ["[ ] open"]),
        ("", []),
    ],
)
def test_what_is_a_fact(text: str, expected: list[str]) -> None:
    assert [fact.text for fact in parse_facts(text.encode())] == expected


def test_places_count_lines_and_bytes_whatever_the_line_ends_and_bytes() -> None:
    content = b"\xef\xbb\xbf- caf\xe9\r\n\r\n- \xc3\xbc\r\n"
    facts = parse_facts(content)
    assert [tuple(fact) for fact in facts] == [("caf\ufffd", 1, 0, 1), ("ü", 3, 13, 3)]
    assert content[13:].startswith(b"- \xc3\xbc")


@given(st.lists(st.sampled_from(["- a", "* b", "  - c", "", "text", "  more", "# h", "---", "\t- d"])))
def test_a_facts_lines_are_those_that_its_text_is_made_of(lines: list[str]) -> None:
    facts = parse_facts("\n".join(lines).encode())
    for fact in facts:
        own = [line.strip() for line in lines[fact.line_number - 1 : fact.last_line_number] if line]
        assert "\n".join([own[0].lstrip("-* "), *own[1:]]) == fact.text
    assert all(one.last_line_number < other.line_number for one, other in pairwise(facts))


@given(st.lists(st.sampled_from(["- a", "* b", "  - c", "", "text", "  more", "# h", "---", "\t- d"])))
def test_facts_are_in_order_and_point_to_bullets(lines: list[str]) -> None:
    content = "\n".join(lines).encode()
    facts = parse_facts(content)
    assert [fact.offset_bytes for fact in facts] == sorted({fact.offset_bytes for fact in facts})
    for fact in facts:
        line = content.split(b"\n")[fact.line_number - 1]
        assert content[fact.offset_bytes :].startswith(line)
        assert line.strip()[2:].decode() == fact.text.split("\n")[0]


def test_the_text_is_none_until_there_is_a_file(tmp_path: Path) -> None:
    assert read_project(tmp_path) is None
    (tmp_path / "ASTER.md").write_bytes(b"\xef\xbb\xbfcaf\xe9\n")
    assert read_project(tmp_path) == "caf\ufffd\n"


def test_a_folder_in_its_place_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "ASTER.md").mkdir()
    with pytest.raises(StoreIOError) as raised:
        read_project(tmp_path)
    assert raised.value.path == tmp_path / "ASTER.md"
