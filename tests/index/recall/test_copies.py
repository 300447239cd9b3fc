"""However many copies of a text memory holds, what is recalled and where it stays silent is the same as with one."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from index.ingest import ingest
from index.opening import open_reader
from index.recall.corpus import IndexCorpus
from index.recall.recall import store_corpus
from index.settings import Settings
from index.verify import verify
from persist.recall.answer import recall
from persist.recall.from_files import says_same
from tests.builders import HomeBuilder
from tests.index.conftest import dump_of, rebuilt_dump
from tests.index.recall.memory_world import AS_OF, PLACE, assert_equal, from_files, from_index, names

SUBJECTS = (
    ("invoice-rounding", "Invoices are rounded per line, in cents", "The ledger adds lines after rounding each."),
    ("staging-tenant", "The staging tenant is wiped on Monday", "Seed it again with make seed-staging."),
    ("webhook-retries", "Stripe retries webhooks, so handlers are idempotent", "Keep the event id for thirty days."),
    ("charts-canvas", "Charts are drawn on canvas", "SVG was too slow beyond ten thousand points."),
    ("date-picker", "The date picker keeps UTC", "Local midnight moved bookings by a day."),
    ("lockfile-policy", "pnpm lockfile changes need a review", "Renovate may merge patch releases alone."),
)
RIGHT = ("kiln-reset", "Reset the kiln controller after a thermocouple change", "Hold the button for nine seconds.")
RELATED = "The kiln controller drifts when the thermocouple ages, batch of {}."
UNRELATED = "The canteen serves soup in the blue hall, menu of {}."
ASKED = "how do I reset the kiln controller?"
SILENT = (
    "write a haiku about autumn leaves",
    "what is the capital of Portugal, and who built the tower there?",
    "rename this variable and run the formatter",
    "please review the parser for the configuration",
)
NUMBERS = {"the same": "1 May 2026", "a number": "{0} May 2026", "a date": "{1:02d}.{2:02d}.2026, run {0}"}


def write(memory: Path, name: str, description: str, body: str, more: str = "") -> None:
    memory.mkdir(parents=True, exist_ok=True)
    (memory / f"{name}.md").write_text(f"---\nname: {name}\ndescription: {description}\n{more}---\n\n{body}\n")


def fill(memory: Path) -> None:
    for name, description, body in (*SUBJECTS, RIGHT):
        write(memory, name, description, body)


def add_copies(memory: Path, text: str, count: int, differ_in: str, name: str = "report") -> None:
    for number in range(count):
        told = NUMBERS[differ_in].format(number, number % 28 + 1, number % 12 + 1)
        write(memory, f"{name}-{number}", "", text.format(told))


@pytest.fixture
def settings(home: HomeBuilder, quick_schema: None, tmp_path: Path) -> Settings:
    return home.settings(tmp_path / "cache" / "index.sqlite")


def check(settings: Settings) -> None:
    """The right note is given, first; nothing else but one or more of the copies; silent prompts stay silent."""
    corpus = store_corpus(settings, AS_OF)
    asked = {ASKED: ["kiln-reset"]} | {f"remind me: {description}?": [name] for name, description, _ in SUBJECTS}
    for prompt, expected in (asked | {silent: [] for silent in SILENT}).items():
        found = from_index(settings, prompt)
        given = names(found) if prompt != ASKED else names(found)[:1]
        assert given == expected, (prompt, [verdict[:3] for verdict in found.refused])
        assert_equal(found, recall(prompt, corpus, place=PLACE, as_of=AS_OF, says_same=says_same), prompt)


@pytest.mark.parametrize("differ_in", list(NUMBERS))
@pytest.mark.parametrize("text", [RELATED, UNRELATED], ids=["related", "unrelated"])
@pytest.mark.parametrize("count", [10, 100, 1000])
def test_copies_silence_nobody_and_make_nobody_speak(count: int, text: str, differ_in: str, settings: Settings) -> None:
    if count == 1000 and differ_in == "a number":
        pytest.skip("as with a date, and slow")
    fill(settings.places.data / "memory")
    ingest(settings)
    check(settings)
    add_copies(settings.places.data / "memory", text, count, differ_in)
    ingest(settings)
    check(settings)


def test_nor_do_five_thousand(settings: Settings) -> None:
    fill(settings.places.data / "memory")
    add_copies(settings.places.data / "memory", RELATED, 5000, "a date")
    ingest(settings)
    check(settings)


def test_the_weights_are_those_of_one_copy(settings: Settings) -> None:
    memory = settings.places.data / "memory"
    fill(memory)
    add_copies(memory, RELATED, 1, "a number")
    ingest(settings)
    alone = from_index(settings, ASKED)
    add_copies(memory, RELATED, 60, "a number")
    ingest(settings)
    found = from_index(settings, ASKED)
    assert found.terms == alone.terms
    assert found.given[0].verdict == alone.given[0].verdict


def test_copies_do_not_fill_the_list_before_what_says_something_else(settings: Settings) -> None:
    memory = settings.places.data / "memory"
    fill(memory)
    add_copies(memory, "Reset the kiln controller after a thermocouple change, then the kiln controller hums: {}.", 200,
               "a number", name="kiln-controller-reset")  # fmt: skip
    write(memory, "kiln-manual", "Where the kiln controller's manual lies", "In the drawer.")
    ingest(settings)
    prompt = "the kiln controller must be reset after a thermocouple change, where is the manual?"
    found = from_index(settings, prompt)
    assert {"kiln-reset", "kiln-manual"} < set(names(found))
    assert len(names(found)) == 5
    assert set(names(found)) == {one.candidate.name for one in from_files(settings, prompt).chosen} or all(
        name.startswith("kiln-") for name in names(found)
    )


def test_copies_that_do_not_count_here_take_nobodys_place(settings: Settings) -> None:
    memory = settings.places.data / "memory"
    fill(memory)
    for number in range(100):
        more = "project: /r/ledger\n" if number % 2 else "superseded_by: kiln-reset\n"
        write(memory, f"a-{number}", "Reset the kiln controller", f"Run {number}.", more)
    write(memory, "z", "Reset the kiln controller", "Run 7777.")
    ingest(settings)
    assert set(names(from_index(settings, ASKED))) == {"z", "kiln-reset"}
    assert_equal(from_index(settings, ASKED), from_files(settings, ASKED), ASKED)


def test_an_alias_of_many_copies_is_found_once_for_each_text(settings: Settings) -> None:
    memory = settings.places.data / "memory"
    for number in range(300):
        write(memory, f"a-{number}", "Where the build runs", "On two old machines.", "aliases: [woodpecker]\n")
    ingest(settings)
    found = from_index(settings, "is woodpecker broken again?")
    assert names(found) == ["a-0"]
    assert found.considered < 100
    assert_equal(found, from_files(settings, "is woodpecker broken again?"), "woodpecker")


@pytest.mark.parametrize("seed", range(6))
def test_after_copies_came_and_went_the_counts_are_those_of_the_files(seed: int, settings: Settings) -> None:
    """In any order, with aliases from header and journal, names of several words, facts among them."""
    rng = Random(seed)  # noqa: S311
    memory = settings.places.data / "memory"
    fill(memory)
    texts = (RELATED, UNRELATED, "{}", "", "Keep {} of the kiln logs in the blue hall")
    for _ in range(10):
        for _ in range(rng.randint(1, 8)):
            name = rng.choice(("kiln", "soup menu", "a")).replace(" ", "-") + f"-{rng.randint(0, 9)}"
            told = rng.choice(list(NUMBERS.values())).format(rng.randint(0, 99), rng.randint(1, 28), rng.randint(1, 12))
            match rng.randint(0, 9):
                case 0 | 1:
                    (memory / f"{name}.md").unlink(missing_ok=True)
                case 2:
                    facts = "".join(f"- {rng.choice(texts).format(told) or 'x'}\n" for _ in range(rng.randint(0, 4)))
                    (memory / "ASTER.md").write_text(f"# Memory\n\n{facts}")
                case 3:
                    line = {"ts": "2026-05-01T08:00:00Z", "op": "remember", "name": name, "kind": "fact",
                            "aliases": [rng.choice(("kiln log", "soup", told))]}  # fmt: skip
                    with (memory / "journal.jsonl").open("a") as file:
                        file.write(json.dumps(line) + "\n")
                case _:
                    more = rng.choice(("", "aliases: [soup, oven]\n", "updated_at: 2026-06-01\n"))
                    write(memory, name, rng.choice(("", "The kiln", "Soup")), rng.choice(texts).format(told), more)
        ingest(settings, prune=True)
        corpus = store_corpus(settings, AS_OF)
        words = sorted({word for candidate in corpus.candidates for word in (
            *candidate.name_words, *candidate.description_words, *candidate.body_words,
            *(word for alias in candidate.aliases for word in alias))})  # fmt: skip
        with closing(open_reader(settings.index_path)) as connection:
            index = IndexCorpus(connection, AS_OF)
            assert index.statistics([*words, "nowhere"]) == corpus.statistics([*words, "nowhere"])
            for letters in ("ki", "so", "20"):
                assert index.beginning_with(letters) == corpus.beginning_with(letters)
        assert dump_of(settings.index_path) == rebuilt_dump(settings)
        for prompt in (ASKED, "is there soup in the blue hall?", "kiln log of the oven"):
            found = recall(prompt, corpus, place=PLACE, as_of=AS_OF, says_same=says_same)
            assert_equal(from_index(settings, prompt), found, prompt)
    assert verify(settings).differences == ()


def tell(memory: Path, *lines: dict[str, str]) -> None:
    with (memory / "journal.jsonl").open("a") as file:
        file.writelines(json.dumps({"ts": "2026-07-01T08:00:00Z", **line}) + "\n" for line in lines)


def fill_with_copies(settings: Settings, count: int) -> Path:
    memory = settings.places.data / "memory"
    fill(memory)
    for number in range(count):
        more = f"updated_at: 2026-06-01T08:{number % 60:02d}:00Z\n"
        write(memory, f"copy-{number}", "", RELATED.format(number), more)
    return memory


@pytest.mark.parametrize("count", [12, 40, 300])
def test_a_mark_of_one_of_many_copies_is_seen(settings: Settings, count: int) -> None:
    memory = fill_with_copies(settings, count)
    tell(memory, {"op": "helpful", "name": "copy-0"})
    ingest(settings)
    prompt = "does the kiln controller drift when the thermocouple ages?"
    found = from_index(settings, prompt)
    assert names(found)[0] == "copy-0"
    assert_equal(found, from_files(settings, prompt), prompt)


@pytest.mark.parametrize("count", [12, 300])
def test_a_recall_of_one_of_many_copies_is_seen(settings: Settings, count: int) -> None:
    """Which copy was touched last, the journal tells too."""
    memory = fill_with_copies(settings, count)
    tell(memory, {"op": "recall", "name": "copy-0", "ts": "2026-11-29T08:00:00Z"})
    ingest(settings)
    prompt = "does the kiln controller drift when the thermocouple ages?"
    found = from_index(settings, prompt)
    assert names(found)[0] == "copy-0"
    assert_equal(found, from_files(settings, prompt), prompt)


@pytest.mark.parametrize("count", [9, 40, 300])
def test_copies_that_the_journal_alone_calls_superseded_hide_no_other(settings: Settings, count: int) -> None:
    memory = fill_with_copies(settings, count)
    write(memory, "first", "", RELATED.format(7), "updated_at: 2020-01-01T08:00:00Z\n")
    tell(memory, *({"op": "supersede", "name": f"copy-{number}", "by": "first"} for number in range(count)))
    ingest(settings)
    prompt = "does the kiln controller drift when the thermocouple ages?"
    found = from_index(settings, prompt)
    assert names(found)[0] == "first"
    assert_equal(found, from_files(settings, prompt), prompt)
