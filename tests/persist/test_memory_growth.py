"""A journal and a memory that grow: what is read again, what is compared, and how much memory that takes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from persist.memory.journal_tail import JournalTail
from persist.memory.near import near_pairs, shared_words
from tests.conftest import REPOSITORY

DECAY = """
import sys
from pathlib import Path
from persist.memory import decaying
from tests.peak import peak_bytes
folder = Path(sys.argv[1])
decaying.decay(folder / "small")
before = peak_bytes()
print(len(decaying.decay(folder / "large", as_of="2026-11-30T00:00:00.000Z").archived), peak_bytes() - before)
"""

RECALL = """
import sys
from pathlib import Path
from persist.recall.from_files import read_corpus
from tests.peak import peak_bytes
folder = Path(sys.argv[1])
read_corpus([folder / "small"], "2026-11-30T00:00:00.000Z")
before = peak_bytes()
print(len(read_corpus([folder / "large"], "2026-11-30T00:00:00.000Z").candidates), peak_bytes() - before)
"""


def line(number: int, name: str) -> str:
    day = f"2026-{number // 28 % 11 + 1:02d}-{number % 28 + 1:02d}"
    return json.dumps({"ts": f"{day}T10:00:00.123Z", "op": "recall", "name": name}) + "\n"


class TestTail:
    def test_reads_only_what_was_added(self, tmp_path: Path) -> None:
        path = tmp_path / "journal.jsonl"
        tail = JournalTail(tmp_path)
        assert list(tail.read()) == []
        path.write_text(line(1, "a") + line(2, "b"))
        assert [one.entry.name for one in tail.read()] == ["a", "b"]
        assert list(tail.read()) == []
        with path.open("a") as file:
            file.write("\n{broken\n" + line(3, "c") + line(4, "d").rstrip("\n"))
        assert [one.entry.name for one in tail.read()] == ["c", "d"]
        assert [one.entry.name for one in tail.read()] == ["d"]
        with path.open("a") as file:
            file.write("\n" + line(5, "e"))
        assert [one.entry.name for one in tail.read()] == ["d", "e"]
        assert not tail.replaced

    def test_tells_that_the_file_is_another_one(self, tmp_path: Path) -> None:
        path = tmp_path / "journal.jsonl"
        path.write_text(line(1, "a") + line(2, "b"))
        for change in ("shorter", "other", "gone"):
            tail = JournalTail(tmp_path)
            list(tail.read())
            if change == "shorter":
                path.write_text(line(1, "x"))
            elif change == "other":
                (tmp_path / "fresh").write_text(line(1, "y") * 9)
                (tmp_path / "fresh").replace(path)
            else:
                path.unlink()
            assert len(list(tail.read())) == {"shorter": 1, "other": 9, "gone": 0}[change]
            assert tail.replaced


@pytest.mark.parametrize(("program", "answer"), [(DECAY, 1), (RECALL, 20)], ids=["decay", "recall without an index"])
def test_a_long_journal_takes_no_more_memory_than_a_short_one(program: str, answer: int, tmp_path: Path) -> None:
    """200,000 lines of 16 MB, half of them about blocks that are not there, under names of their own."""
    for size in ("small", "large"):
        (tmp_path / size).mkdir()
        for number in range(20):
            (tmp_path / size / f"block-{number}.md").write_text("---\ncreated_at: 2024-01-01\n---\n\ntext\n")
    with (tmp_path / "large" / "journal.jsonl").open("w") as journal:
        for number in range(200_000):
            journal.write(line(number, f"block-{number % 19}" if number % 2 else f"gone-{number}"))
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True, cwd=REPOSITORY,
    )  # fmt: skip
    found, grown_bytes = map(int, done.stdout.split())
    assert found == answer
    assert grown_bytes < 12_000_000  # most of it for what is loaded and cached, 8 bytes for each use


def test_a_word_that_all_have_does_not_pair_all() -> None:
    """The cost of comparing many is that of the words which few have."""
    many = {f"n{number:04d}": {"convention", f"word{number // 2}"} for number in range(3000)}
    assert len(list(shared_words(many))) == 1500
    assert len(near_pairs(many)) == 1500
    few = {f"n{number}": {"convention", f"word{number}"} for number in range(4)}
    assert len(list(shared_words(few))) == 6
