"""From a note to the session and the event that it comes from, and from a session to what it wrote; pure."""

from __future__ import annotations

from pathlib import Path

import pytest

from persist.errors import AmbiguousError
from persist.events import JournalEntry, Note, NoteFact
from persist.memory.blocks import Block
from persist.memory.journal import Operation
from persist.memory.provenance import (
    Call,
    Turn,
    Writing,
    find_turn,
    is_same,
    writing_of_block,
    writing_of_fact,
    written_by,
)


def at(minute: int) -> str:
    return f"2026-05-04T08:{minute:02}:00.000Z"


def line(op: str, name: str | None, minute: int, session: str | None = None, **more: str) -> Operation:
    return Operation(JournalEntry(at(minute), op, name, more.pop("detail", None), session), step=more.pop("step", None))


def block(stem: str, session: str | None = None, title: str | None = None) -> Block:
    return Block(Note(stem, "x", source_session=session, title=title, updated_at=at(50)), Path(f"/m/{stem}.md"), 1)


def prompt(index: int, minute: int) -> Call:
    return Call(index, "user_message", at(minute), None, None, "/t")


def call(index: int, minute: int, tool: str, arguments: str) -> Call:
    return Call(index, "tool_call", at(minute), tool, arguments, "/t")


class TestWriting:
    def test_the_newest_line_of_the_headers_session_counts(self) -> None:
        note = Note("deploy-window", "x", source_session="s1", title="Deploy window")
        told = [
            line("remember", "deploy-window", 9),
            line("remember", "deploy-window", 8, "s2"),
            line("recall", "deploy-window", 7, "s1"),
            line("remember", "Deploy Window", 6, "S_1", step="01K"),
            line("remember", "deploy-window", 5, "s1"),
            line("remember", "other", 4, "s1"),
        ]
        names = ("Deploy window", "deploy-window")
        assert writing_of_block("deploy-window", note, told) == Writing("s1", at(5), names, op="remember")
        titled = writing_of_block("deploy-window", note._replace(source_session="aster:s-1"), told)
        assert titled == Writing("aster:s-1", at(6), names, op="remember", step="01K")

    def test_without_a_line_the_header_tells_and_without_a_header_the_line(self) -> None:
        named = Note("a", "x", source_session="s1", updated_at=at(3))
        assert writing_of_block("a", named, []) == Writing("s1", at(3), ("a",), stem="a")
        told = [line("remember", "a", 5, "s2", step="01K"), line("remember", "a", 4, "s1")]
        assert writing_of_block("a", Note("a", "x"), told) == Writing(
            "s2", at(5), ("a",), op="remember", step="01K", stem="a"
        )
        assert writing_of_block("a", Note("a", "x"), [line("remember", "a", 5)]) is None

    def test_a_fact_is_known_by_the_beginning_of_its_text(self) -> None:
        told = [
            line("append_project", None, 9, "s3", detail="Short"),
            line("append_project", None, 8, detail="Deploys leave from main."),
            line("append_project", None, 7, "s2", detail="Deploys leave from main."),
            line("append_project", None, 6, "s1", detail="y" * 200),
        ]
        found = writing_of_fact(NoteFact("Deploys leave\nfrom main.", 3, 9, 4), told)
        assert found is not None
        assert (found.session, found.ts, found.is_fact) == ("s2", at(7), True)
        long = writing_of_fact(NoteFact("y" * 300, 4, 9, 4), told)
        assert long is not None
        assert long.session == "s1"
        assert writing_of_fact(NoteFact("Shorter than that", 5, 9, 5), told) is None


BLOCK = Writing("s1", at(10), ("Deploy window", "deploy-window"), op="remember")


@pytest.mark.parametrize("arguments", ["[" * 200_000, '{"title":' * 200_000, "9" * 9_000, "{", ""])
def test_arguments_that_are_no_object_of_ours_write_nothing(arguments: str) -> None:
    """An agent keeps arguments as a text, so no reader has looked into them before."""
    assert find_turn(BLOCK, [prompt(0, 5), call(1, 6, "remember", arguments)]) == Turn(0, "/t", "time")


class TestTurn:
    @pytest.mark.parametrize(
        ("tool", "arguments"),
        [
            ("remember", '{"note": "x", "title": "Deploy  window"}'),
            ("mcp__aster__remember", '{"title": "deploy-window", "note": "x"}'),
            ("Bash", '{"command": "asx remember --title \'Deploy window\' Tuesday"}'),
            ("shell", '{"command": ["asx", "memory add --title", "deploy window"]}'),
            ("remember", '{"note": "cut short", "title": "Deploy window'),
        ],
        ids=["the tool", "a tool of a server", "a command", "a command in parts", "arguments cut short"],
    )
    def test_a_call_that_keeps_it_by_its_name_is_found(self, tool: str, arguments: str) -> None:
        calls = [prompt(0, 1), call(1, 2, tool, arguments), prompt(2, 3), call(3, 4, "Bash", "{}"), prompt(4, 20)]
        assert find_turn(BLOCK, calls) == Turn(1, "/t", "named")

    @pytest.mark.parametrize(
        ("tool", "arguments"),
        [
            ("remember", '{"note": "Deploy window", "title": "Other"}'),
            ("recall", '{"name": "Deploy window"}'),
            ("Bash", '{"command": "asx recall \'Deploy window\'"}'),
            ("forget", '{"name": "deploy-window"}'),
            ("Read", "deploy-window.md"),
        ],
    )
    def test_a_call_that_only_speaks_of_it_is_not(self, tool: str, arguments: str) -> None:
        calls = [prompt(0, 1), call(1, 2, tool, arguments), prompt(2, 3), prompt(4, 20)]
        assert find_turn(BLOCK, calls) == Turn(2, "/t", "time")

    def test_of_several_calls_the_last_before_the_line_counts_else_the_first_behind_it(self) -> None:
        keep = '{"title": "Deploy window", "note": "x"}'
        calls = [call(1, 2, "remember", keep), call(2, 9, "remember", keep), call(3, 11, "remember", keep)]
        assert find_turn(BLOCK, calls) == Turn(2, "/t", "named")
        assert find_turn(BLOCK._replace(ts=at(1)), calls) == Turn(1, "/t", "named")
        assert find_turn(BLOCK._replace(ts=None), calls) == Turn(3, "/t", "named")

    def test_without_a_call_it_is_the_turn_at_that_time(self) -> None:
        assert find_turn(BLOCK, [prompt(0, 1), prompt(7, 10), prompt(9, 11)]) == Turn(7, "/t", "time")
        two = [prompt(5, 8)._replace(source_path="/b"), prompt(1, 3)]
        assert find_turn(BLOCK, two) == Turn(5, "/b", "time")
        assert find_turn(BLOCK, [prompt(0, 11)]) is None
        assert find_turn(BLOCK._replace(ts=None), [prompt(0, 1)]) is None
        assert find_turn(BLOCK, [prompt(0, 1)._replace(ts=None)]) is None
        assert find_turn(BLOCK, []) is None

    def test_what_a_plan_wrote_comes_from_the_session_as_far_as_it_had_come(self) -> None:
        keep = call(1, 2, "remember", '{"title": "Deploy window"}')
        assert find_turn(BLOCK._replace(step="01K"), [prompt(0, 1), keep, prompt(2, 3)]) == Turn(
            2, "/t", "consolidated"
        )

    def test_a_block_of_which_only_the_slug_is_known_is_found_by_it(self) -> None:
        block = BLOCK._replace(names=("deploy-window",), stem="deploy-window")
        for tool, arguments in [
            ("remember", '{"title": "Deploy Window!", "note": "x"}'),
            ("Bash", '{"command": "asx remember --title \'Deploy window\' x"}'),
        ]:
            assert find_turn(block, [call(1, 2, tool, arguments)]) == Turn(1, "/t", "named")
        assert find_turn(block, [call(1, 2, "remember", '{"title": "Deploy windows", "note": "x"}')]) is None

    def test_a_fact_is_found_by_its_text(self) -> None:
        fact = Writing("s1", at(10), ("Deploys leave from main.",), is_fact=True, op="append_project")
        calls = [
            call(1, 2, "remember", '{"note": "Deploys leave\\nfrom main."}'),
            call(2, 3, "remember", '{"note": "Other", "title": "Deploys leave from main."}'),
        ]
        assert find_turn(fact, calls) == Turn(1, "/t", "named")
        typed = call(3, 4, "Bash", '{"command": "asx remember \'Deploys leave from main.\'"}')
        assert find_turn(fact, [typed]) == Turn(3, "/t", "named")


class TestWrittenBy:
    BLOCKS = (block("a", "s1"), block("b", "other"), block("c", None, "See me"), block("d", "aster:S_1"))
    LINES = (
        line("remember", "b", 5, "s1"),
        line("remember", "See me", 4, "s1"),
        line("remember", "gone", 3, "s1"),
        line("recall", "e", 2, "s1"),
        line("append_project", None, 2, "s1", detail="A fact."),
        line("append_project", None, 1, "other", detail="Another."),
    )
    FACTS = (NoteFact("A fact.", 3, 9, 3), NoteFact("Another.", 4, 20, 4))

    def test_by_the_header_and_by_the_journal(self) -> None:
        found = written_by("s1", self.BLOCKS, self.FACTS, self.LINES)
        assert [(one.path.stem, where) for one, where in found.blocks] == [
            ("a", ("header",)), ("b", ("journal",)), ("c", ("journal",))
        ]  # fmt: skip
        assert found.facts == self.FACTS[:1]
        assert found.gone == ("gone",)
        assert written_by("s-1", self.BLOCKS, self.FACTS, self.LINES).blocks[0][0].path.stem == "d"

    def test_a_beginning_does_where_it_fits_one(self) -> None:
        blocks = [block("a", "01abcd1"), block("b", "01abcd2"), block("c", "02abcd")]
        assert [one.path.stem for one, _ in written_by("02ab", blocks, (), ()).blocks] == ["c"]
        with pytest.raises(AmbiguousError):
            written_by("01abcd", blocks, (), ())
        assert written_by("02a", blocks, (), ()).blocks == ()
        assert written_by("!!!!", blocks, (), ()).blocks == ()

    def test_ids_are_one_but_for_case_and_agent(self) -> None:
        assert is_same("01KB", "01kb")
        assert is_same("aster:01kb", "01kb")
        assert is_same("conv_1", "conv-1")
        assert not is_same(None, "x")
        assert not is_same("", "")
