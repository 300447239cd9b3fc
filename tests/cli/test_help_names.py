"""Names that the help spells out are those that the program knows."""

import re

import pytest

from persist.agents import AGENTS
from persist.aster.importing import AGENTS as IMPORTED
from tests.cli.conftest import Run


def option_help(run: Run, *words: str, option: str) -> str:
    """Return what the help says of an option, in one line."""
    shown = run(*words, "--help").stdout
    found = re.search(rf"^  {option} .*(?:\n {{10,}}.*)*", shown, re.MULTILINE)
    assert found is not None, shown
    return " ".join(found[0].split())


@pytest.mark.parametrize(
    ("words", "option", "known"),
    [
        (("search",), "--agent", tuple(AGENTS)),
        (("sessions", "import"), "--from", IMPORTED),
    ],
    ids=["search --agent", "sessions import --from"],
)
def test_the_agents_that_the_help_names_are_all_that_are_taken(
    words: tuple[str, ...], option: str, known: tuple[str, ...], run: Run
) -> None:
    told = option_help(run, *words, option=option)
    listed = re.search(r"(?:agents:|from) ([a-z, -]+)", told)
    assert listed is not None, told
    assert tuple(listed[1].split(", ")) == known
    beside = {name for name in (*AGENTS, *IMPORTED) if re.search(rf"(?<![\w-]){name}(?![\w-])", told)} - set(known)
    assert beside == set(), "an agent that is not taken is named"
