"""Writes the parts of the docs that the program itself tells, so that they cannot be wrong.

``make docs`` runs it; a test compares what it would write with what is there. In a page, the lines after ``$ asx …``
of a ``console`` block are what that command prints in a copy of the sample home; all blocks of a page share one home.
``docs/commands.md`` is put together from the help, and the list of skipped records from the agent modules.

Never imports the product's modules for what a process can tell: the examples run as a person runs them.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parent.parent
SAMPLE_HOME: Final = REPOSITORY / "demo" / "home"
PAGES: Final = ("README.md", "CONTRIBUTING.md", "docs/json.md", "docs/recall.md", "docs/reports.md")
"""Pages with examples; ``docs/commands.md`` is made whole and ``docs/agents.md`` in part."""
SHOWN_HOME: Final = "/home/mira"
COLUMNS: Final = 100
TIMEOUT_S: Final = 60.0
FILE_TIME_S: Final = 1791417600
"""2026-10-08, a day after the newest record: every file of the copied home is of that time."""

_BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
_SECONDS = re.compile(r"\b\d+\.\d+ s\b")
_DAYS_OLD = re.compile(r"\b\d+ days old\b")
_AGES = re.compile(r"(\d{4}-\d\d-\d\d) \((?:\d+[mhdwy] ago|now)\)")
_SHOWN_NOW = datetime(2026, 10, 25, tzinfo=UTC)
"""Ages in the pages are counted up to this day, so that they agree with each other."""
_JSON_SECONDS = re.compile(r'("(?:seconds|age_s)":)\d+(?:\.\d+)?(?:e-\d+)?')
_SKIPS = re.compile(r"(?<=<!-- skips -->\n).*?(?=<!-- /skips -->)", re.DOTALL)


@contextmanager
def sample_home() -> Iterator[Path]:
    """Give a copy of the sample home, in a folder of its own that goes when the block ends."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve() / "home"
        shutil.copytree(SAMPLE_HOME, home)
        for path in home.rglob("*"):
            os.utime(path, (FILE_TIME_S, FILE_TIME_S))
        yield home


def run_asx(words: list[str], home: Path, columns: int = COLUMNS) -> str:
    """Run ``asx`` in a home; return both streams with the home, the duration and line ends made the same everywhere."""
    variables: Mapping[str, str] = {
        "HOME": str(home),
        "PATH": os.environ.get("PATH", os.defpath),
        "PYTHONPATH": str(REPOSITORY),
        "TZ": "UTC",
        "LANG": "C.UTF-8",
        "COLUMNS": str(columns),
        "NO_COLOR": "1",
        "PYTHONUNBUFFERED": "1",  # both streams in the order in which a terminal shows them
    }
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-P", "-m", "cli", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=home,
        env=variables,
        timeout=TIMEOUT_S,
        check=False,
    )
    told = done.stdout.decode("utf-8").replace(str(home), SHOWN_HOME)
    told = _DAYS_OLD.sub("20 days old", _SECONDS.sub("0.1 s", told))
    told = _AGES.sub(_aged, _JSON_SECONDS.sub(r"\g<1>0.1", told))
    return "".join(f"{line.rstrip()}\n" for line in told.splitlines())


def _aged(found: re.Match[str]) -> str:
    from cli.moments import age

    return f"{found[1]} ({age(f'{found[1]}T00:00:00.000Z', _SHOWN_NOW)} ago)"


def with_outputs(page: str) -> str:
    """Return a page with the outputs of its examples as they are now; raises ``ValueError`` for another command."""
    with sample_home() as home:
        return _BLOCK.sub(lambda block: _answered(block[0], home), page)


def _answered(block: str, home: Path) -> str:
    parts = []
    for line in block.splitlines():
        if line.startswith("$ "):
            words = shlex.split(line[2:], comments=True)
            if words[0] != "asx":
                raise ValueError(f"only asx runs in a console block, not {words[0]!r}")
            parts.append(f"{line}\n{run_asx(words[1:], home)}")
    return "\n".join(parts)


def commands_page() -> str:
    """Return ``docs/commands.md``: every command's help, in the order of the program's own help."""
    from cli.registry import COMMANDS, GROUP_COMMANDS

    grouped = [(group, name) for group, names in GROUP_COMMANDS.items() for name in names]
    names = [(name,) for name in COMMANDS] + grouped
    lines = [
        "# Commands",
        "",
        "Written from the program's own help by `make docs`. Data goes to stdout, talk to stderr; the exit codes are",
        "in the [README](../README.md#exit-codes).",
        "",
        *(f"- [`asx {' '.join(name)}`](#asx-{'-'.join(name)})" for name in names),
    ]
    with sample_home() as home:
        for name in names:
            told = run_asx([*name, "--help"], home)
            lines += ["", f"## asx {' '.join(name)}", "", "```text", told.strip("\n"), "```"]
    return "\n".join(lines) + "\n"


def with_skips(page: str) -> str:
    """Return ``docs/agents.md`` with the lists of record types that the agent modules leave out."""
    from persist.agents import AGENTS

    lines = []
    for agent in AGENTS.values():
        lines += [f"### {agent.title}", "", "| counted as | why it is left out |", "| --- | --- |"]
        lines += [f"| `{name}` | {reason} |" for name, reason in sorted(agent.skips.items())]
        lines += [""]
    return _SKIPS.sub(lambda _: "\n".join(["", *lines]), page)


def refreshed() -> dict[Path, str]:
    """Return every page that the program writes or helps to write, as it should be."""
    pages = {}
    for name in PAGES:
        path = REPOSITORY / name
        pages[path] = with_outputs(path.read_text(encoding="utf-8"))
    agents = REPOSITORY / "docs" / "agents.md"
    pages[agents] = with_skips(agents.read_text(encoding="utf-8"))
    pages[REPOSITORY / "docs" / "commands.md"] = commands_page()
    return pages


def main() -> None:
    """Write the pages that changed and name them."""
    for path, text in refreshed().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"wrote {path.relative_to(REPOSITORY)}\n")


if __name__ == "__main__":
    main()
