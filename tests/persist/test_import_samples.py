"""The samples of all five sources, with what Aster's own importer made of them (``tests/data/import/notes-site``)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from persist import times
from persist.aster.chat import to_chat_messages
from persist.aster.transcript import Transcript
from tests.persist.import_world import PROJECT, SAMPLES, World, files_below, said, strict_records

EXPECTED: list[dict[str, Any]] = json.loads(SAMPLES.joinpath("expected.json").read_text(encoding="utf-8"))
AGENTS = {"claude": "claude-code"}
BEGUN = {"codex": "2026-07-04T09:00:00.000Z"}
"""Aster takes the time of Codex's last turn for the beginning (``spec/aster.md`` 5.3); here the header's counts."""


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path).samples()


def _records(world: World, file_id: str) -> list[dict[str, Any]]:
    (path,) = (world.data / "sessions").glob(f"*/{file_id}.jsonl")
    return strict_records(path)


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda expected: expected["file_id"])
def test_text_only_gives_what_asters_importer_gives(expected: dict[str, Any], world: World) -> None:
    report = world.run(project=PROJECT, text_only=True)
    assert [outcome.status for outcome in report.outcomes] == ["imported"] * len(EXPECTED)
    header, *messages = _records(world, expected["file_id"])
    source = expected["source"]
    title = expected.get("title_since_0_5", expected["title"])
    assert header.get("title") == title
    assert times.from_any(header["created_at"]) == BEGUN.get(source, times.from_any(expected["created_at"]))
    assert header.get("model") == (expected["model"] or ("gpt-5-codex" if source == "codex" else None))
    assert header["repo_root"] == PROJECT
    original = expected["id"].removeprefix(f"{source}-")
    assert header["imported_from"] == f"{AGENTS.get(source, source)}:{original}"
    told = [[message["role"], message["content"], times.from_any(message["ts"])] for message in messages]
    assert told == [[role, text, times.from_any(ts)] for role, text, ts in expected["messages"]]


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda expected: expected["file_id"])
def test_a_whole_import_says_the_same_in_the_chat(expected: dict[str, Any], world: World) -> None:
    world.run(project=PROJECT)
    (path,) = (world.data / "sessions").glob(f"*/{expected['file_id']}.jsonl")
    assert said(strict_records(path)) == [(role, text) for role, text, _ in expected["messages"]]
    transcript = Transcript.load(path)
    assert (transcript.damaged, transcript.unknown, transcript.pending_bytes) == ((), {}, 0)
    assert [(message.role, message.content) for message in to_chat_messages(transcript)] == [
        (role, text) for role, text, _ in expected["messages"]
    ]


def test_tools_thoughts_and_machine_text_are_carried_over(world: World) -> None:
    world.run(project=PROJECT)
    claude = _records(world, EXPECTED[0]["file_id"])
    call = {"id": "t1", "type": "function", "function": {"name": "Read", "arguments": '{"file_path":"about.md"}'}}
    assert [(record["role"], record.get("content")) for record in claude[1:]] == [
        ("system", "bookkeeping"),
        ("system", "<ide_opened_file>about.md</ide_opened_file>"),
        ("user", "draft an about page"),
        ("assistant", None),
        ("tool", "empty"),
        ("assistant", "Here is a draft."),
    ]
    assert claude[4]["tool_calls"] == [call]
    assert claude[4]["reasoning"] == {"text": "short page", "tokens": 3}
    assert claude[5]["tool_call_id"] == "t1"
    hermes = _records(world, "hermes-20260705-101500-ab12")
    assert [record["role"] for record in hermes[1:]] == ["user", "tool", "assistant"]
    opencode = _records(world, "opencode-ses-ab1")
    assert opencode[2]["tool_calls"][0]["function"]["name"] == "read"


def test_the_original_folder_is_kept_and_filed_under_its_project(world: World) -> None:
    world.run(project=PROJECT)
    assert {path.parent.name for path in world.targets()} == {"home-mira-notes-site"}
    headers = {path.name.partition("-")[0]: strict_records(path)[0] for path in world.targets()}
    assert {name: (header["cwd"], header["repo_root"]) for name, header in headers.items()} == {
        "claude": (PROJECT, PROJECT),
        "codex": (PROJECT, PROJECT),
        "cursor": (PROJECT, PROJECT),
        "opencode": (f"{PROJECT}/feed", PROJECT),
        "hermes": ("/tmp", PROJECT),
    }


def test_another_project_gets_none_of_them(world: World) -> None:
    report = world.run(project="/home/mira/notes")
    assert report.outcomes == []
    assert {agent: passed.other_projects for agent, passed in report.passed.items()} == {
        "claude-code": 1, "codex": 1, "cursor": 2, "opencode": 1, "hermes": 1,
    }  # fmt: skip
    assert report.passed["opencode"].sub_agents == 1
    assert not world.data.exists()


def test_sources_are_never_written_to_and_nothing_appears_beside_them(world: World) -> None:
    before = files_below(world.home)
    world.run()
    after = {name: file for name, file in files_below(world.home).items() if not name.startswith(".local/share/aster")}
    assert after == before


def test_everything_is_private_and_nothing_is_left(world: World) -> None:
    world.run()
    for path in (world.data, *world.data.rglob("*")):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600)
    assert world.leftovers() == []
    assert not (world.data / "sessions" / "prompt-history.jsonl").exists()


def test_a_dry_run_tells_the_same_and_writes_nothing(world: World) -> None:
    before = files_below(world.home)
    dry = world.run(dry_run=True)
    assert files_below(world.home) == before
    wet = world.run()
    assert [(one.session_id, one.status, one.title, one.messages, one.target) for one in dry.outcomes] == [
        (one.session_id, one.status, one.title, one.messages, one.target) for one in wet.outcomes
    ]
