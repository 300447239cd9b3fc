"""The chapter "Learning and forgetting" of the page about the memory: its commands run, its numbers are the code's."""

from __future__ import annotations

import re
from pathlib import Path

from persist.memory import findings, review, review_facts
from persist.memory.decay import HALF_LIFE_DAYS, half_life_days, retention
from persist.memory.journal import read_operations
from tests.conftest import REPOSITORY
from tests.docs.with_asx import blocks, run_sh, variables

CHAPTER = (REPOSITORY / "docs" / "memory.md").read_text(encoding="utf-8").partition("## Learning and forgetting\n")[2]
COMMANDS = next(text for kind, text in blocks("memory.md") if kind == "sh" and "memory decay" in text)


def test_its_commands_do_what_their_comments_say(tmp_path: Path, isolated: Path) -> None:
    printed = run_sh(COMMANDS, tmp_path, variables(tmp_path)).stdout
    memory = isolated / ".local" / "share" / "aster" / "memory"
    operations = [(one.entry.op, one.entry.name) for one in read_operations(memory)[0]][::-1]
    assert operations == [
        ("remember", "release-checklist"), ("remember", "flaky-upload"), ("helpful", "release-checklist"),
        ("harmful", "flaky-upload"), ("harmful", "flaky-upload"), ("archive", "flaky-upload"),
        ("restore", "flaky-upload"),
    ]  # fmt: skip
    assert printed.count("marked harmful 2 times") == 2
    assert {path.name for path in memory.glob("*.md")} == {"release-checklist.md", "flaky-upload.md"}


def test_its_table_of_kinds_is_that_of_the_code() -> None:
    rows = re.findall(r"^\| (.+) \| (\d+) \| (\d+) days \|$", CHAPTER, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row[0])} == set(HALF_LIFE_DAYS)
    for names, half_life, days in rows:
        for kind in re.findall(r"`(\w+)`", names):
            assert half_life_days(kind, 0) == int(half_life)
        assert retention(int(days), int(half_life)) < 0.10 <= retention(int(days) - 1, int(half_life))


def test_its_table_of_findings_is_that_of_the_code() -> None:
    told = [
        name for row in re.findall(r"^\| (`\w.*?) \|", CHAPTER, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    ]
    assert set(told) >= set(findings.FINDINGS)
    for number in (review_facts.MAX_FACT_CHARACTERS, review.MAX_BODY_CHARACTERS, review_facts.MAX_PROJECT_CHARACTERS):
        assert f"over {number:,}" in CHAPTER
