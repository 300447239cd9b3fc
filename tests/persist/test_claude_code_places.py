"""Where Claude Code's files are looked for, and what lies in the way."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from persist.agents.claude_code.agent import AGENT
from persist.sources import Environment, Found, Root
from tests.builders import is_above_permissions

NOT_ROOT = pytest.mark.skipif(is_above_permissions(), reason="this user reads everything")


def put(path: Path, text: str = "{}\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def look(root: Path) -> Found:
    return AGENT.discover(Root("claude-code", root))


def sources(found: Found) -> list[tuple[str, str, str]]:
    return [(s.kind, os.path.relpath(s.path, found.root.path), s.path_tells) for s in found.sources]


def troubles(found: Found) -> list[tuple[str, str]]:
    return [(os.path.relpath(t.path, found.root.path), t.kind) for t in found.troubles]


def located(home: Path, **variables: str) -> list[str]:
    return [str(root.path) for root in AGENT.locate(Environment(variables, home))]


class TestLocate:
    def test_the_default_is_there_even_if_it_is_missing(self, tmp_path: Path) -> None:
        assert located(tmp_path) == [str(tmp_path / ".claude")]

    def test_the_second_default_counts_where_it_exists(self, tmp_path: Path) -> None:
        (tmp_path / ".config" / "claude").mkdir(parents=True)
        assert located(tmp_path) == [str(tmp_path / ".claude"), str(tmp_path / ".config" / "claude")]

    def test_b02_the_variable_alone_counts_if_it_is_set(self, tmp_path: Path) -> None:
        (tmp_path / ".claude").mkdir()
        assert located(tmp_path, CLAUDE_CONFIG_DIR=f"{tmp_path}/a, {tmp_path}/b ,") == [
            f"{tmp_path}/a",
            f"{tmp_path}/b",
        ]

    @pytest.mark.parametrize("value", ["", " , "])
    def test_an_empty_variable_is_not_set(self, tmp_path: Path, value: str) -> None:
        assert located(tmp_path, CLAUDE_CONFIG_DIR=value) == [str(tmp_path / ".claude")]

    @pytest.mark.parametrize("spelling", ["{}/.claude/", "{}/x/../.claude", "{}/./.claude", "~/.claude", "{}/link"])
    def test_b02_one_folder_in_two_spellings_counts_once(self, tmp_path: Path, spelling: str) -> None:
        (tmp_path / ".claude").mkdir()
        (tmp_path / "x").mkdir()
        (tmp_path / "link").symlink_to(tmp_path / ".claude")
        both = f"{tmp_path}/.claude,{spelling.format(tmp_path)}"
        assert located(tmp_path, CLAUDE_CONFIG_DIR=both) == [str(tmp_path / ".claude")]

    def test_a_spelling_through_two_dots_is_resolved(self, tmp_path: Path) -> None:
        (tmp_path / "x").mkdir()
        assert located(tmp_path, CLAUDE_CONFIG_DIR=f"{tmp_path}/x/../c") == [str(tmp_path / "c")]


class TestDiscover:
    def test_every_kind_of_source_in_path_order(self, tmp_path: Path) -> None:
        for name in (
            "projects/-w-b/s2.jsonl",
            "projects/-w/s1.jsonl",
            "projects/-w/s1/subagents/agent-x.jsonl",
            "projects/-w/s1/subagents/agent-x.meta.json",
            "projects/-w/s1/subagents/workflows/wf_1/agent-acompact-y.jsonl",
            "projects/-w/s1/subagents/workflows/wf_1/journal.jsonl",
            "projects/-w/s1/tool-results/t.txt",
            "projects/-w/agent-flat.jsonl",
            "projects/-w/memory/MEMORY.md",
            "projects/-w/memory/topic.md",
            "projects/-w/memory/notes.txt",
            "projects/-w/sessions-index.json",
            "history.jsonl",
            "settings.json",
            "todos/x.json",
        ):
            put(tmp_path / name)
        found = look(tmp_path)
        assert sources(found) == [
            ("history", "history.jsonl", ""),
            ("transcript", "projects/-w-b/s2.jsonl", ""),
            ("transcript", "projects/-w/agent-flat.jsonl", ""),
            ("block", "projects/-w/memory/MEMORY.md", ""),
            ("block", "projects/-w/memory/topic.md", ""),
            ("transcript", "projects/-w/s1.jsonl", ""),
            ("transcript", "projects/-w/s1/subagents/agent-x.jsonl", "s1"),
            ("transcript", "projects/-w/s1/subagents/workflows/wf_1/agent-acompact-y.jsonl", "s1"),
        ]
        assert troubles(found) == []

    def test_a_source_tells_what_stat_tells(self, tmp_path: Path) -> None:
        path = put(tmp_path / "projects/-w/s.jsonl", "abc")
        (found,) = look(tmp_path).sources
        status = path.stat()
        assert found.stat == (3, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
        assert (found.agent, found.root) == ("claude-code", str(tmp_path))

    def test_the_projects_folder_alone_may_be_the_root(self, tmp_path: Path) -> None:
        put(tmp_path / "projects/-w/s.jsonl")
        assert sources(look(tmp_path / "projects")) == [("transcript", "-w/s.jsonl", "")]

    @pytest.mark.parametrize("what", ["missing", "a file", "empty"])
    def test_a_root_with_nothing_in_it(self, tmp_path: Path, what: str) -> None:
        root = tmp_path / "root"
        if what == "a file":
            put(root)
        if what == "empty":
            root.mkdir()
        found = look(root)
        assert (found.sources, found.troubles, found.exists) == ((), (), what == "empty")

    def test_b01_folder_names_that_collapse_are_only_names(self, tmp_path: Path) -> None:
        for number in range(3):
            put(tmp_path / f"projects/-w-shop-api/{number}.jsonl")
        assert [hint for _, _, hint in sources(look(tmp_path))] == ["", "", ""]

    def test_b30_one_name_in_two_folders_is_two_sources(self, tmp_path: Path) -> None:
        put(tmp_path / "projects/p1/x.jsonl")
        put(tmp_path / "projects/p2/x.jsonl")
        assert len(look(tmp_path).sources) == 2

    def test_names_in_every_script_are_found(self, tmp_path: Path) -> None:
        put(tmp_path / "projects/-w-größe-木/ß 木.jsonl")
        assert sources(look(tmp_path)) == [("transcript", "projects/-w-größe-木/ß 木.jsonl", "")]


class TestTroubles:
    def test_b07_compressed_and_misplaced_files_are_counted_by_kind(self, tmp_path: Path) -> None:
        for name in ("a.jsonl", "b.jsonl.zst", "c.jsonl.gz", "archived/d.jsonl"):
            put(tmp_path / "projects/-w" / name)
        put(tmp_path / "projects/stray.jsonl")
        found = look(tmp_path)
        assert sources(found) == [("transcript", "projects/-w/a.jsonl", "")]
        assert troubles(found) == [
            ("projects/-w/archived/d.jsonl", "misplaced"),
            ("projects/-w/b.jsonl.zst", "compressed"),
            ("projects/-w/c.jsonl.gz", "compressed"),
            ("projects/stray.jsonl", "misplaced"),
        ]

    def test_folders_and_pipes_with_a_transcripts_name(self, tmp_path: Path) -> None:
        (tmp_path / "projects/-w/x.jsonl").mkdir(parents=True)
        os.mkfifo(tmp_path / "projects/-w/y.jsonl")
        (tmp_path / "history.jsonl").mkdir()
        found = look(tmp_path)
        assert sources(found) == []
        assert troubles(found) == [
            ("history.jsonl", "not_a_file"),
            ("projects/-w/x.jsonl", "not_a_file"),
            ("projects/-w/y.jsonl", "not_a_file"),
        ]

    def test_projects_that_is_a_file(self, tmp_path: Path) -> None:
        put(tmp_path / "projects")
        assert troubles(look(tmp_path)) == [("projects", "unreadable")]

    @NOT_ROOT
    def test_a_folder_that_may_not_be_read_hides_no_other(self, tmp_path: Path) -> None:
        put(tmp_path / "projects/-a/s.jsonl")
        put(tmp_path / "projects/-b/s.jsonl")
        (tmp_path / "projects/-a").chmod(0)
        try:
            found = look(tmp_path)
        finally:
            (tmp_path / "projects/-a").chmod(0o700)
        assert sources(found) == [("transcript", "projects/-b/s.jsonl", "")]
        assert troubles(found) == [("projects/-a", "unreadable")]

    def test_a_name_that_is_not_utf8_is_reported(self, tmp_path: Path) -> None:
        folder = os.fsencode(put(tmp_path / "projects/-w/s.jsonl").parent)
        try:
            os.close(os.open(folder + b"/\xff.jsonl", os.O_CREAT | os.O_WRONLY))
        except OSError:
            pytest.skip("this file system takes no such names")
        found = look(tmp_path)
        assert sources(found) == [("transcript", "projects/-w/s.jsonl", "")]
        assert [kind for _, kind in troubles(found)] == ["bad_name"]


class TestLinksB05:
    def test_all_of_them_at_once(self, tmp_path: Path) -> None:
        root, projects = tmp_path / "root", tmp_path / "root/projects"
        put(projects / "-real/s.jsonl")
        put(tmp_path / "outside/o.jsonl")
        (projects / "-again").symlink_to(projects / "-real")
        (projects / "-0-before").symlink_to(projects / "-real")
        (projects / "-outside").symlink_to(tmp_path / "outside")
        (projects / "-outside-again").symlink_to(tmp_path / "outside")
        (projects / "-nowhere").symlink_to(tmp_path / "gone")
        (projects / "-parent").symlink_to(projects)
        (projects / "-self").symlink_to(projects / "-self")
        started = time.monotonic()
        found = look(root)
        assert time.monotonic() - started < 2
        assert sources(found) == [
            ("transcript", "projects/-outside/o.jsonl", ""),
            ("transcript", "projects/-real/s.jsonl", ""),
        ]
        assert troubles(found) == [
            ("projects/-nowhere", "dangling"),
            ("projects/-parent", "loop"),
            ("projects/-self", "loop"),
        ]

    def test_a_link_to_a_folder_around_it_from_below(self, tmp_path: Path) -> None:
        put(tmp_path / "projects/-w/s/subagents/agent-a.jsonl")
        (tmp_path / "projects/-w/s/subagents/up").symlink_to(tmp_path / "projects/-w")
        found = look(tmp_path)
        assert len(found.sources) == 1
        assert troubles(found) == [("projects/-w/s/subagents/up", "loop")]

    def test_two_folders_outside_that_link_to_each_other(self, tmp_path: Path) -> None:
        root = tmp_path / "root"
        put(tmp_path / "a/s/subagents/agent-a.jsonl")
        put(tmp_path / "b/s/subagents/agent-b.jsonl")
        (tmp_path / "a/s/subagents/to-b").symlink_to(tmp_path / "b/s/subagents")
        (tmp_path / "b/s/subagents/to-a").symlink_to(tmp_path / "a/s/subagents")
        (root / "projects").mkdir(parents=True)
        (root / "projects/-a").symlink_to(tmp_path / "a")
        found = look(root)
        assert [Path(path).name for _, path, _ in sources(found)] == ["agent-a.jsonl", "agent-b.jsonl"]

    def test_linked_files_count_once(self, tmp_path: Path) -> None:
        real = put(tmp_path / "projects/-w/s.jsonl")
        outside = put(tmp_path / "elsewhere/o.jsonl")
        for name, target in (("again.jsonl", real), ("a.jsonl", outside), ("b.jsonl", outside)):
            (tmp_path / "projects/-w" / name).symlink_to(target)
        (tmp_path / "projects/-w/gone.jsonl").symlink_to(tmp_path / "gone")
        found = look(tmp_path)
        assert [path for _, path, _ in sources(found)] == ["projects/-w/a.jsonl", "projects/-w/s.jsonl"]
        assert troubles(found) == [("projects/-w/gone.jsonl", "dangling")]

    def test_a_linked_home_and_a_linked_projects_folder(self, tmp_path: Path) -> None:
        put(tmp_path / "disk/p/-w/s.jsonl")
        (tmp_path / "home").mkdir()
        (tmp_path / "home/projects").symlink_to(tmp_path / "disk/p")
        (tmp_path / "disk/p/-again").symlink_to(tmp_path / "disk/p/-w")
        assert sources(look(tmp_path / "home")) == [("transcript", "projects/-w/s.jsonl", "")]

    def test_a_history_that_is_a_link(self, tmp_path: Path) -> None:
        put(tmp_path / "elsewhere.jsonl")
        (tmp_path / "history.jsonl").symlink_to(tmp_path / "elsewhere.jsonl")
        assert sources(look(tmp_path)) == [("history", "history.jsonl", "")]

    def test_a_history_whose_link_leads_nowhere(self, tmp_path: Path) -> None:
        (tmp_path / "history.jsonl").symlink_to(tmp_path / "gone")
        assert troubles(look(tmp_path)) == [("history.jsonl", "dangling")]


def test_nothing_is_opened_or_written(tmp_path: Path) -> None:
    path = put(tmp_path / "projects/-w/s.jsonl", "secret")
    path.chmod(0)
    before = sorted(str(p) for p in tmp_path.rglob("*"))
    assert len(look(tmp_path).sources) == 1
    assert sorted(str(p) for p in tmp_path.rglob("*")) == before
