"""Law 6: a line over 8 MB adds at most eight times its size to what reading small ones takes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import builders as make
from tests.builders import HomeBuilder
from tests.conftest import REPOSITORY

LINE_BYTES = 24_000_000
INGEST = """
import sys
from pathlib import Path
from index.ingest import ingest
from tests.builders import HomeBuilder
from tests.peak import peak_bytes
report = ingest(HomeBuilder(Path(sys.argv[1])).settings(Path(sys.argv[1]) / "i" / "index.sqlite"))
print(peak_bytes(), report.lines_indexed, report.lines_damaged)
"""


def peak(home: Path) -> tuple[int, ...]:
    done = subprocess.run(
        [sys.executable, "-c", INGEST, str(home)], capture_output=True, text=True, cwd=REPOSITORY, check=True
    )
    return tuple(map(int, done.stdout.split()))


def aster(home: HomeBuilder, text: str) -> None:
    home.aster("s", make.aster_header("s", 0), make.aster_prompt(text, 1))


def claude(home: HomeBuilder, text: str) -> None:
    home.claude("s", make.claude_prompt("small", "s", "u1", 1), make.claude_tool_result("c", text, "s", "u2", 2))


CASES = [
    pytest.param(aster, "é" * (LINE_BYTES // 2), id="a prompt of two-byte letters"),
    pytest.param(aster, "\n" * (LINE_BYTES // 2), id="a prompt of escapes"),
    pytest.param(claude, "x" * LINE_BYTES, id="a tool's result"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("put", "text"), CASES)
def test_a_large_line_adds_at_most_eight_times_its_size(
    put: Callable[[HomeBuilder, str], None], text: str, tmp_path: Path
) -> None:
    put(HomeBuilder(tmp_path / "small"), "small")
    put(HomeBuilder(tmp_path / "large"), text)
    small, large = peak(tmp_path / "small"), peak(tmp_path / "large")
    assert (small[1:], large[1:]) == ((2, 0), (2, 0))
    assert large[0] - small[0] <= 8 * LINE_BYTES
