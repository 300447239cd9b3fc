"""The beginning of a session, for every agent by the same bounds; Aether's own rules hold for its logs."""

from __future__ import annotations

from pathlib import Path

from index.ingest import ingest
from index.preview import preview_session
from persist.aether import listing
from tests import builders as make
from tests.builders import HomeBuilder


def test_the_first_eight_turns_are_told_and_more_is_said(home: HomeBuilder) -> None:
    prompts = [make.aster_prompt(f"prompt {n}\nsecond line", n + 1) for n in range(9)]
    home.aster("s", make.aster_header("s", 0), *prompts)
    home.aster("t", make.aster_header("t", 0), *prompts[:3])
    settings = home.settings()
    ingest(settings)
    long = preview_session(settings, "s")
    assert [tuple(turn) for turn in long.turns] == [("user", f"prompt {n}") for n in range(8)]
    assert long.truncated
    assert not preview_session(settings, "t").truncated


def test_a_window_too_small_is_said_and_bounds_what_is_read(home: HomeBuilder) -> None:
    home.aster("s", make.aster_header("s", 0), make.aster_prompt("short", 1), make.aster_answer("x" * 200_000, 2))
    settings = home.settings()
    ingest(settings)
    found = preview_session(settings, "s")
    assert ([tuple(turn) for turn in found.turns], found.truncated) == ([("user", "short")], True)


def test_aether_is_previewed_as_its_own_reader_does(home: HomeBuilder, data: Path) -> None:
    folder = home.home / ".aether" / "sessions"
    folder.mkdir(parents=True)
    sample = data / "aether" / "5b0c7f1e-2d34-4c1b-9a57-0e6f4d2a91c3.jsonl"
    (folder / sample.name).write_bytes(sample.read_bytes())
    settings = home.settings()
    ingest(settings)
    found = preview_session(settings, sample.stem)
    own = listing.preview(sample)
    assert (found.turns, found.tool_call_count, found.truncated) == (own.transcript, own.tool_call_count, own.truncated)
    assert found.selected_mode == own.metadata.selected_mode
