"""Where Codex's files are looked for, and what lies in the way."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from persist.agents.codex.agent import AGENT
from persist.sources import Environment, Found, Root
from tests.builders import is_above_permissions

NOT_ROOT = pytest.mark.skipif(is_above_permissions(), reason="this user reads everything")


def put(path: Path, text: str = "{}\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def look(root: Path) -> Found:
    return AGENT.discover(Root("codex", root))


def sources(found: Found) -> list[tuple[str, str]]:
    return [(source.kind, os.path.relpath(source.path, found.root.path)) for source in found.sources]


def troubles(found: Found) -> list[tuple[str, str]]:
    return [(os.path.relpath(trouble.path, found.root.path), trouble.kind) for trouble in found.troubles]


def located(home: Path, **variables: str) -> list[str]:
    return [str(root.path) for root in AGENT.locate(Environment(variables, home))]


class TestLocate:
    @pytest.mark.parametrize("value", [None, "", "  "])
    def test_the_default_is_there_even_if_it_is_missing(self, tmp_path: Path, value: str | None) -> None:
        variables = {} if value is None else {"CODEX_HOME": value}
        assert located(tmp_path, **variables) == [str(tmp_path / ".codex")]

    def test_b02_the_variable_alone_counts_if_it_is_set(self, tmp_path: Path) -> None:
        (tmp_path / ".codex").mkdir()
        assert located(tmp_path, CODEX_HOME=f"{tmp_path}/other/") == [f"{tmp_path}/other"]
        assert located(tmp_path, CODEX_HOME="~/other") == [f"{tmp_path}/other"]
        assert located(tmp_path, CODEX_HOME="~") == [str(tmp_path)]

    def test_b02_a_spelling_through_two_dots_is_resolved(self, tmp_path: Path) -> None:
        (tmp_path / "x").mkdir()
        assert located(tmp_path, CODEX_HOME=f"{tmp_path}/x/../.codex") == [f"{tmp_path}/.codex"]


class TestDiscover:
    def test_every_kind_of_source_in_path_order(self, tmp_path: Path) -> None:
        for name in (
            "archived_sessions/rollout-2026-01-03-c.jsonl",
            "archived_sessions/deeper/rollout-x.jsonl",
            "sessions/2026/01/02/rollout-2026-01-02-b.jsonl",
            "sessions/2026/01/02/rollout-2026-01-02-d.jsonl.zst",
            "sessions/rollout-2025-06-01-a.jsonl",
            "sessions/2026/01/02/03/rollout-too-deep.jsonl",
            "history.jsonl",
            "session_index.jsonl",
            "log/codex-tui.log",
            "auth.json",
            "config.toml",
        ):
            put(tmp_path / name)
        found = look(tmp_path)
        assert sources(found) == [
            ("transcript", "archived_sessions/rollout-2026-01-03-c.jsonl"),
            ("history", "history.jsonl"),
            ("transcript", "sessions/2026/01/02/rollout-2026-01-02-b.jsonl"),
            ("transcript", "sessions/2026/01/02/rollout-2026-01-02-d.jsonl.zst"),
            ("transcript", "sessions/rollout-2025-06-01-a.jsonl"),
        ]
        assert found.troubles == ()

    def test_a_folder_of_rollouts_alone_is_a_root(self, tmp_path: Path) -> None:
        put(tmp_path / "sessions/2026/01/02/rollout-b.jsonl")
        put(tmp_path / "archived_sessions/rollout-c.jsonl")
        assert sources(look(tmp_path / "sessions")) == [("transcript", "2026/01/02/rollout-b.jsonl")]
        assert sources(look(tmp_path / "archived_sessions")) == [("transcript", "rollout-c.jsonl")]

    def test_a_compressed_rollout_beside_its_plain_one_is_not_read_twice(self, tmp_path: Path) -> None:
        put(tmp_path / "sessions/2026/01/02/rollout-b.jsonl")
        put(tmp_path / "sessions/2026/01/02/rollout-b.jsonl.zst")
        found = look(tmp_path)
        assert sources(found) == [("transcript", "sessions/2026/01/02/rollout-b.jsonl")]
        assert found.troubles == ()

    def test_b07_b10_what_looks_like_a_transcript_and_is_none_is_named(self, tmp_path: Path) -> None:
        put(tmp_path / "sessions/2026/01/02/export.jsonl")
        put(tmp_path / "sessions/2026/01/02/export.jsonl.zst")
        put(tmp_path / "sessions/2026/01/02/other.jsonl.zst")
        put(tmp_path / "archived_sessions/rollout-b.jsonl.gz")
        (tmp_path / "sessions/2026/01/02/rollout-folder.jsonl").mkdir()
        os.mkfifo(tmp_path / "sessions/2026/01/02/rollout-pipe.jsonl")
        found = look(tmp_path)
        assert found.sources == ()
        assert troubles(found) == [
            ("archived_sessions/rollout-b.jsonl.gz", "compressed"),
            ("sessions/2026/01/02/export.jsonl", "misplaced"),
            ("sessions/2026/01/02/other.jsonl.zst", "misplaced"),
            ("sessions/2026/01/02/rollout-folder.jsonl", "not_a_file"),
            ("sessions/2026/01/02/rollout-pipe.jsonl", "not_a_file"),
        ]

    def test_b05_links(self, tmp_path: Path) -> None:
        home, day = tmp_path / "codex", tmp_path / "codex/sessions/2026/01/02"
        put(day / "rollout-a.jsonl")
        put(tmp_path / "elsewhere/03/rollout-b.jsonl")
        put(tmp_path / "rollout-c.jsonl")
        (home / "sessions/2026/again").symlink_to(day.parent)
        (home / "sessions/2026/outside").symlink_to(tmp_path / "elsewhere")
        (home / "sessions/2026/around").symlink_to(home / "sessions")
        (day / "rollout-c.jsonl").symlink_to(tmp_path / "rollout-c.jsonl")
        (day / "rollout-copy.jsonl").symlink_to(day / "rollout-a.jsonl")
        (day / "rollout-nowhere.jsonl").symlink_to(tmp_path / "missing")
        (day / "rollout-itself.jsonl").symlink_to(day / "rollout-itself.jsonl")
        started = time.monotonic()
        found = look(home)
        assert time.monotonic() - started < 2
        assert sources(found) == [
            ("transcript", "sessions/2026/01/02/rollout-a.jsonl"),
            ("transcript", "sessions/2026/01/02/rollout-c.jsonl"),
            ("transcript", "sessions/2026/outside/03/rollout-b.jsonl"),
        ]
        assert troubles(found) == [
            ("sessions/2026/01/02/rollout-itself.jsonl", "loop"),
            ("sessions/2026/01/02/rollout-nowhere.jsonl", "dangling"),
            ("sessions/2026/around", "loop"),
        ]

    def test_a_linked_home_is_read_in_place(self, tmp_path: Path) -> None:
        put(tmp_path / "real/sessions/2026/01/02/rollout-a.jsonl")
        (tmp_path / "link").symlink_to(tmp_path / "real")
        (source,) = look(tmp_path / "link").sources
        assert source.path == f"{tmp_path}/link/sessions/2026/01/02/rollout-a.jsonl"

    def test_a_name_that_is_not_utf8_is_named(self, tmp_path: Path) -> None:
        folder = tmp_path / "sessions"
        folder.mkdir()
        Path(os.fsdecode(os.fsencode(folder) + b"/rollout-\xff.jsonl")).write_text("{}\n")
        found = look(tmp_path)
        assert (found.sources, [trouble.kind for trouble in found.troubles]) == ((), ["bad_name"])

    def test_b03_a_missing_home_is_no_trouble(self, tmp_path: Path) -> None:
        found = look(tmp_path / "none")
        assert (found.exists, found.sources, found.troubles) == (False, (), ())

    @NOT_ROOT
    def test_a_folder_that_may_not_be_read_is_named(self, tmp_path: Path) -> None:
        put(tmp_path / "sessions/2026/rollout-a.jsonl")
        put(tmp_path / "sessions/2025/rollout-b.jsonl")
        (tmp_path / "sessions/2026").chmod(0)
        try:
            found = look(tmp_path)
        finally:
            (tmp_path / "sessions/2026").chmod(0o700)
        assert sources(found) == [("transcript", "sessions/2025/rollout-b.jsonl")]
        assert troubles(found) == [("sessions/2026", "unreadable")]
