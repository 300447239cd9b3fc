"""Imports from Claude Code's and Codex's transcripts: what bites in their files (``spec/agents.md`` 2)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import builders as make
from tests.builders import Record
from tests.persist.import_world import CLAUDE_ID, CODEX_ID, World, claude_lines, said, strict_records

SID = CLAUDE_ID
CODEX_FILES = (
    "bare-records", "contents-of-every-shape", "every-kind-of-record", "damaged-and-torn", "no-version-events-late",
    "outputs-as-json-text",
)  # fmt: skip


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def _only(world: World) -> list[Record]:
    (path,) = world.targets()
    return strict_records(path)


def _claude(world: World, *records: Record | bytes, end: bytes = b"", name: str = SID) -> list[Record]:
    world.claude("-w-gamma", name, claude_lines(*records) + end)
    (outcome,) = world.run("claude-code").outcomes
    assert outcome.status == "imported", outcome
    return _only(world)


class TestClaudeCode:
    def test_side_chains_are_left_out(self, world: World) -> None:
        records = _claude(
            world,
            make.claude_prompt("hello", SID, "u1", 0),
            make.claude_prompt("a task", SID, "u2", 1, isSidechain=True),
            make.claude_answer("sub-agent's", SID, "u3", 2, isSidechain=True),
            make.claude_answer("hi", SID, "u4", 3),
        )
        assert said(records) == [("user", "hello"), ("assistant", "hi")]

    def test_files_of_sub_agents_are_counted_and_left(self, world: World) -> None:
        world.claude("-w-gamma", SID, claude_lines(make.claude_prompt("hello", SID, "u1", 0)))
        task = claude_lines(make.claude_prompt("a task", SID, "u2", 1, isSidechain=True, agentId="a1"))
        world.claude(f"-w-gamma/{SID}/subagents", "agent-a1", task)
        world.claude("-w-gamma", "agent-flat", task)
        report = world.run("claude-code")
        assert [outcome.session_id for outcome in report.outcomes] == [f"claude-{SID}"]
        assert report.passed["claude-code"].sub_agents == 2

    def test_a_reply_that_streams_over_several_lines_is_one_message(self, world: World) -> None:
        records = _claude(
            world,
            make.claude_prompt("hello", SID, "u1", 0),
            make.claude_answer("It", SID, "u2", 1, message_id="m1", output_tokens=1),
            make.claude_answer("It works", SID, "u3", 2, message_id="m1", output_tokens=5),
        )
        assert said(records) == [("user", "hello"), ("assistant", "It works")]
        assert all("usage" not in record for record in records)

    def test_a_record_that_stands_twice_in_a_file_is_read_once(self, world: World) -> None:
        once = [make.claude_prompt("yes", SID, "u1", 0), make.claude_answer("ok", SID, "u2", 1)]
        records = _claude(world, *once, *once, make.claude_prompt("yes", SID, "u3", 2))
        assert said(records) == [("user", "yes"), ("assistant", "ok"), ("user", "yes")]

    def test_a_fork_is_imported_whole_beside_its_origin(self, world: World) -> None:
        first = make.claude_prompt("hello", SID, "u1", 0)
        fork = "0a0a0a0a-58ab-4d0f-9c77-0e5b1a2c3d4e"
        world.claude("-w-gamma", SID, claude_lines(first))
        forked = [{**first, "sessionId": fork}, make.claude_prompt("go on", fork, "u2", 1)]
        world.claude("-w-gamma", fork, claude_lines(*forked))
        assert [outcome.status for outcome in world.run("claude-code").outcomes] == ["imported", "imported"]
        assert [said(strict_records(path)) for path in world.targets()] == [
            [("user", "hello"), ("user", "go on")],
            [("user", "hello")],
        ]

    def test_damage_costs_its_line_and_a_torn_tail_waits(self, world: World) -> None:
        glued = json.dumps(make.claude_answer("glued", SID, "u3", 2)).encode()
        world.claude(
            "-w-gamma",
            SID,
            claude_lines(
                make.claude_prompt("one", SID, "u1", 0),
                b"{not json",
                b"\xff\xfe\x00",
                glued + json.dumps({"type": "summary", "summary": "s", "leafUuid": "elsewhere"}).encode(),
                make.claude_prompt("two", SID, "u4", 3),
            )
            + b'{"type":"user","message":{"role":"user","content":"to',
        )
        (outcome,) = world.run("claude-code").outcomes
        assert (outcome.status, outcome.damaged) == ("imported", 2)
        assert said(_only(world)) == [("user", "one"), ("assistant", "glued"), ("user", "two")]

    def test_a_last_line_without_newline_counts_when_it_is_whole(self, world: World) -> None:
        end = json.dumps(make.claude_answer("done", SID, "u2", 1)).encode()
        assert said(_claude(world, make.claude_prompt("one", SID, "u1", 0), end=end))[-1] == ("assistant", "done")

    @pytest.mark.parametrize(
        ("typed", "stored"),
        [
            ("bell \x07 escape \x1b[31m nul \x00 del \x7f", "bell \x07 escape \x1b[31m nul \x00 del \x7f"),
            ("half \ud83d", "half \ufffd"),
            ("\u2028 line \u202e turned \ufeff", "\u2028 line \u202e turned \ufeff"),
            ("e\u0301 漢 🧾\r\nnext", "e\u0301 漢 🧾\r\nnext"),
        ],
    )
    def test_odd_characters_are_data(self, typed: str, stored: str, world: World) -> None:
        prompt = json.dumps(make.claude_prompt(typed, SID, "u1", 0)).encode()
        call = json.dumps(make.claude_tool_call("c1", SID, "u2", 1, command=typed)).encode()
        records = _claude(world, prompt, call, json.dumps(make.claude_tool_result("c1", typed, SID, "u3", 2)).encode())
        assert records[1]["content"] == stored
        assert json.loads(records[2]["tool_calls"][0]["function"]["arguments"]) == {"command": stored}
        assert records[3]["content"] == stored

    @pytest.mark.parametrize("content", [None, 5, [], [None, 7], {"type": "text"}, [{"type": ["x"]}], [[["deep"]]], ""])
    def test_content_of_any_shape_stops_nothing(self, content: Any, world: World) -> None:
        odd = make.claude_prompt(content, SID, "u1", 0)
        answer = {**make.claude_answer("x", SID, "u2", 1), "message": {"role": "assistant", "content": content}}
        records = _claude(world, odd, answer, make.claude_prompt("two", SID, "u3", 2))
        assert said(records)[-1] == ("user", "two")

    def test_titles_a_persons_before_the_agents_and_none_of_another_file(self, world: World) -> None:
        prompt = make.claude_prompt("hello", SID, "u1", 0)
        summary = {"type": "summary", "summary": "of another file", "leafUuid": "elsewhere"}
        assert "title" not in _claude(world, prompt, summary)[0]
        world.targets()[0].unlink()
        assert _claude(world, {**summary, "summary": "of this", "leafUuid": "u1"}, prompt)[0]["title"] == "of this"
        world.targets()[0].unlink()
        given = {"type": "custom-title", "customTitle": "Mine\n now", "sessionId": SID}
        written = {"type": "ai-title", "aiTitle": "The agent's", "sessionId": SID}
        assert _claude(world, prompt, given, written)[0]["title"] == "Mine now"

    def test_a_compaction_becomes_a_summary(self, world: World) -> None:
        records = _claude(
            world,
            make.claude_prompt("one", SID, "u1", 0),
            make.claude_answer("two", SID, "u2", 1),
            make.claude_prompt("Before: one and two.", SID, "u3", 2, isCompactSummary=True),
            make.claude_prompt("three", SID, "u4", 3),
        )
        assert [record["type"] for record in records] == ["session", "message", "message", "summary", "message"]
        assert (records[3]["replaces_through"], records[3]["keeps_from_line"]) == (2, 4)

    def test_a_session_without_a_folder_is_imported_with_all_and_not_with_a_project(self, world: World) -> None:
        prompt = {key: value for key, value in make.claude_prompt("hello", SID, "u1", 0).items() if key != "cwd"}
        world.claude("-w-gamma", SID, claude_lines(prompt))
        assert world.run("claude-code", project="/w/gamma").outcomes == []
        (outcome,) = world.run("claude-code").outcomes
        assert outcome.status == "imported"
        assert world.targets()[0].parent.name == "default"

    def test_a_file_without_talk_is_empty(self, world: World) -> None:
        world.claude("-w-gamma", SID, claude_lines({"type": "file-history-snapshot", "messageId": "x"}))
        world.claude("-w-gamma", "nothing", b"")
        world.claude("-w-gamma", "machine", claude_lines(make.claude_prompt("note", "machine", "u1", 0, isMeta=True)))
        assert [outcome.status for outcome in world.run("claude-code").outcomes] == ["empty"] * 3
        assert world.targets() == []
        assert world.leftovers() == []

    def test_times_out_of_order_are_kept_and_missing_ones_are_those_before(self, world: World) -> None:
        late, early = make.claude_prompt("late", SID, "u1", 9), make.claude_prompt("early", SID, "u2", 1)
        timeless = {key: value for key, value in early.items() if key != "timestamp"}
        records = _claude(world, late, early, {**timeless, "uuid": "u3"}, {**early, "timestamp": "soon", "uuid": "u4"})
        assert [record["ts"][14:16] for record in records[1:]] == ["09", "01", "01", "01"]
        assert records[0]["created_at"] == records[1]["ts"]


class TestCodex:
    def _write(self, world: World, *records: Record | bytes, session_id: str = CODEX_ID, **head: Any) -> None:
        header = make.codex_header(session_id, 0, **head)
        world.codex(session_id, make.lines(header, *records))

    def test_prompts_and_answers_are_told_once(self, world: World) -> None:
        item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "yes"}]}
        answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]}
        self._write(
            world,
            {"timestamp": make.at(1), "type": "response_item", "payload": item},
            make.codex_prompt("yes", 1),
            make.codex_answer("ok", 2),
            {"timestamp": make.at(2), "type": "response_item", "payload": answer},
            make.codex_prompt("yes", 3),
            {"timestamp": make.at(3), "type": "response_item", "payload": item},
            {"timestamp": make.at(4), "type": "response_item", "payload": answer},
            cli_version="0.55.0",
        )
        world.run("codex")
        assert said(_only(world)) == [("user", "yes"), ("assistant", "ok"), ("user", "yes"), ("assistant", "ok")]

    def test_a_prompt_that_only_an_item_tells_is_not_lost_where_others_have_events(self, world: World) -> None:
        item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "and the north wall"}]}
        self._write(
            world,
            make.codex_prompt("yes", 1),
            make.codex_answer("ok", 2),
            {"timestamp": make.at(3), "type": "response_item", "payload": item},
            make.codex_answer("done", 4),
        )
        world.run("codex")
        told = [("user", "yes"), ("assistant", "ok"), ("user", "and the north wall"), ("assistant", "done")]
        assert said(_only(world)) == told

    def test_sub_agents_are_left_and_forks_are_whole(self, world: World) -> None:
        sub, fork = "0197d3aa-2222-7222-8333-444455556666", "0197d3aa-3333-7222-8333-444455556666"
        spawned = {"subagent": {"thread_spawn": {"parent_thread_id": CODEX_ID}}}
        self._write(world, make.codex_prompt("one", 1))
        self._write(world, make.codex_prompt("task", 1), session_id=sub, source=spawned)
        review = "0197d3aa-4444-7222-8333-444455556666"
        self._write(world, make.codex_prompt("task", 1), session_id=review, source={"subagent": "review"})
        self._write(world, make.codex_prompt("one", 1), make.codex_prompt("two", 9), session_id=fork,
                    forked_from_id=CODEX_ID)  # fmt: skip
        report = world.run("codex")
        assert [outcome.original_id for outcome in report.outcomes] == [CODEX_ID, fork]
        assert report.passed["codex"].sub_agents == 2
        assert said(strict_records(world.targets()[1])) == [("user", "one"), ("user", "two")]

    def test_a_compressed_rollout_is_read(self, world: World) -> None:
        zstandard = pytest.importorskip("zstandard")
        data = make.lines(make.codex_header(CODEX_ID, 0), make.codex_prompt("packed", 1))
        world.codex(CODEX_ID, zstandard.ZstdCompressor().compress(data), ".jsonl.zst")
        other = "0197d3aa-4444-7222-8333-444455556666"
        world.codex(other, zstandard.ZstdCompressor().compress(data.replace(CODEX_ID.encode(), other.encode()))[:-9],
                    ".jsonl.zst")  # fmt: skip
        first, second = world.run("codex").outcomes
        assert (first.status, first.session_id) == ("imported", f"codex-{CODEX_ID}")
        assert second.status in ("imported", "empty")
        assert second.damaged == 1
        assert said(strict_records(world.targets()[0])) == [("user", "packed")]

    @pytest.mark.parametrize("name", CODEX_FILES)
    @pytest.mark.parametrize("text_only", [False, True])
    def test_every_kind_of_file_gives_what_aster_reads(
        self, name: str, text_only: bool, world: World, data: Path
    ) -> None:
        world.codex(CODEX_ID, data.joinpath("codex", f"{name}.jsonl").read_bytes())
        (outcome,) = world.run("codex", text_only=text_only).outcomes
        if not text_only:
            assert outcome.status == "imported"
        for path in world.targets():
            assert any(record.get("role") in ("user", "assistant") for record in strict_records(path))


@pytest.mark.parametrize("name", ["every-kind-of-record", "fork-with-pointer"])
@pytest.mark.parametrize("text_only", [False, True])
def test_every_kind_of_claude_record_gives_what_aster_reads(
    name: str, text_only: bool, world: World, data: Path
) -> None:
    world.claude("-w-gamma", SID, data.joinpath("claude_code", f"{name}.jsonl").read_bytes())
    (outcome,) = world.run("claude-code", text_only=text_only).outcomes
    assert outcome.status == "imported"
    assert len(_only(world)) == outcome.messages + 1


def test_the_published_files_give_what_aster_reads(shared: Path, tmp_path: Path) -> None:
    world = World(tmp_path)
    for name in (".claude", ".codex"):
        (world.home / name).symlink_to(shared / "real" / "home" / name)
    report = world.run("claude-code", "codex")
    assert {outcome.status for outcome in report.outcomes} <= {"imported", "empty"}
    assert len(world.targets()) == sum(outcome.status == "imported" for outcome in report.outcomes) > 5
    for path in world.targets():
        records = strict_records(path)
        calls = {call["id"] for record in records for call in record.get("tool_calls", [])}
        results = [record["tool_call_id"] for record in records if record.get("role") == "tool"]
        assert set(results) <= calls
        assert len(results) == len(set(results))
