"""Claude Code's prompt history and its memory notes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from persist.agents.claude_code.agent import AGENT
from persist.errors import ShapeError
from persist.events import HistoryPrompt, Note, Parsed
from persist.sources import BLOCK, HISTORY, Line, Source, Stat

PASTES = Path(__file__).parent.parent / "data" / "faults" / "B22" / "claude" / "history.jsonl"
SOURCE = Source("claude-code", HISTORY, "/h/history.jsonl", "/h", Stat(0, 0, 0, 0))


def feed(record: Any) -> Parsed:
    return AGENT.open_parser(SOURCE, None).feed(record, Line(1, 0))


def prompt(display: str, **keys: Any) -> HistoryPrompt:
    (found,) = feed({"display": display, **keys}).prompts
    return found


class TestPastesB22:
    PARSED = tuple(feed(json.loads(line)) for line in PASTES.read_text("utf-8").splitlines())

    @pytest.mark.parametrize(
        ("word", "line"),
        [("quokkafish", 1), ("narwhalmoss", 2), ("axolotlfern", 2), ("tamarinleaf", 4), ("okapistem", 5)],
    )
    def test_words_of_pastes_are_in_the_text_of_their_prompt_only(self, word: str, line: int) -> None:
        assert [n for n, p in enumerate(self.PARSED, 1) for entry in p.prompts if word in entry.text] == [line]

    def test_pictures_are_no_text(self) -> None:
        assert "iVBORw0KGgo" not in repr(self.PARSED)

    def test_pastes_stand_where_their_placeholder_stood(self) -> None:
        (entry,) = self.PARSED[0].prompts
        assert entry == HistoryPrompt(
            "look at this log line one\nquokkafish failed\nline three and explain",
            "look at this log [Pasted text #1 +12 lines] and explain",
            "2026-03-02T00:00:00.000Z",
            None,
            "/w/lab",
        )

    @pytest.mark.parametrize("line", [3, 4, 6], ids=["kept by hash", "typed by hand", "a picture"])
    def test_what_is_no_known_paste_is_shown_as_it_is(self, line: int) -> None:
        (entry,) = self.PARSED[line - 1].prompts
        written = json.loads(PASTES.read_text("utf-8").splitlines()[line - 1])["display"]
        assert (entry.text, entry.display) == (written, None)

    def test_an_empty_prompt_is_skipped_by_name(self) -> None:
        assert self.PARSED[6] == Parsed(skipped="empty prompt")
        assert "empty prompt" in AGENT.skips


def test_a_shortened_text_is_put_back_in_place() -> None:
    pasted = {"2": {"id": 2, "type": "text", "content": "MIDDLE"}}
    found = prompt("start[...Truncated text #2 +40 lines...]end", pastedContents=pasted)
    assert found.text == "startMIDDLEend"


def test_a_paste_that_shows_a_placeholder_is_not_read_again() -> None:
    pasted = {
        "1": {"type": "text", "content": "[Pasted text #2] \\1 \\g<0>"},
        "2": {"type": "text", "content": "two"},
    }
    assert prompt("[Pasted text #1]", pastedContents=pasted).text == "[Pasted text #2] \\1 \\g<0>"


def test_a_picture_is_never_put_in_place() -> None:
    pasted = {"1": {"id": 1, "type": "image", "content": "iVBORw0KGgo="}}
    assert prompt("see [Pasted text #1]", pastedContents=pasted).text == "see [Pasted text #1]"


@pytest.mark.parametrize("pasted", [None, [], "x", {"1": "x"}, {"1": {"content": 5}}, {"1": None}])
def test_pastes_of_odd_shapes_leave_the_text(pasted: Any) -> None:
    assert prompt("see [Pasted text #1]", pastedContents=pasted).text == "see [Pasted text #1]"


def test_session_project_and_time() -> None:
    found = prompt("hi", sessionId="s-1", project="/w", timestamp=1772409600123)
    assert (found.session_id, found.project, found.ts) == ("s-1", "/w", "2026-03-02T00:00:00.123Z")


def test_a_bad_time_is_null_and_counted() -> None:
    parsed = feed({"display": "hi", "timestamp": -1})
    assert (parsed.prompts[0].ts, parsed.bad_times) == (None, 1)


@pytest.mark.parametrize("record", [1, None, "x", [], {}, {"display": None}, {"display": 5}])
def test_what_is_no_entry_is_a_shape_error(record: Any) -> None:
    parser = AGENT.open_parser(SOURCE, None)
    state = parser.save()
    with pytest.raises(ShapeError):
        parser.feed(record, Line(1, 0))
    assert parser.save() == state
    assert not parser.recognised


def test_the_state_goes_on_and_another_version_is_refused() -> None:
    parser = AGENT.open_parser(SOURCE, None)
    parser.feed({"display": "x"}, Line(1, 0))
    state = json.loads(json.dumps(parser.save()))
    assert AGENT.open_parser(SOURCE, state).recognised
    with pytest.raises(ValueError, match="read the file anew"):
        AGENT.open_parser(SOURCE, {**state, "version": 99})


class TestNotes:
    @staticmethod
    def read(content: bytes, name: str = "topic.md") -> Note:
        assert AGENT.read_note is not None
        stat = Stat(len(content), 1_772_409_600_000_000_000, 0, 1)
        return AGENT.read_note(Source("claude-code", BLOCK, f"/h/projects/-w/memory/{name}", "/h", stat), content)

    def test_keys_beside_the_name(self) -> None:
        note = self.read(
            b"---\nname: Retry rule\ndescription: wait before 429\ntype: feedback\noriginSessionId: s-7\n---\nWait.\n"
        )
        assert (note.name, note.description, note.kind, note.source_session) == (
            "Retry rule",
            "wait before 429",
            "feedback",
            "s-7",
        )
        assert (note.body.strip(), note.updated_at) == ("Wait.", "2026-03-02T00:00:00.000Z")

    def test_keys_below_metadata(self) -> None:
        note = self.read(
            b'---\nname: retry\ndescription: "a: b"\nmetadata: \n  node_type: memory\n  type: project\n'
            b"  originSessionId: s-8\n  modified: 2026-07-29T13:16:34.420Z\n---\n\nBody\n"
        )
        assert (note.kind, note.source_session, note.updated_at) == ("project", "s-8", "2026-07-29T13:16:34.420Z")
        assert note.description == "a: b"

    def test_the_list_of_links_is_a_note_of_its_own(self) -> None:
        note = self.read(b"- [Retry](retry.md)\n- [Gone](gone.md)\n", "MEMORY.md")
        assert (note.name, note.body.strip()) == ("MEMORY", "- [Retry](retry.md)\n- [Gone](gone.md)")

    @pytest.mark.parametrize(
        "content", [b"", b"plain\n", b"---\nname: cut", b"\xff\xfe words", b"\xef\xbb\xbfplain\r\nlines\r\n"]
    )
    def test_any_bytes_are_a_note_named_after_the_file(self, content: bytes) -> None:
        note = self.read(content)
        assert note.name == "topic"
        assert "\ufeff" not in note.body
