"""Public faults of parsing, for every agent that writes transcripts: the same damage, the same answer, real files."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from index.ingest import ingest
from index.settings import Settings
from persist.agents import AGENTS
from tests import builders as make
from tests.builders import HomeBuilder, Record
from tests.conftest import Asx
from tests.index.conftest import dump_of, rebuilt_dump, rows


@dataclass(frozen=True, slots=True)
class Writer:
    """How one agent writes a session ``s``: where, its head, a prompt (text, number), the key of a time."""

    place: str
    head: Record
    prompt: Callable[[str, int], Record]
    time_key: str | None

    def path(self, home: Path) -> Path:
        """Return the transcript's path, its folder made."""
        path = home / self.place
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def lines(self, *texts: str, first: int = 0) -> list[bytes]:
        """Return prompts as lines without their ends."""
        return [make.lines(self.prompt(text, first + number))[:-1] for number, text in enumerate(texts)]


WRITERS = {
    "aster": Writer(".local/share/aster/sessions/alpha/s.jsonl", make.aster_header("s", 0), make.aster_prompt, "ts"),
    "aether": Writer(
        ".aether/sessions/s.jsonl", make.aether_metadata("s", 0), lambda text, _: make.aether_prompt(text), None
    ),
    "claude-code": Writer(
        ".claude/projects/-w-gamma/s.jsonl",
        {"type": "ai-title", "sessionId": "s", "aiTitle": "a title"},
        lambda text, number: make.claude_prompt(text, "s", f"u{number}", number),
        "timestamp",
    ),
    "codex": Writer(
        ".codex/sessions/2026/05/04/rollout-2026-05-04T08-00-00-s.jsonl",
        make.codex_header("s", 0),
        make.codex_prompt,
        "timestamp",
    ),
    "pi": Writer(
        ".pi/agent/sessions/--w--/1_s.jsonl",
        make.pi_header("s", 0),
        lambda text, number: make.pi_prompt(text, f"e{number}", number),
        "timestamp",
    ),
    "omp": Writer(
        ".omp/agent/sessions/-w/1_s.jsonl",
        make.pi_header("s", 0),
        lambda text, number: make.pi_prompt(text, f"e{number}", number),
        "timestamp",
    ),
}
every_agent = pytest.mark.parametrize("agent", WRITERS)


@pytest.fixture
def settings(isolated: Path, tmp_path: Path) -> Settings:
    return HomeBuilder(isolated).settings(tmp_path / "i" / "index.sqlite")


def texts(settings: Settings) -> list[str]:
    return [text for (text,) in rows(settings, "SELECT text FROM prompts ORDER BY source_path, event_index")]


def head_of(writer: Writer) -> bytes:
    return make.lines(writer.head)[:-1]


def test_no_agent_is_forgotten() -> None:
    assert WRITERS.keys() == AGENTS.keys()


@every_agent
def test_b11_a_line_torn_within_a_character_waits_and_comes_once(
    agent: str, isolated: Path, settings: Settings
) -> None:
    writer = WRITERS[agent]
    whole, torn, after = writer.lines("whole", "caf\u00e9 late", "after")
    path = writer.path(isolated)
    cut = torn.index("\u00e9".encode()) + 1
    path.write_bytes(head_of(writer) + b"\n" + whole + b"\n" + torn[:cut])
    report = ingest(settings)
    assert (report.lines_damaged, report.bytes_pending, texts(settings)) == (0, cut, ["whole"])
    with path.open("ab") as file:
        file.write(torn[cut:] + b"\n" + after + b"\n")
    report = ingest(settings)
    assert report.agents[agent].sources.tailed == 1
    assert (report.lines_damaged, report.bytes_pending) == (0, 0)
    assert texts(settings) == ["whole", "caf\u00e9 late", "after"]
    assert dump_of(settings.index_path) == rebuilt_dump(settings)


@every_agent
def test_b13_zeros_between_records_and_at_the_end_hide_nothing(agent: str, isolated: Path, settings: Settings) -> None:
    writer = WRITERS[agent]
    before, behind, later = writer.lines("before", "behind", "later")
    path = writer.path(isolated)
    start = head_of(writer) + b"\n" + before + b"\n"
    path.write_bytes(start + b"\0" * 4096 + behind + b"\n" + later + b"\n" + b"\0" * 512)
    report = ingest(settings)
    assert texts(settings) == ["before", "behind", "later"]
    damaged = [problem for problem in report.problems if problem.kind == "damaged_line"]
    assert [(problem.line_number, problem.offset_bytes) for problem in damaged] == [(3, len(start))]
    assert rows(settings, "SELECT line_number, byte_offset FROM parse_errors") == [(3, len(start))]
    assert report.bytes_pending == 512
    again = ingest(settings)
    assert (again.wrote, again.bytes_read, again.problems) == (False, 0, [])


@every_agent
def test_b15_mark_windows_ends_blank_lines_and_no_last_newline(agent: str, isolated: Path, settings: Settings) -> None:
    writer = WRITERS[agent]
    one, two = writer.lines("one", "two")
    path = writer.path(isolated)
    path.write_bytes(b"\xef\xbb\xbf" + b"\r\n".join([head_of(writer), b"", one, b"", two]))
    assert ingest(settings).lines_damaged == 0
    data = path.read_bytes()
    found = rows(settings, "SELECT text, session_id, line_number, byte_offset FROM prompts ORDER BY line_number")
    assert [(text, session, line) for text, session, line, _ in found] == [("one", "s", 3), ("two", "s", 5)]
    assert [offset for *_, offset in found] == [data.index(one), data.index(two)]
    with path.open("ab") as file:
        file.write(b"\r\n")
    ingest(settings)
    assert dump_of(settings.index_path) == rebuilt_dump(settings)


@every_agent
def test_b16_only_a_line_feed_ends_a_line(agent: str, isolated: Path, settings: Settings) -> None:
    writer = WRITERS[agent]
    marks = ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e"]
    written = [f"one{mark}two" for mark in marks]
    path = writer.path(isolated)
    path.write_bytes(b"".join(line + b"\n" for line in (head_of(writer), *writer.lines(*written))))
    assert "\u2028".encode() in path.read_bytes()  # raw, while the control characters are escaped as JSON wants them
    assert b"\\u000b" in path.read_bytes()
    report = ingest(settings)
    assert (report.lines_seen, report.lines_damaged) == (1 + len(marks), 0)
    assert texts(settings) == written


@every_agent
def test_b18_new_types_are_one_line_for_a_person(agent: str, isolated: Path, asx: Asx) -> None:
    writer = WRITERS[agent]
    new: list[Record] = [{"type": f"new-{number % 3}", "kind": f"new-{number % 3}", "data": {}, "payload": {}}
                         for number in range(200)]  # fmt: skip
    typed = [{**writer.prompt(f"p{number}", number), "novelty": {"deep": [1]}} for number in range(10)]
    head = {**writer.head, "v": 99, "mood": "new"}
    writer.path(isolated).write_bytes(make.lines(head, *new[:100], *typed, *new[100:]))
    told = asx("ingest")
    assert (told.code, len(told.stderr.splitlines()) < 20) == (0, True)
    (line,) = [line for line in told.stderr.splitlines() if "unknown types" in line]
    assert line.startswith(f"{agent}: unknown types: 3 (200 records): ")
    assert line.endswith("new-2")
    assert asx("query", "SELECT count(*) FROM prompts", "--json").json()["rows"] == [[10]]
    assert "unknown types" not in asx("ingest").stderr  # told when they are read, kept in sources.skipped_types


@pytest.mark.parametrize("agent", [name for name, writer in WRITERS.items() if writer.time_key is not None])
def test_b19_one_instant_in_six_spellings_and_none_never_by_accident(
    agent: str, isolated: Path, settings: Settings, asx: Asx
) -> None:
    writer = WRITERS[agent]
    same = (1777881660, 1777881660000, "2026-05-04T08:01:00Z", "2026-05-04T13:31:00+05:30",
            "2026-05-04T08:01:00.000000000Z", "2026-05-04 08:01:00")  # fmt: skip
    bad = ("", 0, -1, "10000-01-01T00:00:00Z", None)
    assert writer.time_key is not None
    written: list[Record] = []
    for number, stamp in enumerate((*same, *bad)):
        record = {**writer.prompt(f"p{number:02}", number), writer.time_key: stamp}
        written.append(record)
    writer.path(isolated).write_bytes(make.lines(writer.head, *written))
    ingest(settings)
    instants = rows(settings, "SELECT ts, count(*) FROM prompts GROUP BY 1 ORDER BY 1 DESC")
    assert instants == [("2026-05-04T08:01:00.000Z", len(same)), (None, len(bad))]
    assert rows(settings, "SELECT sum(bad_times) FROM sources") == [(len(bad) - 1,)]
    assert rows(settings, "SELECT count(*) FROM prompts WHERE sort_ts IS NULL") == [(0,)]
    index = ("--index", settings.index_path, "--json")
    orders = [[hit["text"] for hit in asx("search", "p", "--all", *index).json()["hits"]] for _ in range(2)]
    assert orders[0] == orders[1]
    assert len(orders[0]) == len(written)
    # What has no time stands at that of the record before it: a span after that holds none of it, one before all.
    assert asx("search", "p", "--since", "2026-05-04T08:01:01Z", *index).code == 1
    since = asx("search", "p", "--since", "2026-05-04T08:01:00Z", *index).json()
    assert (since["total"], since["borrowed_times"]) == (len(written), len(bad))


@every_agent
def test_b20_values_beyond_every_limit_reach_no_output(agent: str, isolated: Path, asx: Asx) -> None:
    writer = WRITERS[agent]
    odd = ("9223372036854775808", "1e999", "NaN", "7" * 5000, "[" * 100_000 + "]" * 100_000)
    plain = make.lines({**writer.prompt("odd", 1), "odd": "?"})
    lines = [plain.replace(b'"?"', value.encode()) for value in odd]
    lines.append(plain.replace(b'"odd": "?"', b'"odd": 1, "odd": 2'))
    writer.path(isolated).write_bytes(
        make.lines(writer.head) + b"".join(lines) + make.lines(writer.prompt("the last", 9))
    )
    told = strict(asx("ingest", "--json").stdout)
    seen, indexed = told["lines"]["seen"], told["lines"]["indexed"]
    assert seen == 8
    assert seen == indexed + told["lines"]["skipped"] + told["lines"]["damaged"]
    assert "the last" in json.dumps(strict(asx("search", "the last", "--json").stdout))
    for words in (
        ("sessions", "show", f"{agent}:s"),
        ("query", "SELECT * FROM events"),
        ("status",),
        ("report", "usage"),
    ):
        strict(asx(*words, "--json").stdout)


def strict(text: str) -> Any:
    def refuse(name: str) -> None:
        raise ValueError(name)

    return json.loads(text, parse_constant=refuse)


@every_agent
def test_b127_no_message_repeats_what_a_damaged_line_holds(agent: str, isolated: Path, asx: Asx) -> None:
    writer = WRITERS[agent]
    secret = b"sk-test-000123456789"
    wrong = [b'{"type":"message","role":"user","content":"' + secret, secret, b'["' + secret + b'"]',
             writer.lines("x")[0][:-1] + b" " + secret, b'{"type":"message","message":"' + secret + b'"}',
             b'{"type":"user","kind":"user","data":7,"message":"' + secret + b'"}']  # fmt: skip
    (kept,) = writer.lines("kept", first=50)
    writer.path(isolated).write_bytes(b"\n".join([head_of(writer), *wrong, kept]) + b"\n")
    told = [asx("ingest"), asx("ingest", "--check", "--json"), asx("status"), asx("verify"), asx("rebuild")]
    assert "damaged" in told[0].stdout
    assert told[0].stderr
    assert not [done for done in told if secret.decode() in done.stdout + done.stderr]
    counts = "SELECT lines_seen, lines_indexed + lines_skipped + lines_damaged, lines_damaged >= 4 FROM sources"
    assert asx("query", counts, "--json").json()["rows"] == [[8, 8, 1]]
    assert "kept" in [text for (text,) in asx("query", "SELECT text FROM prompts", "--json").json()["rows"]]


@every_agent
def test_a_known_file_that_cannot_be_read_keeps_its_rows_and_hides_no_other(
    agent: str, isolated: Path, settings: Settings
) -> None:
    writer = WRITERS[agent]
    path = writer.path(isolated)
    path.write_bytes(make.lines(writer.head) + b"\n".join(writer.lines("heron")) + b"\n")
    other = path.with_name(path.name.replace("s.jsonl", "t.jsonl"))
    swapped = (make.lines(writer.head) + b"\n".join(writer.lines("egret", first=9)) + b"\n").replace(b'"s"', b'"t"')
    other.write_bytes(swapped)
    ingest(settings)
    assert sorted(texts(settings)) == ["egret", "heron"]
    make.make_unreadable(path)
    report = ingest(settings)
    assert report.agents[agent].sources.held == 1
    assert [problem.path for problem in report.problems] == [str(path)]
    assert sorted(texts(settings)) == ["egret", "heron"]
    with other.open("ab") as file:
        file.write(b"\n".join(writer.lines("stork", first=12)).replace(b'"s"', b'"t"') + b"\n")
    ingest(settings)
    assert sorted(texts(settings)) == ["egret", "heron", "stork"]
