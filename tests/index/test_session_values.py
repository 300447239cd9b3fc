"""What a session is said to be, told by one file, two files, a fork, a copy: title, branch, folder, project, times."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from index.ingest import ingest
from index.settings import Settings
from tests import builders as make
from tests.builders import HomeBuilder, Record
from tests.index.conftest import dump_of, rebuilt_dump, rows

pytestmark = pytest.mark.usefixtures("quick_schema")

AI, PERSON = "ai-title", "custom-title"


@pytest.fixture
def settings(home: HomeBuilder) -> Settings:
    return home.settings()


def told(settings: Settings, columns: str) -> dict[str, tuple[Any, ...]]:
    """Bring the index up to date, compare it with a rebuild, and return these columns of each session."""
    ingest(settings, prune=True)
    assert dump_of(settings.index_path) == rebuilt_dump(settings)
    return {row[0]: row[1:] for row in rows(settings, f"SELECT session_id, {columns} FROM sessions")}


def prompt(session: str, minute: float, uuid: str | None = None, **keys: Any) -> Record:
    return make.claude_prompt(f"at {minute}", session, uuid or f"u{minute}", minute, **keys)


def title(kind: str, text: str, session: str | None = None) -> Record:
    key = {AI: "aiTitle", PERSON: "customTitle", "summary": "summary"}[kind]
    return {"type": kind, key: text} | ({} if session is None else {"sessionId": session})


def summary(text: str, leaf: str) -> Record:
    return {"type": "summary", "summary": text, "leafUuid": leaf}


# Titles.


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        ([(AI, "a"), (PERSON, "p")], "p"),
        ([(PERSON, "p"), (AI, "a"), (AI, "later")], "p"),
        ([(PERSON, "p"), (PERSON, "q"), (AI, "a")], "q"),
        ([(AI, "a"), (AI, "b"), (AI, "a")], "a"),
        ([(PERSON, "p"), (PERSON, "q"), (PERSON, "p")], "p"),
        ([(PERSON, " "), (AI, "a"), (PERSON, "")], "a"),
    ],
)
def test_a_persons_title_wins_however_late_an_agents_is(
    titles: list[tuple[str, str]], expected: str, home: HomeBuilder, settings: Settings
) -> None:
    home.claude("s", prompt("s", 1), *(title(kind, text, "s") for kind, text in titles))
    assert told(settings, "title") == {"s": (expected,)}


def test_a_title_is_any_files_of_the_session_the_one_active_last_counts(home: HomeBuilder, settings: Settings) -> None:
    first = home.claude("s", prompt("s", 1), title(PERSON, "mine", "s"), project="b")
    second = home.claude("s", prompt("s", 1), prompt("s", 2), title(AI, "the agent's", "s"), project="a")
    assert told(settings, "title") == {"s": ("mine",)}
    with second.open("ab") as file:
        file.write(make.lines(title(PERSON, "mine too", "s")))
    assert told(settings, "title") == {"s": ("mine too",)}
    second.unlink()
    assert told(settings, "title") == {"s": ("mine",)}
    first.unlink()
    assert told(settings, "title") == {}


def test_a_title_about_a_record_of_another_session_is_ignored(home: HomeBuilder, settings: Settings) -> None:
    home.claude("s", prompt("s", 1, "u-s"), summary("mine", "u-s"), summary("about t", "u-t"))
    home.claude("t", prompt("t", 2, "u-t"), summary("about s", "u-s"), summary("of nobody", "u-gone"))
    assert told(settings, "title") == {"s": ("mine",), "t": (None,)}


def test_a_title_about_a_record_in_another_file_of_the_session_holds(home: HomeBuilder, settings: Settings) -> None:
    home.claude("s", prompt("s", 1, "u-1"), project="a")
    second = home.claude("s", prompt("s", 2, "u-2"), summary("mine", "u-1"), project="b")
    assert told(settings, "title") == {"s": ("mine",)}
    second.unlink()
    assert told(settings, "title") == {"s": (None,)}


@pytest.mark.parametrize("kind", [AI, PERSON])
def test_a_title_with_another_sessions_id_is_ignored(kind: str, home: HomeBuilder, settings: Settings) -> None:
    home.claude("s", prompt("s", 1), title(kind, "mine", "s"), title(kind, "another's", "t"))
    home.claude("u", prompt("u", 1), title(kind, "same", "t"), title(kind, "same", "u"))
    home.claude("v", prompt("v", 1), title(kind, "without an id"))
    assert told(settings, "title") == {"s": ("mine",), "u": ("same",), "v": ("without an id",)}


def test_a_resumed_file_that_goes_on_under_its_own_name_may_title_the_session(
    home: HomeBuilder, settings: Settings
) -> None:
    home.claude("new", prompt("old", 1), prompt("new", 2), title(AI, "gone on", "new"))
    assert told(settings, "title") == {"old": ("gone on",)}


# Branch, folder, project.


@pytest.mark.parametrize(
    ("branches", "expected"),
    [
        (["main", "topic"], "topic"),
        (["main", ""], "main"),
        (["main", "HEAD"], "main"),
        (["main", "HEAD", "topic", "HEAD", ""], "topic"),
        (["main", "topic", "main"], "main"),
        (["HEAD"], None),
        ([""], None),
    ],
)
def test_the_branch_is_the_last_that_is_one(
    branches: list[str], expected: str | None, home: HomeBuilder, settings: Settings
) -> None:
    home.claude("s", *(prompt("s", minute, gitBranch=branch) for minute, branch in enumerate(branches)))
    assert told(settings, "git_branch") == {"s": (expected,)}


@pytest.mark.parametrize("turned", [False, True])
def test_of_two_files_the_one_active_last_tells_branch_and_model_whatever_its_name(
    turned: bool, home: HomeBuilder, settings: Settings
) -> None:
    short, long = ("b", "a") if turned else ("a", "b")
    beginning = [prompt("s", 1, gitBranch="main"), prompt("s", 2, gitBranch="old")]
    home.claude("s", *beginning, project=short)
    home.claude("s", *beginning, prompt("s", 3, gitBranch="new"), project=long)
    assert told(settings, "git_branch") == {"s": ("new",)}


def repository(path: Path) -> Path:
    (path / ".git").mkdir(parents=True)
    (path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return path


def test_a_session_continued_in_another_folder_stays_with_the_first(
    home: HomeBuilder, settings: Settings, tmp_path: Path
) -> None:
    first, second = repository(tmp_path / "first"), repository(tmp_path / "second")
    begun = [prompt("s", minute, cwd=str(first / "src")) for minute in (1, 2)]
    home.claude("s", *begun, project="p1")
    home.claude("s", *begun, prompt("s", 3, cwd=str(second)), prompt("s", 4, cwd=str(second)), project="p2")
    columns = "project, cwd, turns, created_at, updated_at"
    assert told(settings, columns) == {"s": (str(first), str(first / "src"), 4, make.at(1), make.at(4))}
    assert rows(settings, "SELECT DISTINCT project, canonical FROM events ORDER BY 2") == [
        (str(first), 0), (str(first), 1),
    ]  # fmt: skip


def test_a_worktrees_session_belongs_to_the_main_root_also_when_the_worktree_is_gone(
    home: HomeBuilder, settings: Settings, tmp_path: Path
) -> None:
    root, tree = repository(tmp_path / "app"), tmp_path / "app-topic"
    (root / ".git" / "worktrees" / "app-topic").mkdir(parents=True)
    (root / ".git" / "worktrees" / "app-topic" / "commondir").write_text("../..\n")
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {root}/.git/worktrees/app-topic\n")
    recorded = make.aster_header("with-root", 1, cwd=str(tree), repo_root=str(root))
    home.aster("with-root", recorded, make.aster_prompt("hello", 2))
    home.claude("without", prompt("without", 1, cwd=str(tree)))
    assert told(settings, "project") == {"with-root": (str(root),), "without": (str(root),)}
    (tree / ".git").unlink()
    tree.rmdir()
    assert told(settings, "project") == {"with-root": (str(root),), "without": (str(tree),)}


# Times.


def test_first_and_last_activity_are_those_of_all_files(home: HomeBuilder, settings: Settings) -> None:
    home.claude("s", prompt("s", 5), prompt("s", 3), project="a")
    later = home.claude("s", prompt("s", 9), prompt("s", 1), project="b")
    assert told(settings, "created_at, updated_at") == {"s": (make.at(1), make.at(9))}
    later.unlink()
    assert told(settings, "created_at, updated_at") == {"s": (make.at(3), make.at(5))}


def test_what_a_fork_brought_along_does_not_make_it_older(home: HomeBuilder, settings: Settings) -> None:
    head = {"forkedFrom": {"sessionId": "s"}}
    original = home.claude("s", prompt("s", 1, "u1"), prompt("s", 2, "u2"))
    fork = home.claude("f", prompt("f", 1, "u1", **head), prompt("f", 2, "u2"), prompt("f", 30, "u3"))
    began = "created_at, updated_at"
    assert told(settings, began) == {"s": (make.at(1), make.at(2)), "f": (make.at(30), make.at(30))}
    with fork.open("ab") as file:
        file.write(make.lines(prompt("f", 40, "u4")))
    assert told(settings, began)["f"] == (make.at(30), make.at(40))
    original.unlink()  # now nobody else tells of those records
    assert told(settings, began) == {"f": (make.at(1), make.at(40))}


def test_a_fork_without_a_word_of_its_own_has_its_origins_times(home: HomeBuilder, settings: Settings) -> None:
    home.claude("s", prompt("s", 1, "u1"))
    home.claude("f", prompt("f", 1, "u1", forkedFrom={"sessionId": "s"}))
    assert told(settings, "created_at, updated_at")["f"] == (make.at(1), make.at(1))


def test_of_two_that_may_be_the_fork_both_keep_their_first_time(home: HomeBuilder, settings: Settings) -> None:
    home.claude("z-original", prompt("z-original", 1, "u1"), prompt("z-original", 9, "u9"))
    home.claude("a-fork", prompt("a-fork", 1, "u1"), prompt("a-fork", 30, "u3"))
    began = told(settings, "created_at")
    assert began == {"z-original": (make.at(1),), "a-fork": (make.at(1),)}


def test_a_title_is_no_activity(home: HomeBuilder, settings: Settings) -> None:
    home.aster("s", make.aster_header("s", 1), make.aster_prompt("hello", 2), make.aster_title("Named", 90))
    grown = home.aster("t", make.aster_header("t", 1), make.aster_title("Named", 90))
    home.aster("bare", make.aster_header("bare", 3))
    untimed = make.aster_prompt("untimed", 0) | {"ts": None}
    home.aster("u", make.aster_header("u", 4), untimed, make.aster_title("Named", 90))
    assert told(settings, "updated_at, title") == {
        "s": (make.at(2), "Named"), "t": (make.at(1), "Named"), "bare": (make.at(3), None), "u": (make.at(4), "Named"),
    }  # fmt: skip
    with grown.open("ab") as file:
        file.write(make.lines(make.aster_prompt("at last", 95), make.aster_title("Named anew", 99)))
    assert told(settings, "updated_at, title")["t"] == (make.at(95), "Named anew")


def test_the_newest_title_counts_although_its_file_was_used_less(home: HomeBuilder, settings: Settings) -> None:
    header = make.aster_header("s", 1)
    home.aster("s", header, make.aster_prompt("x", 50), make.aster_title("Before", 60), project="p1")
    home.aster("s", header, make.aster_prompt("y", 2), make.aster_title("Newest", 90), project="p2")
    assert told(settings, "updated_at, title") == {"s": (make.at(50), "Newest")}


def test_a_session_of_untimed_events_was_active_when_its_file_was(home: HomeBuilder, settings: Settings) -> None:
    path = home.aether("a", make.aether_metadata("a", 1), make.aether_prompt("hello"))
    os.utime(path, (1_800_000_000, 1_800_000_000))
    home.aether("b", make.aether_metadata("b", 1))
    assert told(settings, "updated_at") == {"a": ("2027-01-15T08:00:00.000Z",), "b": (make.at(1),)}


# Forks, resumed sessions and sub-agents together.


def test_parents_and_origins_are_told_apart(home: HomeBuilder, settings: Settings) -> None:
    home.claude("s", prompt("s", 1, "u1"))
    home.claude("f", prompt("f", 1, "u1", forkedFrom={"sessionId": "s"}), prompt("f", 5, "u5"))
    home.claude_agent("s", "a7", prompt("s", 2, "v1", agentId="a7", isSidechain=True))
    home.claude_agent("f", "b8", prompt("f", 6, "v2", agentId="b8", isSidechain=True))
    home.aster("worker", make.aster_header("worker", 3, parent="boss"), make.aster_prompt("work", 4))
    assert told(settings, "parent_session_id, forked_from") == {
        "s": (None, None), "f": (None, "s"), "s/a7": ("s", None), "f/b8": ("f", None), "worker": ("boss", None),
    }  # fmt: skip
    tree = "SELECT session_id, root_session_id, depth FROM session_tree ORDER BY 1"
    assert rows(settings, tree) == [
        ("f", "f", 0), ("f/b8", "f", 1), ("s", "s", 0), ("s/a7", "s", 1), ("worker", "worker", 0),
    ]  # fmt: skip


def test_a_header_read_twice_moves_no_beginning(home: HomeBuilder, settings: Settings) -> None:
    """A session resumed by Aster writes no second header; a conflict copy has the first one's."""
    records = [make.aster_header("s", 1), make.aster_prompt("hello", 5)]
    home.aster("s", *records, project="a")
    home.aster("s", *records, make.aster_prompt("more", 9), project="b")
    assert told(settings, "created_at, updated_at, turns") == {"s": (make.at(1), make.at(9), 2)}
