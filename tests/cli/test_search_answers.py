"""``asx search`` over the files of three agents: filters, folding, shares, pages, pipes, and what is said of a zero."""

import json
import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cli import cells
from tests import builders as make
from tests.builders import HomeBuilder
from tests.cli.conftest import Run
from tests.cli.test_search_command import FORBIDDEN
from tests.conftest import REPOSITORY

BIG = "01kbvgbankbbbbbbbbbbbbbbbb"
CLAUDE = "6b1f0c52-7d3e-4a86-8f15-2c9e4d7a1b30"
TWICE = "7c2f1d63-8e4f-4b97-9026-3daf5e8b2c41"
PROJECTS = ("/a/b", "/a/bc", "/a/b/sub", "/a/b%", "/a/B", "/a/b_")
PARAGRAPH = "the paragraph about the harbour that is pasted everywhere"


def fill(home: HomeBuilder) -> None:
    for number, project in enumerate(PROJECTS):
        id_ = f"project-{number}"
        home.aster(id_, make.aster_header(id_, number, cwd=project), make.aster_prompt(f"lantern in {project}", number))
    lines = [make.aster_header(BIG, 100)]
    for minute in range(40):
        lines.append(make.aster_prompt(f"wave {minute} of the giant", 100 + minute))
        lines.append(make.aster_answer(f"Answer {minute} on the tide", 100.5 + minute))
    home.aster(BIG, *lines)
    for number in range(40):
        id_ = f"copy-{number:02}"
        home.aster(id_, make.aster_header(id_, 200 + number), make.aster_prompt(PARAGRAPH, 200 + number))
    home.aster("note", make.aster_header("note", 1), make.aster_prompt("another word on the harbour", 1))
    home.claude(
        CLAUDE,
        make.claude_prompt("deploy the kite", CLAUDE, "u1", 300, gitBranch="feature/kite"),
        make.claude_answer("The kite is deployed", CLAUDE, "u2", 301, gitBranch="feature/kite"),
        make.claude_tool_call("t1", CLAUDE, "u3", 302, command="kitectl deploy " + "x" * 3000 + " needle-at-the-end"),
        make.claude_tool_result("t1", "kite \x1b]52;c;aGk=\x07 done", CLAUDE, "u4", 303),
    )
    home.claude_agent(CLAUDE, "a7c41e9", make.claude_prompt("look for the kite", CLAUDE, "s1", 304, isSidechain=True))
    for name, minute in (("first", 400), ("again", 410)):
        home.claude(
            name,
            make.claude_prompt(f"{name} part of the otter", TWICE, f"{name}-1", minute),
            make.claude_answer(f"{name} answer of the otter", TWICE, f"{name}-2", minute + 1),
        )
    home.aster("same", make.aster_header("same", 500), make.aster_prompt("a heron of the one", 501))
    home.aether("same", make.aether_metadata("same", 510), make.aether_prompt("a badger of the other"))
    home.claude_history(make.claude_history_entry("a kite of history", None, 10))
    home.block("kite-rules", "Kites fly in the afternoon.")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the files above and its index."""
    home = HomeBuilder(tmp_path_factory.mktemp("answers"))
    fill(home)
    done = subprocess.run(
        [sys.executable, "-m", "cli", "ingest", "--quiet"],
        env={**os.environ, "HOME": str(home.home)},
        cwd=REPOSITORY,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return home.home


@pytest.fixture
def search(filled: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> Run:
    monkeypatch.setenv("HOME", str(filled))
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))

    def call(*words: Any) -> Any:
        return run("search", *words)

    return call


def texts(found: Any) -> list[str]:
    return [hit["text"] for hit in found.json()["hits"]]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--project", "/a/b"], {"/a/b"}),
        (["--project", "/a/b/"], {"/a/b"}),
        (["--project", "/a/bc/../b"], {"/a/b"}),
        (["--project", "/a/b", "--below"], {"/a/b", "/a/b/sub"}),
        (["--project", "/a/b%", "--below"], {"/a/b%"}),
        (["--project", "/a/b_"], {"/a/b_"}),
        (["--project", "/a/B"], {"/a/B"}),
        (["--project", "/a", "--below"], set(PROJECTS)),
        (["--project", "/a"], set()),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_project_is_its_path_and_no_beginning_of_one(options: list[str], expected: set[str], search: Run) -> None:
    found = search("lantern", *options, "--json")
    assert {hit["project"] for hit in found.json()["hits"]} == expected
    assert found.code == (0 if expected else 1)
    assert found.json()["filters"]["project"] == str(os.path.normpath(options[1]))
    assert found.json()["filters"].get("below", False) == ("--below" in options)


def test_a_project_may_be_relative_and_here_is_the_project_of_the_folder(
    search: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "repository"
    (root / "below").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.chdir(root / "below")
    assert search("x", "--here", "--json").json()["filters"] == {"project": str(root)}
    assert search("x", "--project", ".", "--json").json()["filters"] == {"project": str(root / "below")}
    assert search("x", "--project", "../o", "--json").json()["filters"] == {"project": str(root / "o")}
    home = os.environ["HOME"]
    assert search("x", "--project", "~/o", "--json").json()["filters"] == {"project": f"{home}/o"}
    told = search("x", "--here", "--below").stderr
    assert f"only project {root} and below" in told
    assert search("x", "--project", "").code == 2
    told = search("nowhere", "--project", ".").stderr
    assert f"{root}/below is a folder of a project: asx search --project {root} nowhere\n" in told
    assert "is a folder of" not in search("nowhere", "--project", str(root)).stderr + search("x", "--here").stderr


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], {"deploy the kite", "look for the kite", "a kite of history"}),
        (["--main-only"], {"deploy the kite", "a kite of history"}),
        (["--agent", "claude-code"], {"deploy the kite", "look for the kite", "a kite of history"}),
        (["--agent", "aster,aether"], set()),
        (["--session", CLAUDE[:8]], {"deploy the kite"}),
        (["--session", f"{CLAUDE}/a7c41e9"], {"look for the kite"}),
        (["--exclude-session", CLAUDE], {"look for the kite", "a kite of history"}),
        (["--branch", "feature/kite", "--main-only"], {"deploy the kite"}),
        (["--branch", "feature"], set()),
        (["--since", make.at(299), "--until", make.at(304)], {"deploy the kite"}),
        (["--role", "assistant"], set()),
        (["--role", "assistant", "--in", "answers"], {"The kite is deployed"}),
        (["--role", "user", "--in", "prompts,answers", "--session", CLAUDE], {"deploy the kite"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_filters_let_in_what_they_say(options: list[str], expected: set[str], search: Run) -> None:
    where = [] if "--in" in options else ["--in", "prompts,notices"]
    assert set(texts(search("kite", *where, *options, "--json"))) == expected


def test_a_session_that_is_not_there_is_told(search: Run) -> None:
    found = search("kite", "--session", "nobody", "--json")
    assert (found.code, found.json()["error"]["kind"]) == (1, "not_found")


def test_tools_are_searched_in_their_beginnings_and_whole(search: Run) -> None:
    found = search("kitectl", "--tool", "Bash", "--json")
    [hit] = found.json()["hits"]
    assert (hit["field"], hit["in"], hit["tool_name"]) == ("tool_arguments", "tools", "Bash")
    assert hit["text_length"] > 3000
    assert search("kitectl", "--tool", "Read", "--json").code == 1
    missed = search("needle-at-the-end", "--in", "tools")
    assert missed.code == 1
    assert "asx search --in tools --deep needle-at-the-end" in missed.stderr
    assert search("needle-at-the-end", "--in", "tools", "--json").json()["heads_only"] is True
    deep = search("needle-at-the-end", "--in", "tools", "--deep", "--json")
    assert (deep.code, deep.json()["heads_only"]) == (0, False)
    shown = search("kite", "--tool", "Bash").stdout
    assert not FORBIDDEN.search(shown)
    assert "kite \\x1b]52;c;aGk=\\a done" in shown


def test_equal_prompts_fold_and_leave_room_for_others(search: Run) -> None:
    found = search("harbour", "--limit", "5", "--json").json()
    assert [(hit["text"], hit["count"]) for hit in found["hits"]] == [
        (PARAGRAPH, 40),
        ("another word on the harbour", 1),
    ]
    assert found["total"] == 2
    shown = search("harbour").stdout
    assert re.search(r"^  turn 0  40 times, last 2026-05-04 11:59$", shown, re.MULTILINE)


def test_one_session_does_not_fill_the_list(search: Run) -> None:
    shown = search("giant")
    assert shown.stdout.count("asx show ") == 5
    more = re.search(r"^  35 more of this session, not listed: (asx search .*)$", shown.stdout, re.MULTILINE)
    assert more
    told = search(*shlex.split(more[1])[2:], "--all", "--json").json()
    assert (told["total"], told["returned"]) == (40, 40)
    assert search("giant", "--per-session", "2").stdout.count("asx show ") == 2
    assert search("giant", "--per-session", "0").stdout.count("asx show ") == 20
    assert search("giant", "--session", BIG, "--limit", "30").stdout.count("asx show ") == 30
    assert search("giant", "--all").stdout.count("asx show ") == 40
    assert len(search("giant", "--lines", "--all").stdout.splitlines()) == 40
    assert search("giant", "--json").json()["returned"] == 20
    assert search("giant", "--json", "--per-session", "3").json()["hits"][-1]["more_in_session"] == 37


@pytest.mark.parametrize("options", [[], ["--per-session", "3"], ["--sort", "relevance"], ["--words"]], ids=" ".join)
def test_pages_join_to_the_whole_list(options: list[str], search: Run) -> None:
    words = ["the", "--in", "all", *options, "--json"]
    whole = search(*words, "--all").json()
    assert (whole["total_is_exact"], whole["next_offset"]) == (True, None)
    joined: list[dict[str, Any]] = []
    offset: int | None = 0
    while offset is not None:
        page = search(*words, "--limit", "7", "--offset", str(offset)).json()
        assert page["offset"] == offset
        joined += page["hits"]
        offset = page["next_offset"]
    assert [one["source"] | {"in": one["in"]} for one in joined] == [
        one["source"] | {"in": one["in"]} for one in whole["hits"]
    ]
    assert len(whole["hits"]) > 7


def test_the_next_page_is_a_command(search: Run) -> None:
    first = search("giant", "--per-session", "0", "--limit", "15")
    command = re.search(r"25 more; --all shows them, or: (asx search .*)", first.stderr)
    assert command
    second = search(*shlex.split(command[1])[2:])
    assert set(re.findall("asx show .*", first.stdout)).isdisjoint(re.findall("asx show .*", second.stdout))
    assert second.stdout.count("asx show ") == 15
    assert "the list ends before: 40 hits in all" in search("giant", "--per-session", "0", "--offset", "99").stderr


def test_how_many_follow_is_a_bound_where_a_share_may_leave_some_out(search: Run) -> None:
    """The session of the giant has 40 hits and none on the first page: what its share leaves out is not known yet."""
    assert search("the", "--per-session", "1", "--limit", "3").stderr.startswith("at most 43 more; --all shows them")
    for page in (["--limit", "4", "--per-session", "2"], ["--limit", "5", "--per-session", "1"]):
        left = 6 - int(page[1])
        assert search("lantern", *page).stderr.startswith(f"{left} more; --all shows them"), "no share is so small"
    shared = search("lantern", "--limit", "2", "--per-session", "2", "--offset", "2").stderr
    assert shared.startswith("at most 2 more; ")
    assert search("lantern", "--limit", "2", "--per-session", "0", "--offset", "2").stderr.startswith("2 more; ")


def test_a_fork_is_told_as_one_and_counts_as_a_persons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    home = HomeBuilder(tmp_path / "forked")
    home.claude("orig-1", make.claude_prompt("mend the roof", "orig-1", "u1", 1))
    copied = make.claude_prompt("mend the roof", "fork-1", "u1", 1, forkedFrom={"sessionId": "orig-1"})
    home.claude("fork-1", copied, make.claude_prompt("and the barn", "fork-1", "u3", 3))
    monkeypatch.setenv("HOME", str(home.home))
    assert run("sessions", "show", "fork-1").stdout.count("fork of   orig-1\n") == 1
    assert run("sessions", "show", "fork-1", "--json").json()["forked_from"] == "orig-1"
    assert run("ingest", "--quiet").code == 0
    assert "fork of   orig-1\n" in run("sessions", "show", "fork-1").stdout
    assert "fork of" not in run("sessions", "show", "orig-1").stdout
    listed = run("sessions", "--all", "--json").json()["sessions"]
    assert {(one["id"], one["parent_id"], one["forked_from"]) for one in listed} == {
        ("orig-1", None, None), ("fork-1", None, "orig-1"),
    }  # fmt: skip
    [hit] = run("search", "barn", "--main-only", "--json").json()["hits"]
    assert (hit["session_id"], hit["parent_session_id"], hit["forked_from"]) == ("fork-1", None, "orig-1")
    assert run("search", "barn", "--main-only").stdout.splitlines()[0].endswith("claude-code  fork")


def test_count_is_exact_and_alone_on_stdout(search: Run) -> None:
    assert search("giant", "--count").stdout == "40\n"
    assert search("giant", "--in", "all", "--count", "--json").json()["total_is_exact"] is True
    told = search("giant", "--count", "--json").json()
    assert (told["total"], told["hits"], told["next_offset"]) == (40, [], None)
    assert search("nowhere", "--count").stdout == "0\n"
    assert search("nowhere", "--count").code == 1


def test_context_are_the_turns_around(search: Run) -> None:
    [hit] = search("wave 7 of", "--context", "1", "--json").json()["hits"]
    near = [(one["turn"], one["kind"]) for one in hit["context"]]
    assert near == [(6, "user"), (6, "agent"), (7, "user"), (7, "agent"), (8, "user"), (8, "agent")]
    assert [one["is_hit"] for one in hit["context"]].count(True) == 1
    shown = search("wave 7 of", "--context", "1").stdout
    assert [line.split("  ")[-1] for line in shown.splitlines()[2:8]] == [
        "wave 6 of the giant", "Answer 6 on the tide", "> wave 7 of the giant", "Answer 7 on the tide",
        "wave 8 of the giant", "Answer 8 on the tide",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["tide"], "0 in prompts, 40 in answers: asx search --in answers tide"),
        (["GIANT"], "40 in another case: asx search giant"),
        (["giant the of"], "40 with the same words in any order: asx search --words 'giant the of'"),
        (["lantern", "--since", "2w", "--agent", "claude-code"], "6 without these options: asx search lantern"),
        (
            ["--project", "/nowhere", "--", "--kite"],
            "texts of tools were not searched: asx search --in tools --project",
        ),
    ],
    ids=" ".join,
)
def test_what_comes_near_is_a_command_that_finds_it(words: list[str], told: str, search: Run) -> None:
    missed = search(*words)
    assert (missed.code, missed.stdout) == (1, "")
    line = next((line for line in missed.stderr.splitlines() if line.startswith(told)), None)
    assert line is not None, missed.stderr
    number = re.search(r"(\d+) (?:in|with|without)", line.removeprefix("0 in prompts, "))
    if number:
        assert search(*shlex.split(line.partition(": ")[2])[2:], "--count").stdout == f"{number[1]}\n"


def test_a_zero_tells_its_filters(search: Run) -> None:
    missed = search("nowhere", "--agent", "aster", "--since", "2026-05-01", "--project", "~/x", "--main-only")
    assert re.search(r"^nothing found for 'nowhere' in prompts \(\d+ texts?\)$", missed.stderr, re.MULTILINE)
    assert "only agent aster; project ~/x; since 2026-05-01 00:00; no sub-agents\n" in missed.stderr


def test_explain_is_talk_and_an_object(search: Run) -> None:
    told = search("giant", "--explain", "--limit", "1")
    assert "mode" in told.stderr
    assert "mode" not in told.stdout
    assert isinstance(search("giant", "--explain", "--json").json()["explain"]["mode"], str)


def test_jsonl_is_one_hit_a_line_and_nothing_else(search: Run) -> None:
    found = search("kite", "--in", "all", "--jsonl", "--explain")
    hits = [json.loads(line) for line in found.stdout.splitlines()]
    assert hits == [{"schema_version": 1, **hit} for hit in search("kite", "--in", "all", "--json").json()["hits"]]
    assert len(hits) >= 5
    assert not FORBIDDEN.search(found.stdout)
    missed = search("nowhere", "--jsonl")
    assert (missed.code, missed.stdout) == (1, "")
    assert "nothing found" in missed.stderr
    failed = search("kite", "--jsonl", "--since", "soon")
    assert (failed.code, failed.stdout) == (2, "")


@pytest.mark.parametrize("form", ["--jsonl", "--lines", "--json", "--count", ""])
@pytest.mark.parametrize("reader", ["head -n 1", "true"])
def test_a_reader_that_leaves_is_no_failure(form: str, reader: str, search: Run, tmp_path: Path) -> None:
    asx = f"{shlex.quote(sys.executable)} -m cli search --all --in all {form} e"
    piped = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {asx} | {reader}"], capture_output=True, check=False, cwd=REPOSITORY
    )
    assert b"Traceback" not in piped.stderr
    assert b"Exception" not in piped.stderr
    assert piped.returncode == 0


def test_lines_are_what_show_takes(search: Run, run: Run) -> None:
    shown = 0
    for line in search("kite", "--in", "all", "--lines", "--all").stdout.splitlines():
        argument, moment, agent, _project, text = line.split("\t")
        assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", moment)
        assert agent in ("aster", "claude-code")
        assert "kite" in text.lower()
        if argument:
            found = run("show", argument)
            assert found.code == 0, found.stderr
            assert "kite" in found.stdout.lower()
            shown += 1
        else:
            assert text == "a kite of history"
    assert shown >= 6


@pytest.mark.parametrize("word", ["otter", "heron", "badger"])
def test_a_hit_is_shown_whatever_shares_its_id(word: str, search: Run, run: Run) -> None:
    shown = search(word, "--in", "prompts,answers").stdout
    commands = re.findall(r"^    asx (show .*)$", shown, re.MULTILINE)
    arguments = [line.split("\t")[0] for line in search(word, "--in", "prompts,answers", "--lines").stdout.splitlines()]
    assert len(commands) == len(arguments) == (4 if word == "otter" else 1)
    for words in [*map(shlex.split, commands), *(["show", argument] for argument in arguments)]:
        words = [str(Path(one).expanduser()) if one.startswith("~") else one for one in words]
        found = run(*words)
        assert found.code == 0, found.stderr
        assert word in found.stdout


FZF = shutil.which("fzf")
needs_fzf = pytest.mark.skipif(FZF is None, reason="fzf is not installed")


@pytest.fixture
def programs(tmp_path: Path, search: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """PATH with ``asx`` on it."""
    program = tmp_path / "bin" / "asx"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m cli "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return program.parent


@needs_fzf
def test_fzf_filters_lines_and_show_takes_the_first_column(programs: Path) -> None:
    pipe = (
        "asx search --lines --all --in prompts,answers kite | fzf --delimiter '\\t' --with-nth 2.. --filter 'deployed' "
        "| cut -f 1 | xargs asx show"
    )
    done = subprocess.run(["bash", "-c", pipe], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "The kite is deployed" in done.stdout


@needs_fzf
def test_the_line_for_fzf_shows_what_was_chosen(programs: Path) -> None:
    """The documented line on a terminal of its own, where the first line is accepted at once."""
    pipe = (
        "asx search --lines --all lantern | fzf --delimiter '\\t' --with-nth 2.. --preview 'asx show {1}' "
        "--query 'a/bc' --bind 'enter:become(asx show {1})' --bind 'load:become(asx show {1})'"
    )
    process, terminal = pty.fork()
    if process == 0:
        os.environ["TERM"] = "xterm"
        os.execvp("bash", ["bash", "-c", pipe])  # noqa: S606 - a real terminal needs a real process
    shown = b""
    until = time.monotonic() + 30
    while time.monotonic() < until and b"lantern in /a/b" not in shown.rpartition(b"user_message")[2]:
        if select.select([terminal], [], [], 1)[0]:
            try:
                shown += os.read(terminal, 65536)
            except OSError:
                break
    os.close(terminal)
    assert os.waitpid(process, 0)[0] == process
    assert b"user_message" in shown
    assert b"lantern in /a/b" in shown.rpartition(b"user_message")[2]


@pytest.mark.parametrize(
    "words",
    [
        ["--jsonl", "giant"],
        ["--lines", "giant"],
        ["--since", "2020-01-01", "--here", "--agent", "aster", "giant"],
        ["--words", "--explain", "giant"],
        ["--in", "tools", "kite"],
    ],
    ids=" ".join,
)
def test_no_form_and_no_filter_imports_anything_heavy(words: list[str], search: Run) -> None:
    heavy = ("pydantic", "sqlalchemy", "alembic", "rich", "ulid", "filelock", "asyncio", "yaml")
    probe = (
        f"import sys; from cli.app import main; main({['search', *words]!r}); "
        f"sys.stderr.write(repr(sorted(set({heavy!r}) & sys.modules.keys())))"
    )
    done = subprocess.run([sys.executable, "-c", probe], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1].endswith("[]")


@pytest.mark.parametrize("words", [["--force"], ["-1"], ["-v", "x"]], ids=" ".join)
def test_a_query_with_a_dash_is_told_of_two_dashes(words: list[str], search: Run) -> None:
    refused = search(*words)
    assert refused.code == 2
    assert " -- " in refused.stderr
    assert " -- " in search(*words, "--json").json()["error"]["hint"]
    assert search("--", *words).code == 1


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> HomeBuilder:
    """A home of this test alone with one indexed session."""
    home = HomeBuilder(tmp_path / "own")
    monkeypatch.setenv("HOME", str(home.home))
    home.aster("one", make.aster_header("one", 0), make.aster_prompt("the first lantern", 1))
    assert run("ingest", "--quiet").code == 0
    return home


def test_what_was_written_since_is_found(own: HomeBuilder, run: Run) -> None:
    own.aster("two", make.aster_header("two", 5), make.aster_prompt("the second lantern", 6))
    stale = run("search", "second", "--no-refresh")
    assert stale.code == 1
    assert "1 changed file is not in the index yet" in stale.stderr
    assert "run: asx ingest" in stale.stderr
    told = run("search", "lantern", "--no-refresh", "--json").json()["index"]
    assert (told["stale"], told["refreshed"], told["sources_behind"]) == (True, False, 1)
    fresh = run("search", "second", "--json")
    assert fresh.code == 0
    assert (fresh.json()["index"]["stale"], fresh.json()["index"]["refreshed"]) == (False, True)
    assert run("search", "--recent", "second").code == 0


@pytest.mark.parametrize("form", ["--json", "--jsonl", "--lines", "--count", "--recent"])
def test_a_search_of_a_fresh_index_changes_not_one_byte(form: str, own: HomeBuilder, run: Run) -> None:
    folder = own.home / ".cache" / "aster-index"

    def state() -> dict[str, bytes]:
        return {file.name: file.read_bytes() for file in folder.iterdir()}

    run("search", "lantern", form)
    before = state()
    assert run("search", "lantern", form).code == 0
    assert state() == before


def write_faults(home: HomeBuilder, shared: Path) -> None:
    faults = shared / "spec" / "faults" / "B122"
    for part in ("sessions", "memory"):
        shutil.copytree(faults / part, home.aster_home / part, dirs_exist_ok=True)


def test_control_codes_of_every_source_stay_out_of_the_terminal(
    own: HomeBuilder, run: Run, on_a_terminal: Any, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_faults(own, shared)
    assert run("ingest", "--quiet").code == 0
    assert run("search", "--in", "all", "e", "--count").stdout != "1\n"
    for words in (
        ["--context", "2"],
        ["--lines"],
        ["--jsonl"],
        ["--json"],
        ["--explain", "--words"],
        ["--snippet", "9", "--json"],
    ):
        for query in ("e", "a"):
            found = run("search", "--in", "all", "--all", *words, query)
            assert found.code in (0, 1)
            assert not FORBIDDEN.search(found.stdout + found.stderr)
    for columns in ("40", "80", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        _code, shown = on_a_terminal("search", "--in", "all", "--all", "e", no_color="1")
        assert not FORBIDDEN.search(shown.replace("\r\n", "\n"))


def test_a_query_with_control_codes_is_told_without_them(own: HomeBuilder, run: Run) -> None:
    missed = run("search", "no\x1b]0;t\x07where", "--project", "/w/\x1b[1m", "--branch", "\u202ex", "--explain")
    assert missed.code == 1
    assert not FORBIDDEN.search(missed.stdout + missed.stderr)
    assert "$'no\\x1b]0;t\\x07where'" in missed.stderr


@pytest.mark.parametrize("columns", ["40", "80", "120", "200"])
@pytest.mark.parametrize("words", [["the"], ["--in", "all", "--context", "1", "e"]], ids=" ".join)
def test_texts_fit_the_terminal(
    columns: str, words: list[str], search: Run, on_a_terminal: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    code, shown = on_a_terminal("search", *words, no_color="1")
    assert code == 0
    lines = [line for line in shown.splitlines() if "asx " not in line and " without a recorded time" not in line]
    assert max(map(cells.width, lines)) <= int(columns)
    assert any(line.startswith("    ") for line in lines)


def test_a_file_that_cannot_be_read_makes_a_zero_no_answer(own: HomeBuilder, run: Run) -> None:
    transcript = own.claude(
        CLAUDE,
        make.claude_prompt("build it", CLAUDE, "u1", 1),
        make.claude_tool_call("t1", CLAUDE, "u2", 2, command="make " + "x" * 3000 + " needle"),
    )
    assert run("ingest", "--quiet").code == 0
    assert run("search", "--in", "tools", "--deep", "needle").code == 0
    make.make_unreadable(transcript)
    missed = run("search", "--in", "tools", "--deep", "--no-refresh", "needle")
    assert missed.code == 6
    assert f"{CLAUDE}.jsonl could not be read" in missed.stderr
    told = run("search", "--in", "tools", "--deep", "--no-refresh", "needle", "--json")
    assert (told.code, [one["path"] for one in told.json()["unread"]]) == (6, [str(transcript)])


def test_a_pattern_that_runs_out_of_time_says_so(own: HomeBuilder, run: Run) -> None:
    own.aster("slow", make.aster_header("slow", 5), make.aster_prompt("a" * 60 + "b", 6))
    missed = run("search", "--regex", r"(a|aa)+$")
    assert missed.code == 7
    assert missed.stdout == ""
    assert "the pattern ran out of time" in missed.stderr or "the pattern was stopped" in missed.stderr
