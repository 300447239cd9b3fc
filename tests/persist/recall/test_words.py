"""What the words of a text are: identifiers in parts and whole, joined spellings as one, scripts without blanks."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persist.recall.spelling import one_spelling
from persist.recall.words import (
    MAX_PROMPT_CHARACTERS,
    MAX_WORD_CHARACTERS,
    alias_words,
    field_words,
    name_words,
    prompt_units,
    words_of,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Invoices are rounded", "invoic round"),
        ("exportCsv", "export csv exportcsv"),
        ("HTTPServer", "http server httpserver"),
        ("ledger/webhooks.py:41", "ledger webhook py webhookspi 41"),
        ("test_invoice_rollover", "test invoic rollov testinvoicerollov"),
        ("eu-north-1", "eu north 1 eunorth1"),
        ("VITE_API_URL", "vite api url viteapiurl"),
        ("__init__.py", "init py initpi"),
        ("std::vector", "std vector"),
        ("see https://www.tides.example/chart", "tide exampl tidesexampl chart"),
        ("HTTP 413 over https", "http 413 http"),
        ("C++ and C#", "cpp csharp"),
        ("#1e3a8a", "hex color"),
        ("fix #123456", "fix 123456"),
        ("it's Friday's plan, don't", "fridai plan"),
        ("Übergröße", "ubergross"),
        ("naïve café", "naiv cafe"),
        ("ﬁle", "file"),
        ("ＡＰＩ", "api"),
        ("ts js go s3", "ts js go s3"),
        ("the a of and to in is", ""),
        ("was ist das für ein", ""),
        ("👍 … — !", ""),
        ("", ""),
    ],
)
def test_the_words_of_a_text(text: str, words: str) -> None:
    assert words_of(text) == tuple(words.split())


@pytest.mark.parametrize("spelling", ["exportCsv", "ExportCsv", "export_csv", "export-csv", "EXPORT_CSV", "export.csv"])
def test_one_name_is_one_word_however_it_is_joined(spelling: str) -> None:
    assert words_of(spelling)[-1] == words_of("exportcsv")[0]


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("データベース", ["デー", "ータ", "タベ", "ベー", "ース"]),
        ("移行", ["移行"]),
        ("本", ["本"]),
        ("한국어", ["한국", "국어"]),
        ("使用SQLite数据库", ["使用", "sqlite", "sq", "lite", "数据", "据库"]),
    ],
)
def test_scripts_without_blanks_give_pairs(text: str, pairs: list[str]) -> None:
    assert set(words_of(text)) >= {pair for pair in pairs if pair not in ("sqlite", "sq", "lite")}


def test_signs_of_indic_letters_and_thai_do_not_cut_words() -> None:
    assert len(words_of("हिन्दी")) == 1
    assert len(words_of("ที่")) == 2


def test_decomposed_and_composed_texts_are_one() -> None:
    assert words_of("caf\u00e9 バス") == words_of("cafe\u0301 ハ\u3099ス")


@pytest.mark.parametrize(
    ("british", "american"),
    [("colour", "color"), ("behaviours", "behaviors"), ("normalised", "normalized"), ("organisation", "organization"),
     ("catalogue", "catalog"), ("labelled", "labeled")],
)  # fmt: skip
def test_both_spellings_of_english_are_one_word(british: str, american: str) -> None:
    assert words_of(british) == words_of(american)


@pytest.mark.parametrize(
    ("verb", "noun"),
    [("deploy", "deployments"), ("deployed", "deployable"), ("employing", "employer"), ("enjoyed", "enjoyment")],
)
def test_a_verb_in_y_and_what_is_made_of_it_are_one_word(verb: str, noun: str) -> None:
    assert words_of(verb) == words_of(noun)


@pytest.mark.parametrize(
    "word", ["four", "hour", "source", "course", "promise", "exercise", "precision", "analysis", "raise", "otherwise"]
)
def test_words_that_only_look_british_stay(word: str) -> None:
    assert one_spelling(word) == word


def test_data_is_no_word() -> None:
    assert words_of("x" * (MAX_WORD_CHARACTERS + 1)) == ()
    assert words_of("x" * MAX_WORD_CHARACTERS) != ()


def test_an_alias_is_compared_by_its_units() -> None:
    assert alias_words("react.js") == alias_words("ReactJS") == ("reactj",)
    assert alias_words("point of view") == ("point", "view")
    assert alias_words("chapter 7") == ("chapter", "7")
    assert alias_words("the") == ()


def test_a_name_has_what_the_title_adds_to_the_slug() -> None:
    assert name_words("deploy-window", "Deploy window") == words_of("deploy-window")
    assert name_words("note-2", "データ 移行") == ("note", "2", "note2", "デー", "ータ", "移行")
    assert name_words("tide", None) == ("tide",)


def test_of_a_long_prompt_both_ends_count() -> None:
    prompt = "zephyr " + "filler " * MAX_PROMPT_CHARACTERS + " lantern"
    words = {unit.typed for unit in prompt_units(prompt)}
    assert words == {"zephyr", "filler", "lantern"}
    assert len(prompt_units(prompt)) < MAX_PROMPT_CHARACTERS


@given(st.text(max_size=400))
def test_any_text_gives_words_that_are_fit_for_a_word_table(text: str) -> None:
    for word in field_words(text):
        assert word
        assert len(word) <= MAX_WORD_CHARACTERS
        assert not any(letter.isspace() or letter in "_.-'\"*():^" for letter in word)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200), st.sampled_from([" ", "\n", " / ", ", "]))
def test_the_words_of_two_texts_apart_are_those_of_both(text: str, gap: str) -> None:
    assert words_of(f"{text}{gap}zephyr") == (*words_of(text), "zephyr")


@pytest.mark.parametrize(
    "text", ["a" + "_" * 65_000, "a" + "._" * 32_000, "a+" * 32_000 + "://", "#abc" * 16_000, "aB" * 32_000]
)
def test_what_is_made_to_be_slow_is_not(text: str) -> None:
    start = time.process_time()
    words_of(text)
    assert time.process_time() - start < 0.5
