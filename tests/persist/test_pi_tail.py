"""What the parser of pi and omp keeps from line to line: turns of a tree, a torn last line, and little else."""

from __future__ import annotations

import json
from pathlib import Path

from persist.agents.pi import agent as pi
from persist.agents.pi import omp
from persist.sources import Line
from tests.persist.tails import read, source_of

DATA = Path(__file__).parent.parent / "data" / "pi"


def test_the_turns_of_a_tree_are_counted_in_file_order_on_every_branch() -> None:
    lines, reader = read(pi.AGENT, source_of("pi", DATA / "branches.jsonl"))
    numbered = [n for line in lines for n in line.events]
    assert [(n.event.text, n.turn_index) for n in numbered] == [
        ("plant a tree", 0), ("Which one?", 0), ("an apple", 1), ("An apple is planted.", 1), ("a plum", 2),
        ("A plum is planted.", 2),
    ]  # fmt: skip
    assert reader.final.turn_index == 2


def test_a_torn_last_line_waits_and_a_damaged_one_hides_no_other(tmp_path: Path) -> None:
    torn = (DATA / "torn-and-damaged-lines.jsonl").read_bytes()
    path = tmp_path / "torn.jsonl"
    path.write_bytes(torn)
    lines, reader = read(pi.AGENT, source_of("pi", path))
    counts = reader.final.counts
    assert (counts.seen, counts.indexed, counts.damaged) == (7, 6, 1)
    assert reader.bytes_pending == 40
    assert [line.number for line in lines if line.error] == [4]
    path.write_bytes(torn[:-40] + (DATA / "branches.jsonl").read_bytes().splitlines(keepends=True)[6])
    rest, _ = read(pi.AGENT, source_of("pi", path), reader.checkpoint)
    assert [n.event.text for line in rest for n in line.events] == ["A plum is planted."]


def test_the_state_stays_small() -> None:
    parser = omp.AGENT.open_parser(source_of("omp", "/h/s/t_s.jsonl"), None)
    for number in range(500):
        parser.feed({"type": "title_change", "title": f"{number}" * 3000, "source": "auto"}, Line(number, 0))
        parser.feed({"type": "model_change", "modelId": f"{number}" * 50}, Line(number, 0))
        parser.feed(
            {"type": "session", "id": f"{number:0>200}", "cwd": "/w" * 900}, Line(number, 0)
        ) if number else None
    assert len(json.dumps(parser.save())) < 1024
