"""Where a block counts: an exact folder and below it, never a string's beginning; worktrees are one project."""

from __future__ import annotations

from pathlib import Path

import pytest

from persist.projects import ProjectResolver
from persist.recall.scope import Place, is_in_scope, place_of

PROJECTS = ["/a/b", "/a/bc", "/a/b/sub", "/a/b%", "/a/B", "/a/_", "/a"]


@pytest.mark.parametrize(
    ("cwd", "in_scope"),
    [
        ("/a/b", {"/a/b", "/a"}),
        ("/a/bc", {"/a/bc", "/a"}),
        ("/a/b/sub", {"/a/b", "/a/b/sub", "/a"}),
        ("/a/b/sub/deep", {"/a/b", "/a/b/sub", "/a"}),
        ("/a/b%", {"/a/b%", "/a"}),
        ("/a/bx", {"/a"}),
        ("/a/B", {"/a/B", "/a"}),
        ("/a/x", {"/a"}),
        ("/", set()),
        ("", set()),
    ],
)
def test_folders_are_compared_part_by_part_and_literally(cwd: str, in_scope: set[str]) -> None:
    place = place_of(cwd)
    assert {project for project in PROJECTS if is_in_scope(project, place)} == in_scope


@pytest.mark.parametrize("project", [None, ""])
def test_without_a_project_a_block_counts_everywhere(project: str | None) -> None:
    assert is_in_scope(project, place_of(""))
    assert is_in_scope(project, place_of("/a/b"))


def test_slashes_at_the_end_and_the_root_are_no_other_folders() -> None:
    assert is_in_scope("/a/b/", place_of("/a/b"))
    assert is_in_scope("/a/b", place_of("/a/b//"))
    assert is_in_scope("/", place_of("/a"))


@pytest.mark.parametrize("project", ["/a//b", "/a/./b", "/a/b/.", "//a/b", "/a/b//", "/a/x/../b", "/./a/b"])
def test_one_folder_may_be_written_in_many_ways(project: str) -> None:
    assert is_in_scope(project, place_of("/a/b/sub"))
    assert is_in_scope("/a/b", place_of(f"{project}/sub"))
    assert not is_in_scope(project, place_of("/a/bc"))


def test_a_project_by_hand_may_begin_at_home_or_be_a_name() -> None:
    place = Place("/home/ann/code/ferry/web", "/home/ann/code/ferry", "/home/ann")
    assert is_in_scope("~/code/ferry", place)
    assert is_in_scope("~", place)
    assert not is_in_scope("~/code/fer", place)
    assert is_in_scope("ferry", place)
    assert not is_in_scope("web", place)
    assert not is_in_scope("code", place)


@pytest.fixture
def worktrees(tmp_path: Path) -> Path:
    """A repository ``main`` with a worktree ``side`` beside it, as git lays them out."""
    inner = tmp_path / "main" / ".git" / "worktrees" / "side"
    inner.mkdir(parents=True)
    (tmp_path / "main" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (inner / "commondir").write_text("../..\n")
    (tmp_path / "side" / "src").mkdir(parents=True)
    (tmp_path / "side" / ".git").write_text(f"gitdir: {inner}\n")
    (tmp_path / "main" / "src").mkdir()
    return tmp_path


def test_worktrees_are_one_project(worktrees: Path) -> None:
    main, side = str(worktrees / "main"), str(worktrees / "side")
    resolver = ProjectResolver()
    assert is_in_scope(main, place_of(f"{side}/src"), resolver)
    assert is_in_scope(side, place_of(f"{main}/src"), resolver)
    assert is_in_scope(side, place_of(side), resolver)
    assert not is_in_scope(f"{main}/src", place_of(main), resolver)
    assert not is_in_scope(side, place_of(str(worktrees)), resolver)
