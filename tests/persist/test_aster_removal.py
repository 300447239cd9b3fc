"""Which session a typed id means for a command that changes it, and that nothing else goes when one is removed."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from persist import history, removal
from persist.aster.identify import stored_files
from persist.errors import BusyError, RefusedError
from persist.files import LOCK_NAME, locked
from persist.files.remove import remove_inside
from persist.files.temporary import TEMPORARY_PREFIX
from persist.known_sessions import StoredFile, StoredSession, fitting, sessions_of
from persist.removal import remove_session
from tests import builders as make
from tests.builders import HomeBuilder


@pytest.fixture
def home(isolated: Path) -> HomeBuilder:
    return HomeBuilder(isolated)


def known(*ids: str) -> list[StoredSession]:
    return sessions_of([StoredFile("aster", id_, Path(f"/h/sessions/p/{id_}.jsonl"), Path("/h")) for id_ in ids])


def meant(sessions: list[StoredSession], typed: str) -> list[str]:
    return [session.id for session in fitting(sessions, typed).sessions]


class TestWhichSessionIsMeant:
    SESSIONS = known("s1", "s10", "s11", "01k5aaaa1111", "01k5aaaa2222", "01K5BBBB", "conv-1", "café", "telegram:7")

    def test_a_whole_id_is_that_session_alone(self) -> None:
        assert meant(self.SESSIONS, "s1") == ["s1"]
        assert fitting(self.SESSIONS, "s1").is_whole

    def test_a_beginning_is_one_from_four_characters_on_and_may_fit_several(self) -> None:
        assert meant(self.SESSIONS, "01k5aaaa1") == ["01k5aaaa1111"]
        assert meant(self.SESSIONS, "01k5aaaa") == ["01k5aaaa1111", "01k5aaaa2222"]
        assert not fitting(self.SESSIONS, "01k5aaaa").is_whole
        assert meant(self.SESSIONS, "01k") == []

    def test_case_normal_form_and_asters_spelling_do_not_matter(self) -> None:
        assert meant(self.SESSIONS, "01k5bbbb") == ["01K5BBBB"]
        assert meant(self.SESSIONS, "conv_1") == ["conv-1"]
        assert meant(self.SESSIONS, unicodedata.normalize("NFD", "CAFÉ")) == ["café"]
        assert meant(self.SESSIONS, "cafe") == []
        assert meant(self.SESSIONS, "caf") == []

    def test_of_two_that_differ_in_case_the_one_typed(self) -> None:
        both = known("01KBX", "01kbx")
        assert meant(both, "01kbx") == ["01kbx"]
        assert meant(both, "01KBX") == ["01KBX"]
        assert meant(both, "01Kbx") == ["01KBX", "01kbx"]

    def test_the_listed_id_goes_before_a_files_name(self) -> None:
        files = [
            StoredFile("aster", "y", Path("/h/sessions/p/x.jsonl"), Path("/h")),
            StoredFile("aster", "z", Path("/h/sessions/p/y.jsonl"), Path("/h")),
        ]
        assert meant(sessions_of(files), "y") == ["y"]
        assert meant(sessions_of(files), "x") == ["y"]

    def test_an_id_as_listed_is_one_whatever_is_in_it(self) -> None:
        assert meant(self.SESSIONS, "telegram:7") == ["telegram:7"]

    @pytest.mark.parametrize(
        "typed",
        ["", "  ", "%", "_", "*", "s1*", "s?", "[s]1", "..", "../../x", "/etc/passwd", "a\\b", "x\0y", "🧾", "a" * 999],
    )
    def test_what_is_no_id_is_refused(self, typed: str) -> None:
        with pytest.raises(RefusedError):
            fitting(self.SESSIONS, typed)

    def test_a_pattern_within_an_id_is_never_cut_off_to_a_beginning(self) -> None:
        assert meant(self.SESSIONS, "01k5aaaa1.") == []
        assert meant(self.SESSIONS, "01k5aaaa1_") == []


def talk(home: HomeBuilder, session_id: str, project: str = "alpha") -> Path:
    prompt = make.aster_prompt(f"heron {session_id}", 1)
    return home.aster(session_id, make.aster_header(session_id, 0), prompt, project=project)


def stored(home: HomeBuilder, session_id: str) -> StoredSession:
    (session,) = [one for one in sessions_of(stored_files([home.aster_home])[0]) if one.id == session_id]
    return session


class TestRemoving:
    def test_the_file_and_its_prompts_go_and_nothing_else(self, home: HomeBuilder) -> None:
        path, other = talk(home, "s1"), talk(home, "s10")
        path.with_name(f"{TEMPORARY_PREFIX}relocate-1-old").write_bytes(path.read_bytes())  # of a killed relocation
        damaged = b'{"sessionId":"s1","torn'
        path_of_history = home.prompt_history(
            "aster", make.history_entry("one", "s1", 1), damaged, make.history_entry("ten", "s10", 1)
        )
        removed = remove_session(stored(home, "s1"))
        assert [file.path for file in removed.files] == [path]
        assert removed.history_trouble is None
        assert not path.exists()
        assert other.exists()
        assert path_of_history.read_bytes() == damaged + b"\n" + make.lines(make.history_entry("ten", "s10", 1))
        assert path_of_history.stat().st_mode & 0o777 == 0o600
        assert {left.name for left in path.parent.iterdir()} == {"s10.jsonl", ".lock"}

    def test_a_session_told_by_two_files_goes_whole(self, home: HomeBuilder) -> None:
        first, second = talk(home, "s1"), talk(home, "s1", project="beta")
        assert len(remove_session(stored(home, "s1")).files) == 2
        assert not first.exists()
        assert not second.exists()

    def test_a_link_is_removed_and_what_it_points_to_stays(self, home: HomeBuilder, tmp_path: Path) -> None:
        canary = tmp_path / "canary.jsonl"
        canary.write_bytes(make.lines(make.aster_header("away", 0)))
        link = talk(home, "s1").with_name("away.jsonl")
        link.symlink_to(canary)
        assert remove_session(stored(home, "away")).files
        assert not os.path.lexists(link)
        assert canary.exists()

    def test_a_folder_that_leaves_the_store_is_refused_and_nothing_is_changed(
        self, home: HomeBuilder, tmp_path: Path
    ) -> None:
        canary = tmp_path / "away.jsonl"
        canary.write_bytes(make.lines(make.aster_header("away", 0)))
        path = home.prompt_history("aster", make.history_entry("one", "away", 1))
        (home.aster_home / "sessions" / "linked").symlink_to(tmp_path)
        before = path.read_bytes()
        with pytest.raises(RefusedError, match="leaves the store"):
            remove_session(stored(home, "away"))
        assert canary.exists()
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [canary]

    def test_a_file_reached_twice_inside_the_home_is_known_once(self, home: HomeBuilder) -> None:
        path = talk(home, "s1")
        (path.parent.parent / "same").symlink_to(path.parent)
        path.with_name("twin.jsonl").symlink_to(path)
        assert [file.path for file in stored(home, "s1").files] == [path]

    def test_a_folder_in_the_place_of_a_file_stays(self, home: HomeBuilder, tmp_path: Path) -> None:
        folder = tmp_path / "x.jsonl"
        folder.mkdir()
        with pytest.raises(RefusedError, match="no file"):
            remove_inside(folder, tmp_path)
        assert not remove_inside(tmp_path / "gone.jsonl", tmp_path)

    def test_what_an_older_home_has_of_that_name_goes_with_it(self, home: HomeBuilder) -> None:
        path = talk(home, "s1")
        older = home.home / ".aster"
        twin = older / path.relative_to(home.aster_home)
        twin.parent.mkdir(parents=True)
        twin.write_bytes(path.read_bytes())
        (session,) = sessions_of(stored_files([home.aster_home, older])[0])
        remove_session(session)
        assert stored_files([home.aster_home, older])[0] == []

    def test_headerless_torn_empty_and_unreadable_files_are_known_by_their_names(self, home: HomeBuilder) -> None:
        home.aster("empty")
        home.aster("TORN", end=b'{"type":"sess')
        home.aster("headless", make.aster_prompt("no header", 1))
        make.make_unreadable(home.aster("dark"))
        files, troubles = stored_files([home.aster_home])
        assert {file.id for file in files} == {"empty", "TORN", "headless", "dark"}
        assert troubles == []
        for session in sessions_of(files):
            remove_session(session)
        assert stored_files([home.aster_home])[0] == []


class TestChangingTheHistory:
    def test_nothing_to_change_writes_nothing(self, home: HomeBuilder) -> None:
        path = home.prompt_history("aster", make.history_entry("one", "s1", 1), b"torn")
        before = path.stat()
        assert history.change(path, lambda entry: entry) == 0
        assert path.stat() == before
        assert history.change(path.with_name("none.jsonl"), lambda _entry: None) == 0
        assert not path.with_name("none.jsonl").exists()

    def test_what_is_added_while_a_history_is_remade_stays(self, home: HomeBuilder) -> None:
        path = home.prompt_history("aster", make.history_entry("old", "s1", 1), make.history_entry("yes", "s1", 1))
        before = history.read(path).entries
        history.append(path, before[1])
        history.append(path, history.PromptEntry("s2", "/w", "", "new"))
        found = history.replace_all(path, [before[1]], before=before)
        assert [entry.prompt for entry in found.entries] == ["yes", "yes", "new"]
        found = history.replace_all(path, [*before, *found.entries[1:]], before=before)
        assert [entry.prompt for entry in found.entries] == ["old", "yes", "yes", "new"]


def test_a_removal_that_is_busy_has_changed_nothing(home: HomeBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    path = home.aster("s1", make.aster_header("s1", 0), make.aster_prompt("heron", 1))
    past = home.prompt_history("aster", make.history_entry("heron", "s1", 1))
    before = past.read_bytes()
    monkeypatch.setattr(removal, "locked", lambda lock: locked(lock, 0.05))
    data_home = path.parents[2]
    session = StoredSession("aster", "s1", (StoredFile("aster", "s1", path, data_home),))
    with locked(path.with_name(LOCK_NAME)), pytest.raises(BusyError):
        remove_session(session)
    assert (path.is_file(), past.read_bytes()) == (True, before)
    assert remove_session(session).history_trouble is None
    assert (path.is_file(), past.read_bytes()) == (False, b"")
