"""The writer: Aster's exact wire format, appends that lose nothing, ids that cannot leave, honest summaries."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from persist import history
from persist.aster import (
    Call,
    Citation,
    Message,
    Reasoning,
    SessionWriter,
    Summary,
    TokenCounts,
    Transcript,
    find_session,
    history_path,
    list_sessions,
    rebuild_history,
    to_chat_messages,
)
from persist.aster.writer import now_text, wire_line
from persist.errors import NotFoundError, RefusedError

ROOT = Path(__file__).parents[2]
SAMPLES = Path(__file__).parents[1] / "data" / "aster" / "sessions"
TS = "2026-08-19T07:12:08.737352513Z"


def create(home: Path, session_id: str | None = None) -> SessionWriter:
    return SessionWriter.create(home, "/w/app/sub", "/w/app", "m-one", session_id=session_id)


def tail(writer: SessionWriter) -> str:
    return writer.path.read_text("utf-8").splitlines()[-1]


class TestWireFormat:
    def test_the_header(self, tmp_path: Path) -> None:
        writer = SessionWriter.create(
            tmp_path, "/w/Büro", "/w", "m", session_id="conv_1", base_url="https://x", aster_version="0.7.0",
            title="T", schedule="nightly", imported_from="codex:0197", created_at=TS,
        )  # fmt: skip
        assert writer.path.read_text("utf-8") == (
            '{"type":"session","id":"conv-1","v":1,"created_at":"'
            + TS
            + '","cwd":"/w/Büro","repo_root":"/w","model":"m",'
            '"base_url":"https://x","aster_version":"0.7.0","title":"T","schedule":"nightly","imported_from":"codex:0197"}\n'
        )
        assert writer.path == tmp_path / "sessions" / "w" / "conv-1.jsonl"

    def test_absent_fields_are_left_out(self, tmp_path: Path) -> None:
        writer = SessionWriter.create(tmp_path, "/w", "/w", created_at=TS)
        assert tail(writer) == (
            f'{{"type":"session","id":"{writer.session_id}","v":1,"created_at":"{TS}","cwd":"/w","repo_root":"/w"}}'
        )
        assert re.fullmatch(r"[0-9a-z]{26}", writer.session_id)

    def test_every_kind_of_event(self, tmp_path: Path) -> None:
        writer = create(tmp_path)
        call = Call("call_1", "read_file", '{"path":"main.py"}')
        writer.user("read main.py", ts=TS)
        assert tail(writer) == f'{{"type":"message","role":"user","content":"read main.py","ts":"{TS}"}}'
        writer.assistant("Reading.", [call], TokenCounts(6120, 84), Reasoning("Look first.", 6, 2310), ts=TS)
        assert tail(writer) == (
            '{"type":"message","role":"assistant","content":"Reading.","tool_calls":[{"id":"call_1","type":"function",'
            '"function":{"name":"read_file","arguments":"{\\"path\\":\\"main.py\\"}"}}],"ts":"' + TS + '",'
            '"usage":{"prompt_tokens":6120,"completion_tokens":84},'
            '"reasoning":{"text":"Look first.","tokens":6,"duration_ms":2310}}'
        )
        writer.tool("", "call_1", ts=TS)
        assert tail(writer) == f'{{"type":"message","role":"tool","content":"","tool_call_id":"call_1","ts":"{TS}"}}'
        writer.assistant(None, [call], TokenCounts(0, 0), Reasoning(""), ts=TS)
        assert '"role":"assistant","tool_calls":[' in tail(writer)
        assert "usage" not in tail(writer)
        assert "reasoning" not in tail(writer)
        writer.assistant("Done.", annotations=[Citation("https://example.org")], ts=TS)
        assert tail(writer).endswith(
            f'"ts":"{TS}","annotations":[{{"type":"url_citation","url_citation":{{"url":"https://example.org","title":null}}}}]}}'
        )
        writer.system("(steering)", ts=TS)
        assert tail(writer) == f'{{"type":"message","role":"system","content":"(steering)","ts":"{TS}"}}'
        writer.eviction(4, 1684, ts=TS)
        assert tail(writer) == (
            f'{{"type":"eviction","reason":"tool_result_over_budget","role":"tool","index":4,"chars":1684,"ts":"{TS}"}}'
        )
        writer.title("  Fix it \n", ts=TS)
        assert tail(writer) == f'{{"type":"title","title":"Fix it","ts":"{TS}"}}'
        writer.summary("Short.", keep_last=1, ts=TS)
        assert tail(writer) == (
            f'{{"type":"summary","content":"Short.","replaces_through":2,"ts":"{TS}","keeps_from_line":6}}'
        )

    @pytest.mark.parametrize("path", sorted(SAMPLES.rglob("*.jsonl")), ids=lambda path: path.stem)
    def test_every_whole_line_of_the_samples_is_written_as_it_stands(self, path: Path) -> None:
        for line in path.read_bytes().split(b"\n")[:-1]:
            try:
                record = json.loads(line)
            except ValueError:
                continue
            assert wire_line(record) == line

    def test_only_quotes_backslashes_and_control_characters_are_escaped(self) -> None:
        assert (
            wire_line({"a": '"\\\x00\x1f\n/\x7f\u2028é🧾'}) == '{"a":"\\"\\\\\\u0000\\u001f\\n/\x7f\u2028é🧾"}'.encode()
        )

    def test_lone_surrogates_are_replaced_and_pairs_joined(self, tmp_path: Path) -> None:
        writer = create(tmp_path)
        writer.user("a\ud83d b\ude80 \ud83d\ude80")
        assert json.loads(tail(writer))["content"] == "a\ufffd b\ufffd 🚀"

    @pytest.mark.parametrize(
        ("ns", "text"),
        [
            (1787123528_000000000, "2026-08-19T07:12:08Z"),
            (1787123528_500000000, "2026-08-19T07:12:08.500Z"),
            (1787123528_000100000, "2026-08-19T07:12:08.000100Z"),
            (1787123528_737352513, "2026-08-19T07:12:08.737352513Z"),
        ],
    )
    def test_times_have_as_many_digits_as_needed(self, ns: int, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("time.time_ns", lambda: ns)
        assert now_text() == text


class TestRoundTrip:
    def test_1_a_session_resumes_under_the_id_it_reports(self, tmp_path: Path) -> None:
        writer = create(tmp_path, "Conv_1")
        assert writer.session_id == "conv-1"
        writer.user("first")
        for number, typed in enumerate((writer.session_id, "Conv_1", "CONV-1"), start=2):
            found = find_session([tmp_path], typed)
            assert found == writer.path
            with SessionWriter.open(found) as again:
                again.user(f"by {typed}")
            assert again.session_id == writer.session_id
            transcript = Transcript.load(found)
            assert (transcript.header, transcript.user_turns) == (writer.header, number)

    def test_2_and_3_an_upper_case_file_is_reopened_not_hidden(self, tmp_path: Path) -> None:
        old = tmp_path / "sessions/w-app/01M0CDSRD0M5N6FKF181V7JAJ0.jsonl"
        old.parent.mkdir(parents=True)
        old.write_text(
            '{"type":"session","id":"01M0CDSRD0M5N6FKF181V7JAJ0","v":1,"cwd":"/w/app","repo_root":"/w/app"}\n'
        )
        for typed in ("01M0CDSRD0M5N6FKF181V7JAJ0", "01m0cdsrd0m5n6fkf181v7jaj0"):
            writer = SessionWriter.open_or_create(tmp_path, "/w/app", "/w/app", session_id=typed)
            writer.user("again")
            assert (writer.path, writer.session_id) == (old, "01M0CDSRD0M5N6FKF181V7JAJ0")
        assert Transcript.load(old).user_turns == 2
        with pytest.raises(RefusedError, match="exists already"):
            create(tmp_path, "01m0cdsrd0m5n6fkf181v7jaj0")

    def test_10_header_calls_and_results_survive(self, tmp_path: Path) -> None:
        with SessionWriter.create(tmp_path, "/w/app/sub", "/w/app", "m-one", base_url="https://x/v1") as writer:
            writer.user("read it")
            writer.assistant(None, [Call("c", "read_file", "{}")])
            writer.tool("text", "c")
            writer.assistant("Read.")
        transcript = Transcript.load(writer.path)
        assert transcript.header == writer.header
        assert transcript.header is not None
        header = transcript.header
        assert (header.model, header.base_url, header.cwd) == ("m-one", "https://x/v1", "/w/app/sub")
        _, call, result, _ = transcript.messages
        assert (call.tool_calls, result.tool_call_id, result.content) == ((Call("c", "read_file", "{}"),), "c", "text")
        assert [(message.role, message.content) for message in to_chat_messages(transcript)] == [
            ("user", "read it"),
            ("assistant", "Read."),
        ]

    def test_12_opened_again_there_is_one_header_and_one_session(self, tmp_path: Path) -> None:
        for prompt in ("one", "two"):
            with SessionWriter.open_or_create(tmp_path, "/w/app", "/w/app", session_id="telegram-5") as writer:
                writer.user(prompt)
        (entry,) = list_sessions([tmp_path]).sessions
        assert entry.turns == 2
        assert entry.path.read_text().count('"type":"session"') == 1

    def test_71_a_recorded_prompt_is_in_the_file_at_once(self, tmp_path: Path) -> None:
        writer = create(tmp_path)
        writer.user("heron")
        assert '"content":"heron"' in tail(writer)

    def test_everything_is_private(self, tmp_path: Path) -> None:
        before = os.umask(0)
        try:
            create(tmp_path / "home").user("x")
        finally:
            os.umask(before)
        modes = {
            path.name: stat.S_IMODE(path.stat().st_mode)
            for path in [tmp_path / "home", *(tmp_path / "home").rglob("*")]
        }
        folders = {name for name in modes if (name in ("home", "sessions", "w-app"))}
        assert {modes.pop(name) for name in folders} == {0o700}
        assert set(modes.values()) == {0o600}


class TestTornTails:
    """``spec/aster.md`` 2.8: what an append by Aster loses, and ours must not."""

    @pytest.mark.parametrize(
        ("end", "readable"),
        [
            (b'{"type":"message","role":"user","content":"to', ["before", "after 1", "after 2"]),
            (b'{"type":"message","role":"user","content":"whole"}', ["before", "whole", "after 1", "after 2"]),
            ('{"type":"message","role":"user","content":"é'.encode()[:-1], ["before", "after 1", "after 2"]),
            (b"\0" * 600, ["before", "after 1", "after 2"]),
        ],
        ids=["ascii", "no newline", "in a character", "zero bytes"],
    )
    def test_an_append_after_a_torn_tail_loses_nothing(self, tmp_path: Path, end: bytes, readable: list[str]) -> None:
        writer = create(tmp_path)
        writer.user("before")
        with writer.path.open("ab") as file:
            file.write(end)
        again = SessionWriter.open(writer.path)
        again.user("after 1")
        again.title("Renamed")
        again.user("after 2")
        transcript = Transcript.load(writer.path)
        assert [message.content for message in transcript.messages] == readable
        assert transcript.title == "Renamed"
        assert len(transcript.damaged) == (0 if "whole" in readable else 1)

    @pytest.mark.parametrize("name", ["01m3y4ywd0h49sh5q3qsw71kfq", "01m3y9fha0vhf161j4dztyjypy"])
    def test_the_torn_samples(self, tmp_path: Path, name: str) -> None:
        (sample,) = SAMPLES.rglob(f"{name}.jsonl")
        path = tmp_path / sample.name
        path.write_bytes(sample.read_bytes())
        before = Transcript.load(path)
        SessionWriter.open(path).user("appended")
        after = Transcript.load(path)
        assert after.events[:-1] == before.events
        assert [damage.length_bytes for damage in after.damaged] == [before.pending_bytes]

    @pytest.mark.parametrize("content", [b"", b'{"type":"session","id":"x'], ids=["empty", "torn header"])
    def test_a_file_without_a_header_can_be_opened(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "a.jsonl"
        path.write_bytes(content)
        SessionWriter.open(path).user("x")
        assert [message.content for message in Transcript.load(path).messages] == ["x"]


class TestRefusals:
    @pytest.mark.parametrize("version", ["2", "99", '"2"', '"new"', "1.5", "-1"])
    def test_a_newer_format_is_never_written_to(self, tmp_path: Path, version: str) -> None:
        path = tmp_path / "a.jsonl"
        path.write_text(f'{{"type":"session","id":"a","v":{version}}}\n')
        with pytest.raises(RefusedError, match="format version"):
            SessionWriter.open(path)

    @pytest.mark.parametrize("version", ["", ',"v":1', ',"v":null', ',"v":0', ',"v":1.0'])
    def test_ours_and_older_formats_are(self, tmp_path: Path, version: str) -> None:
        path = tmp_path / "a.jsonl"
        path.write_text(f'{{"type":"session","id":"a"{version}}}\n')
        SessionWriter.open(path).title("x")
        assert Transcript.load(path).title == "x"

    def test_a_session_deleted_meanwhile_is_not_begun_again(self, tmp_path: Path) -> None:
        writer = create(tmp_path)
        writer.path.unlink()
        with pytest.raises(NotFoundError):
            writer.user("lost")
        assert not writer.path.exists()
        with pytest.raises(NotFoundError):
            SessionWriter.open(writer.path)

    def test_a_closed_writer_and_an_empty_title(self, tmp_path: Path) -> None:
        writer = create(tmp_path)
        with pytest.raises(RefusedError):
            writer.title(" \n")
        writer.close()
        with pytest.raises(RefusedError, match="closed"):
            writer.user("x")

    def test_a_call_without_a_name(self, tmp_path: Path) -> None:
        writer = create(tmp_path)
        with pytest.raises(ValueError, match="id and a name"):
            writer.assistant(None, [Call("c", None, "{}")])

    @pytest.mark.parametrize("session_id", ["../x", "/abs", "a\0b", "..", "x" * 300])
    def test_an_id_that_cannot_name_a_file(self, tmp_path: Path, session_id: str) -> None:
        with pytest.raises(RefusedError):
            create(tmp_path / "home", session_id)
        assert not (tmp_path / "home").exists()

    def test_a_project_of_the_same_slug_does_not_get_anothers_session(self, tmp_path: Path) -> None:
        SessionWriter.create(tmp_path, "/home/ann/work/blog", "/home/ann/work/blog", session_id="conv")
        with pytest.raises(RefusedError, match="belongs to /home/ann/work/blog"):
            SessionWriter.open_or_create(tmp_path, "/home/ann/work-blog", "/home/ann/work-blog", session_id="conv")


class TestSummaries:
    def test_ours_say_where_the_kept_part_begins(self, tmp_path: Path) -> None:
        writer = create(tmp_path)
        for number in range(1, 7):
            writer.user(f"u{number}")
            writer.assistant(f"c{number}", [Call("c", "run", "{}")])
            writer.tool("r", "c")
            writer.assistant(f"a{number}")
        writer.summary("S1", keep_last=6)
        writer.user("u7")
        writer.summary("S2", keep_last=2)
        writer.assistant("a7")
        transcript = Transcript.load(writer.path)
        chat = [message.content for message in to_chat_messages(transcript)]
        assert chat == ["Summary of earlier conversation:\nS2", "a6", "u7", "a7"]
        visible = [message for message in transcript.messages if message.is_visible]
        second = [event for event in transcript.events if isinstance(event, Summary)][1]
        assert second.replaces_through is not None
        assert [message.content for message in visible[second.replaces_through :]] == chat[1:]

    def test_a_position_can_be_given(self, tmp_path: Path) -> None:
        writer = create(tmp_path)
        writer.user("u1")
        writer.assistant("a1")
        last = Transcript.load(writer.path).messages[-1]
        writer.summary("S", keeps_from_line=last.line.number)
        assert [message.content for message in to_chat_messages(Transcript.load(writer.path))][1:] == ["a1"]

    def test_nothing_or_everything_stays(self, tmp_path: Path) -> None:
        writer = create(tmp_path)
        writer.user("u1")
        writer.summary("all", keep_last=50)
        assert len(to_chat_messages(Transcript.load(writer.path))) == 2
        writer.summary("none", keep_last=0)
        writer.user("u2")
        assert [message.content for message in to_chat_messages(Transcript.load(writer.path))][1:] == ["u2"]


class TestTwoWriters:
    def test_four_processes_on_one_session_lose_nothing(self, tmp_path: Path) -> None:
        code = """
import sys; from pathlib import Path; from persist.aster import SessionWriter
writer = SessionWriter.open_or_create(Path(sys.argv[1]), "/w", "/w", session_id="shared")
for number in range(30): writer.tool(f"{sys.argv[2]}:{number}:" + "x" * 9000, "c")
writer.user(f"prompt {sys.argv[2]}")
assert writer.history_trouble is None
"""
        running = [
            subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(number)], cwd=ROOT) for number in range(4)
        ]
        assert [process.wait() for process in running] == [0, 0, 0, 0]
        (entry,) = list_sessions([tmp_path]).sessions
        transcript = Transcript.load(entry.path)
        assert (transcript.damaged, entry.turns) == ((), 4)
        results = [message.content or "" for message in transcript.messages if message.role == "tool"]
        assert sorted(result[: result.rindex(":")] for result in results) == sorted(
            f"{by}:{number}" for by in range(4) for number in range(30)
        )
        assert entry.path.read_text().count('"type":"session"') == 1
        assert len(history.read(history_path(tmp_path)).entries) == 4


class TestPromptHistory:
    def test_a_prompt_reaches_the_history_and_steering_does_not(self, tmp_path: Path) -> None:
        writer = create(tmp_path, "conv")
        writer.system("steer")
        writer.user("heron")
        writer.user("   ")
        (entry,) = history.read(history_path(tmp_path)).entries
        assert writer.header is not None
        assert entry == history.PromptEntry("conv", "/w/app/sub", writer.header.created_at or "", "heron")

    def test_a_history_that_cannot_be_written_fails_no_append(self, tmp_path: Path) -> None:
        writer = create(tmp_path)
        history_path(tmp_path).mkdir()
        writer.user("heron")
        assert writer.history_trouble is not None
        assert "heron" not in writer.history_trouble
        assert [message.content for message in Transcript.load(writer.path).messages] == ["heron"]

    def test_imports_can_leave_it_alone(self, tmp_path: Path) -> None:
        SessionWriter.create(tmp_path, "/w", "/w", keeps_history=False).user("old words")
        assert history.read(history_path(tmp_path)) == ([], [])

    def test_a_file_outside_a_store_has_no_history(self, tmp_path: Path) -> None:
        path = tmp_path / "a" / "b.jsonl"
        path.parent.mkdir()
        path.touch()
        SessionWriter.open(path).user("x")
        assert sorted(found.name for found in tmp_path.rglob("*")) == [".lock", ".redo", "a", "b.jsonl"]

    def test_rebuilt_it_holds_the_newest_prompts_of_all_sessions(self, tmp_path: Path) -> None:
        one, two = create(tmp_path, "one"), create(tmp_path, "two")
        for number in range(120):
            (one if number % 2 else two).user(f"p{number}", ts=f"2026-03-02T00:{number // 60:02d}:{number % 60:02d}Z")
        kept = history.read(history_path(tmp_path))
        history_path(tmp_path).write_bytes(b"not an entry\n")
        rebuilt = rebuild_history(tmp_path)
        assert [entry.prompt for entry in rebuilt.entries] == [f"p{number}" for number in range(20, 120)]
        assert rebuilt.entries == kept.entries
        assert len(rebuilt.damaged) == 1


def test_messages_of_the_samples_survive_being_written_again(tmp_path: Path) -> None:
    for path in SAMPLES.rglob("*.jsonl"):
        told = Transcript.load(path)
        writer = SessionWriter.create(tmp_path, "/w", "/w")
        for message in told.messages:
            _replay(writer, message)
        again = Transcript.load(writer.path).messages
        assert [(m.role, m.content, m.tool_calls, m.usage, m.reasoning, m.annotations, m.ts) for m in again] == [
            (m.role, m.content, m.tool_calls, m.usage, m.reasoning, m.annotations, m.ts) for m in told.messages
        ]


def _replay(writer: SessionWriter, message: Message) -> None:
    match message.role:
        case "user":
            writer.user(message.content or "", ts=message.ts)
        case "tool":
            writer.tool(message.content or "", message.tool_call_id or "", ts=message.ts)
        case "system":
            writer.system(message.content or "", ts=message.ts)
        case _:
            writer.assistant(
                message.content,
                message.tool_calls,
                message.usage,
                message.reasoning,
                message.annotations,
                ts=message.ts,
            )
