"""How the folders of agents are walked, whosever they are: names that are no text, links to what is found anyway."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import pytest

from persist.agents import AGENTS
from persist.sources import Found, Root

BAD = os.fsdecode(b"caf\xe9")


class Kept(NamedTuple):
    """Where an agent keeps transcripts: a folder below its root, one beside it, and how their names begin."""

    agent: str
    folder: str
    beside: str
    prefix: str = ""


WALKED = [
    Kept("claude-code", "projects/-w", "projects/-x"),
    Kept("codex", "sessions/2026/05/04", "sessions/2026/05/05", "rollout-"),
    Kept("omp", "--w--", "--x--"),
    Kept("pi", "--w--", "--x--"),
]
ALL = [*WALKED, Kept("aether", "sessions", ""), Kept("aster", "sessions/w", "")]
EACH = pytest.mark.parametrize("kept", ALL, ids=lambda kept: kept.agent)


def test_every_agent_is_among_them() -> None:
    assert {kept.agent for kept in ALL} == set(AGENTS)


def put(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("{}\n", "utf-8")
    return folder / name


def look(kept: Kept, root: Path) -> Found:
    return AGENTS[kept.agent].discover(Root(kept.agent, root))


def shown(path: Path) -> str:
    return str(path).replace(BAD, "caf\ufffd")


def names(found: Found) -> list[str]:
    return [os.path.relpath(source.path, found.root.path) for source in found.sources]


@EACH
def test_a_name_that_is_no_text_is_told_and_hides_no_other(kept: Kept, tmp_path: Path) -> None:
    bad = put(tmp_path / kept.folder, f"{kept.prefix}{BAD}.jsonl")
    put(tmp_path / kept.folder, f"{kept.prefix}a.jsonl")
    found = look(kept, tmp_path)
    assert names(found) == [f"{kept.folder}/{kept.prefix}a.jsonl"]
    assert [(trouble.path, trouble.kind) for trouble in found.troubles] == [(shown(bad), "bad_name")]


@EACH
def test_nothing_is_read_below_a_folder_whose_name_is_no_text(kept: Kept, tmp_path: Path) -> None:
    bad = put(tmp_path / BAD / kept.folder, f"{kept.prefix}a.jsonl")
    found = look(kept, tmp_path / BAD)
    assert names(found) == []
    assert [(trouble.path, trouble.kind) for trouble in found.troubles] == [(shown(bad), "bad_name")]


@pytest.mark.parametrize("kept", WALKED, ids=lambda kept: kept.agent)
def test_a_file_is_found_once_where_one_link_leads_to_it_and_one_to_its_folder(kept: Kept, tmp_path: Path) -> None:
    root = tmp_path / "root"
    outside = put(tmp_path / "outside", f"{kept.prefix}a.jsonl")
    (root / kept.folder).mkdir(parents=True)
    for name in ("0", "z"):
        (root / kept.folder / f"{kept.prefix}{name}.jsonl").symlink_to(outside)
    (root / kept.beside).symlink_to(outside.parent)
    found = look(kept, root)
    assert names(found) == [f"{kept.beside}/{kept.prefix}a.jsonl"]
    assert found.troubles == ()
