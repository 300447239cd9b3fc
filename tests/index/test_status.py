"""What the state of an index is said to be, and when it is behind the disk."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from index.freshness import freshness_of
from index.ingest import ingest
from index.notices import deletion_notice
from index.rebuild import rebuild
from index.results import Status
from index.settings import Settings
from index.status import status
from index.verify import verify
from tests import builders as make
from tests.builders import HomeBuilder, make_unreadable
from tests.index.conftest import rows

pytestmark = pytest.mark.usefixtures("quick_schema")


def ingested(home: HomeBuilder) -> Settings:
    settings = home.settings()
    ingest(settings)
    return settings


def test_without_an_index_it_is_stale_and_says_what_makes_one(home: HomeBuilder) -> None:
    settings = home.settings()
    assert status(settings) == Status(
        path=settings.index_path, exists=False, usable=False, why=f"no index at {settings.index_path}; run: asx ingest",
        generation=None, size_bytes=0, stale=True, last_ingest_at=None, agents={}, blocks=0, archived_blocks=0,
        prompt_history=0, lines={}, notes=(),
    )  # fmt: skip


def test_everything_is_counted(home: HomeBuilder) -> None:
    home.aster("a", make.aster_header("a", 5), make.aster_prompt("x", 6), b"{", make.aster_answer("y", 7), end=b'{"ty')
    home.aster("b", make.aster_header("b", 3), {**make.aster_prompt("x", 6), "ts": "never"})
    home.aster("empty")
    home.block("one", "body")
    home.block("two", "body", archived=True)
    home.facts("a fact")
    home.claude("c", make.claude_prompt("x", "c", "u1", 2))
    home.claude_history(make.claude_history_entry("p", None, 1), make.claude_history_entry("x", "c", 2))
    home.prompt_history("aster", make.history_entry("q", "a", 1))
    found = status(ingested(home))
    assert (found.exists, found.usable, found.why, found.stale) == (True, True, None, False)
    aster, claude = found.agents["aster"], found.agents["claude-code"]
    assert list(found.agents) == ["aster", "claude-code"]
    assert (aster.sources, aster.sessions, aster.events, aster.damaged_lines) == (7, 2, 3, 1)
    assert (claude.sources, claude.sessions, claude.events, claude.damaged_lines) == (2, 1, 1, 0)
    assert (aster.oldest, claude.oldest, aster.held) == (make.at(3), make.at(2), ())
    assert (found.blocks, found.archived_blocks, found.prompt_history) == (1, 1, 3)
    assert found.lines["seen"] == found.lines["indexed"] + found.lines["skipped"] + found.lines["damaged"]
    assert (found.lines["damaged"], found.lines["bytes_pending"], found.lines["bad_times"]) == (1, 4, 1)
    assert found.size_bytes == found.path.stat().st_size
    assert found.last_ingest_at is not None


def test_the_oldest_is_a_transcripts_and_an_empty_one_tells_no_time(home: HomeBuilder) -> None:
    home.block("note", "from the morning")
    path = home.aster("a", make.aster_header("a", 50), make.aster_prompt("x", 60))
    os.utime(path, (1, 1))
    assert status(ingested(home)).agents["aster"].oldest == make.at(50)


def test_an_agent_that_deletes_is_named_with_the_age_of_its_oldest_transcript(home: HomeBuilder) -> None:
    path = home.claude("c", make.claude_prompt("x", "c", "u1", 2))
    os.utime(path, (time.time() - 86_400 * 12.5,) * 2)
    settings = ingested(home)
    (note,) = status(settings).notes
    assert note.startswith("Claude Code deletes its transcripts after about 30 days; the oldest here is 12 days old")
    assert not status(settings).agents["claude-code"].kept


def test_what_is_kept_is_told_in_place_of_what_will_be_deleted(home: HomeBuilder) -> None:
    config = home.settings().places.config
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("keep: true\n")
    path = home.claude("c", make.claude_prompt("x", "c", "u1", 2))
    home.claude("d", make.claude_prompt("x", "d", "u2", 2))
    settings = ingested(home)
    assert status(settings).notes == ("2 transcripts of Claude Code are kept in the archive",)
    assert status(settings).agents["claude-code"].kept
    path.unlink()
    told = ("2 transcripts of Claude Code are kept in the archive; the originals of 1 are gone",)
    assert status(settings).notes == told
    assert not status(settings).stale
    ingest(settings)
    assert status(settings).notes == told


def notices(notes: list[str]) -> list[str]:
    return [note.partition("; ")[2].partition(":")[0] for note in notes if "deletes its transcripts" in note]


def test_the_first_ingest_and_each_removal_tell_the_age_of_the_oldest_transcript_there_is(home: HomeBuilder) -> None:
    """Not of the oldest that is new, nor of a note or a history that the agent does not delete."""
    ages = {"a": 25.5, "b": 12.5, "c": 3.5}
    paths = {name: home.claude(name, make.claude_prompt(name, name, f"u{name}", 1)) for name in ages}
    paths["history"] = home.claude_history(make.claude_history_entry("p", None, 1))
    for name, path in paths.items():
        os.utime(path, (time.time() - 86_400 * ages.get(name, 99),) * 2)
    settings = home.settings()
    assert notices(ingest(settings).notes) == ["the oldest here is 25 days old"]
    assert notices(ingest(settings).notes) == []
    paths["a"].unlink()
    home.claude("d", make.claude_prompt("d", "d", "ud", 1))
    assert notices(ingest(settings).notes) == ["the oldest here is 12 days old"]
    paths["b"].unlink()
    assert notices(ingest(settings).notes) == ["the oldest here is 3 days old"]
    assert notices(rebuild(settings).notes) == ["the oldest here is 3 days old"]
    assert notices(list(status(settings).notes)) == ["the oldest here is 3 days old"]


@pytest.mark.parametrize(
    ("age_days", "told"), [(None, "days: asx"), (0, "days: asx"), (-3, "days: asx"), (1, "is 1 day old: asx")]
)
def test_the_notice_tells_no_age_below_a_day(age_days: int | None, told: str) -> None:
    oldest = None if age_days is None else time.time_ns() - age_days * 86_400_000_000_000
    assert told in deletion_notice("An agent", 30, oldest)


# Behind the disk.


def test_each_change_on_disk_makes_it_stale_until_the_next_ingest(home: HomeBuilder) -> None:
    path = home.aster("a", make.aster_header("a", 0), make.aster_prompt("x", 1))
    other = home.aster("b", make.aster_header("b", 0), make.aster_prompt("y", 1))
    settings = ingested(home)

    def append() -> None:
        with path.open("ab") as file:
            file.write(b"\n")

    changes: dict[str, Callable[[], object]] = {
        "grown": append,
        "touched": lambda: os.utime(path, (5, 5)),
        "new": lambda: home.aster("c", make.aster_header("c", 0)),
        "gone": other.unlink,
        "a block": lambda: home.block("n", "body"),
    }
    for name, change in changes.items():
        assert not freshness_of(settings).stale, name
        change()
        assert freshness_of(settings).stale, name
        assert status(settings).stale, name
        ingest(settings, prune=True)
    assert not status(settings).stale


def test_what_is_excluded_since_makes_it_stale(home: HomeBuilder) -> None:
    path = home.aster("a", make.aster_header("a", 0), make.aster_prompt("x", 1))
    settings = ingested(home)
    excluding = replace(settings, configuration=replace(settings.configuration, excludes=(str(path),)))
    assert freshness_of(excluding).stale
    ingest(excluding)
    assert not freshness_of(excluding).stale


def test_what_is_excluded_leaves_at_once_however_much_it_is(home: HomeBuilder) -> None:
    """DESIGN 8: excluded is not gone, so no half of an agent's sources is held back."""
    for name in ("a", "b", "c"):
        home.aster(name, make.aster_header(name, 0), make.aster_prompt(f"hello {name}", 1))
    settings = ingested(home)
    excludes = (str(home.aster_home / "sessions" / "alpha" / "a.jsonl"), str(home.aster_home / "**" / "b.jsonl"))
    excluding = replace(settings, configuration=replace(settings.configuration, excludes=excludes))
    report = ingest(excluding)
    assert (report.agents["aster"].sources.removed, report.agents["aster"].sources.held) == (2, 0)
    assert [text for (text,) in rows(settings, "SELECT text FROM prompts")] == ["hello c"]
    assert verify(excluding).ok
    ingest(settings)
    assert len(rows(settings, "SELECT text FROM prompts")) == 3


def test_the_age_is_that_of_the_last_look(home: HomeBuilder) -> None:
    home.aster("a", make.aster_header("a", 0), make.aster_prompt("x", 1))
    settings = ingested(home)
    lock = settings.index_path.with_name(settings.index_path.name + ".lock")
    os.utime(lock, (time.time() - 100,) * 2)
    age_s = freshness_of(settings).age_s
    assert age_s is not None
    assert 100 <= age_s < 160
    ingest(settings)
    age_s = freshness_of(settings).age_s
    assert age_s is not None
    assert age_s < 60
    os.utime(lock, (time.time() + 1000,) * 2)  # another machine's clock
    assert freshness_of(settings).age_s == 0


def test_without_the_lock_file_the_index_tells_its_age(home: HomeBuilder) -> None:
    settings = ingested(home)
    settings.index_path.with_name(settings.index_path.name + ".lock").unlink()
    os.utime(settings.index_path, (1_777_881_600, 1_777_881_600))
    found = freshness_of(settings)
    assert found.last_ingest_at == make.at(0)
    assert status(settings).last_ingest_at == make.at(0)


# What cannot be read.


def test_a_file_that_could_never_be_read_is_named_and_does_not_stay_stale(home: HomeBuilder) -> None:
    home.aster("a", make.aster_header("a", 0), make.aster_prompt("x", 1))
    bad = home.aster("bad")
    make_unreadable(bad)
    settings = ingested(home)
    found = status(settings)
    ((path, why),) = found.agents["aster"].held
    assert (path, bool(why)) == (str(bad), True)
    assert not found.stale
    assert not ingest(settings).wrote
    bad.unlink()
    home.aster("bad", make.aster_header("bad", 0), make.aster_prompt("y", 1))
    assert status(settings).stale
    ingest(settings)
    assert status(settings).agents["aster"].held == ()


def test_a_file_that_cannot_be_read_any_more_is_held_and_named(home: HomeBuilder) -> None:
    home.aster("a", make.aster_header("a", 0), make.aster_prompt("x", 1))
    lost = home.aster("lost", make.aster_header("lost", 0), make.aster_prompt("heron", 1))
    settings = ingested(home)
    make_unreadable(lost)
    ingest(settings)
    found = status(settings)
    ((path, why),) = found.agents["aster"].held
    assert (path, bool(why)) == (str(lost), True)
    assert found.agents["aster"].sessions == 2
    assert not found.stale
    lost.unlink()
    home.aster("lost", make.aster_header("lost", 0), make.aster_prompt("heron", 1))
    assert status(settings).stale
    ingest(settings)
    assert status(settings).agents["aster"].held == ()


def test_a_held_file_that_still_cannot_be_read_is_not_written_again(home: HomeBuilder) -> None:
    home.aster("a", make.aster_header("a", 0), make.aster_prompt("x", 1))
    lost = home.aster("lost", make.aster_header("lost", 0), make.aster_prompt("heron", 1))
    settings = ingested(home)
    make_unreadable(lost)
    assert ingest(settings).wrote
    assert not ingest(settings).wrote


def test_most_of_a_disk_gone_at_once_is_held_and_named(home: HomeBuilder) -> None:
    for number in range(4):
        home.aster(f"s{number}", make.aster_header(f"s{number}", 0), make.aster_prompt("x", 1))
    settings = ingested(home)
    shutil.rmtree(home.aster_home / "sessions")
    assert status(settings).stale
    ingest(settings)
    found = status(settings)
    assert len(found.agents["aster"].held) == 4
    assert all("gone" in why for _, why in found.agents["aster"].held)
    assert not found.stale
    ingest(settings, prune=True)
    assert status(settings).agents == {}
