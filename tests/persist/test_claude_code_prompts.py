"""What a person typed and what Claude Code wrote in a user record: told by flags and structure (B24)."""

from __future__ import annotations

from typing import Any

import pytest

from persist.agents.claude_code.agent import AGENT
from persist.agents.claude_code.text import BARE_COMMAND, COMMAND, INTERRUPTED, NOTICE, TYPED, sort_text
from persist.events import Event
from persist.sources import TRANSCRIPT, Line, Source, Stat

SOURCE = Source("claude-code", TRANSCRIPT, "/h/projects/-w/one.jsonl", "/h", Stat(0, 0, 0, 0))


def events(content: Any, **keys: Any) -> list[Event]:
    record = {"type": "user", "message": {"role": "user", "content": content}, "sessionId": "s", **keys}
    return list(AGENT.open_parser(SOURCE, None).feed(record, Line(1, 0)).events)


@pytest.mark.parametrize(
    ("text", "sort"),
    [
        ("fix the gate", TYPED),
        ("", TYPED),
        ("<b>bold</b> words", TYPED),
        ("<system-reminder>note</system-reminder>", NOTICE),
        ("  <system-reminder>a</system-reminder>\n<system-reminder>b</system-reminder>\n", NOTICE),
        ("<system-reminder>note</system-reminder> what is this?", TYPED),
        ("what is <system-reminder>note</system-reminder>", TYPED),
        ("<system-reminder>never closed", TYPED),
        ("<system-reminder>", TYPED),
        ("<system-reminders>x</system-reminders>", TYPED),
        ("<bash-input>ls</bash-input>", NOTICE),
        ("<bash-stdout>a < b</bash-stdout><bash-stderr></bash-stderr>", NOTICE),
        ("<local-command-stdout>x</local-command-stdout>", NOTICE),
        ("<ide_selection>lines 1-2</ide_selection>", NOTICE),
        ("<user-prompt-submit-hook>x</user-prompt-submit-hook>", NOTICE),
        ("<session-start-hook>x</session-start-hook>", NOTICE),
        ('<teammate-message teammate_id="lead" summary="x">Go on</teammate-message>', NOTICE),
        ("<task-notification>\n<status>failed</status>\n</task-notification>", NOTICE),
        (
            "<task-notification>x</task-notification>\nRead the output file to retrieve the result: /tmp/a.output",
            NOTICE,
        ),
        ("<task-notification>x</task-notification>\nRead the output file to retrieve the result: a b", TYPED),
        ("<command-name>/clear</command-name><command-args>  </command-args>", BARE_COMMAND),
        ("<command-message>x</command-message>", NOTICE),
        ("<command-name></command-name><command-args>y</command-args>", NOTICE),
        ("<command-name>/go</command-name>\n<command-args>north</command-args>", COMMAND),
        ("[Request interrupted by user]", INTERRUPTED),
        ("[Request interrupted by user for tool use]", INTERRUPTED),
        ("[Request interrupted by user] why?", TYPED),
    ],
)
def test_a_text_is_sorted_by_its_whole_structure(text: str, sort: str) -> None:
    assert sort_text(text).sort == sort


@pytest.mark.parametrize("order", ["name first", "message first"])
def test_a_command_is_kept_as_it_was_typed(order: str) -> None:
    parts = ["<command-name>go</command-name>", "<command-message>go is running…</command-message>"]
    if order == "message first":
        parts.reverse()
    text = "\n".join([*parts, "<command-args>north\nfast</command-args>"])
    assert sort_text(text).text == "/go north\nfast"


def test_b24_two_human_prompts_among_the_noise() -> None:
    parser = AGENT.open_parser(SOURCE, None)
    base = {"type": "user", "sessionId": "s"}
    noise = [
        {**base, "message": {"content": [{"type": "tool_result", "tool_use_id": f"t{n}", "content": "ok"}]}}
        for n in range(5)
    ] + [{**base, "isMeta": True, "message": {"content": f"remember {n}"}} for n in range(3)]
    human = [
        {**base, "message": {"content": "open the gate"}},
        {**base, "message": {"content": "what does <system-reminder>x</system-reminder> do?"}},
    ]
    lines = [*noise[:3], human[0], *noise[3:], human[1]]
    parsed = [parser.feed(record, Line(number, 0)) for number, record in enumerate(lines, 1)]
    prompts = [e.text for p in parsed for e in p.events if e.is_prompt]
    assert prompts == ["open the gate", "what does <system-reminder>x</system-reminder> do?"]


@pytest.mark.parametrize(
    ("flags", "event_type", "is_prompt"),
    [
        ({}, "user_message", True),
        ({"promptSource": "typed"}, "user_message", True),
        ({"promptSource": "sdk", "entrypoint": "sdk-cli"}, "user_message", True),
        ({"origin": {"kind": "human"}}, "user_message", True),
        ({"origin": {"kind": "peer"}}, "user_notice", False),
        ({"origin": {"kind": "task-notification"}}, "user_notice", False),
        ({"origin": "odd"}, "user_message", True),
        ({"promptSource": "system"}, "user_notice", False),
        ({"isMeta": True}, "user_notice", False),
        ({"isMeta": True, "origin": {"kind": "human"}}, "user_notice", False),
        ({"isVisibleInTranscriptOnly": True}, "user_notice", False),
        ({"turnCompanion": True}, "user_notice", False),
        ({"isSidechain": True}, "user_message", False),
        ({"sessionKind": "bg"}, "user_message", True),
    ],
    ids=str,
)
def test_flags_tell_who_speaks(flags: dict[str, Any], event_type: str, is_prompt: bool) -> None:
    (event,) = events("walk the dog", **flags)
    assert (event.event_type, event.is_prompt, event.text) == (event_type, is_prompt, "walk the dog")


def test_a_command_without_arguments_is_a_prompt_only_if_a_flag_says_a_person_sent_it() -> None:
    text = "<command-name>/deploy</command-name>"
    assert [(e.event_type, e.text, e.is_prompt) for e in events(text)] == [("user_notice", "/deploy", False)]
    (sworn,) = events(text, origin={"kind": "human"})
    assert (sworn.event_type, sworn.text, sworn.is_prompt) == ("user_message", "/deploy", True)


def test_an_interruption_ends_the_turn_unless_a_flag_says_a_person_typed_it() -> None:
    text = "[Request interrupted by user]"
    (event,) = events(text)
    assert (event.kind, event.event_type, event.outcome) == ("control", "turn_ended", "cancelled")
    (typed,) = events(text, origin={"kind": "human"})
    assert (typed.event_type, typed.is_prompt) == ("user_message", True)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", [("user_message", None, False, 0)]),
        (None, [("user_message", None, False, 0)]),
        (7, [("user_message", None, False, 0)]),
        ([], [("user_message", None, False, 0)]),
        ([{"type": "text"}], [("user_message", None, False, 0)]),
        ([{"type": ["odd"], "text": "x"}], [("user_message", None, False, 0)]),
        ("  \n", [("user_message", "  \n", False, 0)]),
        (["plain", {"text": "typeless"}, {"type": "input_text", "text": "named"}], [
            ("user_message", "plain\ntypeless\nnamed", True, 0)]),
        ({"type": "text", "text": "one block"}, [("user_message", "one block", True, 0)]),
        ([{"type": "document", "source": {}}], [("user_message", None, True, 0)]),
        ([{"type": "image"}, {"type": "text", "text": "see"}], [("user_message", "see", True, 1)]),
        (
            [{"type": "tool_result", "tool_use_id": "t", "content": "r"}, {"type": "text", "text": "and this"}],
            [("tool_result", "r", False, 0), ("user_message", "and this", True, 1)],
        ),
        (
            [{"type": "text", "text": "say"}, {"type": "text", "text": "<ide_selection>x</ide_selection>"}],
            [("user_message", "say", True, 0), ("user_notice", "<ide_selection>x</ide_selection>", False, 1)],
        ),
        (
            [{"type": "text", "text": "<ide_selection>x</ide_selection>"}, {"type": "image"}],
            [("user_notice", "<ide_selection>x</ide_selection>", False, 0), ("user_message", None, True, 1)],
        ),
    ],
)  # fmt: skip
def test_contents_of_every_shape(content: Any, expected: list[tuple[str, str | None, bool, int]]) -> None:
    found = [(e.event_type, e.text if e.text != "" else None, e.is_prompt, e.part) for e in events(content)]
    assert found == expected


def test_a_document_in_a_machines_record_is_a_notice_without_text() -> None:
    (event,) = events([{"type": "document", "source": {"data": "JVBERi0="}}], isMeta=True)
    assert (event.event_type, event.text, event.is_prompt) == ("user_notice", None, False)


class TestPromptsTypedWhileTheAgentWasBusy:
    """They are attachments of the kind ``queued_command``, and no user record ever follows."""

    @staticmethod
    def read(**attachment: Any) -> list[Event]:
        record = {"type": "attachment", "sessionId": "s", "attachment": {"type": "queued_command", **attachment}}
        return list(AGENT.open_parser(SOURCE, None).feed(record, Line(1, 0)).events)

    @pytest.mark.parametrize("extra", [{}, {"commandMode": "prompt"}, {"origin": {"kind": "human"}}], ids=str)
    def test_they_are_prompts(self, extra: dict[str, Any]) -> None:
        (event,) = self.read(prompt="and the tests", **extra)
        assert (event.event_type, event.text, event.is_prompt) == ("user_message", "and the tests", True)

    def test_one_with_a_picture_is_a_list(self) -> None:
        (event,) = self.read(prompt=[{"type": "text", "text": "like this"}, {"type": "image"}], commandMode="prompt")
        assert (event.text, event.is_prompt) == ("like this", True)

    @pytest.mark.parametrize("extra", [{"commandMode": "task-notification"}, {"origin": {"kind": "peer"}}], ids=str)
    def test_what_a_machine_queued_is_a_notice(self, extra: dict[str, Any]) -> None:
        (event,) = self.read(prompt="done", **extra)
        assert (event.event_type, event.is_prompt) == ("user_notice", False)
