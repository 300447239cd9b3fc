"""``asx ingest --keep`` as its user sees it: the configuration, the archive, what is said."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest

from tests import builders as make
from tests.builders import HomeBuilder
from tests.conftest import Asx


@pytest.fixture
def home(isolated: Path) -> HomeBuilder:
    return HomeBuilder(isolated)


def config_of(home: HomeBuilder) -> Path:
    return home.settings().places.config


def copies(home: HomeBuilder) -> list[str]:
    archive = home.aster_home / "archive"
    return sorted(path.name for path in archive.rglob("*.jsonl*"))


def test_keep_is_set_once_and_holds_for_every_later_ingest(home: HomeBuilder, asx: Asx) -> None:
    path = home.claude("c", make.claude_prompt("water the roses", "c", "u1", 1))
    os.utime(path, (time.time() - 86_400 * 20.5,) * 2)
    first = asx("ingest")
    assert "the oldest here is 20 days old: asx ingest --keep copies them" in first.stderr
    assert not (home.aster_home / "archive").exists()
    kept = asx("ingest", "--keep")
    assert kept.code == 0
    assert "deletes its transcripts" not in kept.stderr
    assert config_of(home).read_bytes() == b"keep: true\n"
    assert stat.S_IMODE(config_of(home).stat().st_mode) == 0o600
    assert stat.S_IMODE(config_of(home).parent.stat().st_mode) == 0o700
    assert copies(home) == ["c.jsonl"]
    home.claude("d", make.claude_prompt("prune the pear", "d", "u2", 1))
    assert asx("ingest").code == 0
    assert copies(home) == ["c.jsonl", "d.jsonl"]
    path.unlink()
    gone = asx("ingest", "--json")
    assert gone.json()["notes"] == ["1 transcript of Claude Code is gone; kept copies are read instead"]
    assert gone.json()["agents"]["claude-code"]["kept"] is True
    assert gone.json()["agents"]["claude-code"]["sources"]["removed"] == 0
    assert copies(home) == ["c.jsonl~1.zst", "d.jsonl"]
    assert asx("rebuild").code == 0
    assert "water the roses" in asx("search", "roses").stdout
    assert "water the roses" in asx("sessions", "show", "claude-code:c").stdout
    assert asx("verify").code == 0
    status = asx("status")
    assert "2 transcripts of Claude Code are kept in the archive; the originals of 1 are gone" in status.stderr


def test_setting_keep_leaves_every_other_byte_of_the_configuration(home: HomeBuilder, asx: Asx) -> None:
    home.claude("c", make.claude_prompt("water the roses", "c", "u1", 1))
    config = config_of(home)
    config.parent.mkdir(parents=True)
    before = b"# mine\r\nkeep:   no # for now\r\nexcludes: ['/x', \"**/y\"] # both\r\n"
    config.write_bytes(before)
    assert asx("ingest", "--keep").code == 0
    assert config.read_bytes() == before.replace(b"no #", b"true #")
    assert asx("ingest", "--keep").code == 0
    assert config.read_bytes() == before.replace(b"no #", b"true #")


def test_a_configuration_that_cannot_be_edited_is_one_sentence_and_nothing_is_done(home: HomeBuilder, asx: Asx) -> None:
    home.claude("c", make.claude_prompt("water the roses", "c", "u1", 1))
    config = config_of(home)
    config.parent.parent.mkdir(parents=True, exist_ok=True)
    config.parent.write_bytes(b"in the way")
    result = asx("ingest", "--keep")
    assert result.code not in (0, 1)
    assert len(result.stderr.splitlines()) == 1
    assert copies(home) == []
    assert not list(home.home.rglob("index.sqlite*"))


def test_what_cannot_be_copied_is_told_once_and_the_index_is_there(home: HomeBuilder, asx: Asx) -> None:
    for name in "cde":
        home.claude(name, make.claude_prompt("water the roses", name, f"u{name}", 1))
    home.aster_home.mkdir(parents=True)
    (home.aster_home / "archive").write_bytes(b"")
    result = asx("ingest", "--keep")
    assert result.code == 6
    (line,) = [line for line in result.stderr.splitlines() if "archive" in line]
    assert line.endswith("; 3 transcripts were not copied")
    assert asx("search", "roses").code == 0


def test_searches_without_writing_commands_write_no_archive(home: HomeBuilder, asx: Asx) -> None:
    path = home.claude("c", make.claude_prompt("water the roses", "c", "u1", 1))
    asx("ingest", "--keep")
    with path.open("ab") as file:
        file.write(make.lines(make.claude_prompt("and the tulips", "c", "u2", 2)))
    assert asx("search", "tulips").code == 0
    (copy,) = (home.aster_home / "archive").rglob("c.jsonl")
    assert b"tulips" not in copy.read_bytes()
    path.unlink()
    assert asx("search", "roses").code == 0
    assert asx("search", "--deep", "--in", "all", "roses").code == 0
    assert asx("rebuild").code == 0
    assert copy.exists(), "only an ingest closes a copy"


def test_nobody_is_told_that_all_is_kept_when_a_search_alone_has_read_it(home: HomeBuilder, asx: Asx) -> None:
    home.claude("c", make.claude_prompt("water the roses", "c", "u1", 1))
    path = home.claude("d", make.claude_prompt("prune the pear", "d", "u2", 1))
    asx("ingest", "--keep", env={"TZ": "UTC"})
    told = asx("status")
    assert told.stdout.splitlines()[2].split()[-1] == "yes"
    assert asx("status", "--json").json()["agents"]["claude-code"]["copies"] == {"total": 2, "missing": 0, "older": 0}
    assert "nothing is wrong\n" in asx("doctor").stderr
    new = home.claude("e", make.claude_prompt("oil the gate", "e", "u3", 1))
    with path.open("ab") as file:
        file.write(make.lines(make.claude_prompt("and the plum", "d", "u4", 2)))
    assert asx("search", "gate").code == 0
    told = asx("status")
    assert told.stdout.splitlines()[2].endswith("all but 2")
    behind = "1 transcript of Claude Code has no copy in the archive yet, 1 has an older one: asx ingest copies them"
    assert behind in told.stderr.splitlines()
    value = asx("status", "--json").json()
    assert value["agents"]["claude-code"]["kept"] is True
    assert value["agents"]["claude-code"]["copies"] == {"total": 2, "missing": 1, "older": 1}
    doctor = asx("doctor")
    assert (doctor.code, doctor.stdout) == (0, "")
    assert doctor.stderr.splitlines() == [behind, "nothing else is wrong"]
    assert asx("doctor", "--json").json() == {"schema_version": 1, "ok": True, "findings": [], "notes": [behind]}
    os.utime(new, (time.time() - 86_400 * 1.5,) * 2)
    assert asx("search", "gate").code == 0
    doctor = asx("doctor")
    assert doctor.code == 6
    assert doctor.stdout.splitlines()[-1].strip() == "asx ingest"
    assert asx("ingest").code == 0
    assert "nothing is wrong\n" in asx("doctor").stderr
    assert asx("status", "--json").json()["agents"]["claude-code"]["copies"] == {"total": 3, "missing": 0, "older": 0}
    new.unlink()
    assert asx("search", "gate").code == 0
