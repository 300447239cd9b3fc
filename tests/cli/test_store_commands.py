"""Commands that are answered from the store: blocks, their journal, and what a terminal and a pipe get of them."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import OnATerminal, Run
from tests.conftest import REPOSITORY, Asx

FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
EVIL = "---\nname: evil \x1b[5mname\ndescription: desc \x1b[7m inverse \u202e\n---\n\nbody \x1b[31m plainword\rx\n"
EVIL_ENTRY = json.dumps({"ts": "2026-03-01T00:00:00Z", "op": "recall", "name": "e\x1b[1m"})


def _memory(home: Path) -> Path:
    folder = home / ".local" / "share" / "aster" / "memory"
    folder.mkdir(parents=True)
    return folder


def _block(folder: Path, name: str, body: str, updated_at: str = "2026-03-01T00:00:00+00:00") -> None:
    text = f"---\nname: {name}\ndescription: about {name}\nupdated_at: {updated_at}\n---\n\n{body}\n"
    (folder / f"{name}.md").write_text(text, encoding="utf-8")


@pytest.fixture
def memory(isolated: Path) -> Path:
    folder = _memory(isolated)
    _block(folder, "deploy-window", "Deploys on Tuesday, never on a Friday.")
    _block(folder, "test-runner", "ğ “quoted” 漢", "2026-03-02T00:00:00+00:00")
    return folder


def test_blocks_are_listed_newest_first(memory: Path, run: Run) -> None:
    told = run("memory", "list", "--json").json()
    assert [block["name"] for block in told["blocks"]] == ["test-runner", "deploy-window"]
    assert told["dir"] == str(memory)
    assert told["project"] is None
    assert set(told["blocks"][0]) == {
        *("name", "title", "agent", "description", "kind", "project", "path", "source_session", "created_at"),
        *("updated_at", "archived", "superseded_by", "pinned"),
    }
    plain = run("memory", "list")
    assert [line.split()[1] for line in plain.stdout.splitlines()] == ["name", "test-runner", "deploy-window"]


@pytest.mark.parametrize("words", [["memory"], ["memory", "--json"]], ids=" ".join)
def test_a_group_alone_lists(words: list[str], memory: Path, run: Run) -> None:
    shown = run(*words)
    assert shown.code == 0
    assert "deploy-window" in shown.stdout


@pytest.mark.parametrize("words", [["recall"], ["memory", "show"]], ids=" ".join)
def test_a_block_is_printed_and_the_recall_noted(words: list[str], memory: Path, run: Run) -> None:
    shown = run(*words, "Deploy", "window")
    assert (shown.code, shown.stdout, shown.stderr) == (0, "Deploys on Tuesday, never on a Friday.\n", "")
    told = run(*words, "deploy-window", "--json").json()
    assert told["body"].strip() == "Deploys on Tuesday, never on a Friday."
    assert set(told) == {
        *("schema_version", "name", "title", "description", "body", "kind", "project", "aliases", "path"),
        *("source_session", "created_at", "updated_at", "archived", "superseded_by", "pinned"),
    }
    lines = [json.loads(line) for line in (memory / "journal.jsonl").read_text().splitlines()]
    assert [(line["op"], line["name"]) for line in lines] == [("recall", "deploy-window")] * 2
    assert (memory / "journal.jsonl").stat().st_mode & 0o777 == 0o600
    log = run("memory", "log", "--json").json()["entries"]
    assert [entry["name"] for entry in log] == ["deploy-window"] * 2


def test_a_recall_without_journal_writes_nothing(memory: Path, run: Run) -> None:
    before = sorted(memory.iterdir())
    assert run("recall", "--no-journal", "deploy-window").code == 0
    assert sorted(memory.iterdir()) == before


def test_a_journal_that_cannot_be_written_is_only_told(memory: Path, run: Run) -> None:
    (memory / "journal.jsonl").mkdir()
    shown = run("recall", "deploy-window")
    assert (shown.code, shown.stdout) == (0, "Deploys on Tuesday, never on a Friday.\n")
    assert "the recall is not in the journal" in shown.stderr


def test_an_unknown_block_names_near_ones(memory: Path, run: Run) -> None:
    shown = run("recall", "deploy-windw", "--json")
    assert shown.code == 1
    assert shown.json()["error"]["kind"] == "not_found"
    assert "deploy-window" in shown.json()["error"]["hint"]
    assert not (memory / "journal.jsonl").exists()


def test_older_homes_are_read_and_rank_lower(memory: Path, isolated: Path, run: Run) -> None:
    old = isolated / ".aster" / "memory"
    old.mkdir(parents=True)
    _block(old, "deploy-window", "An older text.")
    _block(old, "only-there", "Found in the old home.", "2025-01-01T00:00:00+00:00")
    names = [block["name"] for block in run("memory", "list", "--json").json()["blocks"]]
    assert names == ["test-runner", "deploy-window", "only-there"]
    assert run("recall", "--no-journal", "deploy-window").stdout.startswith("Deploys on Tuesday")
    assert run("recall", "--no-journal", "only-there").stdout == "Found in the old home.\n"


def test_a_name_that_begins_with_a_dash(memory: Path, run: Run) -> None:
    (memory / "-x.md").write_text("a block by hand", encoding="utf-8")
    shown = run("recall", "-x")
    assert shown.code == 2
    assert "put -- before" in shown.stderr
    assert run("recall", "--no-journal", "--", "-x").stdout == "a block by hand\n"


ASCII = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONWARNDEFAULTENCODING": "1"}


def test_an_ascii_locale_changes_nothing(memory: Path, asx: Asx) -> None:
    (memory / "x.md").write_text("---\nname: ğ “quoted” 漢\n---\n\nfound\n", encoding="utf-8")
    assert asx("recall", "--no-journal", "test-runner", env=ASCII).stdout == "ğ “quoted” 漢\n"
    assert asx("recall", "--no-journal", "ğ “quoted” 漢", env=ASCII).stdout == "found\n"


PLAIN_COMMANDS = [["memory", "list"], ["memory", "show", "evil"], ["recall", "--no-journal", "evil"], ["memory", "log"]]


@pytest.mark.parametrize("words", PLAIN_COMMANDS, ids=" ".join)
def test_a_pipe_gets_no_control_characters(words: list[str], isolated: Path, run: Run) -> None:
    folder = _memory(isolated)
    (folder / "evil.md").write_text(EVIL, encoding="utf-8")
    (folder / "journal.jsonl").write_text(EVIL_ENTRY)
    shown = run(*words)
    assert shown.code == 0
    assert not FORBIDDEN.search(shown.stdout + shown.stderr)
    assert "\\x1b[" in shown.stdout
    told = run(*words, "--json")
    assert not FORBIDDEN.search(told.stdout)
    assert "\\u001b[" in told.stdout


@pytest.mark.parametrize("words", PLAIN_COMMANDS, ids=" ".join)
def test_a_terminal_gets_no_control_characters_but_our_own(
    words: list[str], isolated: Path, on_a_terminal: OnATerminal
) -> None:
    folder = _memory(isolated)
    (folder / "evil.md").write_text(EVIL, encoding="utf-8")
    (folder / "journal.jsonl").write_text(EVIL_ENTRY)
    code, shown = on_a_terminal(*words)
    assert code == 0
    assert "\\x1b[" in shown
    assert not FORBIDDEN.search(re.sub("\x1b\\[(?:0|1|2|33|1;31)m", "", shown.replace("\r\n", "\n")))


def _shell(line: str) -> subprocess.CompletedProcess[str]:
    command = f"{sys.executable} -m cli"
    return subprocess.run(
        [shutil.which("bash") or "bash", "-c", f"set -o pipefail; asx() {{ {command} \"$@\"; }}; {line}"],
        capture_output=True, text=True, cwd=REPOSITORY, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("json_flag", ["", "--json"], ids=["plain", "json"])
@pytest.mark.parametrize("reader", ["head -c 1 >/dev/null", "true", "head -1"])
def test_a_reader_that_leaves_early_is_no_failure(reader: str, json_flag: str, isolated: Path) -> None:
    _block(_memory(isolated), "big", "line of text\n" * 200_000)
    done = _shell(f"asx recall --no-journal big {json_flag} | {reader}")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_closed_stdout_is_no_failure_and_a_full_disk_is(memory: Path) -> None:
    closed = _shell("asx recall --no-journal deploy-window >&-")
    assert (closed.returncode, closed.stderr) == (0, "")
    if not Path("/dev/full").exists():
        return
    full = _shell("asx recall --no-journal deploy-window >/dev/full")
    assert full.returncode == 6
    assert "cannot write the answer: No space left on device" in full.stderr
    silent = _shell("asx recall --no-journal nothing 2>&-")
    assert silent.returncode == 1


def test_paths_name_every_place(isolated: Path, run: Run) -> None:
    told = run("paths", "--json").json()
    assert {"index", "data", "sessions", "memory", "archive", "config", "agents"} <= set(told)
    assert told["data"] == str(isolated / ".local" / "share" / "aster")
    assert told["agents"]["aster"]
    assert run("paths", "data").stdout == told["data"] + "\n"
    assert run("paths", "index", "--index", "here.sqlite").stdout.endswith("/here.sqlite\n")
