"""The chat that a session goes on from, and the rule that makes ``replaces_through`` honest (``spec/aster.md`` 3)."""

from __future__ import annotations

from pathlib import Path

import pytest

from persist.aster import Call, Message, StoredEvent, Summary, Transcript, resume_turns, to_chat_messages
from persist.sources import Line


def transcript(*told: str) -> Transcript:
    """Make a transcript of words: ``u1`` a prompt, ``a1`` an answer, ``c1`` words beside a call, ``t`` a result,
    ``s`` steering, ``=6`` Aster's summary with that number, ``@3`` ours that keeps from line 3. Line 1 is a header.
    """
    events: list[StoredEvent] = []
    for number, word in enumerate(" ".join(told).split(), start=2):
        line = Line(number, number * 100)
        match word[0]:
            case "u":
                events.append(Message(line, "user", word))
            case "a":
                events.append(Message(line, "assistant", word))
            case "b":
                events.append(Message(line, "user" if word == "bu" else "assistant", "  "))
            case "c":
                events.append(Message(line, "assistant", word, tool_calls=(Call("x", "run", "{}"),)))
            case "t":
                events.append(Message(line, "tool", word, tool_call_id="x"))
            case "s":
                events.append(Message(line, "system", word))
            case "=":
                events.append(Summary(line, word, replaces_through=int(word[1:])))
            case "@":
                events.append(Summary(line, word, replaces_through=0, keeps_from_line=int(word[1:])))
            case _:
                events.append(Summary(line, word))
    return Transcript(Path("x.jsonl"), None, tuple(events))


def chat(*told: str) -> str:
    opening = "Summary of earlier conversation:\n"
    return " ".join(message.content.removeprefix(opening) for message in to_chat_messages(transcript(*told)))


TURNS = [f"u{n} a{n}" for n in range(1, 11)]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        pytest.param("u1 a1", "u1 a1", id="no summary"),
        pytest.param("s u1 c1 t a1 bu b", "u1 c1 a1", id="steering, results and blanks are not part of a chat"),
        pytest.param("u1 a1 u2 a2 u3 a3 u4 a4 =2 u5", "=2 u2 a2 u3 a3 u4 a4 u5", id="rule 1: the number fits"),
        pytest.param("u1 c1 t a1 u2 a2 u3 a3 u4 a4 =2", "=2 u2 a2 u3 a3 u4 a4", id="rule 1: commentary is not counted"),
        pytest.param(
            "u1 c1 t u1b c1b t a1 u2 a2 u3 a3 u4 a4 =2", "=2 u2 a2 u3 a3 u4 a4", id="rule 1: typed while it ran"
        ),
        pytest.param("u1 u2 a2 u3 a3 u4 a4 u5 a5 =2", "=2 u3 a3 u4 a4 u5 a5", id="rule 1: a failed turn before"),
        pytest.param("u1 a1 u2 u3 a3 u4 a4 u5 a5 =2", "=2 u2 u3 a3 u4 a4 u5 a5", id="rule 1: a failed turn stays"),
        pytest.param(
            "u1 a1 u2 a2 u3 a3 u4 a4 u5 =2 a5", "=2 u2 a2 u3 a3 u4 a4 u5 a5", id="rule 1: newest prompt not in it"
        ),
        pytest.param("u1 a1 u2 a2 u3 a3 u4 a4 u5 =3 a5", "=3 a2 u3 a3 u4 a4 u5 a5", id="rule 1: newest prompt in it"),
        pytest.param(
            "u1 a1 u2 a2 u3 c3 t a3 u4 a4 =3", "=3 a2 u3 c3 a3 u4 a4", id="rule 2: resumed, all visible count"
        ),
        pytest.param("u1 a1 u2 a2 u3 a3 u4 a4 u5 a5 =2", "=2 u2 a2 u3 a3 u4 a4 u5 a5", id="rule 3: a smaller number"),
        pytest.param("u1 a1 =0 u2 a2", "=0 u1 a1 u2 a2", id="rule 3: nothing was folded"),
        pytest.param("u1 c1 t c1 t a1 u2 a2 u3 a3 u4 a4 =3", "=3 u2 a2 u3 a3 u4 a4", id="rule 4: resumed on the way"),
        pytest.param("u1 a1 u2 a2 u3 a3 =4 u4 a4", "=4 u3 a3 u4 a4", id="rule 5: another writer's count"),
        pytest.param("u1 a1 u2 a2 u3 a3 u4 a4 =40 u5", "=40 u2 a2 u3 a3 u4 a4 u5", id="rule 6: a caller's own history"),
        pytest.param("u1 a1 none u2", "none u1 a1 u2", id="no number: nothing is known to be folded"),
        pytest.param("u1 a1 u2 a2 @4 u3 a3", "@4 u2 a2 u3 a3", id="ours"),
        pytest.param("u1 a1 @6 u2 a2", "@6 u2 a2", id="ours keeps nothing; what comes after it stays"),
        pytest.param("u1 a1 u2 a2 @4 u3 a3 u4 a4 u5 a5 =3", "=3 u3 a3 u4 a4 u5 a5", id="Aster's after ours"),
        pytest.param("u1 a1 u2 a2 @4 u3 a3 @2", "@2 u2 a2 u3 a3", id="what was folded does not come back"),
    ],
)
def test_what_stays_after_a_summary(told: str, expected: str) -> None:
    assert chat(told) == expected


def test_two_compactions_count_in_the_folded_list() -> None:
    turns = list(TURNS)
    turns[2] = "u3 c3 t a3"
    told = [*turns[:6], "=6", *turns[6:9], "=7", turns[9]]
    assert chat(*told) == "=7 u7 a7 u8 a8 u9 a9 u10 a10"


def test_three_compactions_count_in_the_folded_list() -> None:
    told = [*TURNS[:6], "=6", *TURNS[6:8], "=5", *TURNS[8:10], "=5"]
    assert chat(*told) == "=5 u8 a8 u9 a9 u10 a10"


@pytest.mark.parametrize("number", range(30))
@pytest.mark.parametrize(
    "shape", ["u1 a1 u2 c2 t a2 u3 a3 u4 u5 a5 u6 a6 u7", "u1 c1 t u2 a2 bu b u3 a3", "a1 a2 a3", "t s"]
)
def test_whatever_the_number_the_end_stays_and_order_holds(shape: str, number: int) -> None:
    messages = to_chat_messages(transcript(shape, f"={number}", "u8 a8"))
    lines = [message.line_number for message in messages[1:]]
    assert lines == sorted(lines)
    assert [message.content for message in messages[-2:]] == ["u8", "a8"]
    shown = [word for word in shape.split() if word[0] in "uac"]
    kept = [message.content for message in messages[1:-2]]
    assert kept == shown[len(shown) - len(kept) :]
    if number > len(shown):
        assert len(kept) >= min(len(shown), 6)


def test_the_summary_opens_the_chat_as_the_assistant() -> None:
    first = to_chat_messages(transcript("u1 a1 @4"))[0]
    assert (first.role, first.content, first.line_number) == ("assistant", "Summary of earlier conversation:\n@4", 4)


def test_turns_of_a_resumed_chat_are_those_still_shown() -> None:
    told = transcript(*TURNS[:6], "=6")
    assert (told.user_turns, resume_turns(to_chat_messages(told))) == (6, 3)
