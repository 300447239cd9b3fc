"""The store's prompt history: a hundred entries in Aether's format, two writers, and lines that are never lost."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from persist import history
from persist.errors import StoreIOError
from persist.history import KEPT, KEPT_DAMAGED, PromptEntry

ROOT = Path(__file__).parents[2]
SAMPLE = Path(__file__).parents[1] / "data" / "aether" / "prompt-history.jsonl"


def entry(prompt: str) -> PromptEntry:
    return PromptEntry("s", "/w", "2026-03-02T00:00:00Z", prompt)


def prompts(path: Path) -> list[str]:
    return [found.prompt for found in history.read(path).entries]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions" / "prompt-history.jsonl"


def test_an_entry_has_aethers_keys_in_aethers_order(path: Path) -> None:
    history.append(path, PromptEntry("s", "/w/Büro", "2026-03-02T00:00:00Z", 'say "x"\n'))
    assert path.read_text("utf-8") == (
        '{"sessionId":"s","cwd":"/w/Büro","sessionCreatedAt":"2026-03-02T00:00:00Z","prompt":"say \\"x\\"\\n"}\n'
    )
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_aethers_own_file_is_read() -> None:
    found = history.read(SAMPLE)
    records = [
        json.loads(line) for line in SAMPLE.read_bytes().splitlines() if line.startswith(b"{") and line.endswith(b"}")
    ]
    assert [one.prompt for one in found.entries] == [record["prompt"] for record in records if "prompt" in record]
    assert len(found.entries) >= 3


def test_a_missing_file_is_empty(path: Path) -> None:
    assert history.read(path) == ([], [])


def test_only_the_newest_hundred_stay(path: Path) -> None:
    for number in range(KEPT + 5):
        history.append(path, entry(f"p{number}"))
    assert prompts(path) == [f"p{number}" for number in range(5, KEPT + 5)]
    assert len(path.read_bytes().splitlines()) == KEPT


def test_a_longer_file_is_read_to_its_newest_hundred_and_cut_with_the_next_prompt(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"".join(entry(f"p{number}").line() + b"\n" for number in range(150)))
    assert prompts(path) == [f"p{number}" for number in range(50, 150)]
    history.append(path, entry("new"))
    assert prompts(path) == [*(f"p{number}" for number in range(51, 150)), "new"]


@pytest.mark.parametrize(
    "bad",
    [
        b'{"torn":',
        b"\xff\xfe not utf-8",
        b"5",
        b'{"sessionId":"s","cwd":"/w","prompt":"no created"}',
        b'{"sessionId":"s","cwd":"/w","sessionCreatedAt":null,"prompt":"x"}',
    ],
)
def test_a_line_that_cannot_be_read_stays_and_hides_nothing(path: Path, bad: bytes) -> None:
    history.append(path, entry("first"))
    with path.open("ab") as file:
        file.write(bad + b"\n\n")
    for number in range(KEPT):
        history.append(path, entry(f"p{number}"))
    assert prompts(path) == [f"p{number}" for number in range(KEPT)]
    assert bad in path.read_bytes().split(b"\n")
    ((line, reason),) = history.read(path).damaged
    assert line.number == 1
    assert "no created" not in reason


def test_unknown_keys_of_an_entry_stay_through_a_rewrite(path: Path) -> None:
    path.parent.mkdir()
    kept = json.dumps({**json.loads(entry("kept").line()), "extra": 1}).encode()
    path.write_bytes(b"".join(entry(f"p{number}").line() + b"\n" for number in range(KEPT - 1)) + kept + b"\n")
    history.append(path, entry("new"))
    assert kept in path.read_bytes().splitlines()


def test_a_file_that_is_damaged_again_and_again_stays_small(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"".join(b"bad %d\n" % number for number in range(500)))
    history.append(path, entry("x"))
    lines = path.read_bytes().splitlines()
    assert lines[:-1] == [b"bad %d" % number for number in range(500 - KEPT_DAMAGED, 500)]


def test_a_torn_tail_costs_only_itself(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(entry("first").line() + b"\n" + entry("torn").line()[:-9])
    assert history.read(path) == ([entry("first")], [])
    history.append(path, entry("next"))
    assert prompts(path) == ["first", "next"]
    assert len(history.read(path).damaged) == 1


def test_glued_entries_are_both_read_and_counted(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(entry("a").line() + entry("b").line() + b"\n")
    for number in range(KEPT - 1):
        history.append(path, entry(f"p{number}"))
    assert prompts(path) == ["b", *(f"p{number}" for number in range(KEPT - 1))]


def test_a_blank_prompt_is_not_kept_and_a_lone_surrogate_is_replaced(path: Path) -> None:
    history.append(path, entry(" \n"))
    assert not path.exists()
    history.append(path, entry("a\ud83d"))
    assert prompts(path) == ["a\ufffd"]


def test_a_folder_in_its_place_is_named(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(StoreIOError, match="prompt-history"):
        history.append(path, entry("x"))


def test_four_processes_lose_no_prompt_and_readers_see_whole_files(path: Path) -> None:
    for number in range(KEPT - 30):
        history.append(path, entry(f"old:{number}"))
    code = """
import sys; from pathlib import Path; from persist import history
for number in range(20):
    history.append(Path(sys.argv[1]), history.PromptEntry("s", "/w", "", f"{sys.argv[2]}:{number} " + "x" * 9000))
"""
    running = [subprocess.Popen([sys.executable, "-c", code, str(path), str(by)], cwd=ROOT) for by in range(4)]
    while any(process.poll() is None for process in running):
        assert history.read(path).damaged == []
        time.sleep(0.01)
    assert [process.returncode for process in running] == [0, 0, 0, 0]
    found = [prompt.split(" ")[0].split(":") for prompt in prompts(path)]
    assert [int(number) for by, number in found if by == "old"] == list(range(50, KEPT - 30))
    for by in "0123":
        assert [int(number) for name, number in found if name == by] == list(range(20))
