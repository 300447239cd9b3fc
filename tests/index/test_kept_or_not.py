"""What a search has read and no ingest has copied: told by ``status`` and ``doctor``, and copied by the next ingest."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import zstandard

from index.doctor import Examination, examine
from index.ingest import ingest
from index.rebuild import rebuild
from index.refresh import refresh
from index.settings import Settings
from index.status import status
from index.verify import verify
from persist.archive.opening import newest_copy
from persist.sources import Environment
from tests import builders as make
from tests.builders import HomeBuilder, make_unreadable
from tests.index.conftest import dump_of, rebuilt_dump
from tests.index.keeping import archive_files, copy_of, keeping

pytestmark = pytest.mark.usefixtures("quick_schema")

DAY_S = 86_400
HISTORIES = int(os.environ.get("ASTER_HISTORIES", "12"))
NO_COPY = "1 transcript of Claude Code has no copy in the archive yet: asx ingest copies it"


@pytest.fixture
def places(home: HomeBuilder) -> Settings:
    """Settings of a home whose configuration says ``keep: true``, with three sessions that are kept."""
    configure(home, "keep: true\n")
    settings = home.settings()
    for name in "abc":
        session(home, name)
    ingest(settings)
    return settings


def configure(home: HomeBuilder, text: str) -> None:
    config = home.settings().places.config
    config.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    config.write_text(text)
    config.chmod(0o600)


def session(home: HomeBuilder, name: str) -> Path:
    return home.claude(name, make.claude_prompt(f"water the roses {name}", name, f"u{name}", 1))


def grow(path: Path, text: str = "and the pears", number: int = 9) -> None:
    with path.open("ab") as file:
        file.write(make.lines(make.claude_prompt(text, path.stem, f"{path.stem}{number}", number)))


def rest(path: Path, days: float = 1.5) -> None:
    os.utime(path, (time.time() - DAY_S * days,) * 2)


def counted(settings: Settings) -> tuple[int, int, int]:
    """Return how many of Claude Code's transcripts have a copy, none, an older one."""
    copies = status(settings).agents["claude-code"].copies
    assert copies is not None
    return copies.total, len(copies.missing), len(copies.older)


def examined(home: HomeBuilder) -> Examination:
    """Return what the doctor says of the archive."""
    found = examine(Environment({}, home.home), home.home)
    return Examination(tuple(one for one in found.findings if one.kind == "archive"), found.notes)


# The next ingest makes up for what a search read first.


def test_what_a_search_read_first_is_copied_by_the_next_ingest(home: HomeBuilder, places: Settings) -> None:
    new, grown = session(home, "new"), home.claude_home / "projects" / "-w-gamma" / "a.jsonl"
    grow(grown)
    assert refresh(places).refreshed
    assert not copy_of(places, new).exists(), "a search writes nothing but the index"
    assert counted(places) == (3, 1, 1)
    assert not ingest(places).wrote
    for path in (new, grown):
        assert copy_of(places, path).read_bytes() == path.read_bytes()
    assert counted(places) == (4, 0, 0)
    new.unlink()
    grown.unlink()
    assert not ingest(places).wrote
    assert dump_of(places.index_path) == rebuilt_dump(places)
    assert counted(places) == (4, 0, 0)


def test_a_copy_that_somebody_removed_is_made_again(home: HomeBuilder, places: Settings) -> None:
    path = home.claude_home / "projects" / "-w-gamma" / "b.jsonl"
    copy_of(places, path).unlink()
    assert counted(places) == (2, 1, 0)
    assert not ingest(places).wrote
    assert copy_of(places, path).read_bytes() == path.read_bytes()
    assert counted(places) == (3, 0, 0)
    before = [(path, path.stat().st_mtime_ns) for path in places.places.archive.rglob("*")]
    assert not ingest(places).wrote
    assert before == [(path, path.stat().st_mtime_ns) for path in places.places.archive.rglob("*")]


def test_a_whole_archive_that_somebody_removed_is_made_again(home: HomeBuilder, places: Settings) -> None:
    before = {path: path.read_bytes() for path in archive_files(places)}
    for path in before:
        path.unlink()
    assert counted(places) == (0, 3, 0)
    ingest(places)
    assert {path: path.read_bytes() for path in archive_files(places)} == before


# What status tells.


def test_status_tells_what_has_no_copy_or_an_older_one(home: HomeBuilder, places: Settings) -> None:
    kept = "3 transcripts of Claude Code are kept in the archive"
    assert status(places).notes == (kept,)
    session(home, "new")
    refresh(places)
    assert status(places).notes == (kept, NO_COPY)
    assert status(places).agents["claude-code"].kept
    for name in "ab":
        grow(home.claude_home / "projects" / "-w-gamma" / f"{name}.jsonl")
    refresh(places)
    told = "1 transcript of Claude Code has no copy in the archive yet, 2 have an older one: asx ingest copies them"
    assert status(places).notes == (kept, told)
    ingest(places)
    assert status(places).notes == ("4 transcripts of Claude Code are kept in the archive",)


def test_where_nothing_was_ever_copied_status_says_so(home: HomeBuilder) -> None:
    configure(home, "keep: true\n")
    session(home, "a")
    settings = home.settings()
    rebuild(settings)
    assert not settings.places.archive.exists()
    assert counted(settings) == (0, 1, 0)
    assert status(settings).notes == (NO_COPY,)


def test_without_keep_and_without_copies_nothing_is_said_of_them(home: HomeBuilder) -> None:
    session(home, "a")
    home.aster("s", make.aster_header("s", 0))
    ingest(home.settings())
    assert [agent.copies for agent in status(home.settings()).agents.values()] == [None, None]
    assert examined(home) == Examination((), ())


def test_where_keeping_was_switched_off_the_cure_switches_it_on(home: HomeBuilder, places: Settings) -> None:
    session(home, "new")
    configure(home, "keep: false\n")
    ingest(home.settings())
    assert counted(home.settings()) == (3, 1, 0)
    told = NO_COPY.replace("asx ingest", "asx ingest --keep")
    assert status(home.settings()).notes[-1] == told
    rest(home.claude_home / "projects" / "-w-gamma" / "new.jsonl")
    ingest(home.settings())
    assert examined(home) == Examination((), (told,)), "whoever switched it off knows"


def test_the_stores_own_sessions_and_what_is_excluded_need_no_copy(home: HomeBuilder, places: Settings) -> None:
    home.aster("s", make.aster_header("s", 0), make.aster_prompt("mine", 1))
    session(home, "secret")
    excluding = replace(places, configuration=replace(places.configuration, excludes=("**/secret*",)))
    refresh(excluding)
    assert status(excluding).agents["aster"].copies is None
    assert counted(excluding) == (3, 0, 0)


def test_copies_without_a_catalogue_count_as_older_until_they_were_compared(places: Settings) -> None:
    (places.places.archive / "claude-code" / "catalogue.json").unlink()
    assert counted(places) == (3, 0, 3)
    ingest(places)
    assert counted(places) == (3, 0, 0)


# What the doctor says.


def test_the_doctor_notes_what_is_recent_and_finds_what_rests(home: HomeBuilder, places: Settings) -> None:
    assert examined(home) == Examination((), ())
    path = session(home, "new")
    refresh(places)
    assert examined(home) == Examination((), (NO_COPY,))
    rest(path, 0.9)
    refresh(places)
    assert examined(home) == Examination((), (NO_COPY,))
    rest(path)
    refresh(places)
    found = examined(home)
    ((kind, message, cure),) = found.findings
    assert (kind, cure, found.notes) == ("archive", "asx ingest", ())
    assert message == f"1 transcript of Claude Code has rested for a day without an up-to-date copy: {path}"
    grown = home.claude_home / "projects" / "-w-gamma" / "a.jsonl"
    grow(grown)
    rest(grown)
    session(home, "newer")
    refresh(places)
    ((_, message, _),) = examined(home).findings
    assert message == f"2 transcripts of Claude Code have rested for a day without an up-to-date copy, as {grown}"
    ingest(places)
    assert examined(home) == Examination((), ())


def test_the_doctor_names_no_cure_that_does_not_help(home: HomeBuilder, places: Settings) -> None:
    """A name that has no room in the archive, and a file that cannot be read, which is told already."""
    long = session(home, "x" * 238)
    broken = session(home, "broken")
    rest(long)
    ingest(places)
    broken.unlink()
    make_unreadable(broken)
    ingest(places)
    ((kind, message, cure),) = examined(home).findings
    assert (kind, message) == ("archive", f"{long} has no copy: its name is too long for the archive")
    assert cure == "copy it to another place yourself"


# All of it together.


def held_by(settings: Settings, path: Path) -> bytes | None:
    """Return what the newest copy of a transcript holds."""
    copy = newest_copy(settings.places.archive, "claude-code", str(path))
    if copy is None:
        return None
    data = Path(copy).read_bytes()
    return zstandard.ZstdDecompressor().decompressobj().decompress(data) if copy.endswith(".zst") else data


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_after_any_mixture_what_is_said_is_so_and_an_ingest_keeps_all(seed: int, tmp_path: Path) -> None:
    """Searches, ingests, growth, deletion, lost copies: counts are those of the bytes, and all that was there at an
    ingest is kept from then on."""
    home, rng = HomeBuilder(tmp_path), Random(seed)  # noqa: S311
    settings = keeping(home.settings(tmp_path / "cache" / "index.sqlite"))
    stays = session(home, "stays")
    ingest(settings)
    kept: dict[Path, bytes] = {}
    for number in range(40):
        there = [path for path in sorted((home.claude_home / "projects").rglob("*.jsonl")) if path != stays]
        step = rng.choice(("new", "new", "grow", "grow", "grow", "delete", "lose", "search", "search", "ingest"))
        if step == "new":
            session(home, f"s{number}")
        elif step == "grow" and there:
            grow(rng.choice(there), f"prune {number}", number)
        elif step == "delete" and there:
            rng.choice(there).unlink()
        elif step == "lose" and (copies := [copy for path in there if (copy := copy_of(settings, path)).exists()]):
            copy = rng.choice(copies)
            copy.unlink()
            kept.pop(Path("/", *copy.relative_to(settings.places.archive / "claude-code").parts), None)
        elif step == "search":
            refresh(settings)
        elif step == "ingest":
            ingest(settings, prune=rng.random() < 0.5)
            there = sorted((home.claude_home / "projects").rglob("*.jsonl"))
            kept |= {path: path.read_bytes() for path in there}
            assert counted(settings)[1:] == (0, 0)
        there = sorted((home.claude_home / "projects").rglob("*.jsonl"))
        _, missing, older = counted(settings)
        copied = {path: copy_of(settings, path) for path in there}
        assert missing == sum(not copy.exists() for copy in copied.values()), (number, step)
        assert older == sum(
            copy.exists() and copy.read_bytes() != path.read_bytes() for path, copy in copied.items()
        ), (number, step)
        for path, data in kept.items():
            assert held_by(settings, path) == data or path in there, (number, step, path)
    ingest(settings, prune=True)
    for path in (home.claude_home / "projects").rglob("*.jsonl"):
        assert copy_of(settings, path).read_bytes() == path.read_bytes()
    assert verify(settings).ok
    assert dump_of(settings.index_path) == rebuilt_dump(settings)
    assert counted(settings)[1:] == (0, 0)
