"""Aster's store for a program that talks: begin, find again, go on; and what it never does on the way."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from persist.aster.store import Store
from persist.errors import AmbiguousError, NotFoundError, RefusedError
from persist.sources import Environment

SAMPLES = Path(__file__).parents[1] / "data" / "aster"
APP = "/w/app"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "home")


def talk(store: Store, session_id: str, *words: str, cwd: str = APP, minute: int = 0) -> Path:
    """Record prompts and answers in turn, a minute each."""
    with store.open_or_create(cwd, session_id=session_id) as writer:
        for number, word in enumerate(words):
            ts = f"2026-05-04T08:{minute + number:02d}:00Z"
            writer.assistant(word, ts=ts) if number % 2 else writer.user(word, ts=ts)
    return writer.path


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class TestWhatAstersTestsAssert:
    """Behaviours 64 to 71 of ``spec/aster.md`` 7, as far as they are the store's: the terminal is Aster's own."""

    def test_64_resuming_the_latest_gives_its_two_messages(self, store: Store) -> None:
        talk(store, "one", "question", "answer")
        latest = store.latest(APP)
        assert latest is not None
        resumed = store.resume(latest.id)
        assert [(message.role, message.content) for message in resumed.messages] == [
            ("user", "question"),
            ("assistant", "answer"),
        ]
        assert (resumed.turns, resumed.turns_shown, resumed.title) == (1, 1, "question")

    def test_65_looking_for_a_session_to_go_on_with_opens_no_file(self, store: Store) -> None:
        assert store.latest(APP) is None
        assert store.list(APP).sessions == store.list().sessions == ()
        assert not store.home.exists()
        talk(store, "one", "question")
        before = files(store.home)
        store.latest(APP), store.list(APP), store.find("one"), store.resume("one")
        assert files(store.home) == before

    def test_66_an_id_resumes_though_another_is_newer(self, store: Store) -> None:
        talk(store, "older", "first")
        talk(store, "newer", "second", minute=5)
        assert store.resume("older").messages[0].content == "first"

    def test_67_an_unknown_id_is_an_error_and_creates_nothing(self, store: Store) -> None:
        for ask in (store.resume, store.find, store.open):
            with pytest.raises(NotFoundError):
                ask("nowhere")
        assert not store.home.exists()

    def test_68_a_session_without_a_prompt_is_none_to_go_on_with(self, store: Store) -> None:
        talk(store, "talked", "hello")
        store.create(APP, session_id="cleared").system("steering", ts="2026-05-04T09:00:00Z")
        latest = store.latest(APP)
        assert latest is not None
        assert latest.id == "talked"

    def test_69_it_says_when_there_is_none(self, store: Store) -> None:
        store.create(APP, session_id="cleared")
        assert store.latest(APP) is None

    def test_70_what_was_found_is_reopened_and_not_begun_again(self, store: Store) -> None:
        path = talk(store, "one", "question", "answer")
        with store.open(store.list(APP).sessions[0].id) as writer:
            writer.user("and then?")
        assert writer.path == path
        assert store.resume("one").turns == 2
        assert path.read_text().count('"type":"session"') == 1


class TestLatest:
    def test_the_last_used_not_the_last_created(self, store: Store) -> None:
        talk(store, "old", "a", minute=0)
        talk(store, "new", "b", minute=1)
        talk(store, "old", "c", minute=2)
        latest = store.latest(APP)
        assert latest is not None
        assert latest.id == "old"

    def test_imports_and_sub_agents_are_none_to_go_on_with(self, store: Store) -> None:
        talk(store, "mine", "a")
        store.create(APP, session_id="helper", parent="mine").user("sub", ts="2026-05-04T09:00:00Z")
        talk(store, "claude-3f6d2c1e", "imported", minute=30)
        latest = store.latest(APP)
        assert latest is not None
        assert latest.id == "mine"

    def test_two_projects_of_one_slug_do_not_mix(self, store: Store) -> None:
        talk(store, "one", "a", cwd="/home/ann/work/blog")
        talk(store, "two", "b", cwd="/home/ann/work-blog", minute=5)
        assert [entry.id for entry in store.list("/home/ann/work/blog").sessions] == ["one"]
        latest = store.latest("/home/ann/work/blog")
        assert latest is not None
        assert latest.id == "one"
        with pytest.raises(RefusedError, match="belongs to /home/ann/work/blog"):
            store.open_or_create("/home/ann/work-blog", session_id="one")

    def test_a_subfolder_of_a_repository_is_the_same_project(self, store: Store, tmp_path: Path) -> None:
        root = tmp_path / "repo"
        subprocess.run(["git", "init", "-q", root], check=True)
        (root / "src").mkdir()
        path = talk(store, "one", "a", cwd=str(root / "src"))
        assert json.loads(path.read_text().splitlines()[0])["repo_root"] == str(root)
        assert json.loads(path.read_text().splitlines()[0])["cwd"] == str(root / "src")
        assert store.latest(str(root)) == store.latest(str(root / "src")) is not None

    def test_a_session_that_aster_filed_under_its_folder_is_found_again(self, store: Store, tmp_path: Path) -> None:
        """Aster records the current folder as ``repo_root`` and files by it, not by the repository."""
        root = tmp_path / "repo"
        subprocess.run(["git", "init", "-q", root], check=True)
        sub = str(root / "src")
        Path(sub).mkdir()
        from persist.aster import SessionWriter

        theirs = SessionWriter.create(store.home, sub, sub, session_id="conv")
        with store.open_or_create(sub, session_id="conv") as writer:
            writer.user("again")
        assert writer.path == theirs.path
        with pytest.raises(RefusedError, match="exists already"):
            store.create(sub, session_id="conv")


class TestHomes:
    def test_an_older_home_is_read_and_written_where_it_lies(self, tmp_path: Path) -> None:
        old = Store(tmp_path / "old")
        path = talk(old, "before", "a")
        store = Store(tmp_path / "new", [tmp_path / "old"])
        with store.open_or_create(APP, session_id="before") as writer:
            writer.user("b")
        assert writer.path == path
        with store.open_or_create(APP, session_id="after") as writer:
            writer.user("c")
        assert writer.path.is_relative_to(tmp_path / "new")
        assert {entry.id for entry in store.list(APP).sessions} == {"before", "after"}
        assert store.find("before").home == tmp_path / "old"

    def test_the_current_store_has_the_homes_that_ingest_reads(self, tmp_path: Path) -> None:
        (tmp_path / ".aster").mkdir()
        store = Store.current(Environment({}, tmp_path))
        assert store.homes == (tmp_path / ".local/share/aster", tmp_path / ".aster")
        assert Store.current(Environment({"ASTER_HOME": str(tmp_path / "x")}, tmp_path)).homes == (tmp_path / "x",)


class TestIds:
    @pytest.mark.parametrize("typed", ["../../x", "/etc/passwd", "a/b", "..", "", "🧾", "a\0b", "x" * 300, "a\nb"])
    def test_an_id_that_would_leave_is_refused_everywhere(self, store: Store, tmp_path: Path, typed: str) -> None:
        canary = tmp_path / "x.jsonl"
        canary.write_text("canary")
        talk(store, "one", "a")
        for ask in (store.resume, store.find, store.open):
            with pytest.raises((RefusedError, NotFoundError)):
                ask(typed)
        with pytest.raises(RefusedError):
            store.open_or_create(APP, session_id=typed)
        if typed:
            with pytest.raises(RefusedError):
                store.create(APP, session_id=typed)
        assert canary.read_text() == "canary"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "x.jsonl"]

    def test_case_and_underscores_are_one_session_and_a_name_beside_emoji_is_safe(self, store: Store) -> None:
        path = talk(store, "Conv_1", "a")
        assert {talk(store, typed, "b") for typed in ("conv-1", "CONV_1", "conv 1")} == {path}
        assert talk(store, "zoë-🚀-x", "a").name == "zo-x.jsonl"

    def test_an_old_upper_case_id_is_reopened_in_any_case(self, store: Store, tmp_path: Path) -> None:
        old = store.home / "sessions/w-app/01M0CDSRD0M5N6FKF181V7JAJ0.jsonl"
        old.parent.mkdir(parents=True)
        old.write_text(
            '{"type":"session","id":"01M0CDSRD0M5N6FKF181V7JAJ0","v":1,"cwd":"/w/app","repo_root":"/w/app"}\n'
        )
        for typed in ("01m0cdsrd0m5n6fkf181v7jaj0", "01M0CDSRD0M5N6FKF181V7JAJ0", "01m0cdsr"):
            with store.open(typed) as writer:
                writer.user("x")
            assert writer.path == old
        assert store.resume("01m0cdsr").turns == 3

    def test_a_prefix_of_two_is_ambiguous(self, store: Store) -> None:
        talk(store, "conv-1", "a")
        talk(store, "conv-2", "a")
        with pytest.raises(AmbiguousError):
            store.open("conv")


class TestWhatIsBroken:
    @pytest.mark.parametrize("content", [b"", b"\n", b'{"type":"session","id":"on', b"\0\0\0", b"\xff\n"], ids=repr)
    def test_a_file_without_a_header_can_be_found_resumed_and_appended_to(self, store: Store, content: bytes) -> None:
        path = store.home / "sessions" / "w-app" / "one.jsonl"
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        assert (store.find("one").path, store.resume("one").messages) == (path, ())
        with store.open("one") as writer:
            writer.user("x")
        assert [message.content for message in store.resume("one").messages] == ["x"]
        assert store.latest(APP) is None

    def test_a_newer_format_is_read_reported_and_not_written(self, store: Store) -> None:
        path = talk(store, "one", "question", "answer")
        path.write_text(path.read_text().replace('"v":1', '"v":7', 1))
        before = path.read_bytes()
        resumed = store.resume("one")
        assert (resumed.newer_version, len(resumed.messages)) == (7, 2)
        with pytest.raises(RefusedError, match="format version 7"):
            store.open("one")
        with pytest.raises(RefusedError, match="format version 7"):
            store.open_or_create(APP, session_id="one")
        assert path.read_bytes() == before

    def test_the_samples_resume_as_their_summaries_say(self, store: Store) -> None:
        samples = Store(SAMPLES)
        resumed = samples.resume("01m32j3he024b2zft51ksjccbw")
        assert (resumed.turns, resumed.turns_shown, len(resumed.messages)) == (10, 4, 9)
        torn = samples.resume("01m3y9fha0vhf161j4dztyjypy")
        assert [message.content for message in torn.messages] == ["und jetzt als PDF"]

    def test_everything_is_private(self, store: Store) -> None:
        before = os.umask(0)
        try:
            talk(store, "one", "a")
        finally:
            os.umask(before)
        modes = {path.name: path.stat().st_mode & 0o777 for path in [store.home, *store.home.rglob("*")]}
        assert {modes.pop(name) for name in ("home", "sessions", "w-app")} == {0o700}
        assert set(modes.values()) == {0o600}
