"""Hits as a person and a pipe see them: groups, heads that fit, commands that can be pasted, nothing raw."""

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli import cells, hit_commands, hit_excerpt, hit_lines, hit_text, output, shapes
from cli.search_typed import Typed
from index.search import ContextText, Hit, Place
from tests.cli.test_search_command import FORBIDDEN
from tests.conftest import SHARED

ID = "6b1f0c52-7d3e-4a86-8f15-2c9e4d7a1b30"
TYPED = Typed(query="needle")


def hit(text: str = "a needle here", **known: Any) -> Hit:
    """Return a prompt of a Claude Code session; its spans are where ``needle`` stands."""
    data = text.encode()
    values: dict[str, Any] = {
        "agent": "claude-code", "session_id": ID, "parent_session_id": None, "forked_from": None,
        "session_title": "Keys and locks", "session_created_at": None, "project": "/w/alpha", "cwd": "/w/alpha",
        "event_index": 4, "turn_index": 2,
        "ts": "2026-03-02T00:08:00.000Z", "ts_source": "record", "kind": "user", "event_type": "user_message",
        "field": "prompts", "name": None, "text": text,
        "spans": tuple(found.span() for found in re.finditer(b"needle", data)), "count": 1,
        "place": Place("/w/x.jsonl", 5, 100), "session_files": 1,
    }  # fmt: skip
    return Hit(**{**values, **known})


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str]) -> Callable[..., list[str]]:
    def show(*hits: Hit, typed: Typed = TYPED) -> list[str]:
        capsys.readouterr()
        hit_text.print_hits(hits, typed)
        return capsys.readouterr().out.splitlines()

    return show


def test_hits_stand_below_their_session_in_the_order_of_its_first_hit(shown: Callable[..., list[str]]) -> None:
    other = replace(hit("another needle"), session_id="other", session_title="Second", ts="2026-03-01T00:00:00.000Z")
    late = replace(hit("late needle"), ts="2026-03-03T09:00:00.000Z", event_index=9, turn_index=3, field="answers")
    lines = [re.sub(r"\(\w+ ago\)", "(1d ago)", line) for line in shown(late, other, hit())]
    assert lines == [
        "Keys and locks  /w/alpha  2026-03-03 (1d ago)  claude-code",
        "  turn 3  answers  2026-03-03 09:00",
        "    late needle",
        f"    asx show {ID}:9",
        "  turn 2  2026-03-02 00:08",
        "    a needle here",
        f"    asx show {ID}:4",
        "",
        "Second  /w/alpha  2026-03-01 (1d ago)  claude-code",
        "  turn 2  2026-03-01 00:00",
        "    another needle",
        "    asx show claude-code:other:4",
    ]


def test_folded_prompts_tell_how_often_and_when_last(shown: Callable[..., list[str]]) -> None:
    assert "  turn 2  7 times, last 2026-03-02 00:08" in shown(replace(hit(), count=7))


@pytest.mark.parametrize("known", [{"parent_session_id": "p"}, {"session_id": "p/a7"}], ids=str)
def test_sub_agents_are_labelled(known: dict[str, Any], shown: Callable[..., list[str]]) -> None:
    assert shown(replace(hit(), **known))[0].endswith("claude-code  sub-agent")


def test_forks_are_labelled_unless_they_are_sub_agents(shown: Callable[..., list[str]]) -> None:
    assert shown(replace(hit(), forked_from="o"))[0].endswith("claude-code  fork")
    assert shown(replace(hit(), forked_from="o", parent_session_id="p"))[0].endswith("claude-code  sub-agent")


def test_tools_are_named(shown: Callable[..., list[str]]) -> None:
    told = shown(replace(hit(), field="tools", part="tool_arguments", tool_name="Ba\x1b[1msh"))
    assert "  turn 2  tools Ba\\x1b[1msh  2026-03-02 00:08" in told


def test_what_a_session_has_more_is_a_command(shown: Callable[..., list[str]]) -> None:
    typed = Typed(query="needle", in_=("answers",), since="7d", exclude_session=("x",), limit=3, offset=6)
    told = shown(hit(), replace(hit(), more_in_session=12), typed=typed)
    command = f"asx search --in answers --session {ID} --since 7d needle"
    assert told[-1] == f"  12 more of this session, not listed: {command}"


def test_a_block_has_its_name_for_a_head_and_no_turn(shown: Callable[..., list[str]]) -> None:
    place = Place("/home/m/.local/share/aster/memory/deploy-window.md", None, None)
    block = replace(
        hit("needle\none\ntwo\nthree"), agent="aster", session_id=None, event_index=None, turn_index=None,
        field="memory", kind="memory", name="deploy-window", place=place, session_title=None, project=None,
    )  # fmt: skip
    lines = shown(block)
    assert re.fullmatch(r"deploy-window  2026-03-02 \(\w+ ago\)  aster  memory", lines[0])
    assert lines[1:] == ["    needle", "    one", "    two", "    asx memory show deploy-window"]
    archived = replace(block, place=Place("/m/.archive/x.md", None, None))
    assert shown(archived)[-1] == "    /m/.archive/x.md"


def test_turns_around_a_hit_stand_around_it(shown: Callable[..., list[str]]) -> None:
    near = (
        ContextText(1, 1, "user", "user_message", None, "before\tthat \x1b[31m", False),
        ContextText(2, 4, "user", "user_message", None, "a needle here", True),
        ContextText(2, 5, "agent", "message_text", None, "after " * 100, False),
    )
    lines = shown(replace(hit(), context=near))
    assert lines[2:4] == ["    turn 1  user  before that \\x1b[31m", "    > a needle here"]
    assert lines[4].startswith("    turn 2  agent  after after")
    assert len(lines[4]) <= 100


def test_an_id_of_two_agents_and_a_session_of_two_files_are_told_apart() -> None:
    twin = replace(hit(), agent="aether")
    shared = hit_commands.shared_ids([hit(), twin])
    assert hit_commands.show_command(twin, shared) == f"asx show aether:{ID}:4"
    assert hit_commands.show_argument(twin, shared) == f"aether:{ID}:4"
    chosen = replace(hit(), session_id="my-notes")
    assert hit_commands.show_command(chosen) == "asx show claude-code:my-notes:4"
    assert hit_commands.show_command(replace(hit(), session_id=f"{ID}/a7")) == f"asx show {ID}/a7:4"
    assert hit_commands.show_command(replace(hit(), session_id="01M0CDSRD0M5N6FKF181V7JAJ0")).endswith(
        " 01M0CDSRD0M5N6FKF181V7JAJ0:4"
    )
    several = replace(hit(), session_files=2)
    assert hit_commands.show_command(several) == f"asx show --file /w/x.jsonl {ID}:4"
    assert hit_commands.show_argument(several) == f"{ID}:4:/w/x.jsonl"


def test_a_prompt_of_a_history_alone_has_its_place(shown: Callable[..., list[str]]) -> None:
    alone = replace(hit(), event_index=None, turn_index=None, session_files=0)
    assert hit_commands.show_argument(alone) is None
    assert hit_commands.show_command(alone) == "/w/x.jsonl:5"
    home = os.environ["HOME"]
    assert shown(replace(alone, place=Place(f"{home}/h.jsonl", 5, 0)))[-1] == "    ~/h.jsonl:5"


def program(folder: Path, name: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that alone is PATH."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path / "bin"


def test_a_session_is_gone_on_with_where_its_agent_is_found(programs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "it's here"
    folder.mkdir()
    there = replace(hit(), cwd=str(folder))
    assert hit_commands.resume_command(there) is None
    program(programs, "claude")
    quoted = "'" + str(folder).replace("'", "'\"'\"'") + "'"
    assert hit_commands.resume_command(there) == f"cd {quoted} && claude --resume {ID}"
    assert hit_commands.resume_command(replace(there, cwd="/gone")) is None
    assert hit_commands.resume_command(replace(there, cwd=None)) is None
    of_aster = replace(there, agent="aster", session_id="01M0")
    assert hit_commands.resume_command(of_aster) is None
    program(programs, "aster")
    assert hit_commands.resume_command(of_aster) == f"cd {quoted} && aster --resume 01M0"
    assert hit_commands.resume_command(replace(of_aster, cwd="/gone")) == "aster --resume 01M0"


@pytest.mark.parametrize(
    "known",
    [{"parent_session_id": "p"}, {"session_id": "p/a"}, {"event_index": None}, {"session_id": None},
     {"agent": "aether"}, {"agent": "of another version"}],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_gone_on_with_has_no_command(known: dict[str, Any], programs: Path, tmp_path: Path) -> None:
    for name in ("claude", "aster", "aether"):
        program(programs, name)
    assert hit_commands.resume_command(replace(hit(), cwd=str(tmp_path))) is not None
    assert hit_commands.resume_command(replace(hit(), cwd=str(tmp_path), **known)) is None


def test_a_fork_can_be_gone_on_with(programs: Path, tmp_path: Path) -> None:
    program(programs, "claude")
    fork = replace(hit(), cwd=str(tmp_path), forked_from="o")
    assert hit_commands.resume_command(fork) == f"cd {tmp_path} && claude --resume {ID}"


def test_the_command_to_go_on_with_is_the_last_line_of_a_session(
    programs: Path, tmp_path: Path, shown: Callable[..., list[str]]
) -> None:
    program(programs, "claude")
    lines = shown(replace(hit(), cwd=str(tmp_path)), replace(hit(), cwd=str(tmp_path), more_in_session=1))
    assert lines[-2].startswith("  1 more of this session, not listed: asx search ")
    assert lines[-1] == f"  cd {tmp_path} && claude --resume {ID}"


ODD = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("\x1b\x9b\x07\r\b\u202e\t\n漢👩‍👩‍👧‍👦e\u0301\u00a0"),
    max_size=60,
)


@given(before=ODD, after=ODD, title=ODD, project=ODD, wide=st.integers(20, 200))
def test_nothing_raw_and_nothing_wider_than_the_terminal(
    before: str, after: str, title: str, project: str, wide: int
) -> None:
    one = replace(hit(f"{before}needle{after}"), session_title=title, project=f"/{project}")
    group = hit_text.Group((one,))
    lines = hit_excerpt.excerpt_lines(one.text, one.spans, wide)
    heads = hit_text.head_lines(group, wide, with_title=True)
    for line in [*lines, *heads]:
        assert not FORBIDDEN.search(line)
        assert "\n" not in line
        assert cells.width(line) <= wide
    row = hit_excerpt.one_line(one.text, one.spans, 50)
    assert not re.search(r"[\t\n]", row)
    assert not FORBIDDEN.search(row)


LINE = re.compile(r"(?P<show>[^\t]*)\t2026-03-02 00:08\tclaude-code\t/w/alpha\t(?P<text>[^\t]*)")


def test_lines_have_five_columns(capsys: pytest.CaptureFixture[str]) -> None:
    for one in (hit("two\n\tlines needle \x1b]0;t\x07"), replace(hit(), event_index=None)):
        hit_lines.print_line(one, None)
    first, second = capsys.readouterr().out.splitlines()
    found = LINE.fullmatch(first)
    assert found
    assert found.groups() == (f"claude-code:{ID}:4", "lines needle \\x1b]0;t\\a")
    assert second.startswith("\t2026")


@pytest.mark.parametrize("characters", [1, 7, 40])
def test_lines_are_cut_around_the_span(characters: int, capsys: pytest.CaptureFixture[str]) -> None:
    hit_lines.print_line(hit("漢" * 300 + "needle" + "漢" * 300), characters)
    text = capsys.readouterr().out.rstrip("\n").split("\t")[4]
    assert len(text) == characters + 2
    assert text.strip("…漢")[:6] == "needle"[:characters]


def test_an_argument_that_cannot_be_written_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    hit_lines.print_line(replace(hit(), session_id="a\x1bb"), None)
    assert capsys.readouterr().out.startswith("\t2026")


FAMILY = "👩‍👩‍👧‍👦"
CUT = [
    "漢" * 4000 + "needle" + "漢" * 4000,
    f"needle{FAMILY * 100}",
    FAMILY * 100 + "needle",
    "needle" + "e" + "\u0301" * 200,
]


@pytest.mark.parametrize("text", CUT, ids=["wide", "family after", "family before", "marks"])
def test_a_snippet_of_any_width_is_whole_characters(text: str) -> None:
    one = hit(text)
    for asked in range(1, 41):
        told = shapes.hit(one, snippet_characters=asked)
        assert len(told["text"]) <= asked
        assert text.encode()[told["text_offset"] :].startswith(told["text"].encode())
        assert text.encode()[told["match_start"] : told["match_end"]] == b"needle"
        assert told["text_length"] == len(text)
        line = output.json_text(told)
        assert line.encode("utf-8").decode("utf-8") == line


def test_marks_in_a_text_are_text(capsys: pytest.CaptureFixture[str]) -> None:
    text = "use <mark>x</mark> and [needle] \x02needle\x03"
    told = shapes.hit(hit(text))
    assert told["text"] == text
    assert [text.encode()[start:end] for start, end in told["spans"]] == [b"needle", b"needle"]
    assert hit_excerpt.excerpt_lines(text, hit(text).spans, 80) == ["use <mark>x</mark> and [needle] \\x02needle\\x03"]


def test_the_text_of_a_tool_tells_how_long_the_whole_is() -> None:
    told = shapes.hit(replace(hit(), field="tools", part="tool_arguments", tool_name="Bash", whole_length=9000))
    assert (told["field"], told["in"], told["tool_name"], told["text_length"]) == (
        "tool_arguments",
        "tools",
        "Bash",
        9000,
    )


def test_a_beginning_of_a_text_is_shown_as_one(shown: Callable[..., list[str]]) -> None:
    assert "    a needle here…" in shown(replace(hit(), field="tools", whole_length=9000))
    assert "    a needle here" in shown(replace(hit(), whole_length=13))


def test_public_inputs_stay_harmless() -> None:
    if not (SHARED / "spec").is_dir():
        pytest.skip("the design folder is not beside the repository")
    for file in sorted((SHARED / "spec" / "faults" / "B122").rglob("*.*")):
        text = file.read_text(encoding="utf-8", errors="replace")
        for line in hit_excerpt.excerpt_lines(text, [(0, 1)], 80, below=5):
            assert not FORBIDDEN.search(line)
