"""Session list and preview (``spec/aether.md`` 2 and behaviours 33 to 53 of section 5, as far as they read)."""

import json
from pathlib import Path
from typing import Any

import pytest

from persist.aether.listing import (
    LIST_BYTES,
    LIST_LINES,
    PREVIEW_BYTES,
    PREVIEW_LINES,
    list_sessions,
    preview,
    title_of,
)
from persist.aether.log import MetadataError
from persist.errors import NotFoundError, StoreIOError

DATA = Path(__file__).parent.parent / "data" / "aether"
EXPECTED = json.loads((DATA / "expected-current-aether.json").read_bytes())
CURRENT = "5b0c7f1e-2d34-4c1b-9a57-0e6f4d2a91c3.jsonl"
BROKEN = "c41d88a7-0b9e-4f35-8d21-96f0a7b3e5d2.jsonl"


def meta(session_id: str, created_at: str = "2026-09-29T07:41:12+00:00") -> str:
    return json.dumps({"sessionId": session_id, "cwd": "/w", "model": "a:b", "createdAt": created_at})


def prompt(text: str | None, **fields: Any) -> str:
    content = [] if text is None else [{"type": "text", "text": text}]
    data = {"type": "message", "message_id": "u", "content": content, **fields}
    return json.dumps({"kind": "user", "data": data}, ensure_ascii=False, separators=(",", ":"))


def answer(text: str) -> str:
    event = {"type": "text", "message_id": "m", "chunk": text, "is_complete": True}
    return json.dumps({"kind": "agent", "data": {"category": "message", "event": event}}, ensure_ascii=False)


ENDED = '{"kind":"agent","data":{"category":"turn","event":{"type":"ended","outcome":{"status":"completed"}}}}'


def write(home: Path, session_id: str, *lines: str, end: str = "\n") -> Path:
    path = home / "sessions" / f"{session_id}.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes("\n".join(lines).encode() + end.encode())
    return path


def title(home: Path, *lines: str) -> str | None:
    write(home, "s", meta("s"), *lines)
    (session,) = list_sessions(home).sessions
    return session.title


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    folder = tmp_path / "sessions"
    folder.mkdir()
    for path in DATA.glob("*.jsonl"):
        (folder / path.name).write_bytes(path.read_bytes())
    return tmp_path


def test_every_sample_is_listed_even_those_that_aether_leaves_out(samples: Path) -> None:
    listing = list_sessions(samples)
    assert [(session.session_id[:8], session.title) for session in listing.sessions] == [
        ("e9b2f6c0", "Translate the menu"),
        ("c41d88a7", "Reconcile the March ledger"),
        ("5b0c7f1e", "/plan Importer fails on station 0417 — why?"),
        ("92e6a5d4", "Draw the coastline"),
        ("07f4d1b3", "Why does the kiln controller drift?"),
    ]
    assert listing.troubles == ()
    current = listing.sessions[2]
    assert (current.cwd, current.selected_mode) == ("/home/ines/work/tidepool", "Planner")
    assert current.created_at == "2026-09-29T07:41:12.482Z"
    assert current.size_bytes == (DATA / CURRENT).stat().st_size


@pytest.mark.parametrize("name", [CURRENT, BROKEN])
def test_previews_of_samples_are_those_of_aether(name: str) -> None:
    wanted = EXPECTED[name]["preview"]
    found = preview(DATA / name)
    if name == BROKEN:  # its text without a flag is lost to Aether
        wanted["transcript"].insert(1, ["assistant", "no flag"])
    assert [list(turn) for turn in found.transcript] == wanted["transcript"]
    assert (found.tool_call_count, found.truncated) == (wanted["tool_call_count"], wanted["truncated"])


def test_b33_newest_first_by_time_not_by_its_text(tmp_path: Path) -> None:
    for session_id, created_at in [
        ("utc", "2026-09-29T10:00:00Z"),
        ("later", "2026-09-29T10:00:00.5+00:00"),
        ("offset", "2026-09-29T23:00:00+14:00"),
        ("unread", "sometime"),
        ("a", "2026-09-30T00:00:00Z"),
        ("b", "2026-09-30T00:00:00Z"),
    ]:
        write(tmp_path, session_id, meta(session_id, created_at))
    listed = [session.session_id for session in list_sessions(tmp_path).sessions]
    assert listed == ["b", "a", "later", "utc", "offset", "unread"]


def test_b34_the_title_is_the_first_line_of_the_first_prompt_behind_other_events(tmp_path: Path) -> None:
    assert title(tmp_path, ENDED, answer("hi"), prompt("  \n first line \nsecond"), prompt("other")) == "first line"


def test_b35_other_files_and_bad_metadata_are_left_out_and_named(tmp_path: Path) -> None:
    write(tmp_path, "good", meta("good"))
    write(tmp_path, "bad", "garbage")
    write(tmp_path, "empty", "", "")
    write(tmp_path, "prompt-history", "{}")
    (tmp_path / "sessions" / "notes.txt").write_text("x")
    listing = list_sessions(tmp_path)
    assert [session.session_id for session in listing.sessions] == ["good"]
    assert [(Path(trouble.path).name, trouble.kind) for trouble in listing.troubles] == [
        ("bad.jsonl", "metadata"),
        ("empty.jsonl", "metadata"),
    ]


def test_b36_a_missing_folder_is_an_empty_list(tmp_path: Path) -> None:
    assert list_sessions(tmp_path / "nowhere").sessions == ()


@pytest.mark.parametrize(
    "fields",
    [
        {"content": [{"type": "image", "data": "aWk=", "mime_type": "image/png"}]},
        {"content": [{"type": "audio", "data": "UklGRg==", "mime_type": "audio/wav"}, {"type": "text", "text": ""}]},
        {},
        {"display_content": []},
        {"content": [{"type": "text", "text": " \n "}]},
    ],
    ids=str,
)
def test_b37_a_prompt_without_text_is_a_media_prompt(tmp_path: Path, fields: dict[str, Any]) -> None:
    assert title(tmp_path, prompt(None, **fields)) == "Media prompt"


@pytest.mark.parametrize(
    "text", ["x" * 300, "é" * 100, "漢" * 60, "🙂" * 40, "e\u0301" * 80, "👩\u200d💻" * 20], ids=ascii
)
def test_b38_a_long_title_is_at_most_84_bytes_and_ends_with_an_ellipsis(text: str) -> None:
    found = title_of(text)
    assert found.endswith("…")
    assert text.startswith(found[:-1])
    assert 70 <= len(found.encode()) <= 84


def test_b38_a_title_of_exactly_80_bytes_is_whole() -> None:
    assert title_of("é" * 40) == "é" * 40
    assert title_of("é" * 40 + "x") == "é" * 40 + "…"


def test_accents_and_joined_figures_are_not_cut_apart() -> None:
    assert title_of("x" * 79 + "e\u0301z") == "x" * 79 + "…"
    assert title_of("x" * 73 + "👩\u200d💻z") == "x" * 73 + "…"


def test_b39_a_session_without_prompt_has_no_title(tmp_path: Path) -> None:
    assert title(tmp_path, ENDED, answer("hi")) is None


def test_b40_blank_and_malformed_lines_do_not_spoil_the_title(tmp_path: Path) -> None:
    assert title(tmp_path, "", "{broken", "  ", prompt("here")) == "here"
    beyond = ["", "{broken", "  ", '{"kind":"user","data":{"type":"mess']
    assert title(tmp_path, prompt("here"), *[ENDED] * LIST_LINES, *beyond) == "here"
    assert title(tmp_path, prompt("here"), " " * LIST_BYTES, *beyond) == "here"


@pytest.mark.parametrize(("before", "wanted"), [(LIST_LINES - 1, "here"), (LIST_LINES, None)])
def test_b44_the_line_limit_itself_is_within(tmp_path: Path, before: int, wanted: str | None) -> None:
    assert title(tmp_path, *[ENDED] * before, "", prompt("here")) == wanted


@pytest.mark.parametrize(("before", "truncated"), [(PREVIEW_LINES - 1, False), (PREVIEW_LINES, True)])
def test_b44_a_preview_of_the_line_limit_itself_is_whole(tmp_path: Path, before: int, truncated: bool) -> None:
    """Blank lines are none of the limit's; a damaged one is."""
    found = preview(write(tmp_path, "s", meta("s"), "{broken", *[ENDED, ""] * (before - 1), prompt("last")))
    assert (found.truncated, [turn.text for turn in found.transcript]) == (truncated, [] if truncated else ["last"])


@pytest.mark.parametrize(("spare", "wanted"), [(0, "here"), (-1, None)])
def test_b45_the_byte_limit_itself_is_within(tmp_path: Path, spare: int, wanted: str | None) -> None:
    """The last line ends on the limit, newline included; one byte further it is not parsed as part of it."""
    last = ' {"data":{"type":"message","message_id":"u","content":"here"},"kind":"user"}'
    fill = " " * (LIST_BYTES - len(last) - 2 - spare)
    assert title(tmp_path, fill, last) == wanted


def test_a_first_prompt_larger_than_the_window_still_gives_the_title(tmp_path: Path) -> None:
    image = {"type": "image", "data": "A" * (3 * LIST_BYTES), "mime_type": "image/png"}
    assert title(tmp_path, prompt(None, content=[image, {"type": "text", "text": "what is this?"}])) == "what is this?"


def test_a_large_line_that_is_no_prompt_is_not_read_for_a_title(tmp_path: Path) -> None:
    assert title(tmp_path, answer("x" * LIST_BYTES), prompt("late")) is None


@pytest.mark.parametrize(("spare", "truncated"), [(0, False), (-1, True)])
def test_b45_b46_preview_counts_blank_bytes_and_stops_before_parsing(
    tmp_path: Path, spare: int, truncated: bool
) -> None:
    last = prompt("here")
    path = write(tmp_path, "s", meta("s"), " " * (PREVIEW_BYTES - len(last) - 2 - spare), last)
    found = preview(path)
    assert found.truncated == truncated
    assert len(found.transcript) == (0 if truncated else 1)


def test_b46_blank_runs_beyond_the_bound_truncate(tmp_path: Path) -> None:
    found = preview(write(tmp_path, "s", meta("s"), "\n" * PREVIEW_BYTES, prompt("never")))
    assert (found.transcript, found.truncated) == ((), True)


def test_b49_b50_preview_tells_session_turns_and_calls(tmp_path: Path) -> None:
    request = {"id": "c", "name": "t", "arguments": "{}"}
    call = json.dumps({"kind": "agent", "data": {"category": "tool", "event": {"type": "call", "request": request}}})
    found = preview(write(tmp_path, "s", meta("s"), prompt(" first \nrest"), call, call, answer("done\nmore")))
    assert (found.metadata.session_id, found.metadata.model, found.metadata.selected_mode) == ("s", "a:b", None)
    assert [tuple(turn) for turn in found.transcript] == [("user", "first"), ("assistant", "done")]
    assert (found.tool_call_count, found.truncated) == (2, False)
    planned = {**json.loads(meta("s")), "selectedMode": "Planner"}
    assert preview(write(tmp_path, "s", json.dumps(planned), prompt("x"))).metadata.selected_mode == "Planner"


def test_b51_an_unknown_session_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        preview(tmp_path / "none.jsonl")


def test_b52_of_205_prompts_eight_are_shown(tmp_path: Path) -> None:
    found = preview(write(tmp_path, "s", meta("s"), *[prompt(f"p{n}") for n in range(205)]))
    assert [turn.text for turn in found.transcript] == [f"p{n}" for n in range(8)]
    assert found.truncated


def test_eight_turns_are_not_truncated(tmp_path: Path) -> None:
    assert not preview(write(tmp_path, "s", meta("s"), *[prompt(f"p{n}") for n in range(8)])).truncated


def test_b53_the_display_form_is_shown(tmp_path: Path) -> None:
    line = prompt("expanded", display_content=[{"type": "text", "text": "/plan"}])
    assert title(tmp_path, line) == "/plan"
    assert preview(tmp_path / "sessions" / "s.jsonl").transcript[0].text == "/plan"


def test_preview_says_media_prompt_and_drops_blank_first_lines(tmp_path: Path) -> None:
    found = preview(write(tmp_path, "s", meta("s"), prompt(None), prompt("\nbelow"), answer("")))
    assert [tuple(turn) for turn in found.transcript] == [("user", "[media prompt]")]


def test_preview_needs_metadata_and_a_readable_file(tmp_path: Path) -> None:
    with pytest.raises(MetadataError):
        preview(write(tmp_path, "s", prompt("hi")))
    with pytest.raises(StoreIOError):
        preview(tmp_path)


def test_a_torn_last_line_spoils_neither_list_nor_preview(tmp_path: Path) -> None:
    path = write(tmp_path, "s", meta("s"), prompt("hi"), '{"kind":"agent","da', end="")
    assert list_sessions(tmp_path).sessions[0].title == "hi"
    assert [turn.text for turn in preview(path).transcript] == ["hi"]
