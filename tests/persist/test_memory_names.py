"""Which file a title gives, which titles are one, and what a note's description is when nobody wrote one."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persist.memory.describe import first_sentence, one_line
from persist.memory.names import (
    MAX_STEM_BYTES,
    VERSION_STEM,
    archived_stem,
    block_slug,
    free_stems,
    is_of_slug,
    same_title,
    version_slug,
)

ULID = "01KBVGBANKEEEEEEEEEEEEEEEE"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Deploy window", "deploy  WINDOW ", True),
        ("Stra\u00dfe", "STRASSE", True),
        ("Caf\u00e9", "Cafe\u0301", True),
        ("Build command", "build_command", False),
        ("Build command", "Build command!", False),
        ("\u65e5\u672c", "\u4e2d\u56fd", False),
    ],
)
def test_titles_are_one_but_for_case_normal_form_and_blanks(one: str, other: str, expected: bool) -> None:
    assert same_title(one, other) is expected
    assert same_title(other, one) is expected


@pytest.mark.parametrize(
    ("title", "stems"),
    [
        ("Build command", ["build-command", "build-command-2", "build-command-3"]),
        ("\u65e5\u672c", ["note-2", "note-3", "note-4"]),
        ("Aster", ["aster-2", "aster-3", "aster-4"]),
        ("../../x", ["x", "x-2", "x-3"]),
        ("/etc/passwd", ["etc-passwd", "etc-passwd-2", "etc-passwd-3"]),
    ],
)
def test_the_files_a_title_may_have(title: str, stems: list[str]) -> None:
    assert list(islice(free_stems(title), 3)) == stems


def test_two_long_titles_do_not_meet() -> None:
    one, other = block_slug("x" * 900), block_slug("x" * 899 + "y")
    assert one != other
    assert len(one) <= MAX_STEM_BYTES
    assert block_slug("y" * MAX_STEM_BYTES) == "y" * MAX_STEM_BYTES


@given(st.text(max_size=400))
def test_a_stem_is_a_safe_name_with_room_for_a_version(title: str) -> None:
    for stem in islice(free_stems(title), 3):
        assert VERSION_STEM.match(f"{stem}@{ULID}")
        assert len(f"{stem}@{ULID}.md".encode()) <= 255
        assert is_of_slug(stem, block_slug(title) or "note")


@given(st.text(min_size=1, max_size=300))
def test_the_versions_of_any_file_have_a_name_of_their_own(stem: str) -> None:
    name = version_slug(stem)
    assert VERSION_STEM.match(f"{name}@{ULID}")
    assert len(f"{name}@{ULID}.md".encode()) <= 255
    assert version_slug(name) == name


def test_versions_of_unlike_files_never_mix() -> None:
    stems = ["my-note", "My note", "my note", "MY-NOTE", "\u65e5\u672c", "\u4e2d\u56fd", "a" * 220, "a" * 221]
    assert len({version_slug(stem) for stem in stems}) == len(stems)
    assert version_slug("my-note") == "my-note"


def test_an_archived_file_never_passes_for_a_version() -> None:
    assert archived_stem("My note") == "My note"
    assert not VERSION_STEM.match(archived_stem(f"x@{ULID}"))


@pytest.mark.parametrize(
    ("stem", "base", "expected"),
    [("a", "a", True), ("a-2", "a", True), ("a-b", "a", False), ("a-2-b", "a", False), ("b", "a", False)],
)
def test_which_stems_share_a_slug(stem: str, base: str, expected: bool) -> None:
    assert is_of_slug(stem, base) is expected


@pytest.mark.parametrize(
    ("note", "description"),
    [
        ("Deploy on Tuesday. Never on Friday.", "Deploy on Tuesday."),
        ("Use v1.10 of it, e.g. here, and\nwrap lines. Then more.", "Use v1.10 of it, e.g. here, and wrap lines."),
        ("# Deploys\n\nOn Tuesday.", "Deploys"),
        ("- first thing\n- second thing", "first thing; second thing"),
        ("1. tag\n2. changelog\u2026\n3) announce", "tag; changelog\u2026 announce"),
        ("1. tag", "tag"),
        ("* Tag it. Signed.\n\n* Write the\n  changelog.\n\nThen rest.", "Tag it. Write the changelog."),
        ("To release:\n\n1. tag\n2. announce", "To release: tag; announce"),
        ("# Release\n1. tag\n2. announce", "Release"),
        ("A list follows\n- tag", "A list follows"),
        (
            "\n".join(f"{number}. step {number}" for number in range(1, 40)),
            "; ".join(f"step {number}" for number in range(1, 15)) + "\u2026",
        ),
        ("No end mark\n\nSecond paragraph.", "No end mark"),
        ('He said "stop." Then left.', 'He said "stop."'),
        ("\u6bce\u9031\u706b\u66dc\u3002\u91d1\u66dc\u306f\u4e0d\u53ef\u3002", "\u6bce\u9031\u706b\u66dc\u3002"),
        ("Really? Yes.", "Really?"),
        ("one\r\ntwo", "one two"),
    ],
)
def test_the_first_sentence(note: str, description: str) -> None:
    assert first_sentence(note) == description


def test_a_long_sentence_is_cut_at_a_word_and_a_long_word_before_its_marks() -> None:
    cut = first_sentence("word " * 60)
    assert len(cut) <= 120
    assert cut.endswith("word\u2026")
    accents = first_sentence("e\u0301" * 100)
    assert len(accents) <= 120
    assert accents.endswith("e\u0301\u2026")


@given(st.text(max_size=500))
def test_a_description_is_one_short_line(note: str) -> None:
    found = first_sentence(note)
    assert len(found) <= 120
    assert len(found.splitlines()) <= 1
    assert len(one_line(note).splitlines()) <= 1
