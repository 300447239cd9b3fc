"""``asx recall --hook`` as real processes: 0 whatever happens, nothing on stderr, nothing or one line on stdout."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from cli import hook_process
from persist.files import LOCK_NAME, locked
from persist.recall.frame import CLOSING, OPENING
from tests.conftest import REPOSITORY, Asx, Result
from tests.faults.memory_world import journal_lines

PROMPT: Final = "when may we deploy in the release window?"
TYPED: Final = "xyzzy-secret-4711"
INPUT: Final = json.dumps(
    {"prompt": PROMPT, "cwd": "/w/shop", "session_id": "s1", "hook_event_name": "UserPromptSubmit"}
)
SLACK_S: Final = 3.0
"""More than the grace: machines that run tests are busy."""


@pytest.fixture
def memory(isolated: Path, asx: Asx) -> Path:
    assert (
        asx("remember", "--title", "Deploy window", "Deploys run Tuesday to Thursday before 15:00 UTC only.").code == 0
    )
    return isolated / ".local" / "share" / "aster" / "memory"


@pytest.fixture
def log(isolated: Path) -> Path:
    return isolated / ".cache" / "aster-index" / "index.sqlite-hook.log"


def kinds(log: Path) -> list[str]:
    return [json.loads(line)["kind"] for line in log.read_bytes().splitlines()]


def context_of(told: Result) -> str | None:
    """Check what holds of every run of the hook; return the text for the agent, ``None`` for silence."""
    assert (told.code, told.stderr) == (0, "")
    if not told.stdout:
        return None
    assert told.stdout.count("\n") == 1
    assert told.stdout.endswith("\n")
    value = told.json()
    text = value["hookSpecificOutput"]["additionalContext"]
    assert value == {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": text}}
    assert isinstance(text, str)
    return text


def start(*words: str, stdin: int = subprocess.PIPE, **variables: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "cli", "recall", "--hook", *words],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), **variables},
        start_new_session=True,
    )


def ended(running: subprocess.Popen[bytes], stdin: bytes | None = None) -> Result:
    out, err = running.communicate(stdin, timeout=30)
    return Result(running.returncode, out.decode(), err.decode())


def test_what_helps_is_one_line_and_noted_with_the_session(memory: Path, asx: Asx, log: Path) -> None:
    text = context_of(asx("recall", "--hook", stdin=INPUT))
    assert text is not None
    assert text.startswith(OPENING)
    assert text.endswith(CLOSING)
    assert "> Deploys run Tuesday to Thursday before 15:00 UTC only." in text
    line = journal_lines(memory)[-1]
    assert (line["op"], line["name"], line["source_session"]) == ("recall", "deploy-window", "s1")
    assert not log.exists()


@pytest.mark.parametrize("prompt", ["write me a poem about the sea", "", "  \n", "yes"])
def test_what_does_not_help_is_silence_and_no_trouble(prompt: str, memory: Path, asx: Asx, log: Path) -> None:
    assert context_of(asx("recall", "--hook", stdin=json.dumps({"prompt": prompt}))) is None
    assert [line["op"] for line in journal_lines(memory)] == ["remember"]
    assert not log.exists()


INPUTS: Final[list[tuple[str, bytes]]] = [
    ("nothing", b""),
    ("blank", b" \n"),
    ("garbage", b"{" + TYPED.encode()),
    ("half", INPUT.encode()[:40]),
    ("a list", b"[]"),
    ("a text", json.dumps(PROMPT).encode()),
    ("null", b"null"),
    ("no prompt", b'{"cwd":"/w"}'),
    ("a prompt that is a number", b'{"prompt":5}'),
    ("a prompt that is a list", json.dumps({"prompt": [PROMPT]}).encode()),
    ("two values", INPUT.encode() + INPUT.encode()),
    ("zeros", b"\0" * 5000),
    ("deep", b'{"prompt":' + b"[" * 200_000),
    ("digits", b'{"prompt":' + b"9" * 9000 + b"}"),
    ("not UTF-8", b"\xff\xfe" + INPUT.encode("utf-16-le")),
    ("huge", b'{"prompt":"' + b"x" * (16 * 1024 * 1024) + b'"}'),
]


@pytest.mark.parametrize("data", [data for _, data in INPUTS], ids=[name for name, _ in INPUTS])
def test_any_input_is_survived_and_logged_without_its_text(data: bytes, memory: Path, asx: Asx, log: Path) -> None:
    assert context_of(asx("recall", "--hook", stdin=data)) is None
    assert kinds(log) == ["usage"]
    assert TYPED not in log.read_text()
    assert [line["op"] for line in journal_lines(memory)] == ["remember"]


def test_input_that_is_odd_but_readable_is_answered(memory: Path, asx: Asx, log: Path) -> None:
    value: dict[str, Any] = {"prompt": PROMPT}
    for odd in (
        {"cwd": 5, "session_id": []},
        {"cwd": "", "session_id": ""},
        {"cwd": "relative", "session_id": None},
        {"cwd": "/nowhere/at\0all", "session_id": "x" * 100_000},
        {"cwd": "/gone/for/good", "more": {"deep": [1]}},
        {"prompt": PROMPT + " \ud800 \x1b[5m"},
        {"cwd": "/half/\ud800", "session_id": "\udc80half"},
        {"prompt": PROMPT + " " + "z" * 1_000_000},
    ):
        assert context_of(asx("recall", "--hook", stdin=json.dumps(value | odd))) is not None, odd
    assert context_of(asx("recall", "--hook", stdin=b"\xef\xbb\xbf" + INPUT.encode() + b"\r\n")) is not None
    assert context_of(asx("recall", "--hook", stdin=INPUT.encode()[:-2] + b'\xff"}')) is not None
    assert not log.exists()
    assert max(len(line.get("source_session", "")) for line in journal_lines(memory)) == 200


def test_half_a_character_in_a_sessions_id_costs_no_answer(memory: Path, asx: Asx, log: Path) -> None:
    assert asx("ingest", "--quiet").code == 0
    for half in ("\ud800x", "\udc80"):
        told = json.dumps({"prompt": PROMPT, "session_id": half, "cwd": f"/w/{half}"})
        assert context_of(asx("recall", "--hook", "--turns", stdin=told)) is not None
    assert not log.exists()


@pytest.mark.parametrize(
    "words",
    [
        ["--bogus"],
        ["--bogus=" + TYPED],
        ["--limit", "many"],
        ["--limit"],
        ["--max-chars", "3"],
        ["--as-of", TYPED],
        ["--prompt", TYPED],
        ["--json"],
        ["--explain"],
        [TYPED],
        ["--hook=1"],
        ["--cwd"],
    ],
    ids=" ".join,
)
def test_wrong_options_are_survived_and_logged(words: list[str], memory: Path, asx: Asx, log: Path) -> None:
    assert context_of(asx("recall", "--hook", *words, stdin=INPUT)) is None
    assert context_of(asx("recall", *words, "--hook", stdin=INPUT)) is None
    assert kinds(log) == ["usage", "usage"]
    assert TYPED not in log.read_text()


def test_a_wrong_option_before_the_command_too(memory: Path, asx: Asx, log: Path) -> None:
    assert context_of(asx("--bogus", "recall", "--hook", stdin=INPUT)) is None
    assert kinds(log) == ["usage"]


def test_right_options_are_followed(memory: Path, asx: Asx, log: Path, tmp_path: Path) -> None:
    assert context_of(asx("recall", "--hook", "--no-journal", "--no-refresh", stdin=INPUT)) is not None
    assert context_of(asx("recall", "--hook", "--as-of", "2099-01-01", stdin=INPUT)) is not None
    assert [line["op"] for line in journal_lines(memory)] == ["remember"]
    assert context_of(asx("recall", "--hook", "--session", "s2", "--cwd", "/w", stdin=INPUT)) is not None
    assert journal_lines(memory)[-1]["source_session"] == "s2"
    text = context_of(asx("recall", "--hook", "--max-chars", "400", stdin=INPUT))
    assert text is not None
    assert len(text) <= 400
    assert not log.exists()
    assert context_of(asx("recall", "--hook", "--index", tmp_path / "own.sqlite", stdin="x")) is None
    assert kinds(tmp_path / "own.sqlite-hook.log") == ["usage"]


def _no_memory(home: Path) -> None:
    (home / ".local/share/aster/memory").rename(home / "away")


def _memory_is_a_file(home: Path) -> None:
    _no_memory(home)
    (home / ".local/share/aster/memory").write_text("x")


def _facts_are_a_folder(home: Path) -> None:
    (home / ".local/share/aster/memory/ASTER.md").mkdir()


def _blocks_are_odd(home: Path) -> None:
    memory = home / ".local/share/aster/memory"
    (memory / "odd.md").write_bytes(b"---\nname: [x\n\x1b[5m caf\xe9\n")
    (memory / "folder.md").mkdir()
    os.mkfifo(memory / "pipe.md")
    (memory / "loop.md").symlink_to("loop.md")
    (memory / "journal.jsonl").write_bytes(b"\0" * 4096 + b'{"op":5}\n{"ts":')


def _no_journal(home: Path) -> None:
    path = home / ".local/share/aster/memory/journal.jsonl"
    path.unlink()
    path.mkdir()


def _config_is_broken(home: Path) -> None:
    path = home / ".config/aster-index/config.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("exclude: [x\n")


def _index(data: bytes) -> Callable[[Path], None]:
    def put(home: Path) -> None:
        path = home / ".cache/aster-index/index.sqlite"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    return put


def _index_is_a_folder(home: Path) -> None:
    (home / ".cache/aster-index/index.sqlite").mkdir(parents=True)


def _cache_is_a_file(home: Path) -> None:
    (home / ".cache").write_text("x")


def _log_is_a_folder(home: Path) -> None:
    (home / ".cache/aster-index/index.sqlite-hook.log").mkdir(parents=True)


NEWER: Final = b"SQLite format 3\0" + b"\0" * 44 + (9999).to_bytes(4, "big") + b"\0" * 4 + b"Astr" + b"\0" * 8120
FAULTS: Final[list[Callable[[Path], None]]] = [
    _no_memory, _memory_is_a_file, _facts_are_a_folder, _blocks_are_odd, _no_journal, _config_is_broken,
    _index_is_a_folder, _cache_is_a_file, _log_is_a_folder,
]  # fmt: skip
DAMAGED: Final = {"empty": b"", "garbage": b"no database" * 1000, "newer": NEWER, "torn": b"SQLite format 3\0"}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__.strip("_"))
def test_a_home_with_a_fault_is_survived(fault: Callable[[Path], None], isolated: Path, memory: Path, asx: Asx) -> None:
    fault(isolated)
    context_of(asx("recall", "--hook", stdin=INPUT))
    context_of(asx("recall", "--hook", stdin="garbage"))
    context_of(asx("recall", "--hook", "--bogus", stdin=INPUT))


@pytest.mark.parametrize("fault", [_blocks_are_odd, _no_journal, _config_is_broken, _cache_is_a_file, _log_is_a_folder])
def test_what_can_be_answered_is(fault: Callable[[Path], None], isolated: Path, memory: Path, asx: Asx) -> None:
    fault(isolated)
    assert context_of(asx("recall", "--hook", stdin=INPUT)) is not None


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_an_index_of_any_kind_is_survived(data: bytes, isolated: Path, memory: Path, asx: Asx) -> None:
    _index(data)(isolated)
    assert context_of(asx("recall", "--hook", stdin=INPUT)) is not None
    assert (isolated / ".cache/aster-index/index.sqlite").read_bytes() == data


def test_an_index_that_is_damaged_later_is_survived(isolated: Path, memory: Path, asx: Asx) -> None:
    assert asx("ingest", "--quiet").code == 0
    path = isolated / ".cache/aster-index/index.sqlite"
    data = bytearray(path.read_bytes())
    data[8192:] = os.urandom(len(data) - 8192)
    path.write_bytes(data)
    context_of(asx("recall", "--hook", stdin=INPUT))


def test_a_home_that_cannot_be_read_is_survived(isolated: Path, memory: Path, asx: Asx) -> None:
    memory.chmod(0)
    try:
        context_of(asx("recall", "--hook", stdin=INPUT))
    finally:
        memory.chmod(0o700)
    for home in ("/nowhere", "/dev/null", "", "relative"):
        context_of(asx("recall", "--hook", stdin=INPUT, env={"HOME": home}))
    for variable in ("ASTER_HOME", "ASTER_INDEX", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        context_of(asx("recall", "--hook", stdin=INPUT, env={variable: "/dev/null/x"}))


def test_a_home_that_cannot_be_written_is_answered(isolated: Path, memory: Path, asx: Asx) -> None:
    assert asx("ingest", "--quiet").code == 0
    if os.geteuid() == 0:
        mount = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
        command: Sequence[str] = ["unshare", "-m", "sh", "-c", mount, str(isolated)]
        if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
            pytest.skip("root may write everywhere, and a read-only mount cannot be made here")
    else:
        command = []
        for folder in (memory, isolated / ".cache/aster-index"):
            folder.chmod(0o500)
    try:
        done = subprocess.run(
            [*command, sys.executable, "-m", "cli", "recall", "--hook"],
            input=INPUT.encode(),
            capture_output=True,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
            timeout=30,
            check=False,
        )
    finally:
        for folder in (memory, isolated / ".cache/aster-index"):
            folder.chmod(0o700)
    assert context_of(Result(done.returncode, done.stdout.decode(), done.stderr.decode())) is not None


def test_a_full_disk_is_survived(memory: Path, asx: Asx) -> None:
    script = f"ulimit -f 0; exec {sys.executable} -B -m cli recall --hook"
    done = subprocess.run(
        ["sh", "-c", script],
        input=INPUT.encode(),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        timeout=30,
        check=False,
    )
    assert context_of(Result(done.returncode, done.stdout.decode(), done.stderr.decode())) is not None
    assert [line["op"] for line in journal_lines(memory)] == ["remember"]


def test_locks_that_others_hold_are_not_waited_for(isolated: Path, memory: Path, asx: Asx, log: Path) -> None:
    assert asx("ingest", "--quiet").code == 0
    index = isolated / ".cache/aster-index"
    assert asx("remember", "--title", "Later", "A block that no ingest has seen.").code == 0
    held = [path for path in index.iterdir() if "lock" in path.name]
    assert held
    before = time.monotonic()
    with locked(held[0]), locked(memory / LOCK_NAME):
        assert context_of(asx("recall", "--hook", stdin=INPUT)) is not None
    assert time.monotonic() - before < hook_process.LIMIT_S + SLACK_S
    assert kinds(log) == ["io"]
    assert "journal" in log.read_text()


def test_stdin_that_never_ends_is_given_up_in_the_stated_time(memory: Path, log: Path) -> None:
    running = start()
    assert running.stdin is not None
    running.stdin.write(INPUT.encode()[:30])
    running.stdin.flush()
    before = time.monotonic()
    running.wait(30)
    took = time.monotonic() - before
    assert context_of(ended(running)) is None
    assert hook_process.LIMIT_S - 0.5 < took < hook_process.LIMIT_S + SLACK_S
    assert kinds(log) == ["usage"]
    assert "did not write its JSON to stdin and close it within 2 s" in log.read_text()


@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU],
    ids=lambda number: number.name,
)
@pytest.mark.parametrize("after_s", [0.15, 0.4, 0.8])
def test_it_is_interrupted_quietly(number: signal.Signals, after_s: float, memory: Path) -> None:
    running = start()
    _wait_until_set_up(running.pid)
    time.sleep(after_s - 0.15)
    os.killpg(running.pid, number)  # as a terminal does: the child too
    assert context_of(ended(running)) is None


def _wait_until_set_up(pid: int) -> None:
    """Wait until the process stands between its caller and its child: before that it is Python that starts."""
    if not Path("/proc/self/task").exists():
        time.sleep(1)
        return
    for _ in range(2000):
        if Path(f"/proc/{pid}/task/{pid}/children").read_text():
            return
        time.sleep(0.005)
    raise AssertionError("the hook has no child")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full", "| true", "</dev/null"])
def test_streams_that_are_gone_are_survived(closed: str, memory: Path, log: Path) -> None:
    script = f"{sys.executable} -m cli recall --hook {closed}"
    if closed == "| true":
        script = f"set -o pipefail; {script}"
    done = subprocess.run(
        ["bash", "-c", script],
        input=INPUT.encode(),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        timeout=30,
        check=False,
    )
    context_of(Result(done.returncode, done.stdout.decode(), done.stderr.decode()))
    given = closed == "2>&-"
    assert [line["op"] for line in journal_lines(memory)] == ["remember", *(["recall"] if given else [])]


CRASHES: Final = {
    "a crash": ("os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
    "a kill": ("os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
    "a call that answers to nothing": ("re.match(r'(a+)+$', 'a' * 64 + 'b')", "gave up after 2 s"),
    "an exit": ("sys.exit(5)", "before it could answer"),
    "an exception": (f"raise ValueError('{TYPED}')", "before it could answer"),
    "endless recursion": ("f = lambda n: f(n + 1); f(0)", "before it could answer"),
}


@pytest.mark.parametrize(("act", "told"), CRASHES.values(), ids=CRASHES)
def test_whatever_becomes_of_what_answers(act: str, told: str, memory: Path, log: Path) -> None:
    code = f"""
import os, re, signal, sys
from cli import hook_process
def answer(words):
    {act}
hook_process.run(["recall", "--hook"], answer)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=INPUT.encode(),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert told in log.read_text()
    assert TYPED not in log.read_text()


def test_a_late_end_is_logged_where_nothing_more_can_be_loaded(memory: Path, log: Path) -> None:
    """As on a machine with more to do than it has time for: whoever is late has no time to load what logs it."""
    code = """
import sys, time
from cli import hook_process
class Late:
    def find_spec(self, name, path=None, target=None):
        if time.monotonic() - begun > hook_process.LIMIT_S - 0.5:
            time.sleep(10)
begun = time.monotonic()
sys.meta_path.insert(0, Late())
hook_process.run(["recall", "--hook"], lambda words: time.sleep(10))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=INPUT.encode(),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert kinds(log) == ["timeout"]


def test_a_process_that_may_start_no_other_is_survived(memory: Path, log: Path) -> None:
    code = f"""
import os
from cli import hook_process
def fork(): raise OSError({errno.EAGAIN}, "no more processes")
os.fork = fork
hook_process.run(["recall", "--hook"])
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=INPUT.encode(),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert "the hook could not start a process" in log.read_text()


def test_help_is_help(asx: Asx) -> None:
    told = asx("recall", "--hook", "--help")
    assert (told.code, told.stderr) == (0, "")
    assert told.stdout.startswith("Usage: asx recall")


@pytest.mark.parametrize(
    ("words", "is_one"),
    [
        (["recall", "--hook"], True),
        (["recall", "--cwd", "--hook"], True),
        (["--x", "recall", "--hook"], True),
        (["recall", "--", "--hook"], False),
        (["search", "--hook"], False),
        (["recall", "--prompt=--hook"], False),
        (["recall"], False),
        ([], False),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_which_command_lines_are_a_hook(words: list[str], is_one: bool) -> None:
    assert hook_process.is_hook(words) is is_one


def test_the_log_is_private_and_doctor_tells_it(memory: Path, asx: Asx, log: Path) -> None:
    for _ in range(3):
        context_of(asx("recall", "--hook", stdin="garbage"))
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.parent.stat().st_mode) == 0o700
    told = asx("doctor")
    assert told.code == 6
    assert re.search(r"hook: prompt hook, 3 times, last at \S+Z: stdin is not JSON\n  correct the hook", told.stdout)


def test_inputs_that_are_no_json_are_one_finding(memory: Path, asx: Asx, log: Path) -> None:
    for garbage in ("garbage", "{", "more garbage", "{'prompt': 'x'}"):
        context_of(asx("recall", "--hook", stdin=garbage))
    assert kinds(log) == ["usage"] * 4
    (finding,) = [one for one in asx("doctor", "--json").json()["findings"] if one["kind"] == "hook"]
    assert finding["message"].startswith("prompt hook, 4 times, last at ")
    assert finding["message"].endswith(": stdin is not JSON")
    context_of(asx("recall", "--hook", stdin=" \n"))
    assert "stdin is empty" in asx("doctor").stdout


def test_a_hook_whose_stdin_never_came_is_told_to_be_corrected(memory: Path, asx: Asx, log: Path) -> None:
    running = start()
    running.wait(30)
    assert context_of(ended(running)) is None
    (finding,) = [one for one in asx("doctor", "--json").json()["findings"] if one["kind"] == "hook"]
    assert finding["message"].endswith("did not write its JSON to stdin and close it within 2 s")
    assert finding["cure"].startswith("correct the hook in the agent's settings")


def test_the_readme_has_the_block_to_paste() -> None:
    page = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    (block,) = [text for text in re.findall(r"```json\n(.*?)```", page, re.DOTALL) if "UserPromptSubmit" in text]
    ((entry,),) = [one["hooks"] for one in json.loads(block)["hooks"]["UserPromptSubmit"]]
    assert entry["type"] == "command"
    program, *words = shlex.split(entry["command"])
    assert program == "asx"
    assert hook_process.is_hook(words)
