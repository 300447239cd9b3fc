"""Laws 1 and 7 of the design, watched from inside: every command runs in a process that notes each file it opens.

The interpreter's audit events tell what was opened for writing, made, renamed, changed or removed, and whether the
network was asked; what SQLite does to the index's own files is told by the folder afterwards. The process runs without
a mask for permissions, so that a file is only private if it was made private.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tests import builders as make
from tests.builders import HomeBuilder
from tests.conftest import REPOSITORY

PRIVATE_WORDS: Final = "sk-test-0123456789"
SESSION: Final = "01kbvgbankeeeeeeeeeeeeeeee"
WATCH: Final = """
import contextlib, io, json, os, sys

told = {"read": [], "written": [], "changed": [], "modes": [], "network": []}
CHANGES = ("os.chmod", "os.chown", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink",
           "os.truncate", "os.utime")

def name_of(value, folder=-1):
    if not isinstance(value, (str, bytes, os.PathLike)):
        return None
    above = os.readlink(f"/proc/self/fd/{folder}") if folder != -1 and os.path.exists("/proc/self/fd") else ""
    return os.path.abspath(os.path.join(above, os.fsdecode(value)))

def watch(event, values):
    if event == "open" and (name := name_of(values[0])) is not None:
        writes = values[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        told["written" if writes else "read"].append(name)
        if writes and values[1] is not None:
            told["modes"].append(name)  # made by open(), which gives the mode away to the mask
    elif event in CHANGES:
        folder = values[1] if event in ("os.remove", "os.rmdir") else -1
        told["changed"] += [(event, name) for value in values[:2] if (name := name_of(value, folder)) is not None]
    elif event.startswith("socket.") and event not in ("socket.__new__", "socket.gethostname"):
        told["network"].append(event)

os.umask(0)
sys.dont_write_bytecode = True
from cli.app import main
sys.addaudithook(watch)
answers = []
for words in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    answers.append((code, out.getvalue(), err.getvalue()))
print(json.dumps({"answers": answers, **told}))
"""
READING: Final = [
    ["verify"], ["search", "roses"], ["search", "--in", "all", "--json", "roses"], ["search", "--recent", "roses"],
    ["query", "SELECT count(*) FROM events"], ["report"], ["report", "usage"], ["schema"], ["status"], ["paths"],
    ["show", SESSION], ["show", f"{SESSION}:0"], ["show", "--block", "note"], ["sessions", "list", "--all"],
    ["sessions", "show", SESSION], ["memory", "list"], ["memory", "log"], ["recall", "--no-journal", "note"],
]  # fmt: skip
WRITING: Final = [
    ["ingest"], ["ingest", "--check"], ["rebuild"], ["recall", "note"], ["memory", "show", "note"], ["ingest"],
]  # fmt: skip
WRITING_THE_STORE: Final = [
    ["memory", "add", "a fact"], ["memory", "add", "--title", "Roses", "they need water"],
    ["memory", "add", "--title", "Roses", "they need more water"], ["remember", "--title", "Tulips", "none for them"],
    ["memory", "add", "--title", "Flowers", "--supersedes", "Tulips", "all of them"], ["memory", "archive", "Tulips"],
    ["memory", "restore", "Tulips"], ["memory", "remove", "Roses"], ["memory", "restore", "Roses"],
    ["forget", "Flowers"], ["sessions", "start", "--id", "begun", "--cwd", "/w/new"],
    ["sessions", "start", "--aether", "--model", "a:b", "--id", "begun-too", "--cwd", "/w/new"],
    ["sessions", "rename", SESSION, "Roses"], ["sessions", "relocate", SESSION, "/w/beta"],
    ["sessions", "history", "--rebuild"], ["sessions", "import", "--all"],
    ["sessions", "prune", "--project", "/w/new", "--empty", "--yes"], ["sessions", "delete", "--yes", "begun-too"],
    ["ingest", "--keep"],
]  # fmt: skip
"""What changes the store: memory, sessions, kept copies."""
NOT_THERE: Final = [["show", f"{SESSION}:99"], ["show", "nobody"], ["recall", "nothing"], ["search", "no such words"]]
EVERYTHING: Final = [*WRITING, *READING, *NOT_THERE]
NEVER_OPENED: Final = (
    ".local/share/aster/credentials.json", ".local/share/aster/grants/alpha.json", ".local/share/aster/plans/a/p.md",
    ".local/share/aster/skills/s/SKILL.md", ".claude/.credentials.json", ".claude/settings.json", ".aster/.env",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Watched:
    """What the commands did: their answers, and the files they read, wrote or changed, as absolute names."""

    home: Path
    answers: list[tuple[int, str, str]]
    read: set[str]
    written: set[str]
    changed: set[tuple[str, str]]
    unmasked: set[str]
    network: list[str]
    before: dict[str, tuple[int, bytes]]
    made: set[Path]

    @property
    def touched(self) -> set[str]:
        """Return whatever was opened for writing, made, renamed, changed or removed, below the home."""
        names = self.written | {name for _, name in self.changed}
        return {str(Path(name).relative_to(self.home)) for name in names if Path(name).is_relative_to(self.home)}


def fill(home: HomeBuilder) -> None:
    torn = b'{"' + PRIVATE_WORDS.encode()
    prompt, answer = make.aster_prompt("water the roses", 1), make.aster_answer("done", 2, (5, 3))
    home.aster(SESSION, make.aster_header(SESSION, 0), prompt, torn, answer)
    home.block("note", "roses need water")
    home.facts("roses are red")
    home.journal(make.journal_entry("remember", "note", 1), PRIVATE_WORDS.encode())
    home.prompt_history("aster", make.history_entry("old roses", "gone", 1))
    home.aether("e", make.aether_metadata("e", 0), make.aether_prompt("roses of another"))
    home.prompt_history("aether", make.history_entry("older roses", "e", 1))
    home.claude("c", make.claude_prompt("their roses", "c", "u1", 1), PRIVATE_WORDS.encode())
    home.claude_agent("c", "a1", make.claude_prompt("side roses", "c", "u9", 2, agentId="a1", isSidechain=True))
    home.claude_history(make.claude_history_entry("typed roses", None, 1))
    for name in NEVER_OPENED:
        (home.home / name).parent.mkdir(parents=True, exist_ok=True)
        (home.home / name).write_text(PRIVATE_WORDS)


def state(home: Path) -> dict[str, tuple[int, bytes]]:
    """Return every file with its modification time and content; the index's own folder is left out."""
    return {
        str(path.relative_to(home)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in home.rglob("*")
        if path.is_file() and ".cache" not in path.parts
    }


def watch(home: Path, commands: list[list[str]]) -> Watched:
    before, there = state(home), set(home.rglob("*"))
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(REPOSITORY), "TZ": "UTC"}
    done = subprocess.run(
        [sys.executable, "-c", WATCH, json.dumps(commands)],
        capture_output=True, text=True, env=environment, cwd=home, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    told: dict[str, Any] = json.loads(done.stdout)
    return Watched(
        home, [tuple(one) for one in told["answers"]], set(told["read"]), set(told["written"]),
        {(event, name) for event, name in told["changed"]}, set(told["modes"]), told["network"],
        before, set(home.rglob("*")) - there,
    )  # fmt: skip


def filled_home(folder: Path) -> Path:
    home = folder.resolve()
    fill(HomeBuilder(home))
    return home


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    """Every command, run once in a home with files of each agent."""
    watched = watch(filled_home(tmp_path_factory.mktemp("watched")), EVERYTHING)
    codes = [code for code, *_ in watched.answers]
    assert codes == [0] * (len(EVERYTHING) - len(NOT_THERE)) + [1] * len(NOT_THERE)
    return watched


def test_law_1_only_the_index_and_journal_lines_are_written(everything: Watched) -> None:
    journal, lock = ".local/share/aster/memory/journal.jsonl", ".local/share/aster/memory/.lock"
    redo = ".local/share/aster/memory/.redo"
    outside = {name for name in everything.touched if not name.startswith(".cache/aster-index")}
    assert outside <= {".cache", journal, lock, redo, ".local/share/aster/memory"}  # the lock asks for its folder
    before, after = everything.before, state(everything.home)
    assert before.keys() <= after.keys()
    assert {name for name in after if after[name] != before.get(name)} == {journal, lock, redo}
    added = after[journal][1].removeprefix(before[journal][1]).splitlines()
    assert [json.loads(line)["op"] for line in added if line] == ["recall", "recall"]
    build = HomeBuilder(everything.home)
    assert {
        str(build.aster_home / "sessions" / "alpha" / f"{SESSION}.jsonl"),
        str(build.claude_home / "projects" / "-w-gamma" / "c.jsonl"),
        str(build.home / ".aether" / "sessions" / "e.jsonl"),
    } <= everything.read


def test_law_1_commands_that_read_touch_no_file(tmp_path: Path) -> None:
    home = filled_home(tmp_path)
    watch(home, [["ingest"], ["status"]])
    index = {path: path.read_bytes() for path in (home / ".cache").rglob("*") if path.is_file()}
    watched = watch(home, [*READING, *NOT_THERE])
    assert watched.touched == set()
    assert watched.made == set()
    assert {path: path.read_bytes() for path in index} == index


def test_what_is_the_agents_alone_is_never_opened(everything: Watched) -> None:
    opened = everything.read | everything.written
    assert [name for name in NEVER_OPENED if str(everything.home / name) in opened] == []


def test_law_7_what_is_made_is_private_from_the_first_byte(everything: Watched) -> None:
    names = {path.name for path in everything.made}
    assert {"index.sqlite", "index.sqlite-wal", "index.sqlite-shm", "index.sqlite.lock", ".lock"} <= names
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in everything.made}
    assert {path: mode for path, mode in modes.items() if mode != (0o700 if path.is_dir() else 0o600)} == {}
    assert everything.unmasked == set()
    assert {name for event, name in everything.changed if event == "os.chmod"} == set()


@pytest.fixture(scope="module")
def store_written(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    """Every command that changes the store, run once in a home with files of each agent."""
    home = filled_home(tmp_path_factory.mktemp("written"))
    for path in home.rglob("*.jsonl"):
        os.utime(path, (1_700_000_000, 1_700_000_000))  # nobody writes them now
    watched = watch(home, WRITING_THE_STORE)
    assert [code for code, *_ in watched.answers] == [0] * len(WRITING_THE_STORE), watched.answers
    return watched


def test_law_1_what_changes_the_store_changes_no_file_of_another_agent(store_written: Watched) -> None:
    ours = (".local/share/aster/", ".aether/sessions/", ".cache", ".config/aster-index", ".local/share/aster")
    assert {name for name in store_written.touched if not name.startswith(ours)} <= {".config", ".aether/sessions"}
    after = state(store_written.home)
    foreign = {name: held for name, held in store_written.before.items() if name.startswith(".claude")}
    assert foreign == {name: held for name, held in after.items() if name.startswith(".claude")}
    opened = store_written.read | store_written.written
    assert [name for name in NEVER_OPENED if str(store_written.home / name) in opened] == []
    assert store_written.network == []


def test_law_7_what_changes_the_store_makes_private_files_from_the_first_byte(store_written: Watched) -> None:
    made = [path for path in store_written.made if path.exists() and not path.is_symlink()]
    names = {path.name for path in made}
    assert {"roses.md", "tulips.md", ".archive", "catalogue.json", "config.yaml", ".import.lock"} <= names
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in made}
    assert {path: mode for path, mode in modes.items() if mode != (0o700 if path.is_dir() else 0o600)} == {}
    assert store_written.unmasked == set()
    assert {name for event, name in store_written.changed if event == "os.chmod"} == set()
    assert not list(store_written.home.rglob(".tmp-*"))


def test_law_7_the_network_is_never_asked(everything: Watched) -> None:
    assert everything.network == []


def test_law_7_no_text_of_a_transcript_is_in_what_is_said(everything: Watched) -> None:
    said = [err for *_, err in everything.answers]
    assert any("c.jsonl:2: " in one for one in said)
    for text in (PRIVATE_WORDS, "water the roses", "their roses", "roses need water"):
        assert [one for one in said if text in one] == []
