"""The turns around a hit are those of its transcript, whatever the hit is, and cost what they hold."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from index.ingest import ingest
from index.search import ContextText, Hit, SearchRequest, search
from index.search.context import STATEMENTS
from index.settings import Settings
from tests import builders as make
from tests.builders import HomeBuilder, Record

pytestmark = pytest.mark.usefixtures("quick_schema")

MANY_TURNS = 50


def hits(settings: Settings, query: str, *searched: str, turns: int = 1) -> list[Hit]:
    return list(search(settings, SearchRequest(query, searched or ("prompts",), limit=None, context_turns=turns)).hits)


def told(context: tuple[ContextText, ...]) -> list[str]:
    """Return the texts, that of the hit marked."""
    return [f"*{one.text}" if one.is_hit else one.text for one in context]


def turn_of(number: int, *, thinks: bool = True) -> list[Record]:
    """Return a turn of a prompt, a thought, a call, its result, two answers."""
    minute = number * 10
    call = {"id": f"c{number}", "function": {"name": "Bash", "arguments": f'{{"a": "arguments {number}"}}'}}
    thought = {**make.aster_answer("", minute + 1), "reasoning": {"text": f"thought {number}"}}
    return [
        make.aster_prompt(f"prompt {number}", minute),
        *([thought] if thinks else []),
        {**make.aster_answer("", minute + 2), "tool_calls": [call]},
        {"type": "message", "role": "tool", "content": f"result {number}", "tool_call_id": f"c{number}",
         "ts": make.at(minute + 3)},
        make.aster_answer(f"first answer {number}", minute + 4),
        make.aster_answer(f"last answer {number}", minute + 5),
    ]  # fmt: skip


def texts_of(*numbers: int) -> list[str]:
    return [
        text for number in numbers for text in (f"prompt {number}", f"first answer {number}", f"last answer {number}")
    ]


@pytest.fixture
def five(home: HomeBuilder) -> Settings:
    """A session of an answer that no prompt came before, and five turns."""
    turns = [record for number in range(1, 6) for record in turn_of(number)]
    home.aster("s", make.aster_header("s", 0), make.aster_answer("welcome back", 1), *turns)
    settings = home.settings()
    ingest(settings)
    return settings


def marked(texts: list[str], hit: str) -> list[str]:
    return [f"*{text}" if text == hit else text for text in texts]


@pytest.mark.parametrize(
    ("query", "searched", "turns", "numbers"),
    [
        ("prompt 1", "prompts", 1, (1, 2)),
        ("prompt 5", "prompts", 1, (4, 5)),
        ("prompt 3", "prompts", 1, (2, 3, 4)),
        ("prompt 3", "prompts", 2, (1, 2, 3, 4, 5)),
        ("first answer 2", "answers", 1, (1, 2, 3)),
        ("last answer 5", "answers", 2, (3, 4, 5)),
    ],
)
def test_turns_before_and_after(
    five: Settings, query: str, searched: str, turns: int, numbers: tuple[int, ...]
) -> None:
    (hit,) = hits(five, query, searched, turns=turns)
    own = int(query[-1])
    before = ["welcome back"] if own - turns < 1 else []
    assert told(hit.context) == marked([*before, *texts_of(*numbers)], query)


@pytest.mark.parametrize("turns", [5, 6, 10, MANY_TURNS])
def test_more_turns_than_there_are_give_the_whole_session(five: Settings, turns: int) -> None:
    for query in ("prompt 1", "prompt 3", "prompt 5"):
        (hit,) = hits(five, query, turns=turns)
        assert told(hit.context) == marked(["welcome back", *texts_of(1, 2, 3, 4, 5)], query)


def test_before_the_first_prompt_there_is_a_turn_of_its_own(five: Settings) -> None:
    (hit,) = hits(five, "welcome", "answers", turns=1)
    assert told(hit.context) == ["*welcome back", *texts_of(1)]
    assert [(one.turn_index, one.event_index) for one in hit.context[:2]] == [(None, 0), (0, 1)]
    (hit,) = hits(five, "prompt 1", turns=1)
    assert told(hit.context)[0] == "welcome back"
    (hit,) = hits(five, "prompt 2", turns=1)
    assert "welcome back" not in told(hit.context)


@pytest.mark.parametrize(
    ("query", "searched", "place"),
    [("thought 3", "thinking", 1), ("result 3", "tools", 1), ("arguments 3", "tools", 1)],
)
def test_a_hit_that_is_no_prompt_or_answer_stands_among_them(
    five: Settings, query: str, searched: str, place: int
) -> None:
    (hit,) = hits(five, query, searched, turns=1)
    others = [one for one in hit.context if not one.is_hit]
    assert [one.text for one in others] == texts_of(2, 3, 4)
    (own,) = [one for one in hit.context if one.is_hit]
    assert query in own.text
    assert hit.context.index(own) == 3 + place
    assert (own.event_index, own.ts, own.event_type) == (hit.event_index, hit.ts, hit.event_type)


def test_context_says_who_spoke_when(five: Settings) -> None:
    (hit,) = hits(five, "prompt 3", turns=1)
    first = hit.context[0]
    assert (first.turn_index, first.kind, first.event_type, first.ts) == (1, "user", "user_message", make.at(20))
    assert [one.kind for one in hit.context] == ["user", "agent", "agent"] * 3
    assert [one.turn_index for one in hit.context] == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    indexes = [one.event_index for one in hit.context]
    assert indexes == sorted(indexes)


def test_without_turns_there_is_no_context(five: Settings) -> None:
    assert [hit.context for hit in hits(five, "prompt", turns=0)] == [()] * 5


def test_a_sub_agents_turns_are_its_own(home: HomeBuilder) -> None:
    home.claude("top", make.claude_prompt("count the swifts", "top", "u1", 1),
                make.claude_answer("counting swifts", "top", "u2", 2))  # fmt: skip
    keys: Record = {"agentId": "x1", "isSidechain": True}
    home.claude_agent("top", "x1", make.claude_prompt("count swifts by the barn", "top", "u3", 1.5, **keys),
                      make.claude_answer("nine swifts", "top", "u4", 1.6, **keys))  # fmt: skip
    settings = home.settings()
    ingest(settings)
    (answer,) = hits(settings, "nine", "answers", turns=50)
    assert told(answer.context) == ["*nine swifts"], "its task is no prompt, and the parent's turns are not its own"
    (task,) = hits(settings, "by the barn", "notices", turns=50)
    assert told(task.context) == ["*count swifts by the barn", "nine swifts"]
    (prompt,) = hits(settings, "count the", turns=50)
    assert told(prompt.context) == ["*count the swifts", "counting swifts"]


def test_of_two_files_of_one_session_the_hits_own_is_shown(home: HomeBuilder) -> None:
    first = [make.claude_prompt(f"swallow {n}", "x", f"u{n}", n) for n in range(3)]
    later = [make.claude_prompt(f"swallow {n}", "x", f"u{n}", n) for n in range(3, 6)]
    home.claude("x", *first, project="p1")
    home.claude("x", *later, project="p2")
    settings = home.settings()
    ingest(settings)
    (hit,) = hits(settings, "swallow 3", turns=2)
    assert hit.session_files == 2
    assert told(hit.context) == ["*swallow 3", "swallow 4", "swallow 5"]
    (hit,) = hits(settings, "swallow 2", turns=2)
    assert told(hit.context) == ["swallow 0", "swallow 1", "*swallow 2"]


def test_a_fork_shows_the_beginning_that_it_shares(home: HomeBuilder) -> None:
    """A copy is a hit once, in the original; around another hit it is what was said before."""
    first = [make.claude_prompt("mend the roof", "orig", "u1", 1), make.claude_answer("roof mended", "orig", "u2", 2)]
    copied = [{**one, "sessionId": "fork", "forkedFrom": {"sessionId": "orig"}} for one in first]
    home.claude("orig", *first)
    home.claude("fork", *copied, make.claude_prompt("and the barn", "fork", "u3", 3))
    settings = home.settings()
    ingest(settings)
    (hit,) = hits(settings, "barn", turns=1)
    assert told(hit.context) == ["mend the roof", "roof mended", "*and the barn"]


def test_what_one_file_tells_twice_is_shown_once(home: HomeBuilder) -> None:
    """An answer that was written again as it grew, and records that were written again as they were."""
    prompt = make.claude_prompt("ask the owl", "s", "u1", 1)
    growing = [make.claude_answer(text, "s", f"g{n}", 2, message_id="m1") for n, text in enumerate(("to", "to wit"))]
    again = make.claude_prompt("thank the owl", "s", "u5", 3)
    home.claude("s", prompt, *growing, prompt, *growing, again, again)
    settings = home.settings()
    ingest(settings)
    (hit,) = hits(settings, "ask", turns=5)
    assert told(hit.context) == ["*ask the owl", "to wit", "thank the owl"]
    (hit,) = hits(settings, "to wit", "answers", turns=5)
    assert told(hit.context) == ["ask the owl", "*to wit", "thank the owl"]


def test_several_prompts_on_one_line_are_one_step(home: HomeBuilder) -> None:
    """Glued records share their line's place: what stands on it is shown as a whole."""
    glued = make.lines(make.aster_prompt("wren one", 1)).strip() + make.lines(make.aster_prompt("wren two", 2)).strip()
    home.aster("s", make.aster_header("s", 0), glued, make.aster_answer("both", 3), make.aster_prompt("wren three", 4))
    settings = home.settings()
    ingest(settings)
    (hit,) = hits(settings, "wren two", turns=1)
    assert told(hit.context) == ["wren one", "*wren two", "both", "wren three"]


def test_memory_and_what_only_a_history_knows_have_no_turns(home: HomeBuilder) -> None:
    home.block("plum-note", "plums in august")
    home.facts("plums are blue")
    home.claude_history(make.claude_history_entry("pickle the plums", None, 2))
    settings = home.settings()
    ingest(settings)
    found = hits(settings, "plum", "prompts", "memory", turns=3)
    assert [hit.context for hit in found] == [(), (), ()]


def test_a_session_of_five_thousand_turns_costs_what_is_shown(home: HomeBuilder) -> None:
    def records() -> Iterator[Record]:
        for number in range(5000):
            yield make.aster_prompt(f"turn {number}x of many", number)
            yield make.aster_answer(f"answer {number}x", number + 0.5)

    home.aster("s", make.aster_header("s", 0), *records())
    settings = home.settings()
    ingest(settings)
    for number in (0, 2500, 4999):
        (hit,) = hits(settings, f"turn {number}x", turns=MANY_TURNS)
        shown = range(max(0, number - 50), min(4999, number + 50) + 1)
        assert [one.turn_index for one in hit.context] == [turn for turn in shown for _ in range(2)]
        assert [one.text for one in hit.context if one.is_hit] == [f"turn {number}x of many"]
    started = time.process_time()
    answered = search(settings, SearchRequest("turn", limit=20, context_turns=MANY_TURNS))
    assert sum(len(hit.context) for hit in answered.hits) > 20 * 100
    assert time.process_time() - started < 2, "twenty hits, each among 5,000 turns"
    _assert_few_rows_are_read(settings)


def _assert_few_rows_are_read(settings: Settings) -> None:
    """Count SQLite's steps, which no busy machine changes: the turns shown, not the session, are looked up."""
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    with closing(sqlite3.connect(settings.index_path)) as connection:
        source_id, first = connection.execute(
            "SELECT source_id, line_number FROM event_rows WHERE is_prompt = 1 ORDER BY id LIMIT 1 OFFSET 2000"
        ).fetchone()
        connection.set_progress_handler(step, 100)
        values = {"id": 1, "source_id": source_id, "first": first, "end": first + 200}
        assert len(connection.execute(STATEMENTS[2], values).fetchall()) == 200
    assert steps < 200, "about 30 steps a row"
