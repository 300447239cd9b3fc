"""A slip is repaired where it is sure, and left alone everywhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persist.recall.corpus import Statistics
from persist.recall.typos import MAX_REPAIRED, is_one_edit, repair, to_repair
from persist.recall.words import prompt_units

LETTERS = st.text("abc", max_size=6)


def one_edits(word: str) -> set[str]:
    """Return everything that one edit makes of a word, the slow and sure way."""
    cuts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    return {
        *(left + right[1:] for left, right in cuts if right),
        *(left + right[1] + right[0] + right[2:] for left, right in cuts if len(right) > 1),
        *(left + letter + right[1:] for left, right in cuts if right for letter in "abc"),
        *(left + letter + right for left, right in cuts for letter in "abc"),
    } - {word}


@given(LETTERS, LETTERS)
def test_one_edit_is_what_one_edit_makes(word: str, other: str) -> None:
    assert is_one_edit(word, other) == (other in one_edits(word))


@given(LETTERS, st.data())
def test_an_edit_is_found_both_ways(word: str, data: st.DataObject) -> None:
    other = data.draw(st.sampled_from(sorted(one_edits(word))))
    assert is_one_edit(word, other)
    assert is_one_edit(other, word)


@pytest.mark.parametrize(
    ("word", "known", "better"),
    [
        ("typscript", {"typescript": 1}, "typescript"),
        ("typsecript", {"typescript": 1}, "typescript"),
        ("certficat", {"certif": 1, "certificat": 2}, "certificat"),
        ("rechnungen", {"rechnung": 1}, "rechnung"),
        ("mango", {"mongo": 1}, None),
        ("terraform", {"terrafirma": 1}, None),
        ("harbor", {"harbor2": 1}, None),
        ("kubernets", {"kubernet": 900}, None),
        ("lanterm", {"lantern": 2, "lanterns": 1}, "lantern"),
        ("lanterm", {"lanterna": 1, "lantern": 1, "lanter": 1}, "lanter"),
    ],
)
def test_what_is_read_for_what(word: str, known: dict[str, int], better: str | None) -> None:
    assert repair(word, known, 1000) == better


def slips(prompt: str, frequencies: dict[str, int] | None = None) -> tuple[str, ...]:
    return to_repair(prompt_units(prompt), Statistics(10, frequencies or {}, 1, 1, 1))


def test_only_words_that_nobody_knows_are_slips() -> None:
    assert slips("terrafrom lock") == ("terrafrom",)
    assert slips("terrafrom lock", {"terrafrom": 1}) == ()
    assert slips("return the database value") == ()
    assert slips("eror k9999s v12345 abc12 exportCsz 移行移行移行") == ()


def test_of_many_unknown_words_only_the_first_are_looked_at() -> None:
    many = " ".join(f"zzq{first}{second}w" for first in "abcde" for second in "abcde")
    assert len(slips(many)) == MAX_REPAIRED
