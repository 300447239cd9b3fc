"""Public faults of search on a terminal: what a person sees, and that nothing of a transcript is obeyed there.

Each command is a process whose streams are one pseudo-terminal. Our own colours are taken out first, exactly those
that ``cli.output`` has; whatever else a terminal would obey is a fault.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests import builders as make
from tests.builders import HomeBuilder
from tests.conftest import Asx
from tests.terminal import on_a_terminal

Terminal = Callable[..., tuple[int, str]]

RAW: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
OURS: Final = re.compile("\x1b\\[(?:1;31|1|2|33|0)m")
HIT: Final = re.compile("\x1b\\[1;31m(.*?)\x1b\\[0m")
EVERYWHERE: Final = "all"
EVIL: Final = "a\x1b]0;pwned\x07b\u202ec\x9bd"


@pytest.fixture
def home(isolated: Path) -> HomeBuilder:
    return HomeBuilder(isolated)


@pytest.fixture
def terminal() -> Terminal:
    """The command on a pseudo-terminal with colours: its exit code and all that reached the screen."""

    return on_a_terminal


def is_harmless(shown: str) -> bool:
    return not RAW.search(OURS.sub("", shown.replace("\r\n", "\n")))


def type_in(home: HomeBuilder, *texts: str, session: str = "s") -> Path:
    prompts = (make.aster_prompt(text, minute) for minute, text in enumerate(texts, start=1))
    return home.aster(session, make.aster_header(session, 0), *prompts)


@pytest.mark.parametrize("mode", [(), ("--words",), ("--regex",)], ids=["substring", "words", "regex"])
def test_b54_marks_in_a_text_are_text_and_the_highlights_are_ours(
    mode: tuple[str, ...], home: HomeBuilder, terminal: Terminal, asx: Asx
) -> None:
    type_in(home, "use <mark>x</mark> and [needle] \x02needle\x03")
    assert asx("ingest").code == 0
    code, shown = terminal("search", *mode, "needle")
    assert code == 0
    assert HIT.findall(shown) == ["needle", "needle"]
    assert is_harmless(shown)
    assert "use <mark>x</mark> and [needle] \\x02needle\\x03" in OURS.sub("", shown)
    (hit,) = asx("search", *mode, "needle", "--json").json()["hits"]
    assert hit["text"] == "use <mark>x</mark> and [needle] \x02needle\x03"
    assert [hit["text"].encode()[start:end] for start, end in hit["spans"]] == [b"needle"] * 2


def test_b54_a_text_that_looks_like_a_highlight_gives_none(home: HomeBuilder, terminal: Terminal, asx: Asx) -> None:
    type_in(home, "\x1b[1;31mfalse\x1b[0m and needle")
    assert asx("ingest").code == 0
    _code, shown = terminal("search", "needle")
    assert HIT.findall(shown) == ["needle"]
    assert "\\x1b[1;31mfalse\\x1b[0m" in shown


def test_b99_a_session_of_five_thousand_messages_leaves_room(home: HomeBuilder, terminal: Terminal, asx: Asx) -> None:
    """Newest of all and alone twenty pages long; no option is given."""
    home.claude("giant", *(make.claude_prompt(f"heron {n}", "giant", f"u{n}", 1000 + n) for n in range(5000)))
    for number in range(12):
        type_in(home, f"a small heron {number}", session=f"small-{number:02}")
    assert asx("ingest").code == 0
    code, shown = terminal("search", "heron")
    seen = OURS.sub("", shown)
    assert code == 0
    assert re.findall(r"^ +heron (\d+)\r$", seen, re.MULTILINE) == ["4999", "4998", "4997", "4996", "4995"]
    assert re.search(r"^ +(and )?4,995 more .*: asx search --session claude-code:giant heron\r$", seen, re.MULTILINE)
    assert {int(number) for number in re.findall(r"a small heron (\d+)", seen)} == set(range(12))
    piped = asx("search", "heron", env={"NO_COLOR": "1"})
    assert len(re.findall(r"^ +heron \d+$", piped.stdout, re.MULTILINE)) == 5
    assert asx("search", "heron", "--count").stdout == "5012\n"


@pytest.fixture
def evil(home: HomeBuilder, data: Path, asx: Asx) -> HomeBuilder:
    """Control codes in messages, titles, block names and paths, with a damaged line in a file of such a name."""
    shutil.copytree(data / "faults" / "B122", home.aster_home, dirs_exist_ok=True)
    records = (
        make.aster_header("evil-session", 0, cwd=f"/w/{EVIL}", project=f"/w/{EVIL}", git_branch=EVIL),
        make.aster_prompt(f"plainword in {EVIL}", 1),
        make.aster_answer(f"plainword again {EVIL}", 2),
        make.aster_title(f"plainword title {EVIL}", 3),
    )
    home.aster("evil-session", *records, b"{torn", project=EVIL)
    home.claude(
        "tool-session",
        make.claude_prompt(f"plainword {EVIL}", "tool-session", "u1", 1, gitBranch=EVIL),
        make.claude_tool_call("t1", "tool-session", "u2", 2, command=f"plainword {EVIL}"),
        make.claude_tool_result("t1", f"plainword {EVIL}\r\x08", "tool-session", "u3", 3),
        project=f"-w-{EVIL}",
    )
    home.claude_history(make.claude_history_entry(f"plainword of the history {EVIL}", None, 5))
    home.block(f"n{EVIL}", f"plainword body {EVIL}", f"plainword description {EVIL}")
    home.facts(f"plainword fact {EVIL}")
    home.journal(make.journal_entry(f"op{EVIL}", f"name{EVIL}", 5))
    assert asx("ingest").code == 0
    return home


ASKED: Final = (
    ("ingest",),
    ("rebuild",),
    ("verify",),
    ("status",),
    ("paths",),
    ("search", "--in", EVERYWHERE, "--all", "plainword"),
    ("search", "--in", EVERYWHERE, "--all", "--context", "2", "plainword"),
    ("search", "--in", EVERYWHERE, "--all", "--words", "plainword"),
    ("search", "--in", EVERYWHERE, "--all", "--regex", r"plain\w+"),
    ("search", "--in", EVERYWHERE, "--all", "--deep", "plainword"),
    ("search", "--in", EVERYWHERE, "--all", "--lines", "plainword"),
    ("search", "--in", EVERYWHERE, "--all", "--json", "plainword"),
    ("search", "--in", EVERYWHERE, "--all", "--jsonl", "plainword"),
    ("search", "--in", EVERYWHERE, "--explain", f"plainword {EVIL}"),
    ("search", "--in", EVERYWHERE, "--project", f"/w/{EVIL}", "--branch", EVIL, "nowhere to be found"),
    ("search", "--session", EVIL, "plainword"),
    ("search", "--agent", EVIL, "plainword"),
    ("search", "--tool", EVIL, "plainword"),
    ("search", "--since", EVIL, "plainword"),
    ("search", "--regex", f"({EVIL}"),
    ("search", "--index", f"/nowhere/{EVIL}", "--no-refresh", "plainword"),
    ("search", "--recent", "plainword"),
    ("search", "--recent", EVIL),
    ("search", f"--{EVIL}"),
    ("sessions", "list", "--all"),
    ("sessions", "show", "evil-session"),
    ("sessions", "show", "evil-session", "--preview"),
    ("sessions", "show", EVIL),
    ("show", "evil-session:0"),
    ("show", "evil-session"),
    ("show", f"evil-session:{EVIL}"),
    ("show", "tool-session:1"),
    ("memory", "list"),
    ("memory", "log"),
    ("memory", "show", "evil"),
    ("memory", "show", f"n{EVIL}"),
    ("memory", "show", EVIL),
    ("recall", "evil"),
    ("recall", EVIL),
    ("query", "SELECT text, source_path FROM events"),
    ("query", "SELECT source_path, line_excerpt FROM parse_errors"),
    ("query", f"SELECT '{EVIL}"),
    ("report", "damaged-lines"),
    ("report", EVIL),
    ("schema", EVIL),
    (EVIL,),
)


def named(words: tuple[str, ...]) -> str:
    return " ".join(words).encode("unicode_escape").decode()


@pytest.mark.parametrize("words", ASKED, ids=named)
def test_b122_no_command_lets_a_terminal_obey_a_transcript(
    words: tuple[str, ...], evil: HomeBuilder, terminal: Terminal
) -> None:
    code, shown = terminal(*words)
    assert code in {0, 1, 2, 3, 4, 6}
    assert "Traceback" not in shown
    assert "not foreseen" not in shown
    assert shown.strip()
    if words[0] in {"ingest", "rebuild", "verify"}:  # the bar is drawn with a terminal's own codes and gone at the end
        shown = re.sub("\x1b\\[[0-9;?]*[A-Za-z]|\r", "", shown)
    assert is_harmless(shown)


def test_b122_paths_in_warnings_are_shown_with_visible_escapes(evil: HomeBuilder, terminal: Terminal) -> None:
    torn = evil.aster_home / "sessions" / EVIL / "evil-session.jsonl"
    visible = "a\\x1b]0;pwned\\ab\\u202ec\\x9bd"
    code, told = terminal("report", "damaged-lines")
    assert code == 0
    assert is_harmless(told)
    torn.unlink()
    torn.mkdir()
    again = evil.aster("other-session", make.aster_header("other-session", 0), b"{torn", project=EVIL)
    code, shown = terminal("ingest", "--quiet")
    assert again.exists()
    assert is_harmless(shown)
    assert f"{visible}/other-session.jsonl:2: " in shown.replace("\r\n", "")


def test_b122_a_tools_file_that_cannot_be_read_is_named_harmlessly(
    evil: HomeBuilder, terminal: Terminal, asx: Asx
) -> None:
    call = make.claude_tool_call("t1", "long", "u2", 2, command="plainword " + "x" * 3000 + " needle")
    transcript = evil.claude("long", make.claude_prompt("go", "long", "u1", 1), call, project=f"-w-{EVIL}")
    assert asx("ingest").code == 0
    make.make_unreadable(transcript)
    code, shown = terminal("search", "--in", "tools", "--deep", "--no-refresh", "needle")
    assert code == 6
    assert is_harmless(shown)
    assert "could not be read" in shown
    assert "a\\x1b]0;pwned\\ab" in shown
