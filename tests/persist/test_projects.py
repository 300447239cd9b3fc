"""The project of a folder: git roots, worktrees, submodules, and what is no longer on disk."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from persist import projects
from persist.projects import ProjectResolver, project_of
from tests.builders import is_above_permissions

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(folder: Path, *args: str) -> None:
    settings = ("-c", "user.name=A", "-c", "user.email=a@example.test", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *settings, *args], cwd=folder, check=True, capture_output=True, timeout=30)


def repository(folder: Path, *args: str) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", *args)
    git(folder, "commit", "--allow-empty", "-m", "first")
    return folder


def fake_repository(folder: Path) -> Path:
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    return folder


@needs_git
def test_below_a_repository_its_root(tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    (root / "src" / "deep").mkdir(parents=True)
    for folder in (root, root / "src", root / "src" / "deep"):
        assert project_of(str(folder)) == str(root)


@needs_git
def test_a_worktree_belongs_to_the_main_one(tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    git(root, "worktree", "add", "../elsewhere")
    git(root, "worktree", "add", ".claude/worktrees/inside")
    (tmp_path / "elsewhere" / "src").mkdir()
    assert project_of(str(tmp_path / "elsewhere" / "src")) == str(root)
    assert project_of(str(root / ".claude" / "worktrees" / "inside")) == str(root)


@needs_git
def test_a_worktree_whose_main_one_is_gone_still_names_it(tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    git(root, "worktree", "add", "../elsewhere")
    shutil.rmtree(root)
    assert project_of(str(tmp_path / "elsewhere")) == str(root)


@needs_git
def test_a_worktree_inside_is_spelled_as_the_session_spelled_it(tmp_path: Path) -> None:
    root = repository(tmp_path / "real" / "app")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    git(root, "worktree", "add", "trees/a")
    assert project_of(str(tmp_path / "link" / "app" / "trees" / "a")) == str(tmp_path / "link" / "app")
    assert project_of(str(tmp_path / "link" / "app")) == str(tmp_path / "link" / "app")


@needs_git
def test_a_submodule_is_its_own_project_and_so_are_its_worktrees(tmp_path: Path) -> None:
    library = repository(tmp_path / "library")
    root = repository(tmp_path / "app")
    git(root, "submodule", "add", str(library), "vendor/library")
    inside = root / "vendor" / "library"
    assert project_of(str(inside)) == str(inside)
    git(inside, "worktree", "add", str(tmp_path / "tree"))
    assert project_of(str(tmp_path / "tree")) == str(inside)


@needs_git
def test_a_bare_repository_is_the_project_of_its_worktrees(tmp_path: Path) -> None:
    source = repository(tmp_path / "source")
    git(tmp_path, "clone", "--bare", str(source), "app.git")
    git(tmp_path / "app.git", "worktree", "add", "../tree", "-b", "work")
    assert project_of(str(tmp_path / "tree")) == str(tmp_path / "app.git")


@needs_git
def test_a_git_folder_kept_elsewhere(tmp_path: Path) -> None:
    root = repository(tmp_path / "app", "--separate-git-dir", str(tmp_path / "kept.git"))
    assert project_of(str(root)) == str(root)


def test_outside_a_repository_the_folder_itself(tmp_path: Path) -> None:
    assert project_of(str(tmp_path)) == str(tmp_path)
    assert project_of(f"{tmp_path}/") == str(tmp_path)


def test_a_folder_that_is_gone_still_has_its_root(tmp_path: Path) -> None:
    root = fake_repository(tmp_path / "app")
    assert project_of(str(root / "gone" / "deeper")) == str(root)
    assert project_of(str(tmp_path / "gone" / "app")) == str(tmp_path / "gone" / "app")


@pytest.mark.parametrize(
    ("cwd", "repo_root", "expected"),
    [
        ("/gone/app/src", "/gone/app", "/gone/app"),
        ("/gone/app/src", "/gone/app/", "/gone/app"),
        ("/gone/app", "/gone/app", "/gone/app"),
        ("/gone/app-two", "/gone/app", "/gone/app"),
        ("/gone/app", "/elsewhere/", "/elsewhere"),
        ("/gone/app", "elsewhere", "/gone/app"),
        ("/gone/app", "/", "/gone/app"),
        ("/gone/app", None, "/gone/app"),
        ("", "/gone/app", "/gone/app"),
    ],
)
def test_a_recorded_root_serves_where_nothing_is_on_disk(cwd: str, repo_root: str | None, expected: str) -> None:
    assert project_of(cwd, repo_root) == expected


@needs_git
def test_a_worktree_that_was_removed_keeps_the_root_that_was_recorded(tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    tree = tmp_path / "app-tree"
    git(root, "worktree", "add", str(tree), "-b", "work")
    assert project_of(str(tree), str(root)) == str(root)
    git(root, "worktree", "remove", str(tree))
    assert project_of(str(tree), str(root)) == str(root)
    assert project_of(str(tree)) == str(tree)


def test_a_folder_that_is_there_is_not_given_to_a_root_beside_it(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    assert project_of(str(tmp_path / "here"), str(tmp_path / "other")) == str(tmp_path / "here")


def test_the_disk_is_asked_before_a_recorded_root(tmp_path: Path) -> None:
    root = fake_repository(tmp_path / "app")
    assert project_of(str(root / "src"), str(root / "src")) == str(root)


@pytest.mark.parametrize(
    "cwd",
    [
        "",
        "/",
        "relative/folder",
        "C:\\Users\\Ann\\repo",
        "/proc/1/cwd",
        "//host/share/x",
        "/nul\0byte",
        "/x" * 3000,
        "/\udcff",
    ],
)
def test_odd_folders_are_their_own_project(cwd: str) -> None:
    assert project_of(cwd) == cwd


@pytest.mark.parametrize(
    "content",
    [b"", b"nonsense", b"gitdir:", b"gitdir: \0\xff", b"gitdir: ../nowhere/worktrees/x"],
    ids=["empty", "nonsense", "no path", "bad bytes", "dangling"],
)
def test_odd_git_files_never_raise(tmp_path: Path, content: bytes) -> None:
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / ".git").write_bytes(content)
    assert project_of(str(folder)) in (str(folder), str(tmp_path / "nowhere"))


def test_a_git_folder_without_a_head_or_a_pipe_is_no_repository(tmp_path: Path) -> None:
    root = fake_repository(tmp_path / "app")
    (root / "empty" / ".git").mkdir(parents=True)
    (root / "pipe").mkdir()
    os.mkfifo(root / "pipe" / ".git")
    assert project_of(str(root / "empty")) == project_of(str(root / "pipe")) == str(root)


@pytest.mark.skipif(is_above_permissions(), reason="this user reads everything")
def test_an_unreadable_folder_is_its_own_project(tmp_path: Path) -> None:
    root = fake_repository(tmp_path / "closed" / "app")
    (tmp_path / "closed").chmod(0)
    try:
        assert project_of(str(root / "src")) == str(root / "src")
    finally:
        (tmp_path / "closed").chmod(0o700)


def test_answers_hold_for_the_resolvers_life_and_not_longer(tmp_path: Path) -> None:
    root = fake_repository(tmp_path / "app")
    resolver = ProjectResolver()
    assert resolver.project_of(str(root / "a")) == str(root)
    shutil.rmtree(root)
    assert resolver.project_of(str(root / "a")) == str(root)
    assert ProjectResolver().project_of(str(root / "a")) == str(root / "a")


def test_what_is_remembered_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projects, "MAX_REMEMBERED", 20)
    root = fake_repository(tmp_path / "app")
    resolver = ProjectResolver()
    for number in range(100):
        assert resolver.project_of(str(root / str(number))) == str(root)
        assert len(resolver._roots) <= 20


def test_a_very_deep_folder_is_not_climbed_to_the_top(tmp_path: Path) -> None:
    root = fake_repository(tmp_path / "app")
    deep = str(root) + "/d" * (projects.MAX_DEPTH + 1)
    assert project_of(deep) == deep
