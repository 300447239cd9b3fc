"""Law 3 through the index: every line is counted in one class, and every damaged one is told with its place."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from index.ingest import ingest
from index.settings import Settings
from index.verify import verify
from tests import builders as make
from tests.builders import HomeBuilder
from tests.index.conftest import dump_of, rebuilt_dump, rows

pytestmark = pytest.mark.usefixtures("quick_schema")

BROKEN = """SELECT path FROM sources WHERE lines_seen <> lines_indexed + lines_skipped + lines_damaged"""
ERRORS = """SELECT e.source_path, e.line_number, e.byte_offset, e.error, e.line_excerpt FROM parse_errors e"""


def assert_all_is_counted(places: Settings) -> None:
    """Check the sums, that each damaged line has its place, and that the counts are those of the rows."""
    assert rows(places, BROKEN) == []
    for path, line_number, offset, error, excerpt in rows(places, ERRORS):
        data = Path(path).read_bytes()
        assert error
        assert data[:offset].count(b"\n") == line_number - 1
        assert offset == 0 or data[offset - 1 : offset] == b"\n"
        shown = data[offset : offset + 4 * 240 + 4].decode("utf-8", "replace").replace("\0", "\ufffd")
        assert shown.startswith(excerpt.rstrip("\ufffd"))
    damaged = "SELECT source_path, count(DISTINCT line_number) FROM parse_errors GROUP BY 1 ORDER BY 1"
    assert rows(places, damaged) == rows(
        places, "SELECT path, lines_damaged FROM sources WHERE lines_damaged > 0 ORDER BY 1"
    )
    assert rows(places, "SELECT sum(events) FROM sources") == rows(places, "SELECT count(*) FROM events")
    for path, seen, pending, status in rows(places, "SELECT path, lines_seen, bytes_pending, status FROM sources"):
        if status == "indexed" and path.endswith(".jsonl"):
            data = Path(path).read_bytes()
            whole = data[: len(data) - pending] if pending else data
            assert seen == whole.count(b"\n") + (bool(whole) and not whole.endswith(b"\n")), path


def test_samples(home: HomeBuilder, data: Path, tmp_path: Path) -> None:
    home.aster_home.parent.mkdir(parents=True)
    shutil.copytree(data / "aster", home.aster_home)
    shutil.copytree(data / "aether", home.home / ".aether" / "sessions")
    places = home.settings(tmp_path / "i" / "index.sqlite")
    report = ingest(places)
    assert_all_is_counted(places)
    assert report.lines_seen == report.lines_indexed + report.lines_skipped + report.lines_damaged
    assert report.lines_damaged == rows(places, "SELECT sum(lines_damaged) FROM sources")[0][0] > 0
    assert report.bytes_pending == rows(places, "SELECT sum(bytes_pending) FROM sources")[0][0] > 0
    assert verify(places).ok


def test_faults(home: HomeBuilder, data: Path, tmp_path: Path) -> None:
    """Every public input that is a data home or a folder of Claude Code, as one store each."""
    homes = [path for path in sorted((data / "faults").glob("B*")) if path.is_dir()]
    assert homes
    for fault in homes:
        for folder in (fault, *(path for path in fault.iterdir() if path.is_dir())):
            if not any((folder / name).is_dir() for name in ("sessions", "memory", "projects")):
                continue
            variable = "CLAUDE_CONFIG_DIR" if (folder / "projects").is_dir() else "ASTER_HOME"
            places = home.settings(tmp_path / fault.name / folder.name / "index.sqlite", **{variable: str(folder)})
            ingest(places)
            assert_all_is_counted(places)
            assert verify(places).ok


@pytest.mark.parametrize("fault", ["B11", "B13"])
def test_a_file_that_grows_behind_damage_is_that_of_a_rebuild(
    fault: str, home: HomeBuilder, data: Path, tmp_path: Path
) -> None:
    if not (data / "faults" / fault).is_dir():
        pytest.skip(f"the input of {fault} is not among the test data")
    live = home.aster_home / "sessions"
    shutil.copytree(data / "faults" / fault / "step1" / "sessions", live)
    places = home.settings(tmp_path / "i" / "index.sqlite")
    first = ingest(places)
    assert_all_is_counted(places)
    if fault == "B11":
        assert (first.lines_damaged, first.bytes_pending > 0) == (0, True)
    again = ingest(places)
    assert (again.wrote, again.bytes_read) == (False, 0)
    for path in sorted((data / "faults" / fault / "step2" / "sessions").rglob("*.jsonl")):
        with (live / path.parent.name / path.name).open("r+b") as file:  # grown in place, as its writer does
            file.write(path.read_bytes())
    ingest(places)
    assert_all_is_counted(places)
    assert dump_of(places.index_path) == rebuilt_dump(places)
    assert rows(places, "SELECT text, count(*) FROM prompts GROUP BY 1 HAVING count(*) > 1") == []


def test_real_files(home: HomeBuilder, shared: Path, tmp_path: Path) -> None:
    if not (shared / "real" / "home").is_dir():
        pytest.skip("the real files are not here")
    places = HomeBuilder(shared / "real" / "home").settings(tmp_path / "i" / "index.sqlite")
    report = ingest(places)
    assert_all_is_counted(places)
    assert (report.lines_damaged, report.bytes_pending) == (4, 0)  # names in these four were replaced, within strings
    assert not any(name.startswith("unknown") for name in report.agents["claude-code"].skipped_types)


def test_every_kind_of_line_is_in_one_class(home: HomeBuilder, tmp_path: Path) -> None:
    good = make.aster_prompt("good", 1)
    damaged = (b"{", b"not json", b"\xff" + make.lines(good)[:-1], b"\0" * 4096 + make.lines(good)[:-1], b'{"type":7}',
               make.lines(good)[:-1] + b" rest", b"[1]")  # fmt: skip
    skipped: tuple[make.Record | bytes, ...] = (b"", b"  \t", {"type": "brand-new"}, {"type": "brand-new"})
    home.aster("s", make.aster_header("s", 0), *damaged, *skipped, good, end=b'{"type":"mess')
    places = home.settings(tmp_path / "i" / "index.sqlite")
    report = ingest(places)
    assert_all_is_counted(places)
    counted = (
        "SELECT lines_seen, lines_indexed, lines_skipped, lines_damaged, bytes_pending, skipped_types FROM sources"
    )
    assert [row[:5] for row in rows(places, counted)] == [(13, 2, 4, 7, 13)]
    assert json.loads(rows(places, counted)[0][5]) == {"blank": 2, "unknown:brand-new": 2}
    assert [problem.line_number for problem in report.problems] == list(range(2, 9))
    assert all(problem.kind == "damaged_line" and problem.offset_bytes for problem in report.problems)
    assert rows(places, "SELECT count(*) FROM prompts WHERE text = 'good'") == [(4,)]


def test_a_damaged_beginning_stays_told_when_the_file_is_recognised_later(home: HomeBuilder, tmp_path: Path) -> None:
    path = home.aster("s", b"torn", b'{"type":"unknown-so-far"}')
    places = home.settings(tmp_path / "i" / "index.sqlite")
    ingest(places)
    assert rows(places, "SELECT status, lines_seen, lines_skipped FROM sources") == [("ignored", 2, 2)]
    assert_all_is_counted(places)
    with path.open("ab") as file:
        file.write(make.lines(make.aster_header("s", 0), make.aster_prompt("hello", 1)))
    ingest(places)
    assert_all_is_counted(places)
    assert rows(places, "SELECT line_number FROM parse_errors") == [(1,)]
    assert dump_of(places.index_path) == rebuilt_dump(places)


def test_other_jsonl_files_are_told_and_left_out(home: HomeBuilder, tmp_path: Path) -> None:
    """B10."""
    talk = [make.claude_prompt("hello", "s", "u1", 1),
            make.claude_answer("hi", "s", "u2", 2, message_id="m", output_tokens=5)]  # fmt: skip
    home.claude("s", *talk)
    home.claude("events", {"a": 1}, {"b": 2})
    home.claude("numbers", b"1", b"2")
    home.claude("empty")
    places = home.settings(tmp_path / "i" / "index.sqlite")
    report = ingest(places)
    assert report.agents["claude-code"].sources.ignored == 3
    told = {Path(problem.path).stem: problem.message for problem in report.problems if problem.kind == "not_recognised"}
    assert told.keys() == {"events", "numbers", "empty"}
    assert told["empty"] == "empty file"
    assert_all_is_counted(places)
    assert rows(places, "SELECT session_id FROM sessions") == [("s",)]
    assert rows(places, "SELECT sum(output_tokens) FROM llm_calls") == [(5,)]
    assert not ingest(places).wrote


def test_new_record_types_are_counted_by_name_not_told_line_by_line(home: HomeBuilder, tmp_path: Path) -> None:
    """B18."""
    unknown: list[make.Record] = [{"type": f"new-{number % 3}", "sessionId": "s"} for number in range(200)]
    talk = [make.claude_prompt(f"p{n}", "s", f"u{n}", n, novelty={"deep": [1]}) for n in range(10)]
    home.claude("s", *unknown[:100], *talk, *unknown[100:])
    home.aster("a", make.aster_header("a", 0, v=99), *({"type": "new"} for _ in range(50)), make.aster_prompt("x", 1))
    places = home.settings(tmp_path / "i" / "index.sqlite")
    report = ingest(places)
    types = report.agents["claude-code"].skipped_types
    assert (len(types), sum(types.values())) == (3, 200)
    assert report.agents["aster"].skipped_types == {"unknown:new": 50}
    assert report.problems == []
    assert rows(places, "SELECT count(*) FROM prompts") == [(11,)]


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85"])
def test_only_a_newline_ends_a_line(mark: str, home: HomeBuilder, tmp_path: Path) -> None:
    """B16."""
    home.aster("s", make.aster_header("s", 0), make.aster_prompt(f"one{mark}two", 1), make.aster_prompt("three", 2))
    places = home.settings(tmp_path / "i" / "index.sqlite")
    ingest(places)
    assert rows(places, "SELECT text FROM prompts ORDER BY line_number") == [(f"one{mark}two",), ("three",)]
    assert_all_is_counted(places)


def test_byte_order_mark_and_windows_line_ends(home: HomeBuilder, tmp_path: Path) -> None:
    """B15."""
    records = [make.lines(record)[:-1] for record in (make.aster_header("s", 0), make.aster_prompt("one", 1),
                                                      make.aster_prompt("two", 2))]  # fmt: skip
    path = home.aster("s")
    path.write_bytes(b"\xef\xbb\xbf" + b"\r\n".join([records[0], b"", records[1], records[2]]))
    places = home.settings(tmp_path / "i" / "index.sqlite")
    ingest(places)
    assert_all_is_counted(places)
    found = rows(places, "SELECT text, line_number, byte_offset FROM prompts ORDER BY line_number")
    data = path.read_bytes()
    assert [(text, line, data[offset:].startswith(b'{"type": "message"')) for text, line, offset in found] == [
        ("one", 3, True), ("two", 4, True),
    ]  # fmt: skip
    assert rows(places, "SELECT session_id FROM sessions") == [("s",)]
    with path.open("ab") as file:
        file.write(b"\r\n")
    ingest(places)
    assert dump_of(places.index_path) == rebuilt_dump(places)


def test_numbers_and_nesting_beyond_the_limits(home: HomeBuilder, tmp_path: Path) -> None:
    """B20, in every number that an agent records."""
    odd = (
        "9223372036854775808",
        "1e999",
        "NaN",
        "7" * 5000,
        "-1",
        "18446744073709551616",
        '"12"',
        "[" * 3000 + "]" * 3000,
    )
    usage = make.claude_answer("a", "s", "u", 1, message_id="m", output_tokens=5)
    for number, value in enumerate(odd):
        claude = json.dumps({**usage, "uuid": f"u{number}", "costUSD": "?"}).replace('"?"', value)
        tokens = json.dumps(usage).replace(": 5", f": {value}").replace(": 7", f": {value}")
        home.claude(f"s{number}", claude.encode(), tokens.encode(), make.claude_prompt(f"after {number}", "s", "v", 2))
        answer = json.dumps(make.aster_answer("a", 1, (1111, 2222))).replace("1111", value).replace("2222", value)
        header = json.dumps(make.aster_header("a", 0, v="?")).replace('"?"', value)
        home.aster(f"a{number}", header.encode(), answer.encode(), make.aster_prompt(f"after {number}", 2))
        context = json.dumps(make.aether_context(500)).replace("500", value).replace("0.5", value)
        prompt = make.aether_prompt(f"{number}")
        home.aether(f"e{number}", make.aether_metadata(f"e{number}", 0), context.encode(), prompt)
    deep = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    twice = b'{"type":"message","role":"user","content":"first","content":"last"}'
    home.aster("deep", make.aster_header("deep", 0), deep, twice, make.aster_prompt("after deep", 1))
    places = home.settings(tmp_path / "i" / "index.sqlite")
    ingest(places)
    assert_all_is_counted(places)
    assert rows(places, "SELECT count(*) FROM sources WHERE status <> 'indexed'") == [(0,)]
    assert rows(places, "SELECT count(*) FROM prompts") == [(3 * len(odd) + 2,)]
    assert verify(places).ok


def test_times_in_every_form_and_none(home: HomeBuilder, tmp_path: Path) -> None:
    """B19."""
    same = (1777881660, 1777881660000, "2026-05-04T08:01:00Z", "2026-05-04T13:01:00+05:00",
            "2026-05-04T08:01:00.000000000Z", "2026-05-04 08:01:00")  # fmt: skip
    bad = ("", 0, -1, "10000-01-01T00:00:00Z", "yesterday")
    for number, stamp in enumerate((*same, *bad, None)):
        record = {**make.claude_prompt(f"p{number}", f"s{number}", f"u{number}", 1), "timestamp": stamp}
        home.claude(f"s{number}", record)
    places = home.settings(tmp_path / "i" / "index.sqlite")
    ingest(places)
    instants = rows(places, "SELECT ts, count(*) FROM prompts GROUP BY 1 ORDER BY 1 DESC")
    assert instants == [("2026-05-04T08:01:00.000Z", len(same)), (None, len(bad) + 1)]
    assert rows(places, "SELECT sum(bad_times) FROM sources") == [(len(bad),)]
    assert rows(places, "SELECT DISTINCT ts_source FROM prompts WHERE ts IS NULL") == [("file",)]
    assert rows(places, "SELECT count(*) FROM prompts WHERE sort_ts IS NULL") == [(0,)]


def test_days_of_local_time_sum_up_to_the_total(
    home: HomeBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B32: at both ends of midnight, on a day on which the clocks change."""
    import time

    for number, stamp in enumerate(("2026-03-28T22:30:00Z", "2026-03-28T23:30:00Z", "2026-03-29T00:30:00Z",
                                    "2026-03-29T21:30:00Z", "2026-03-29T22:30:00Z")):  # fmt: skip
        home.claude(f"s{number}", {**make.claude_prompt("p", f"s{number}", f"u{number}", 1), "timestamp": stamp})
    places = home.settings(tmp_path / "i" / "index.sqlite")
    ingest(places)
    days = "SELECT date(ts, 'localtime') AS day, count(*) FROM prompts GROUP BY day ORDER BY day"
    for zone, counts in (("Europe/Berlin", [1, 3, 1]), ("America/New_York", [3, 2]), ("Asia/Kolkata", [3, 2])):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        assert [count for _, count in rows(places, days)] == counts, zone


def test_no_message_repeats_what_a_damaged_line_holds(home: HomeBuilder, tmp_path: Path) -> None:
    """B127: file, line, offset and reason are told, never the content."""
    secret = b"sk-test-000123456789"
    torn = (b'{"type":"message","role":"user","content":"' + secret, secret, b'{"' + secret + b'": 1}',
            b'{"type":"message","role":7,"content":"' + secret + b'"}', b'["' + secret + b'"]')  # fmt: skip
    home.aster("a", make.aster_header("a", 0), *torn)
    home.aether("b", make.aether_metadata("b", 0), *torn, b'{"kind":"user","data":"' + secret + b'"}')
    home.claude("c", make.claude_prompt("hi", "c", "u", 1), *torn, b'{"type":"user","message":"' + secret + b'"}')
    home.claude_history(make.claude_history_entry("hi", "c", 1), *torn)
    home.journal(*torn)
    places = home.settings(tmp_path / "i" / "index.sqlite")
    report = ingest(places)
    assert len(report.problems) > 10
    assert secret.decode() not in repr([report.problems, report.notes])
    assert rows(places, "SELECT count(*) FROM parse_errors WHERE instr(error, 'sk-test') > 0") == [(0,)]
    assert rows(places, "SELECT count(*) FROM sources WHERE instr(coalesce(error, ''), 'sk-test') > 0") == [(0,)]
    assert rows(places, "SELECT count(*) > 0 FROM parse_errors WHERE instr(line_excerpt, 'sk-test') > 0") == [(1,)]
