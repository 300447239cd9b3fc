"""Help is compared with golden files, and the registry's sentences with the real help of each command.

After a change on purpose: ``UPDATE_GOLDEN=1 pytest tests/cli/test_help.py`` and read the difference.
"""

import os
import shlex
from importlib import import_module
from pathlib import Path

import pytest
import typer.main

from cli.app import app, main
from cli.groups import RootGroup
from cli.registry import COMMANDS, GROUP_COMMANDS, GROUPS, module_name

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "help"
COMMAND_WORDS = [[name] for name in COMMANDS] + [[group, name] for group in GROUPS for name in GROUP_COMMANDS[group]]
ALL_WORDS = [[], *([group] for group in GROUPS), *COMMAND_WORDS]


def _name(words: list[str]) -> str:
    return "-".join(["asx", *words])


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.parametrize("words", ALL_WORDS, ids=_name)
def test_help_is_the_golden_one(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "--help"]) == 0
    shown = capsys.readouterr()
    golden = GOLDEN / f"{_name(words)}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(shown.out, encoding="utf-8")
    assert shown.out == golden.read_text(encoding="utf-8")
    assert shown.err == ""


def test_golden_files_are_of_commands_that_exist() -> None:
    assert {file.stem for file in GOLDEN.glob("*.txt")} == {_name(words) for words in ALL_WORDS}


@pytest.mark.parametrize("words", ALL_WORDS, ids=_name)
def test_help_fits_eighty_columns(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main([*words, "--help"])
    wrapped = capsys.readouterr().out.partition("\nExamples:\n")[0]
    assert [line for line in wrapped.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("words", COMMAND_WORDS, ids=_name)
def test_the_registry_says_what_the_help_says(words: list[str]) -> None:
    group = words[0] if len(words) == 2 else None
    told = GROUP_COMMANDS[group][words[1]] if group else COMMANDS[words[0]]
    command = import_module(module_name(words[-1], group)).command
    assert command.__doc__.splitlines()[0] == told


@pytest.mark.parametrize("words", COMMAND_WORDS, ids=_name)
def test_examples_are_of_this_command_and_parse(words: list[str]) -> None:
    examples = import_module(module_name(words[-1], words[0] if len(words) == 2 else None)).EXAMPLES
    assert examples
    for example in examples:
        ours = next(part for part in example.split(" | ") if part.startswith("asx "))
        typed = shlex.split(ours.split(" < ")[0], comments=True)
        assert typed[: len(words) + 1] == ["asx", *words]
        root = typer.main.get_command(app)
        assert isinstance(root, RootGroup)
        with root.make_context("asx", typed[1:]) as outer:
            command = root
            rest = [*outer._protected_args, *outer.args]
            for _ in words:
                name, command, rest = command.resolve_command(outer, rest)  # type: ignore[assignment]
            command.make_context(name, rest, parent=outer).close()


def test_every_command_file_is_in_the_registry() -> None:
    folder = Path(import_module("cli.commands").__file__ or "").parent
    files = {f"cli.commands.{file.stem}" for file in folder.glob("*.py") if file.stem != "__init__"}
    known = {module_name(words[-1], words[0] if len(words) == 2 else None) for words in COMMAND_WORDS}
    assert files == known
