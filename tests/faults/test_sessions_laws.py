"""Laws 1 and 7 for the session commands, watched from inside: which files they touch, and how private those are."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests import builders as make
from tests.builders import HomeBuilder
from tests.test_laws import NEVER_OPENED, PRIVATE_WORDS, SESSION, Watched, filled_home, state, watch

STORE = ".local/share/aster/sessions"
CHANGING = [
    ["sessions", "rename", SESSION, "A", "title"], ["sessions", "relocate", SESSION, "/"],
    ["sessions", "history", "--rebuild"], ["sessions", "relocate", "e", "/"], ["sessions", "delete", "--yes", "e"],
    ["sessions", "prune", "--project", "/w/alpha", "--keep", "1", "--yes"], ["sessions", "delete", "--yes", SESSION],
]  # fmt: skip
READING = [
    ["sessions", "list", "--all"], ["sessions", "list", "--all", "--json"], ["sessions", "show", SESSION, "--full"],
    ["sessions", "show", SESSION, "--turn", "0"], ["sessions", "history", "--json"],
    ["sessions", "prune", "--project", "/w/alpha", "--keep", "1"], ["sessions", "delete", "--dry-run", SESSION],
]  # fmt: skip


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    """Every command that changes the store, one after the other, with an index that follows."""
    home = filled_home(tmp_path_factory.mktemp("watched"))
    for minute, session_id in enumerate(("older-1", "newer-1")):
        prompt = make.aster_prompt("water the roses", minute)
        os.utime(HomeBuilder(home).aster(session_id, make.aster_header(session_id, 0), prompt), (1.7e9, 1.7e9))
    watched = watch(home, [["ingest", "--quiet"], *CHANGING])
    assert [code for code, *_ in watched.answers[1:]] == [0] * len(CHANGING)
    return watched


def test_only_the_sessions_of_both_stores_and_the_index_are_touched(changed: Watched) -> None:
    outside = {
        name for name in changed.touched
        if not name.startswith((f"{STORE}/", ".aether/sessions/", ".cache"))
    }  # fmt: skip
    assert outside <= {STORE, ".aether/sessions"}
    gone = {name for name in changed.before if name not in state(changed.home)}
    assert gone == {f"{STORE}/alpha/{SESSION}.jsonl", f"{STORE}/alpha/older-1.jsonl", ".aether/sessions/e.jsonl"}
    opened = changed.read | changed.written
    assert [name for name in NEVER_OPENED if str(changed.home / name) in opened] == []


def test_what_is_made_is_private_from_the_first_byte(changed: Watched) -> None:
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in changed.made}
    assert {path: mode for path, mode in modes.items() if mode != (0o700 if path.is_dir() else 0o600)} == {}
    assert changed.unmasked == set()
    assert changed.network == []


def test_no_text_of_a_transcript_is_in_what_is_said(changed: Watched) -> None:
    said = "".join(err for *_, err in changed.answers)
    for text in (PRIVATE_WORDS, "water the roses", "roses of another", "old roses"):
        assert text not in said


def test_those_that_read_touch_nothing_with_an_index_and_without(tmp_path: Path) -> None:
    home = filled_home(tmp_path)
    for _ in range(2):
        watched = watch(home, READING)
        assert [code for code, *_ in watched.answers] == [0] * len(READING)
        assert watched.touched == set()
        assert watched.made == set()
        watch(home, [["ingest", "--quiet"], ["status"]])
