"""The conversation that a resumed Aether session goes on with (``spec/aether.md`` 1.7, behaviours 64 to 76 of 5)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from persist.aether.conversation import Conversation, Message, to_chat_messages
from persist.aether.log import read_log
from persist.aether.store import SessionStore, conversation_at
from tests.persist import aether_records as make
from tests.persist.aether_records import Record

DATA = Path(__file__).parent.parent / "data" / "aether"
CURRENT = DATA / "5b0c7f1e-2d34-4c1b-9a57-0e6f4d2a91c3.jsonl"


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore.from_path(tmp_path)


def rebuild(store: SessionStore, *events: Record, opening: Iterable[Message] = ()) -> Conversation:
    """Write the events and rebuild from the file, twice: a second reading gives the same."""
    store.create("/w", "a:b", session_id="s")
    store.append("s", events)
    first = store.conversation("s", tuple(opening))
    assert store.conversation("s", tuple(opening)) == first
    return first


def told(conversation: Conversation) -> list[tuple[str, str, str]]:
    return [(message.role, message.message_id, message.text) for message in conversation.messages]


def test_b64_message_ids_survive_again_and_again(store: SessionStore) -> None:
    found = rebuild(store, make.prompt("hi", "u1"), make.text("hello", "m1"), make.ended())
    assert told(found) == [("user", "u1", "hi"), ("assistant", "m1", "hello")]
    store.append("s", [make.prompt("more", "u2"), make.text("yes", "m2")])
    assert told(store.conversation("s"))[2:] == [("user", "u2", "more"), ("assistant", "m2", "yes")]


def test_b65_two_texts_in_one_turn_are_two_messages(store: SessionStore) -> None:
    found = rebuild(store, make.prompt("hi"), make.text("one", "m1"), make.text("two", "m2"), make.ended())
    assert told(found)[1:] == [("assistant", "m1", "one"), ("assistant", "m2", "two")]


def test_b66_control_events_are_no_messages_and_the_last_switch_tells_the_agent(store: SessionStore) -> None:
    found = rebuild(store, make.switched("Planner"), make.prompt("hi"), make.switched(None))
    assert told(found) == [("user", "u1", "hi")]
    assert found.last_agent is None


def test_b67_a_note_of_a_background_tool_stands_behind_answers_that_wait(store: SessionStore) -> None:
    found = rebuild(
        store, make.prompt("hi"), make.call("c1"), make.result("out", "c1"), make.task_done("a < b", "t1"),
        make.text("done", "m1"), make.ended(),
    )  # fmt: skip
    assert told(found) == [
        ("user", "u1", "hi"),
        ("assistant", "m1", "done"),
        ("tool", "m1:c1", "out"),
        ("user", "task-result:t1", '<task-result id="t1" tool="coding__run" status="completed">a &lt; b</task-result>'),
    ]
    assert [message.is_prompt for message in found.messages] == [True, False, False, False]


def test_a_note_between_turns_stands_where_it_came(store: SessionStore) -> None:
    failed = make.task("failed", "t1", error={**make.request(), "error": 'no "luck"'})
    cancelled = make.task("cancelled", 't"2')
    found = rebuild(store, make.text("one", "m1"), failed, cancelled, make.text("two", "m2"))
    assert [text for _, _, text in told(found)] == [
        "one",
        '<task-result id="t1" tool="coding__run" status="failed">no "luck"</task-result>',
        '<task-result id=\'t"2\' tool="coding__run" status="cancelled"></task-result>',
        "two",
    ]


def test_b68_a_call_its_result_and_a_text_are_one_message_and_its_answer(store: SessionStore) -> None:
    found = rebuild(store, make.prompt("run it"), make.call(), make.result("42"), make.text("It is 42."), make.ended())
    _, answer, tool = found.messages
    assert [(made.id, made.name, made.arguments) for made in answer.tool_calls] == [("c1", "coding__run", "{}")]
    assert (answer.text, tool.role, tool.tool_call_id, tool.text, tool.is_error) == (
        "It is 42.", "tool", "c1", "42", False,
    )  # fmt: skip


def test_a_call_without_words_is_a_message_of_its_own(store: SessionStore) -> None:
    found = rebuild(store, make.call(), make.result("42"), make.text("", "m1"),
                    make.call("c2"), make.result("43", "c2"), make.text("Both.", "m2"), make.ended())  # fmt: skip
    assert [(role, message_id) for role, message_id, _ in told(found)] == [
        ("assistant", "m1"), ("tool", "m1:c1"), ("assistant", "m2"), ("tool", "m2:c2"),
    ]  # fmt: skip
    assert found.messages[0].content == ()


def test_a_background_call_is_answered_at_once(store: SessionStore) -> None:
    found = rebuild(store, make.call(), make.task("created", status_message=None), make.text("Started."))
    assert "in the background" in found.messages[1].text


def test_b69_a_tool_error_is_a_failed_answer_and_a_clear_removes_what_was_before(store: SessionStore) -> None:
    found = rebuild(store, make.prompt("old"), make.call(), make.error("no such file"), make.text("Failed."))
    assert (found.messages[-1].text, found.messages[-1].is_error) == ("no such file", True)
    store.append("s", [make.CLEARED_BY_PERSON, make.prompt("new", "u2")])
    assert told(store.conversation("s")) == [("user", "u2", "new")]


@pytest.mark.parametrize("events", [[], [make.ended()], [make.text(""), make.ended()]], ids=len)
def test_b70_nothing_and_an_end_without_content_add_no_message(store: SessionStore, events: list[Record]) -> None:
    assert rebuild(store, *events).messages == ()


def test_b71_a_turns_end_resets_what_was_collected(store: SessionStore) -> None:
    found = rebuild(store, make.prompt("a"), make.call(), make.result("lost"), make.ended("cancelled"),
                    make.prompt("b", "u2"), make.text("c"), make.ended())  # fmt: skip
    assert told(found) == [("user", "u1", "a"), ("user", "u2", "b"), ("assistant", "m1", "c")]
    assert found.discarded_outcomes == 1


def test_b72_compaction_leaves_one_summary(store: SessionStore) -> None:
    found = rebuild(store, make.prompt("a"), make.text("b"), make.compacted("They spoke."), make.prompt("c", "u2"))
    assert told(found) == [("summary", "s1", "They spoke."), ("user", "u2", "c")]
    assert [tuple(message) for message in to_chat_messages(found.messages)] == [
        ("assistant", "Summary of earlier conversation:\nThey spoke."),
        ("user", "c"),
    ]
    assert (found.turns, found.first_prompt) == (2, "a")


def test_b73_chunks_are_neither_written_nor_rebuilt(store: SessionStore) -> None:
    path = store.create("/w", "a:b", session_id="s")
    assert store.append("s", [make.text("whole", "m1"), make.text("grow", "m1", complete=False)]).transient == 1
    with path.open("a") as file:
        file.write('{"kind":"agent","data":{"category":"message","event":{"type":"text","message_id":"m1",'
                   '"chunk":"grow","is_complete":false}}}\n')  # fmt: skip
    assert told(store.conversation("s")) == [("assistant", "m1", "whole")]


def test_b74_boundaries_are_the_live_runs_also_with_a_repeated_provider_id(store: SessionStore) -> None:
    found = rebuild(
        store, make.prompt("a"), make.call("c1"), make.result("1", "c1"), make.text("one", "p1"),
        make.thought("because", "p1:thought"), make.call("c2"), make.result("2", "c2"), make.text("two", "p1"),
        make.thought("and so", "p1:thought"), make.ended(),
    )  # fmt: skip
    assert [(message.role, message.message_id, message.reasoning) for message in found.messages[1:]] == [
        ("assistant", "p1", "because"), ("tool", "p1:c1", None),
        ("assistant", "p1", "and so"), ("tool", "p1:c2", None),
    ]  # fmt: skip


def test_b74_a_thought_of_another_message_is_not_kept(store: SessionStore) -> None:
    found = rebuild(
        store, make.thought("early", "m1:thought"), make.text("x", "m1"), make.thought("other", "m2:thought")
    )
    assert found.messages[0].reasoning is None


def test_b75_the_agents_going_on_by_itself_is_a_message_with_its_id(store: SessionStore) -> None:
    found = rebuild(store, make.prompt("a"), make.text("b"), make.auto_continue("Go on.", "a9"), make.text("c", "m2"))
    assert told(found)[1:] == [("assistant", "m1", "b"), ("user", "a9", "Go on."), ("assistant", "m2", "c")]
    assert found.turns == 1


def test_b76_system_messages_stay_and_nothing_gives_no_summary(store: SessionStore) -> None:
    system = Message("system", "sys", ({"type": "text", "text": "Be brief."},))
    assert told(rebuild(store, make.compacted("Nothing."), opening=[system])) == [("system", "sys", "Be brief.")]
    store.append("s", [make.prompt("a"), make.compacted("Something."), make.prompt("b", "u2")])
    assert [role for role, _, _ in told(store.conversation("s", [system]))] == ["system", "summary", "user"]
    store.append("s", [make.CLEARED_BY_AGENT])
    assert [role for role, _, _ in told(store.conversation("s", [system]))] == ["system"]


def test_b53_the_whole_content_is_rebuilt_where_a_display_form_is_shown(store: SessionStore) -> None:
    shown = [{"type": "text", "text": "/plan"}]
    image = {"type": "image", "data": "aWk=", "mime_type": "image/png"}
    whole = [{"type": "text", "text": "Plan it."}, image]
    found = rebuild(store, make.prompt(None, "u7", content=whole, display_content=shown))
    assert (found.messages[0].message_id, found.messages[0].content) == ("u7", tuple(whole))
    assert found.first_prompt == "/plan"


def test_the_sample_ends_with_its_last_turn() -> None:
    found = conversation_at(CURRENT)
    assert [(message.role, message.message_id[:8]) for message in found.messages] == [
        ("user", "90ab12cd"), ("assistant", "a1c3e5f7"),
    ]  # fmt: skip
    assert (found.turns, found.last_agent, found.last_usage["sequence"]) == (4, "Coder", 2)


def test_older_eras_are_rebuilt_with_ids_made_of_their_lines(tmp_path: Path) -> None:
    lines = (DATA / "07f4d1b3-8c25-4e69-9a0b-2d3c4e5f6a71.jsonl").read_text().split("\n")
    cleared = next(
        number for number, line in enumerate(lines) if "ContextCompaction" in line or "ContextCleared" in line
    )
    path = tmp_path / "old.jsonl"
    path.write_text("\n".join(lines[:cleared]) + "\n")
    found = conversation_at(path)
    prompts = [message for message in found.messages if message.is_prompt]
    assert prompts[0].text.startswith("Why does the kiln controller drift?")
    assert prompts[0].message_id == "07f4d1b3-8c25-4e69-9a0b-2d3c4e5f6a71:2"
    assert any(message.role == "assistant" and message.text for message in found.messages)


@pytest.mark.parametrize("path", sorted(DATA.glob("*-*-*.jsonl")), ids=lambda path: path.stem[:8])
def test_no_sample_stops_it_and_damage_is_counted(path: Path) -> None:
    found = conversation_at(path)
    entries = list(read_log(path).entries())
    assert found.damaged == sum(entry.status in ("malformed", "pending") for entry in entries)
    assert found.turns == sum(entry.event is not None and entry.event.is_prompt for entry in entries)
