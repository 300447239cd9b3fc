"""Which sessions go when a project's are thinned out, and which never do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from persist.aster.retention import Candidate, Rules, candidates_of, chosen, is_locked, remove, why_left
from persist.files import LOCK_NAME, locked
from tests import builders as make
from tests.builders import HomeBuilder
from tests.conftest import REPOSITORY

LONG_AGO = (1_700_000_000, 1_700_000_000)


@pytest.fixture
def home(isolated: Path) -> HomeBuilder:
    return HomeBuilder(isolated)


def quiet(path: Path) -> Path:
    os.utime(path, LONG_AGO)
    return path


def talk(home: HomeBuilder, session_id: str, minute: float, *more: make.Record | bytes, project: str = "alpha") -> Path:
    header = make.aster_header(session_id, 0)
    return quiet(home.aster(session_id, header, make.aster_prompt("heron", minute), *more, project=project))


def found(home: HomeBuilder, project: str = "/w/alpha") -> dict[str, Candidate]:
    return {one.entry.id: one for one in candidates_of([home.aster_home], project)[0]}


def going(home: HomeBuilder, rules: Rules) -> dict[str, str]:
    return {one.candidate.entry.id: one.why for one in chosen(list(found(home).values()), rules)}


class TestTheChoice:
    def test_by_last_activity_and_those_that_go_do_not_count_among_the_kept(self, home: HomeBuilder) -> None:
        for number, session_id in enumerate(("s1", "s2", "s3", "s4"), start=1):
            talk(home, session_id, number * 10)
        quiet(home.aster("s5", make.aster_header("s5", 50)))
        assert going(home, Rules(keep=2)) == {"s1": "surplus", "s2": "surplus", "s3": "surplus"}
        assert going(home, Rules(keep=2, empty=True)) == {"s5": "empty", "s1": "surplus", "s2": "surplus"}
        assert going(home, Rules(older_than=make.at(20))) == {"s1": "older"}
        assert going(home, Rules(older_than=make.at(20.1), keep=1)) == {
            "s1": "older", "s2": "older", "s3": "surplus", "s4": "surplus",
        }  # fmt: skip
        assert going(home, Rules()) == {}

    def test_age_is_that_of_the_last_line_not_of_the_file_or_the_header(self, home: HomeBuilder) -> None:
        talk(home, "s1", 1, make.aster_answer("much later", 500))
        assert going(home, Rules(older_than=make.at(400))) == {}


class TestEmpty:
    def test_only_what_is_wholly_read_and_says_nothing(self, home: HomeBuilder) -> None:
        header = [make.aster_header("x", 0)]
        quiet(home.aster("bare", make.aster_header("bare", 0)))
        quiet(home.aster("titled", make.aster_header("titled", 0), make.aster_title("t", 1)))
        quiet(home.aster("blank", make.aster_header("blank", 0), make.aster_prompt(" \n", 1)))
        quiet(home.aster("damaged", make.aster_header("damaged", 0), b'{"type":"message","ro'))
        quiet(home.aster("torn", make.aster_header("torn", 0), end=b'{"type":"mess'))
        quiet(home.aster("unheard", make.aster_header("unheard", 0), {"type": "brand-new"}))
        quiet(home.aster("newer", {**make.aster_header("newer", 0), "v": 2}))
        quiet(home.aster("answered", make.aster_header("answered", 0), make.aster_answer("by itself", 1)))
        assert header
        assert going(home, Rules(empty=True)) == dict.fromkeys(("titled", "blank", "bare"), "empty")


class TestWhatIsNeverTouched:
    def test_another_project_of_the_same_slug(self, home: HomeBuilder) -> None:
        talk(home, "mine", 1)
        other = make.aster_header("theirs", 0) | {"cwd": "/w-alpha"}
        quiet(home.aster("theirs", other, make.aster_prompt("x", 1)))
        assert set(found(home)) == {"mine"}
        assert set(found(home, "/w-alpha")) == {"theirs"}

    @pytest.mark.parametrize("version", [2, "next", 0])
    def test_one_of_another_format_version_is_told_and_stays(self, home: HomeBuilder, version: object) -> None:
        header = {**make.aster_header("newer", 0), "v": version}
        path = quiet(home.aster("newer", header, make.aster_prompt("x", 1)))
        candidates, left = candidates_of([home.aster_home], "/w/alpha")
        assert candidates == []
        assert [(one.path, "format version" in one.why) for one in left] == [(path, True)]

    def test_what_has_no_header_or_cannot_be_read(self, home: HomeBuilder) -> None:
        home.aster("headless", make.aster_prompt("x", 1), project="w-alpha")
        home.aster("empty", project="w-alpha")
        dark = home.aster("dark", make.aster_header("dark", 0), project="w-alpha")
        make.make_unreadable(dark)
        candidates, left = candidates_of([home.aster_home], "/w/alpha")
        assert candidates == []
        assert [one.path for one in left] == [dark]

    def test_what_changed_just_now_is_open_or_is_locked(self, home: HomeBuilder) -> None:
        path = talk(home, "s1", 1)
        assert why_left(found(home)["s1"]) is None
        os.utime(path)
        assert "it changed less than" in (why_left(found(home)["s1"]) or "")
        quiet(path)
        candidate = found(home)["s1"]
        with locked(path.with_name(LOCK_NAME)):
            assert is_locked(candidate)
            assert remove(candidate).left == "another program writes in its folder"
        assert not is_locked(candidate)
        code = "import sys,time; f=open(sys.argv[1],'ab'); print(flush=True); time.sleep(60)"
        with subprocess.Popen(
            [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, cwd=REPOSITORY
        ) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            if sys.platform == "linux":
                assert remove(candidate).left == "another program has it open for writing"
            writer.kill()
        assert path.exists()
        assert remove(candidate).left is None
        assert not path.exists()

    def test_what_went_on_since_it_was_chosen(self, home: HomeBuilder) -> None:
        path = talk(home, "s1", 1)
        candidate = found(home)["s1"]
        with path.open("ab") as file:
            file.write(make.lines(make.aster_prompt("more", 2)))
        quiet(path)
        assert remove(candidate).left == "it changed while it was looked at"
        path.unlink()
        assert "cannot be read" in (remove(candidate).left or "")

    def test_links(self, home: HomeBuilder, tmp_path: Path) -> None:
        canary = tmp_path / "away.jsonl"
        canary.write_bytes(make.lines(make.aster_header("away", 0), make.aster_prompt("x", 1)))
        quiet(canary)
        talk(home, "s1", 1).with_name("away.jsonl").symlink_to(canary)
        assert remove(found(home)["away"]).left == "it is a link"
        (home.aster_home / "sessions" / "alpha" / "away.jsonl").unlink()
        (home.aster_home / "sessions" / "linked").symlink_to(tmp_path)
        assert "leaves the store" in (remove(found(home)["away"]).left or "")
        assert canary.exists()


def test_the_prompts_of_a_removed_session_go_with_it_and_a_twin_in_an_older_home(home: HomeBuilder) -> None:
    path = talk(home, "s1", 1)
    older = home.home / ".aster"
    twin = older / path.relative_to(home.aster_home)
    twin.parent.mkdir(parents=True)
    twin.write_bytes(path.read_bytes())
    history = home.prompt_history("aster", make.history_entry("heron", "s1", 1), make.history_entry("egret", "s2", 1))
    ((candidate,), left) = candidates_of([home.aster_home, older], "/w/alpha")
    assert left == []
    assert remove(candidate) == (None, None)
    assert not path.exists()
    assert not twin.exists()
    assert history.read_bytes() == make.lines(make.history_entry("egret", "s2", 1))
