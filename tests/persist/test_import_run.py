"""Imports as a whole: idempotent, whole or not at all, bounded; one fault hides no other.

Checks named b114 are those of ``spec/fault-checks.md`` B114.
"""

from __future__ import annotations

import errno
import os
import random
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from persist.aster.importing import ImportReport
from persist.aster.importing.target import IMPORT_LOCK, LEFTOVER_PREFIX, Draft
from persist.aster.listing import list_sessions
from persist.aster.writer import SessionWriter
from persist.errors import BusyError, RefusedError, StoreIOError
from persist.files import locked
from tests import builders as make
from tests.builders import is_above_permissions
from tests.conftest import REPOSITORY
from tests.index import processes
from tests.persist.import_world import (
    CLAUDE_ID,
    PROJECT,
    World,
    claude_lines,
    files_below,
    said,
    set_changed,
    strict_records,
)

_BIG = """
import sys
from pathlib import Path
from tests.peak import peak_bytes
from tests.persist.import_world import World
world = World(Path(sys.argv[1]))
before = peak_bytes()
report = world.run("claude-code")
assert [outcome.status for outcome in report.outcomes] == ["imported"], report.outcomes
print(peak_bytes() - before)
"""


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def _prompt(world: World, name: str, text: str = "hello", **keys: object) -> Path:
    return world.claude("-w-gamma", name, claude_lines(make.claude_prompt(text, name, f"{name}-1", 0, **keys)))


def _statuses(report: ImportReport) -> list[str]:
    return [outcome.status for outcome in report.outcomes]


class TestAgain:
    def test_a_second_import_changes_nothing(self, world: World) -> None:
        world.samples().run()
        before = files_below(world.data)
        report = world.run()
        assert _statuses(report) == ["existing"] * 6
        assert files_below(world.data) == before

    def test_an_import_by_another_name_of_the_project_finds_it_too(self, world: World) -> None:
        world.samples().run("opencode")
        assert world.targets()[0].parent.name == "home-mira-notes-site-feed"
        (outcome,) = world.run("opencode", project=PROJECT).outcomes
        assert (outcome.status, outcome.target) == ("existing", world.targets()[0])

    def test_what_aster_imported_itself_is_there_already(self, world: World) -> None:
        world.samples()
        with SessionWriter.create(world.data, PROJECT, PROJECT, session_id=f"claude-{CLAUDE_ID}") as writer:
            writer.user("imported by Aster")
        before = files_below(world.data)
        (outcome,) = world.run("claude-code").outcomes
        assert outcome.status == "existing"
        assert files_below(world.data) == before

    def test_an_upper_case_file_of_the_name_counts(self, world: World) -> None:
        path = world.data / "sessions" / "x" / f"CLAUDE-{CLAUDE_ID.upper()}.jsonl"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"")
        world.samples()
        assert _statuses(world.run("claude-code")) == ["existing"]

    def test_one_that_grew_since_is_told_and_left(self, world: World) -> None:
        source = _prompt(world, CLAUDE_ID)
        world.run("claude-code")
        with source.open("ab") as file:
            file.write(claude_lines(make.claude_prompt("more", CLAUDE_ID, "u2", 1)))
        set_changed(source, 5)
        before = files_below(world.data)
        (outcome,) = world.run("claude-code").outcomes
        assert (outcome.status, outcome.changed_since) == ("existing", True)
        assert files_below(world.data) == before
        world.targets()[0].unlink()
        world.run("claude-code")
        assert said(strict_records(world.targets()[0])) == [("user", "hello"), ("user", "more")]

    def test_b114_the_second_of_three_is_there_and_the_others_come(self, world: World) -> None:
        for name in ("a", "b", "c"):
            _prompt(world, name)
        taken = world.data / "sessions" / "w-gamma" / "claude-b.jsonl"
        taken.parent.mkdir(parents=True)
        taken.write_bytes(b"not ours, and damaged {\n")
        assert _statuses(world.run("claude-code")) == ["imported", "existing", "imported"]
        assert taken.read_bytes() == b"not ours, and damaged {\n"

    def test_b114_an_own_import_is_no_source(self, world: World) -> None:
        world.samples().run()
        copy = world.home / ".claude" / "projects" / "-copy"
        copy.mkdir()
        for target in world.targets():
            copy.joinpath(target.name).write_bytes(target.read_bytes())
        report = world.run("claude-code")
        assert sorted(_statuses(report)) == ["empty"] * 6 + ["existing"]


class TestWhich:
    def test_a_project_is_the_repository_of_the_folder(self, world: World, tmp_path: Path) -> None:
        root = tmp_path / "repository"
        for folder in (root / ".git", root / "src", root / "inner" / ".git"):
            folder.mkdir(parents=True)
            (folder / "HEAD").touch()
        _prompt(world, "a", cwd=str(root / "src"))
        _prompt(world, "b", cwd=str(root / "inner"))
        _prompt(world, "c", cwd=str(root / "gone"))
        _prompt(world, "d", cwd=f"{root}-other")
        report = world.run("claude-code", project=str(root))
        assert [outcome.original_id for outcome in report.outcomes] == ["a", "c"]
        assert report.passed["claude-code"].other_projects == 2
        headers = [strict_records(path)[0] for path in world.targets()]
        assert [header["cwd"] for header in headers] == [str(root / "src"), str(root / "gone")]
        assert {header["repo_root"] for header in headers} == {str(root)}

    @pytest.mark.parametrize(
        ("since", "until", "ids"),
        [
            (None, None, ["a", "b", "c"]),
            (make.at(10), None, ["b", "c"]),
            (None, make.at(10), ["a"]),
            (make.at(10), make.at(20), ["b"]),
        ],
    )
    def test_a_span_of_beginnings(self, since: str | None, until: str | None, ids: list[str], world: World) -> None:
        for name, minute in (("a", 0), ("b", 10), ("c", 20)):
            world.claude("-w-gamma", name, claude_lines(make.claude_prompt("x", name, f"{name}-1", minute)))
        report = world.run("claude-code", since=since, until=until)
        assert [outcome.original_id for outcome in report.outcomes] == ids
        assert report.passed["claude-code"].outside_range == 3 - len(ids)

    def test_what_the_configuration_excludes_is_not_read(self, world: World) -> None:
        world.samples()
        _prompt(world, "a")
        excludes = [str(world.home / ".claude" / "projects" / "-w-gamma"), str(world.hermes_path)]
        report = world.run("claude-code", "hermes", excludes=excludes)
        assert [outcome.session_id for outcome in report.outcomes] == [f"claude-{CLAUDE_ID}"]
        assert [passed.excluded for passed in report.passed.values()] == [1, 1]

    @pytest.mark.parametrize("name", ["x" * 210, "漢" * 70])
    def test_a_name_that_cannot_name_a_file_is_told(self, name: str, world: World) -> None:
        try:
            _prompt(world, name)
        except OSError:
            pytest.skip("the file system takes no such name")
        _prompt(world, "b")
        failed, imported = sorted(world.run("claude-code").outcomes, key=lambda outcome: outcome.status)
        assert (failed.status, imported.status) == ("failed", "imported")
        assert failed.reason

    def test_names_that_would_leave_the_store_stay_in_it(self, world: World) -> None:
        canary = world.home / "canary"
        canary.write_text("untouched")
        _prompt(world, "..", cwd="../../../canary")
        _prompt(world, "e\u0301 \U0001f9fe", cwd="/w/\x1b[31m/../..")
        world.run("claude-code")
        assert canary.read_text() == "untouched"
        inside = world.data / "sessions"
        assert all(path.resolve().is_relative_to(inside.resolve()) for path in world.targets())
        assert sorted(path.name for path in world.home.iterdir()) == [".claude", ".local", "canary"]


class TestFaults:
    @pytest.mark.skipif(is_above_permissions(), reason="this user may read everything")
    def test_a_file_that_may_not_be_read_hides_no_other(self, world: World) -> None:
        secret = _prompt(world, "a")
        _prompt(world, "b")
        secret.chmod(0)
        failed, imported = world.run("claude-code").outcomes
        assert (failed.status, failed.source_path, imported.status) == ("failed", str(secret), "imported")
        assert "ermission" in (failed.reason or "")

    @pytest.mark.skipif(is_above_permissions(), reason="this user may write everywhere")
    def test_a_store_that_may_not_be_written_to_is_one_error(self, world: World) -> None:
        _prompt(world, "a")
        world.data.mkdir(parents=True)
        world.data.chmod(0o500)
        with pytest.raises(StoreIOError):
            world.run("claude-code")
        world.data.chmod(0o700)

    def test_a_folder_in_the_place_of_a_project_hides_no_other(self, world: World) -> None:
        _prompt(world, "a")
        _prompt(world, "b", cwd="/w/delta")
        sessions = world.data / "sessions"
        sessions.mkdir(parents=True)
        sessions.joinpath("w-gamma").write_text("in the way")
        failed, imported = world.run("claude-code").outcomes
        assert (failed.status, imported.status) == ("failed", "imported")
        assert str(sessions / "w-gamma") in (failed.reason or "")
        assert world.leftovers() == []

    def test_a_full_disk_costs_what_does_not_fit(self, world: World) -> None:
        _prompt(world, "a")
        _prompt(world, "b", "x" * 300_000)
        _prompt(world, "c")
        lines: list[str] = []

        def act() -> None:
            report = world.run("claude-code")
            lines.extend(_statuses(report))
            assert lines == ["imported", "failed", "imported"], report.outcomes
            assert "arge" in (report.outcomes[1].reason or "")

        code, told = processes.run_on_small_disk(_without_signal(act), 100_000)
        assert (code, told) == (0, "")
        assert [path.stem for path in world.targets()] == ["claude-a", "claude-c"]
        assert world.leftovers() == []

    @pytest.mark.parametrize("has_links", [True, False])
    def test_a_file_that_came_meanwhile_is_never_replaced(
        self, has_links: bool, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if not has_links:
            monkeypatch.setattr(Path, "hardlink_to", _no_links)
        target = world.data / "sessions" / "w" / "claude-a.jsonl"
        with Draft(world.data) as draft:
            draft.add([{"type": "message"}])
            draft.place(target, {"type": "session"})
        assert target.read_bytes() == b'{"type":"session"}\n{"type":"message"}\n'
        assert target.stat().st_nlink == 1
        with Draft(world.data) as draft, pytest.raises(RefusedError, match="exists already"):
            draft.place(target, {"type": "another"})
        target.unlink()
        target.symlink_to(world.home / "nowhere")
        with Draft(world.data) as draft, pytest.raises(RefusedError, match="exists already"):
            draft.place(target, {"type": "another"})
        assert not (world.home / "nowhere").exists()
        assert world.leftovers() == []

    def test_another_import_is_waited_for_and_then_told(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        _prompt(world, "a")
        monkeypatch.setattr("persist.aster.importing.target._WAIT_S", 0.05)
        with locked(world.data / "sessions" / IMPORT_LOCK), pytest.raises(BusyError):
            world.run("claude-code")
        assert _statuses(world.run("claude-code")) == ["imported"]

    def test_a_busy_folder_costs_its_session(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        _prompt(world, "a")
        _prompt(world, "b", cwd="/w/delta")
        monkeypatch.setattr("persist.aster.importing.target.locked", _impatient)
        with locked(world.data / "sessions" / "w-gamma" / ".lock"):
            assert _statuses(world.run("claude-code")) == ["failed", "imported"]
        assert world.leftovers() == []

    def test_a_database_that_is_written_to_is_whole_or_told(self, world: World) -> None:
        world.samples()
        stop = threading.Event()

        def write() -> None:
            with closing(sqlite3.connect(world.hermes_path, isolation_level=None, timeout=10)) as connection:
                while not stop.is_set():
                    connection.execute("UPDATE messages SET content = content || 'x' WHERE id = 3")
                    connection.execute("INSERT INTO messages (session_id, content) VALUES ('y', ?)", ("z" * 20_000,))

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(5):
                (outcome,) = world.run("hermes").outcomes
                assert outcome.status in ("imported", "existing", "failed")
                assert world.leftovers() == []
        finally:
            stop.set()
            writer.join()
        world.run("hermes")
        (target,) = world.targets()
        assert said(strict_records(target)) == [("user", "spell check the notes"), ("assistant", "Two typos fixed.")]


class TestKilled:
    def _world(self, world: World, sessions: int) -> set[str]:
        for at in range(sessions):
            name = f"s{at:03}"
            records = [make.claude_prompt(f"{name} {n} " + "x" * 3000, name, f"{name}-{n}", n) for n in range(40)]
            world.claude("-w-gamma", name, claude_lines(*records))
        return {f"claude-s{at:03}" for at in range(sessions)}

    def _kill(self, world: World, times: int, longest_s: float) -> None:
        chance = random.Random(5)  # noqa: S311 - when a process is ended
        killed = 0
        for number in range(times):
            moment_s = chance.uniform(0, longest_s) if number else 0.0  # one at least is killed, however fast it is
            killed += processes.run_and_kill(lambda: world.run("claude-code"), moment_s)
            listing = list_sessions([world.data])
            assert listing.troubles == ()
            for entry in listing.sessions:
                assert entry.header is not None
                assert entry.turns == 40
                strict_records(entry.path)
        assert killed

    def test_no_half_session_is_ever_listed(self, world: World) -> None:
        expected = self._world(world, 60)
        self._kill(world, 5, 0.12)
        world.run("claude-code")
        assert {path.stem for path in world.targets()} == expected
        assert world.leftovers() == []

    @pytest.mark.soak
    def test_fifty_times(self, world: World) -> None:
        expected = self._world(world, 250)
        self._kill(world, 50, 0.12)
        world.run("claude-code")
        assert {path.stem for path in world.targets()} == expected
        assert world.leftovers() == []

    def test_what_a_killed_import_left_is_removed_by_the_next(self, world: World) -> None:
        _prompt(world, "a")
        leftover = world.data / "sessions" / f"{LEFTOVER_PREFIX}0123"
        leftover.parent.mkdir(parents=True)
        leftover.write_text("half")
        world.run("claude-code", dry_run=True)
        assert leftover.exists()
        world.run("claude-code")
        assert world.leftovers() == []

    def test_two_at_once_import_each_session_once(self, world: World) -> None:
        expected = self._world(world, 20)

        def act() -> None:
            assert set(_statuses(world.run("claude-code"))) <= {"imported", "existing"}

        children = [processes.start(act) for _ in range(2)]
        assert [child.wait() for child in children] == [(0, "")] * 2
        assert {path.stem for path in world.targets()} == expected
        for path in world.targets():
            assert len(strict_records(path)) == 41
        assert world.leftovers() == []


class TestBounded:
    def _write(self, world: World, megabytes: int) -> None:
        block = [make.claude_prompt("x" * 8000, CLAUDE_ID, "u", 0), make.claude_answer("y" * 8000, CLAUDE_ID, "v", 1)]
        path = world.claude("-w-gamma", CLAUDE_ID, b"")
        with path.open("wb") as file:
            for at in range(megabytes * 62):
                file.write(claude_lines(*({**record, "uuid": f"{record['uuid']}{at}"} for record in block)))

    def _peak(self, world: World) -> int:
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        command = [sys.executable, "-c", _BIG, str(world.home)]
        return int(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)

    def test_memory_does_not_grow_with_the_session(self, world: World, tmp_path: Path) -> None:
        self._write(world, 4)
        other = World(tmp_path / "other")
        self._write(other, 40)
        small, large = self._peak(world), self._peak(other)
        assert large < small + 12_000_000
        assert other.targets()[0].stat().st_size > 38_000_000

    @pytest.mark.soak
    def test_one_long_line_costs_a_few_times_its_size(self, world: World) -> None:
        world.claude("-w-gamma", CLAUDE_ID, claude_lines(make.claude_prompt("x" * 8_000_000, CLAUDE_ID, "u", 0)))
        assert self._peak(world) < 8 * 8_000_000 + 12_000_000


def test_many_sessions_that_are_there_are_passed_quickly(world: World) -> None:
    for at in range(100):
        _prompt(world, f"s{at}")
    world.run("claude-code")
    began = time.process_time()
    assert _statuses(world.run("claude-code")) == ["existing"] * 100
    assert time.process_time() - began < 1


def _without_signal(act: Callable[[], object]) -> Callable[[], None]:
    """Let a file that grows too large be an error, as a full disk is, and not the end of the process."""
    import signal

    def run() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        act()

    return run


def _no_links(self: Path, target: Path) -> None:
    raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), str(self))


def _impatient(path: Path, timeout_s: float = 0.05) -> object:
    return locked(path, min(timeout_s, 0.05))
