"""The docs say what the program does: examples are run, links lead somewhere, every command and option is told."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = sorted([*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").glob("*.md")])
SHIPPED = ("persist", "index", "migrations", "cli", "bench", "docs", "demo", ".ci")
TEXTS = (".py", ".md", ".toml", ".sh", ".mako", "")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work/(?:main|shared)|root|tmp/(?!\w*\.{3})\w)")
UNFINISHED = re.compile(r"#\s*(?:TODO|FIXME|XXX)\b|\b(?:NotImplementedError|lorem ipsum)\b")


def load_refresh() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_refresh", REPOSITORY / "docs" / "refresh.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def refresh() -> ModuleType:
    return load_refresh()


def page_name(path: Path) -> str:
    return path.relative_to(REPOSITORY).as_posix()


@pytest.mark.slow
@pytest.mark.parametrize("name", load_refresh().PAGES)
def test_the_examples_print_what_the_page_shows(name: str, refresh: ModuleType) -> None:
    page = (REPOSITORY / name).read_text(encoding="utf-8")
    assert refresh.with_outputs(page) == page, "make docs writes the outputs anew"


def test_the_worked_example_finds_what_it_promises() -> None:
    page = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    answer = page.split("$ asx search midnight\n", 1)[1].split("\n$ ", 1)[0]
    assert "The buoy parser drops every reading taken exactly at midnight." in answer
    assert "not foreseen" not in page


@pytest.mark.slow
def test_the_commands_page_is_the_program_s_own_help(refresh: ModuleType) -> None:
    assert (REPOSITORY / "docs/commands.md").read_text(encoding="utf-8") == refresh.commands_page(), "make docs"


def test_the_skipped_records_are_those_of_the_agents(refresh: ModuleType) -> None:
    page = (REPOSITORY / "docs/agents.md").read_text(encoding="utf-8")
    assert refresh.with_skips(page) == page, "make docs"


def test_every_agent_has_its_row() -> None:
    from persist.agents import AGENTS

    rows = re.findall(
        r"^\| `([a-z-]+)` \|", (REPOSITORY / "docs/agents.md").read_text().split("\n## ")[0], re.MULTILINE
    )
    assert rows == list(AGENTS)


def test_every_command_and_option_is_in_the_docs(refresh: ModuleType) -> None:
    from cli.registry import COMMANDS, GROUP_COMMANDS

    commands = [*COMMANDS] + [f"{group} {name}" for group, of in GROUP_COMMANDS.items() for name in of]
    page = (REPOSITORY / "docs/commands.md").read_text(encoding="utf-8")
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    sections = {name: page.split(f"\n## asx {name}\n", 1)[1].split("\n## ", 1)[0] for name in commands}
    for name in commands:
        group, _, leaf = name.partition(" ")
        assert f"asx {group}" in readme
        assert not leaf or re.search(rf"asx {group}[^|]*`{leaf}`|asx {name}`?", readme), f"{name} is not in the README"
        declared = options_declared(name)
        assert declared <= set(OPTION.findall(sections[name])), f"an option of {name} is not told"


def options_declared(name: str) -> set[str]:
    """Return the options in a command's source, so that a hidden one cannot stay untold."""
    source = (REPOSITORY / "cli" / "commands" / f"{name.replace(' ', '_')}.py").read_text(encoding="utf-8")
    return set(re.findall(r'typer\.Option\(\s*"(--[a-z-]+)"', source))


def test_every_error_kind_and_exit_code_is_in_the_docs() -> None:
    from cli import exits

    codes = page_rows("README.md", "## Exit codes")
    json_kinds = (REPOSITORY / "docs/json.md").read_text(encoding="utf-8")
    for answer in exits.ANSWERS.values():
        assert f"| {answer.code} |" in codes
        assert f"`{answer.kind}`" in json_kinds


def page_rows(name: str, heading: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8").split(heading, 1)[1].split("\n## ", 1)[0]


def anchors(path: Path) -> set[str]:
    headings = HEADING.findall(path.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if target.startswith("https://"):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.exists(), f"{target} does not exist"
        assert not anchor or anchor in anchors(path), f"{target} has no such heading"


def test_every_page_of_the_docs_is_in_their_index() -> None:
    listed = set(LINK.findall((REPOSITORY / "docs/README.md").read_text(encoding="utf-8")))
    pages = {path.name for path in (REPOSITORY / "docs").glob("*.md") if path.name != "README.md"}
    assert pages <= listed


def test_the_newest_version_of_the_changelog_is_the_program_s() -> None:
    newest = re.search(r"^## \[([^\]]+)\]", (REPOSITORY / "CHANGELOG.md").read_text(), re.MULTILINE)
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    told = subprocess.run(
        [sys.executable, "-m", "cli", "--version"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    ).stdout
    assert newest is not None
    assert newest[1] == project["version"]
    assert project["version"] in told


def test_ci_calls_the_readme_s_test_command() -> None:
    commands = [
        line
        for line in (REPOSITORY / ".ci/run").read_text().splitlines()
        if line and not line.startswith(("#", "set ", "cd "))
    ]
    assert commands == ["make test"]
    assert "\nmake test " in (REPOSITORY / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", SHIPPED)
def test_nothing_shipped_names_a_machine_or_is_unfinished(folder: str) -> None:
    files = [path for path in (REPOSITORY / folder).rglob("*") if path.is_file() and path.suffix in TEXTS]
    assert files
    for path in [*files, *PAGES]:
        if "__pycache__" in path.parts:
            continue
        text = path.read_text(encoding="utf-8")
        assert MACHINE_PATH.search(text) is None, f"{path} names a path of one machine"
        assert UNFINISHED.search(text) is None, f"{path} has unfinished work"
