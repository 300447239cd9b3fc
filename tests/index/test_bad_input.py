"""What is in the way, cannot be read, or is far too large: told in one line each, and hiding nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from index import load
from index.ingest import ingest
from index.settings import Settings
from index.verify import verify
from persist.agents import AGENTS
from tests import builders as make
from tests.builders import HomeBuilder
from tests.conftest import REPOSITORY
from tests.index.conftest import dump_of, rebuilt_dump, rows

pytestmark = pytest.mark.usefixtures("quick_schema")


@pytest.fixture
def places(home: HomeBuilder, tmp_path: Path) -> Settings:
    return home.settings(tmp_path / "cache" / "index.sqlite")


def good(home: HomeBuilder, name: str = "good") -> Path:
    return home.aster(name, make.aster_header(name, 0), make.aster_prompt(f"hello {name}", 1))


def prompts(places: Settings) -> list[str]:
    return [text for (text,) in rows(places, "SELECT text FROM prompts ORDER BY text")]


def test_homes_that_are_missing_are_named_and_the_others_read(home: HomeBuilder, places: Settings) -> None:
    """B03."""
    good(home)
    report = ingest(places)
    assert report.agents["claude-code"].missing_roots == [str(home.claude_home)]
    assert report.agents["aster"].roots == [str(home.aster_home)]
    assert (prompts(places), report.problems) == (["hello good"], [])


def test_no_home_at_all_empties_no_index(home: HomeBuilder, places: Settings) -> None:
    """B03."""
    good(home)
    ingest(places)
    home.aster_home.rename(home.home / "away")
    report = ingest(places)
    assert not any(agent.roots for agent in report.agents.values())
    assert prompts(places) == ["hello good"]


def test_a_moved_home_is_read_alone_and_a_second_spelling_once(home: HomeBuilder, tmp_path: Path) -> None:
    """B02."""
    home.claude("a", make.claude_prompt("default", "a", "u1", 1))
    other = HomeBuilder(tmp_path / "other")
    other.claude("b", make.claude_prompt("moved", "b", "u2", 1))
    spelled = f"{other.claude_home}/,{tmp_path}/other/../other/.claude"
    places = home.settings(tmp_path / "i" / "index.sqlite", CLAUDE_CONFIG_DIR=spelled)
    report = ingest(places)
    assert prompts(places) == ["moved"]
    assert report.agents["claude-code"].roots == [str(other.claude_home)]


def folder_named_like_a_file(path: Path) -> None:
    path.mkdir()


def link_to_nowhere(path: Path) -> None:
    path.symlink_to("nowhere")


def link_to_itself(path: Path) -> None:
    path.symlink_to(path.name)


def pipe(path: Path) -> None:
    os.mkfifo(path)


def name_that_is_no_text(path: Path) -> None:
    Path(os.fsdecode(os.fsencode(path.parent) + b"/caf\xe9.jsonl")).write_bytes(make.lines(make.aster_header("x", 0)))


def memory_of_a_process(path: Path) -> None:
    path.symlink_to("/proc/self/mem")  # a regular file that opens and whose first byte cannot be read


def compressed(path: Path) -> None:
    path.with_name(f"{path.name}.zst").write_bytes(b"(\xb5/\xfd" + b"x" * 40)


WAYS: list[Callable[[Path], None]] = [
    folder_named_like_a_file, link_to_nowhere, link_to_itself, pipe, name_that_is_no_text, memory_of_a_process,
    compressed,
]  # fmt: skip


@pytest.mark.parametrize("agent", ["aster", "aether", "claude-code"])
@pytest.mark.parametrize("put", WAYS, ids=lambda put: put.__name__)
def test_what_is_no_source_is_told_and_hides_nothing(
    put: Callable[[Path], None], agent: str, home: HomeBuilder, places: Settings
) -> None:
    """B05, B07."""
    writers = {
        "aster": lambda: good(home),
        "aether": lambda: home.aether("good", make.aether_metadata("good", 0), make.aether_prompt("hello good")),
        "claude-code": lambda: home.claude("good", make.claude_prompt("hello good", "good", "u1", 1)),
    }
    folder = writers[agent]().parent
    put(folder / "middle.jsonl")
    last = (folder / "good.jsonl").read_bytes().replace(b"good", b"last").replace(b"u1", b"u2")
    (folder / "z-last.jsonl").write_bytes(last)
    began = time.monotonic()
    report = ingest(places)
    assert time.monotonic() - began < 10
    assert prompts(places) == ["hello good", "hello last"]
    assert len(report.problems) == 1
    assert report.problems[0].path.startswith(str(folder))
    assert "\n" not in report.problems[0].message
    assert report.problems[0].message
    again = ingest(places)
    assert (again.wrote, len(again.problems)) == (False, 1)
    assert verify(places).differences == ()
    assert report.agents[agent].sources.new == 2


def test_links_into_out_of_and_around_the_root(home: HomeBuilder, places: Settings, tmp_path: Path) -> None:
    """B05: what is read in place is not read again through a link; a link that leads out is followed."""
    folder = good(home).parent
    outside = HomeBuilder(tmp_path / "outside")
    there = good(outside, "outside").parent
    (folder.parent / "again").symlink_to(folder)
    (folder.parent / "elsewhere").symlink_to(there)
    (folder.parent / "around").symlink_to(folder.parent)
    (folder.parent / "nowhere").symlink_to("gone")
    report = ingest(places)
    assert prompts(places) == ["hello good", "hello outside"]
    told = {Path(problem.path).name for problem in report.problems}
    assert told >= {"around", "nowhere"}


@pytest.mark.parametrize("replace", [memory_of_a_process], ids=["reading fails"])
def test_a_known_file_that_cannot_be_read_keeps_its_rows(
    replace: Callable[[Path], None], home: HomeBuilder, places: Settings
) -> None:
    """Law 5: held, said so, and apart in ``verify``; back as soon as it can be read."""
    block = home.block("note", "water on Mondays")
    path, other = good(home), good(home, "other")
    ingest(places)
    before = {file: file.read_bytes() for file in (path, block)}
    for file in before:
        file.unlink()
        replace(file)
    report = ingest(places)
    assert report.agents["aster"].sources.held == 2
    assert prompts(places) == ["hello good", "hello other"]
    assert rows(places, "SELECT body FROM memory_blocks") == [("water on Mondays",)]
    assert rows(places, "SELECT path FROM sources WHERE status = 'held'") == [(str(block),), (str(path),)]
    checked = verify(places)
    assert checked.differences == ()
    assert [held for held, _ in checked.apart] == [str(block), str(path)]
    with other.open("ab") as file_:
        file_.write(make.lines(make.aster_prompt("more", 2)))
    ingest(places)
    for file, data in before.items():
        file.unlink()
        file.write_bytes(data)
    ingest(places)
    assert dump_of(places.index_path) == rebuilt_dump(places)
    assert rows(places, "SELECT count(*) FROM sources WHERE status <> 'indexed'") == [(0,)]


def as_somebody_else(act: Callable[[], None]) -> str:
    """Run ``act`` in a child process with the permissions of an ordinary user; return what went wrong, if anything."""
    import filelock  # noqa: F401 - the child may not be allowed to read this interpreter's packages

    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgid(65534)
            os.setuid(65534)
            act()
        except BaseException:  # noqa: BLE001 - told to the parent, whatever it is
            os.write(writer, traceback.format_exc().encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as told:
        wrong = told.read()
    os.waitpid(child, 0)
    return wrong


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_without_permission_a_file_is_held_and_a_folder_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same with the permissions of an ordinary user."""
    folder = Path(tempfile.mkdtemp())
    os.chown(folder, 65534, 65534)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))

    def act() -> None:
        home = HomeBuilder(folder / "home")
        places = home.settings(folder / "cache" / "index.sqlite")
        path, _ = good(home), good(home, "other")
        ingest(places)
        path.chmod(0)
        report = ingest(places)
        assert report.agents["aster"].sources.held == 1
        assert "Permission denied" in report.problems[0].message
        assert prompts(places) == ["hello good", "hello other"]
        checked = verify(places)
        assert checked.ok
        assert [held for held, _ in checked.apart] == [str(path)]
        path.chmod(0o600)
        ingest(places)
        path.parent.chmod(0)
        report = ingest(places)
        assert report.agents["aster"].sources.held == 2
        assert verify(places).ok
        assert not ingest(places).wrote
        path.parent.chmod(0o700)
        assert ingest(places).agents["aster"].sources.held == 0
        assert verify(places).apart == ()

    try:
        assert as_somebody_else(act) == ""
    finally:
        shutil.rmtree(folder)


class _Stumbling:
    """A parser with a fault of its own."""

    session_id: str | None = None
    names_parent = False
    recognised = True

    def feed(self, record: object, line: object) -> object:
        raise KeyError("a fault that nobody foresaw")

    def save(self) -> dict[str, object]:
        return {}


def test_a_fault_in_a_parser_costs_its_source_only(
    home: HomeBuilder, places: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    good(home)
    home.aether("a", make.aether_metadata("a", 0), make.aether_prompt("lost"))
    home.claude("z", make.claude_prompt("kept", "z", "u1", 1))
    broken = replace(AGENTS["aether"], open_parser=lambda source, state: _Stumbling())  # type: ignore[arg-type,return-value]
    agents = {**AGENTS, "aether": broken}
    monkeypatch.setattr("index.settings.AGENTS", agents)
    report = ingest(home.settings(places.index_path))
    assert prompts(places) == ["hello good", "kept"]
    assert report.agents["aether"].sources.failed == 1
    (problem,) = report.problems
    assert "KeyError" in problem.message
    assert "nobody foresaw" not in problem.message
    assert rows(places, "SELECT error FROM sources WHERE agent = 'aether'") == [(problem.message,)]


def test_a_line_of_50_mb_between_two_others(home: HomeBuilder, places: Settings) -> None:
    """B119: found before and after; what is stored of it is bounded; the second time nothing is read."""
    path = good(home)
    with path.open("ab") as file:
        file.write(b'{"type":"message","role":"tool","tool_call_id":"c","content":"' + b"QUJD" * 12_500_000 + b'"}\n')
        file.write(make.lines(make.aster_prompt("after", 3)))
    report = ingest(places)
    assert prompts(places) == ["after", "hello good"]
    stored = "SELECT text_len, length(text) FROM events WHERE event_type = 'tool_result'"
    assert rows(places, stored) == [(50_000_000, 512)]
    assert report.problems == []
    again = ingest(places)
    assert (again.wrote, again.bytes_read) == (False, 0)


def test_a_line_over_the_limit_is_told_and_passed_over(home: HomeBuilder, tmp_path: Path) -> None:
    config = home.home / ".config" / "aster-index"
    config.mkdir(parents=True)
    (config / "config.yaml").write_text("limits: {max_line_bytes: 2048}\n")
    long = make.aster_prompt("x" * 3_000_000, 1)
    home.aster("s", make.aster_header("s", 0), long, make.aster_prompt("after", 2), end=make.lines(long)[:-1])
    places = home.settings(tmp_path / "i" / "index.sqlite")
    report = ingest(places)
    assert prompts(places) == ["after"]
    (problem,) = report.problems
    assert (problem.line_number, "over the limit" in problem.message) == (2, True)
    assert report.bytes_pending > 3_000_000


def test_prose_is_stored_whole_up_to_4_mb(home: HomeBuilder, places: Settings) -> None:
    texts = ("é" * 500_000, "漢" * 1_500_000)
    home.aster("s", make.aster_header("s", 0), *(make.aster_prompt(text, n) for n, text in enumerate(texts)))
    ingest(places)
    stored = rows(places, "SELECT text_len, length(CAST(text AS BLOB)) FROM prompts ORDER BY line_number")
    assert stored == [(500_000, 1_000_000), (1_500_000, 4 * 1024 * 1024 - 1)]  # not within a character


def test_lone_surrogates_become_replacement_characters(home: HomeBuilder, places: Settings) -> None:
    """B35."""
    bodies = (b"high \\ud83d end", b"low \\udf33 end", b"reversed \\udf33\\ud83c", b"good \\ud83c\\udf33")
    lines = [b'{"type":"message","role":"user","content":"' + body + b'"}' for body in bodies]
    title = b'{"type":"title","title":"cut \\ud83d"}'
    home.aster("s", make.aster_header("s", 0), *lines, title)
    ingest(places)
    assert prompts(places) == ["good 🌳", "high \ufffd end", "low \ufffd end", "reversed \ufffd\ufffd"]
    assert rows(places, "SELECT title FROM sessions") == [("cut \ufffd",)]
    assert rows(places, "SELECT sum(lines_damaged) FROM sources") == [(0,)]
    assert verify(places).ok


def test_zero_characters_in_texts_lose_nothing(home: HomeBuilder, places: Settings) -> None:
    home.aster("s", make.aster_header("s", 0), make.aster_prompt("before\0after", 1))
    home.prompt_history("aster", make.history_entry("old\0prompt", "gone", 1))
    home.block("note", "water\0the roses")
    ingest(places)
    assert prompts(places) == ["before\0after", "old\0prompt"]
    assert rows(places, "SELECT body FROM memory_blocks") == [("water\ufffdthe roses",)]
    assert verify(places).ok


def test_a_tail_torn_inside_a_character_waits(home: HomeBuilder, places: Settings) -> None:
    """B11."""
    line = make.lines(make.aster_prompt("café", 2))
    cut = line.index("é".encode()) + 1
    path = home.aster("s", make.aster_header("s", 0), make.aster_prompt("whole", 1), end=line[:cut])
    report = ingest(places)
    assert (report.lines_damaged, report.bytes_pending) == (0, cut)
    assert prompts(places) == ["whole"]
    with path.open("ab") as file:
        file.write(line[cut:])
    report = ingest(places)
    assert report.agents["aster"].sources.tailed == 1
    assert prompts(places) == ["café", "whole"]
    assert rows(places, "SELECT bytes_pending, lines_seen FROM sources") == [(0, 3)]


def test_one_more_line_reads_and_writes_little(home: HomeBuilder, places: Settings) -> None:
    """B120."""
    path = home.aster("s", make.aster_header("s", 0), *(make.aster_prompt(f"p{n} " * 200, n) for n in range(5000)))
    ingest(places)
    with path.open("ab") as file:
        file.write(make.lines(make.aster_prompt("one more", 9)))
    report = ingest(places)
    assert 0 < report.bytes_read < 1000
    assert report.lines_seen == 1
    assert prompts(places)[0] == "one more"


def test_a_rewrite_with_the_same_size_and_time_is_seen(home: HomeBuilder, places: Settings) -> None:
    """B76."""
    path = good(home)
    ingest(places)
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b"hello", b"howdy"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    ingest(places)
    assert prompts(places) == ["howdy good"]


def test_fifty_changes_leave_no_rubbish(home: HomeBuilder, places: Settings) -> None:
    """B56."""
    other = good(home, "other")
    for number in range(50):
        home.aster("s", make.aster_header("s", 0), make.aster_prompt(f"word{number} here", number))
        ingest(places)
    keys = rows(places, "SELECT key FROM prompt_keys ORDER BY 1")
    assert keys == [("hello other\1\1",), ("word49 here\1\1",)]
    assert rows(places, "SELECT count(*) FROM prose") == [(2,)]
    assert verify(places).ok
    assert other.exists()


def test_memory_does_not_grow_with_damaged_lines(
    home: HomeBuilder, places: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Law 6: what waits to be written is bounded in lines that have no prose too."""
    waiting: list[int] = []
    flush = load.Loader.flush

    def watched(loader: load.Loader) -> None:
        rows_now = loader._projector.rows
        waiting.append(len(rows_now.errors) + len(rows_now.journal) + len(rows_now.traits))
        flush(loader)

    monkeypatch.setattr(load, "FLUSH_CHARACTERS", 50_000)
    monkeypatch.setattr(load.Loader, "flush", watched)
    home.aster("s", make.aster_header("s", 0), *([b"{torn"] * 3000))
    home.journal(*(make.journal_entry("recall", "note", 1) for _ in range(3000)))
    ingest(places)
    assert max(waiting) < 1000
    assert rows(places, "SELECT (SELECT count(*) FROM parse_errors), (SELECT count(*) FROM memory_journal)") == [
        (3000, 3000)
    ]


@pytest.mark.slow
def test_peak_memory_of_a_large_store_is_bounded(home: HomeBuilder, tmp_path: Path) -> None:
    """DESIGN 13: at most 300 MB, whatever the size; here 60 MB in one file and 60 MB in many."""
    prompt = make.lines(make.aster_prompt("words and more words " * 40, 1), make.aster_answer("an answer " * 300, 2))
    path = home.aster("large", make.aster_header("large", 0))
    with path.open("ab") as file:
        for _ in range(60_000_000 // len(prompt)):
            file.write(prompt)
    for number in range(60):
        small = home.aster(f"s{number}", make.aster_header(f"s{number}", 0))
        with small.open("ab") as file:
            file.write(prompt * (1_000_000 // len(prompt)))
    script = f"""
import sys
sys.path.insert(0, {str(REPOSITORY)!r})
from pathlib import Path
from index.ingest import ingest
from tests.builders import HomeBuilder
from tests.peak import peak_bytes
ingest(HomeBuilder(Path({str(home.home)!r})).settings(Path({str(tmp_path / "i" / "index.sqlite")!r})))
print(peak_bytes())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 300_000_000
