"""The page about plugging in: its loops run as they stand, twice, and its lines are taken as they stand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from persist.aether.incoming import read_event as read_aether
from persist.aster import SessionWriter, Transcript
from persist.aster.incoming import read_event
from persist.aster.store import Store
from tests.docs.with_asx import blocks, run_sh, variables

BLOCKS = blocks("plugging-in.md")
LINES = [line for kind, text in BLOCKS if kind == "json" for line in text.splitlines()]
PROMPTS = ["When is high water?", 'A "quoted" word, a \\ and\ta tab — été', "x" * 500]


SHORTEST, *_ = (text for kind, text in BLOCKS if kind == "sh")


def block(name: str) -> str:
    """Return the program whose first comment names it ``name``."""
    (text,) = [text for _, text in BLOCKS if re.match(rf"(?:#!.*\n)?# {re.escape(name)}: ", text)]
    return str(text)


@pytest.fixture
def with_asx(tmp_path: Path) -> dict[str, str]:
    """The environment of a person who has ``asx`` on the path."""
    return variables(tmp_path)


def test_every_program_of_the_page_is_run_here() -> None:
    programs = [text for kind, text in BLOCKS if kind in ("sh", "python")]
    assert programs == [SHORTEST, block("loop.sh"), block("loop.py"), block("tools.py")]


def test_the_shortest_way_makes_a_session_and_tells_its_chat(tmp_path: Path, with_asx: dict[str, str]) -> None:
    done = run_sh(SHORTEST, tmp_path, with_asx)
    assert done.stdout == "user: When is high water?\n\nassistant: At 04:12 and 16:40.\n"
    assert "resumed 1 previous turn\n" in done.stderr


@pytest.mark.parametrize("name", ["loop.sh", "loop.py"])
def test_a_loop_runs_as_it_stands_and_goes_on_where_it_stopped(
    name: str, tmp_path: Path, isolated: Path, with_asx: dict[str, str]
) -> None:
    project = tmp_path / "app"
    project.mkdir()
    script = tmp_path / name
    script.write_text(block(name), encoding="utf-8")
    program = ["sh" if name == "loop.sh" else sys.executable, str(script)]
    answers = []
    for _ in range(2):
        done = subprocess.run(
            program, input="".join(f"{prompt}\n" for prompt in PROMPTS), cwd=project, env=with_asx,
            capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        answers += done.stdout.splitlines()
    assert "resumed 3 previous turns" in done.stderr
    assert len(answers) == 6
    latest = Store.current().latest(str(project))
    assert latest is not None
    assert latest.path.is_relative_to(isolated)
    transcript = Transcript.load(latest.path)
    told = [(message.role, message.content) for message in transcript.messages]
    assert [text for role, text in told if role == "user"] == PROMPTS * 2
    assert [text for role, text in told if role == "assistant"] == answers
    assert len(list(isolated.rglob("*.jsonl"))) == 2, "one session and the prompt history"


def test_the_python_loop_folds_what_grows_long(tmp_path: Path, with_asx: dict[str, str]) -> None:
    script = tmp_path / "loop.py"
    script.write_text(block("loop.py"), encoding="utf-8")
    subprocess.run(
        [sys.executable, str(script)], input="more\n" * 9, cwd=tmp_path, env=with_asx, text=True, check=True,
        capture_output=True, timeout=60,
    )  # fmt: skip
    latest = Store.current().latest(str(tmp_path))
    assert latest is not None
    messages = Store.current().resume(latest.id).messages
    assert messages[0].content == "Summary of earlier conversation:\n8 messages about tides."
    assert len(messages) == 11


def test_the_shell_loop_gives_its_model_the_whole_chat(tmp_path: Path, with_asx: dict[str, str]) -> None:
    stand_in = re.compile(r"^answer\(\) .*$", re.MULTILINE)
    counting = """answer() { printf '%s prompts' "$(printf '%s' "$1" | grep -c '^user: ')"; }"""
    script, replaced = stand_in.subn(lambda _: counting, block("loop.sh"))
    assert replaced == 1
    answers = []
    for prompts in ("one\ntwo\n", "three\n"):
        done = subprocess.run(
            ["sh", "-c", script], input=prompts, cwd=tmp_path, env=with_asx, capture_output=True, text=True, timeout=60,
            check=True,
        )  # fmt: skip
        answers += done.stdout.splitlines()
    assert answers == ["1 prompts", "2 prompts", "3 prompts"]


def test_the_tools_of_the_memory_are_called_and_kept(tmp_path: Path, isolated: Path, with_asx: dict[str, str]) -> None:
    script = tmp_path / "tools.py"
    script.write_text(block("tools.py"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], input="The harbour office has the newest table.\n", cwd=tmp_path, env=with_asx,
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout == "Noted: The harbour office has the newest table.\n"
    latest = Store.current().latest(str(tmp_path))
    assert latest is not None
    messages = Transcript.load(latest.path).messages
    assert [(message.role, message.content) for message in messages] == [
        ("user", "The harbour office has the newest table."),
        ("assistant", None),
        ("tool", "kept as tide-source"),
        ("tool", "The harbour office has the newest table."),
        ("assistant", "Noted: The harbour office has the newest table."),
    ]


def test_a_tool_that_is_called_wrongly_is_told_to_the_model(tmp_path: Path, isolated: Path) -> None:
    program = block("tools.py").split("prompt = sys.stdin", 1)[0]
    names: dict[str, Any] = {}
    exec(compile(program, "tools.py", "exec"), names)  # noqa: S102 - the page's own lines
    for name, arguments, said in (
        ("remember", "{", "error: Expecting property name"),
        ("remember", '{"titel": "x"}', "error: MemoryStore.remember() got an unexpected keyword argument"),
        ("remember", '{"note": "n", "title": "t", "aliases": "uv"}', "error: aliases are no list of texts"),
        ("recall", "[]", "error: "),
        ("recall", '{"name": "Tide source"}', "error: no memory block 'Tide source'"),
        ("forget", '{"name": null}', "error: name is no text"),
        ("shell", "{}", "error: there is no tool shell"),
    ):
        assert names["run"](name, arguments).startswith(said), (name, arguments)
    assert not (isolated / ".local/share/aster/memory").exists()


@pytest.mark.parametrize("line", LINES)
def test_every_line_of_the_page_is_taken(line: str, tmp_path: Path) -> None:
    if '"kind"' in line:
        assert read_aether(line.encode()) is not None
    else:
        writer = SessionWriter.create(tmp_path, "/w", "/w")
        assert writer.given([read_event(line.encode())]) == 1
        assert Transcript.load(writer.path).damaged == ()
