"""Transcripts loaded whole, and lists of them, against what Aster makes of the samples.

``DIFFERENCES`` names every place where the answer is meant to differ from ``expected.json``, with the weak point of
``spec/aster.md`` 8 that is cured there; everything else in the file must be equal.

What Aster's own tests assert (``spec/aster.md`` 7), and where it is tested here:

1, 2, 3     ``test_aster_writer``: a session is found under the id it reports, in any case, upper-case files too
4 to 6      below: titles survive, the newest wins, an untitled session shows its first prompt
7           below and in ``test_aster_chat``: steering is stored, not replayed, no turn
8, 9        below: files from before reasoning load; reasoning survives with its numbers
10          ``test_aster_writer``: the round trip of a header, calls and results
11          below: ``latest`` takes the last used one instead (DESIGN 5), both are listed
12          ``test_aster_writer``: opened again, one header, two turns
13          below: no session, no latest
14, 19-27   memory, tested with ``persist.memory``
15-18       grants are never opened (DESIGN 5)
28, 29      migration of old homes: not part of reading; old homes are read in place (``test_aster_discover``)
30-32       imports, tested with them; no MCP here
33-37       a chat tool of the agent's; its search is ``asx search``
38-49       the agent's loop (DESIGN 15); folding is tested in ``test_aster_chat``
50-63       eviction and redaction happen in the agent's loop before anything is recorded (DESIGN 15)
64-70       the terminal chat (DESIGN 15); what it needs is 1 to 13
71          ``test_aster_writer``: a recorded prompt is in the file
72-77       below: calls and results keep their ids; blank, steering and thinking alone
78-99       consolidation and plans: not in this module
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from persist.aster import (
    Header,
    Summary,
    Transcript,
    find_session,
    latest,
    list_sessions,
    read_header,
    to_chat_messages,
)
from persist.errors import AmbiguousError, NotFoundError, RefusedError, StoreIOError

DATA = Path(__file__).parents[1] / "data"
HOME = DATA / "aster"
EXPECTED = json.loads((HOME / "expected.json").read_text("utf-8"))
LOADED = [entry for entry in EXPECTED["transcripts"] if "error" not in entry]

TWO_SUMMARIES = EXPECTED["ids"]["kassenbuch_two_summaries"]
EMPTY = EXPECTED["ids"]["tidewatch_empty"]
DIFFERENCES: dict[tuple[str, str], tuple[str, str]] = {
    (TWO_SUMMARIES, "chat_0_7"): (
        "the last summary and turns 7 to 10",
        "13: replaces_through counts a list that was folded before",
    ),
    (EMPTY, "error"): ("no header, no events, listed last", "12: an empty file cannot be loaded or listed"),
}


def write(path: Path, *lines: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join((line.encode() if isinstance(line, str) else line) + b"\n" for line in lines))
    return path


def head(session_id: str, created_at: str = "2026-03-02T00:00:00Z", **rest: Any) -> str:
    return json.dumps({"type": "session", "id": session_id, "v": 1, "created_at": created_at, **rest})


def said(role: str, content: str | None, ts: str = "2026-03-02T00:01:00Z", **rest: Any) -> str:
    return json.dumps({"type": "message", "role": role, "content": content, "ts": ts, **rest})


@pytest.mark.parametrize("entry", LOADED, ids=lambda entry: entry["id"])
class TestSamples:
    @pytest.mark.parametrize("key", ["title", "display_title", "user_turns"])
    def test_titles_and_turns_are_asters(self, entry: dict[str, Any], key: str) -> None:
        assert getattr(Transcript.load(HOME / entry["file"]), key) == entry[key]

    def test_events_and_messages_are_asters(self, entry: dict[str, Any]) -> None:
        transcript = Transcript.load(HOME / entry["file"])
        assert len(transcript.events) == entry["events_loaded"]
        assert len(transcript.messages) == entry["messages"]
        assert transcript.header is not None
        assert transcript.header.id == entry["id"]

    def test_the_chat_is_that_of_aster_0_7_or_differs_as_listed(self, entry: dict[str, Any]) -> None:
        chat = [[message.role, message.content] for message in to_chat_messages(Transcript.load(HOME / entry["file"]))]
        if (entry["id"], "chat_0_7") not in DIFFERENCES:
            assert chat == entry["chat_0_7"]
            return
        assert chat[0] == entry["chat_0_7"][0]
        assert chat[1:] == entry["chat_0_7"][-8:]
        assert EXPECTED["what_the_two_summary_session_should_yield"].startswith("the last summary followed by turns 7")


class TestDamage:
    def test_an_empty_file_loads(self) -> None:
        (file,) = [entry["file"] for entry in EXPECTED["transcripts"] if "error" in entry]
        transcript = Transcript.load(HOME / file)
        assert (transcript.header, transcript.events, transcript.damaged) == (None, (), ())
        assert (Path(file).stem, "error") in DIFFERENCES

    def test_a_malformed_line_and_an_unknown_kind_are_named(self) -> None:
        (path,) = HOME.rglob(f"{EXPECTED['ids']['tidewatch_malformed_middle']}.jsonl")
        transcript = Transcript.load(path)
        ((line, length_bytes, reason),) = [(d.line, d.length_bytes, d.reason) for d in transcript.damaged]
        assert (line.number, path.read_bytes()[line.offset_bytes :][:length_bytes][-12:]) == (3, b"d in 6 files")
        assert "Renamed" not in reason
        assert transcript.unknown == {"checkpoint": 1}

    @pytest.mark.parametrize("name", ["kassenbuch_torn_ascii", "kassenbuch_torn_utf8"])
    def test_a_torn_tail_is_pending_not_damage(self, name: str) -> None:
        (path,) = HOME.rglob(f"{EXPECTED['ids'][name]}.jsonl")
        transcript = Transcript.load(path)
        assert transcript.damaged == ()
        assert transcript.pending_bytes == len(path.read_bytes().rpartition(b"\n")[2]) > 0

    def test_bytes_that_are_not_utf8_end_nothing(self, tmp_path: Path) -> None:
        torn = b'{"type":"message","role":"user","content":"caf\xe9"}'
        transcript = Transcript.load(write(tmp_path / "a.jsonl", head("a"), torn, said("user", "heron")))
        assert [message.content for message in transcript.messages] == ["caf\ufffd", "heron"]
        assert [damage.line.number for damage in transcript.damaged] == [2]

    def test_glued_records_are_both_read(self, tmp_path: Path) -> None:
        transcript = Transcript.load(write(tmp_path / "a.jsonl", said("user", "one") + said("user", "two")))
        assert [message.content for message in transcript.messages] == ["one", "two"]

    def test_a_file_that_is_not_there_or_not_readable(self, tmp_path: Path) -> None:
        with pytest.raises(NotFoundError):
            Transcript.load(tmp_path / "none.jsonl")
        with pytest.raises(StoreIOError):
            Transcript.load(tmp_path)

    def test_the_header_on_a_later_line_and_a_second_one(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.jsonl", "", '{"torn', head("first"), head("second"))
        transcript = Transcript.load(path)
        assert transcript.header is not None
        assert (transcript.header.id, transcript.header.line.number) == ("first", 3)
        assert [event.id for event in transcript.events if isinstance(event, Header)] == ["first", "second"]
        assert read_header(path) == transcript.header
        assert read_header(write(tmp_path / "b.jsonl", said("user", "x"))) is None


class TestWhatAstersTestsAssert:
    def test_4_and_5_a_title_survives_and_the_newest_wins(self, tmp_path: Path) -> None:
        titles = ['{"type":"title","title":"one"}', '{"type":"title","title":"two"}', '{"type":"title","title":"  "}']
        path = write(tmp_path / "sessions/p/a.jsonl", head("a", title="from the header"), *titles)
        assert Transcript.load(path).title == "two"
        assert list_sessions([tmp_path]).sessions[0].title == "two"

    def test_6_an_untitled_session_shows_its_first_prompt(self, tmp_path: Path) -> None:
        path = write(
            tmp_path / "sessions/p/a.jsonl",
            head("a"),
            said("system", "steer"),
            said("user", "first"),
            said("user", "x"),
        )
        assert (Transcript.load(path).title, Transcript.load(path).display_title) == (None, "first")
        assert list_sessions([tmp_path]).sessions[0].title == "first"

    def test_7_steering_is_stored_and_no_turn(self, tmp_path: Path) -> None:
        transcript = Transcript.load(write(tmp_path / "a.jsonl", head("a"), said("system", "steer"), said("user", "x")))
        assert [message.role for message in transcript.messages] == ["system", "user"]
        assert transcript.user_turns == 1
        assert [message.role for message in to_chat_messages(transcript)] == ["user"]

    def test_8_a_file_from_before_reasoning_loads(self) -> None:
        (path,) = HOME.rglob("01KYHGHW70MMMTH6TBNXZ4EQJS.jsonl")
        transcript = Transcript.load(path)
        assert len(to_chat_messages(transcript)) == 2
        assert all(message.reasoning is None for message in transcript.messages)

    def test_9_reasoning_survives_with_its_numbers(self) -> None:
        (path,) = HOME.rglob(f"{EXPECTED['ids']['tidewatch_full']}.jsonl")
        first, last = [message.reasoning for message in Transcript.load(path).messages if message.reasoning]
        assert (first.tokens, first.duration_ms) == (22, 2310)
        assert (last.text, last.tokens, last.duration_ms) == ("Tests pass; report the cause, not the steps.", 11, None)

    def test_11_both_sessions_are_listed_and_the_last_used_is_latest(self, tmp_path: Path) -> None:
        write(
            tmp_path / "sessions/p/a.jsonl",
            head("a", "2026-03-01T00:00:00Z"),
            said("user", "x", "2026-03-05T00:00:00Z"),
        )
        write(
            tmp_path / "sessions/p/b.jsonl",
            head("b", "2026-03-02T00:00:00Z"),
            said("user", "x", "2026-03-02T00:01:00Z"),
        )
        write(tmp_path / "sessions/p/c.jsonl", head("c", "2026-03-06T00:00:00Z"))
        write(tmp_path / "sessions/p/codex-d.jsonl", head("codex-d", "2026-03-07T00:00:00Z"), said("user", "x"))
        sessions = list_sessions([tmp_path]).sessions
        assert [entry.id for entry in sessions] == ["codex-d", "c", "b", "a"]
        assert [entry.updated_at for entry in sessions if entry.id == "a"] == ["2026-03-05T00:00:00.000Z"]
        newest = latest(sessions)
        assert newest is not None
        assert newest.id == "a"

    def test_13_no_session_no_latest(self, tmp_path: Path) -> None:
        assert list_sessions([tmp_path]) == ((), ())
        assert latest([]) is None

    def test_73_to_77_calls_results_and_messages_without_words(self, tmp_path: Path) -> None:
        calls = [
            {"id": "c", "type": "function", "function": {"name": "run", "arguments": "{}"}},
            {"function": {"name": "f"}},
        ]
        path = write(
            tmp_path / "a.jsonl",
            said("assistant", None, tool_calls=calls),
            said("tool", "error: no", tool_call_id="c"),
            said("assistant", None, reasoning={"text": "why"}),
            said("assistant", "  "),
        )
        call, result, thinking, blank = Transcript.load(path).messages
        assert [(made.id, made.name) for made in call.tool_calls] == [("c", "run"), (None, "f")]
        assert (result.tool_call_id, result.content) == ("c", "error: no")
        assert thinking.reasoning is not None
        assert not any(message.is_visible for message in (call, result, thinking, blank))

    def test_citations_are_kept_with_and_without_a_title(self) -> None:
        (path,) = HOME.rglob(f"{EXPECTED['ids']['kassenbuch_schedule']}.jsonl")
        transcript = Transcript.load(path)
        cited = transcript.messages[-1].annotations
        assert [citation.title is None for citation in cited] == [False, True]
        assert transcript.header is not None
        assert transcript.header.schedule == "nightly-vat-check"

    def test_nine_digits_of_a_time_stay(self) -> None:
        (path,) = HOME.rglob(f"{TWO_SUMMARIES}.jsonl")
        transcript = Transcript.load(path)
        assert next(e.ts for e in transcript.events if isinstance(e, Summary)) == "2026-09-21T18:06:40.990197013Z"


class TestListing:
    def test_the_samples_in_asters_order_and_the_headerless_one_last(self) -> None:
        listing = list_sessions([HOME])
        assert [entry.id for entry in listing.sessions] == [*EXPECTED["list_all_newest_created_first"], EMPTY]
        assert listing.sessions[-1].header is None
        assert listing.troubles == ()

    def test_entries_agree_with_loaded_transcripts(self) -> None:
        for entry in list_sessions([HOME]).sessions:
            transcript = Transcript.load(entry.path)
            assert (entry.title, entry.turns) == (transcript.display_title, transcript.user_turns), entry.id
            assert entry.size_bytes == entry.path.stat().st_size

    def test_one_projects_folder(self) -> None:
        assert {entry.path.parent.name for entry in list_sessions([HOME], "home-mira-notes-site").sessions} == {
            "home-mira-notes-site"
        }

    def test_ties_in_the_millisecond_follow_the_digits_then_the_id(self, tmp_path: Path) -> None:
        for name, digits in (("a", "123456789"), ("b", "123456788"), ("c", "123456789"), ("d", "12")):
            write(tmp_path / f"sessions/p/{name}.jsonl", head(name, f"2026-03-02T00:00:00.{digits}Z"))
        assert [entry.id for entry in list_sessions([tmp_path]).sessions] == ["c", "a", "b", "d"]

    def test_an_older_homes_copy_is_hidden(self, tmp_path: Path) -> None:
        for home in ("new", "old"):
            write(tmp_path / home / "sessions/p/a.jsonl", head("a"), said("user", home))
        write(tmp_path / "old/sessions/p/b.jsonl", head("b"))
        listing = list_sessions([tmp_path / "new", tmp_path / "old"])
        assert [(entry.id, entry.home.name) for entry in listing.sessions] == [("b", "old"), ("a", "new")]

    def test_a_quoted_role_inside_a_tool_result_is_no_turn(self, tmp_path: Path) -> None:
        write(
            tmp_path / "sessions/p/a.jsonl",
            head("a"),
            said("tool", '{"role":"user","type":"title"}'),
            said("user", "x"),
        )
        assert list_sessions([tmp_path]).sessions[0].turns == 1

    def test_an_unreadable_file_is_named_and_hides_nothing(self, tmp_path: Path) -> None:
        write(tmp_path / "sessions/p/a.jsonl", head("a")).chmod(0)
        write(tmp_path / "sessions/p/b.jsonl", head("b"))
        if _reads_everything(tmp_path / "sessions/p/a.jsonl"):
            pytest.skip("this user reads every file")
        listing = list_sessions([tmp_path])
        assert [entry.id for entry in listing.sessions] == ["b"]
        assert [trouble.kind for trouble in listing.troubles] == ["unreadable"]


class TestFind:
    @pytest.fixture
    def home(self, tmp_path: Path) -> Path:
        return Path(shutil.copytree(HOME, tmp_path / "home"))

    @pytest.mark.parametrize(
        "typed",
        ["01M0CDSRD0M5N6FKF181V7JAJ0", "01m0cdsrd0m5n6fkf181v7jaj0", "01m0c", "01M0CDSRD0"],
    )
    def test_an_upper_case_file_answers_to_any_case_and_a_prefix(self, home: Path, typed: str) -> None:
        assert find_session([home], typed).name == "01M0CDSRD0M5N6FKF181V7JAJ0.jsonl"

    def test_a_chosen_id_answers_to_its_other_spelling(self, home: Path) -> None:
        assert find_session([home], "telegram_48151623").stem == "telegram-48151623"

    def test_an_old_file_is_not_hidden_by_a_younger_one(self, home: Path) -> None:
        folder = home / "sessions/home-mira-src-tidewatch"
        write(folder / "01m0cdsrd0m5n6fkf181v7jaj0.jsonl", head("01m0cdsrd0m5n6fkf181v7jaj0"))
        for stem in ("01M0CDSRD0M5N6FKF181V7JAJ0", "01m0cdsrd0m5n6fkf181v7jaj0"):
            assert find_session([home], stem).stem == stem

    def test_a_header_id_that_is_not_the_files_name(self, home: Path) -> None:
        path = write(home / "sessions/p/renamed.jsonl", head("the-real-id"))
        assert find_session([home], "the-real-id") == path

    def test_an_empty_file_is_found(self, home: Path) -> None:
        assert find_session([home], EMPTY).stat().st_size == 0

    def test_none_several_and_names_that_would_leave(self, home: Path) -> None:
        with pytest.raises(AmbiguousError) as caught:
            find_session([home], "01m3y")
        assert caught.value.candidates == ("01m3y4ywd0h49sh5q3qsw71kfq", "01m3y9fha0vhf161j4dztyjypy")
        for typed in ("01m", "nobody"):
            with pytest.raises(NotFoundError):
                find_session([home], typed)
        write(home.parent / "outside.jsonl", head("outside"))
        for typed in ("../../outside", str(home.parent / "outside"), ".."):
            with pytest.raises(RefusedError):
                find_session([home], typed)


def _reads_everything(path: Path) -> bool:
    try:
        path.read_bytes()
    except PermissionError:
        return False
    return True
