"""The benchmark of recall makes the same notes everywhere and times answers that are right."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from bench import recall
from bench.notes import make_notes
from bench.table import lines_of
from tests.bench.test_table import cells_of, told_of


def test_the_same_size_gives_the_same_notes(tmp_path: Path) -> None:
    digests = set()
    for name in ("a", "b"):
        notes = make_notes(tmp_path / name, 30)
        files = sorted((tmp_path / name).iterdir())
        assert len(files) == 31
        told = b"".join(path.name.encode() + path.read_bytes() for path in files) + repr(notes).encode()
        digests.add(hashlib.sha256(told).hexdigest())
    assert len(digests) == 1


@pytest.mark.slow
def test_what_is_timed_is_an_answer_of_the_index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recall.main([str(tmp_path / "new"), "--notes", "60"])
    (told,) = json.loads(capsys.readouterr().out)
    assert (told["notes"], told["prompts"], told["must_s"]) == (60, 200, None)
    assert told["about_a_note"] > 50
    assert 0 < told["cpu_p50_s"] <= told["cpu_p95_s"]


def test_figures_stand_beside_their_musts() -> None:
    one = {"notes": 1000, "prompts": 200, "about_a_note": 97, "at_random": 9, "must_s": 0.005, "p50_s": 0.002,
           "p95_s": 0.009, "cpu_p50_s": 0.001, "cpu_p95_s": 0.004}  # fmt: skip
    lines = lines_of({**told_of({}, 1_000_000), "recall": [one, {**one, "notes": 10_000, "cpu_p95_s": 0.01}]})
    assert cells_of(lines, "1,000 notes") == ["97", "9", "2.0", "9.0", "1.0", "4.0", "5", "met"]
    assert cells_of(lines, "10,000 notes")[-4:] == ["5", "missed,", "2.0", "x"]
