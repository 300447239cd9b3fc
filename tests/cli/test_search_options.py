"""The options of a search become a request, or a usage error of one sentence; commands written out mean the same."""

import os
import shlex
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st

from cli import search_words
from cli.groups import build_command
from cli.output import safe_line
from cli.search_options import request_of
from cli.search_typed import Typed, check
from index.search import Filters, Mode, SearchRequest, Sort

NOW = datetime(2026, 3, 29, 12, 0, tzinfo=UTC)
AGENTS = ("aster", "aether", "claude-code")


def asked(**options: Any) -> SearchRequest:
    typed = Typed(query="x", **options)
    check(typed)
    return request_of(typed, AGENTS, NOW)


def test_without_options_prompts_are_searched_and_a_session_has_a_share() -> None:
    assert asked() == SearchRequest("x", per_session=5)


@pytest.mark.parametrize(
    ("options", "request_"),
    [
        ({"words": True}, SearchRequest("x", mode=Mode.WORDS, per_session=5)),
        ({"regex": True, "json": True}, SearchRequest("x", mode=Mode.REGEX)),
        ({"in_": ("tools, answers",), "deep": True, "json": True}, SearchRequest("x", ("tools", "answers"), deep=True)),
        ({"sort": "relevance", "jsonl": True}, SearchRequest("x", sort=Sort.RELEVANCE)),
        ({"all_": True, "limit": 3}, SearchRequest("x", limit=None)),
        ({"limit": 3, "offset": 6, "lines": True}, SearchRequest("x", limit=3, offset=6)),
        ({"count": True}, SearchRequest("x", limit=1, exact_total=True)),
        ({"per_session": 2, "json": True}, SearchRequest("x", per_session=2)),
        ({"per_session": 0}, SearchRequest("x")),
        ({"per_session": 1, "all_": True}, SearchRequest("x", limit=None, per_session=1)),
        ({"context": 2, "json": True}, SearchRequest("x", context_turns=2)),
        ({"session": ("a", "b", "a")}, SearchRequest("x", filters=Filters(sessions=("a", "b")))),
    ],
    ids=str,
)
def test_options_become_a_request(options: dict[str, Any], request_: SearchRequest) -> None:
    assert asked(**options) == request_


@pytest.mark.parametrize(
    ("options", "filters"),
    [
        ({"agent": ("aster,aether", "aster")}, Filters(agents=("aster", "aether"))),
        ({"project": "/a/b", "below": True}, Filters(project="/a/b", below=True)),
        ({"here": True}, Filters()),  # the caller puts the path
        ({"exclude_session": ("01k5",)}, Filters(exclude_sessions=("01k5",))),
        ({"since": "7d"}, Filters(since="2026-03-22T12:00:00.000Z")),
        ({"until": "2026-03-29"}, Filters(until="2026-03-30T00:00:00.000Z")),
        (
            {"since": "2026-03-29", "until": "2026-03-29"},
            Filters(since="2026-03-29T00:00:00.000Z", until="2026-03-30T00:00:00.000Z"),
        ),
        ({"role": ("assistant", "user,agent")}, Filters(roles=("agent", "user"))),
        ({"branch": "main"}, Filters(branch="main")),
        ({"main_only": True}, Filters(main_only=True)),
    ],
    ids=str,
)
def test_options_become_filters(options: dict[str, Any], filters: Filters) -> None:
    assert asked(**options).filters == filters


def test_a_tool_alone_means_the_texts_of_tools() -> None:
    assert asked(tool=("Bash,Read",), json=True) == SearchRequest(
        "x", ("tools",), filters=Filters(tools=("Bash", "Read"))
    )
    assert "tools" in asked(tool=("Bash",), in_=("all",)).searched


@pytest.mark.parametrize(
    ("options", "option", "message"),
    [
        ({"here": True, "project": "/a"}, "--here", "leave one out"),
        ({"words": True, "regex": True}, "--words", "--regex"),
        ({"below": True}, "--below", "--here or --project PATH"),
        ({"deep": True}, "--deep", "add --in tools"),
        ({"deep": True, "in_": ("answers",)}, "--deep", "add --in tools"),
        ({"tool": ("Bash",), "in_": ("answers",)}, "--tool", "add tools to --in"),
        ({"json": True, "jsonl": True}, "--json", "--jsonl"),
        ({"json": True, "lines": True}, "--json", "--lines"),
        ({"jsonl": True, "lines": True}, "--jsonl", "--lines"),
        ({"count": True, "jsonl": True}, "--count", "use --json"),
        ({"count": True, "lines": True}, "--count", "--lines"),
        ({"context": 1, "lines": True}, "--context", "--lines"),
        ({"snippet": 5}, "--snippet", "--json"),
        ({"since": "1d", "until": "2d"}, "--since", "nothing lies between"),
        ({"since": "soon"}, "--since", "is not a time"),
        ({"until": "soon"}, "--until", "is not a time"),
        ({"agent": ("nobody",)}, "--agent", "none of aster, aether"),
        ({"role": ("system",)}, "--role", "none of user, agent, control"),
        ({"sort": "size"}, "--sort", "none of time, relevance"),
        ({"in_": ("everything",)}, "--in", "none of prompts, answers"),
        ({"session": ("",)}, "--session", "is empty"),
        ({"exclude_session": (" ",)}, "--exclude-session", "is empty"),
        ({"tool": ("",)}, "--tool", "is empty"),
        ({"branch": ""}, "--branch", "is empty"),
    ],
    ids=str,
)
def test_what_does_not_go_together_is_a_usage_error(options: dict[str, Any], option: str, message: str) -> None:
    with pytest.raises(typer.BadParameter) as refused:
        asked(**options)
    assert option in f"{refused.value.param_hint} {refused.value.message}"
    assert message in refused.value.message
    assert "\n" not in refused.value.message


@pytest.mark.parametrize(
    ("options", "option"),
    [
        ({"agent": ("aster",)}, "--agent"),
        ({"here": True}, "--here"),
        ({"since": "7d"}, "--since"),
        ({"in_": ("answers",)}, "--in"),
        ({"words": True}, "--words"),
        ({"all_": True}, "--all"),
        ({"offset": 1}, "--offset"),
        ({"per_session": 0}, "--per-session"),
        ({"snippet": 3, "json": True}, "--snippet"),
        ({"jsonl": True}, "--jsonl"),
        ({"explain": True}, "--explain"),
    ],
    ids=str,
)
def test_the_newest_prompts_are_searched_as_they_are(options: dict[str, Any], option: str) -> None:
    with pytest.raises(typer.BadParameter, match=f"leave out {option}") as refused:
        check(Typed(query="x", recent=True, **options))
    assert refused.value.message.startswith("--recent ")
    check(Typed(query="x", recent=True, limit=5, json=True))


WORD = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=12)
FLAGS = ("deep", "words", "regex", "here", "below", "main_only", "all_", "count", "explain", "json", "jsonl", "lines")


@st.composite
def typed_options(draw: st.DrawFn) -> Typed:
    """Any options, contradictions among them too: what is written out must mean them all the same."""
    several = st.lists(WORD.filter(lambda word: "," not in word and word.strip() == word), max_size=2).map(tuple)
    options: dict[str, Any] = {name: draw(st.booleans()) for name in FLAGS}
    for name in ("agent", "session", "exclude_session", "role", "tool"):
        options[name] = draw(several)
    for name in ("since", "until", "branch", "sort"):
        options[name] = draw(st.none() | WORD)
    for name in ("limit", "snippet", "per_session"):
        options[name] = draw(st.none() | st.integers(1, 99))
    options |= {"offset": draw(st.integers(0, 9)), "context": draw(st.integers(0, 9))}
    options["project"] = None if options["here"] else draw(st.none() | WORD.map(lambda word: f"/{word}"))
    options["in_"] = ("tools",)
    return Typed(query=draw(WORD), **options)


@given(typed_options())
@settings(max_examples=60, deadline=None)
def test_a_command_written_out_is_read_back_as_the_same_options(typed: Typed) -> None:
    command = search_words.search_command(typed)
    assert safe_line(command) == command
    words = _as_a_shell_reads(command)
    assert words[:2] == ["asx", "search"]
    context = build_command("search").make_context("search", words[2:])
    values = context.params
    assert " ".join(values.pop("query")) == typed.query
    for name, value in values.items():
        if name not in ("no_refresh", "recent", "index"):
            wanted = getattr(typed, name)
            assert (tuple(value or ()) if isinstance(wanted, tuple) else value) == wanted, name


def _as_a_shell_reads(command: str) -> list[str]:
    """Return the words of a command line as bash splits it."""
    done = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {command}"],
        capture_output=True,
        check=True,
        env={"LC_ALL": "C.UTF-8", "HOME": os.environ["HOME"], "PATH": os.environ["PATH"]},
    )
    return done.stdout.decode("utf-8").split("\0")[:-1]


@pytest.mark.parametrize("path", ["~", "~/a b", "/w/it's", "/w/\x1b[1m", "/w/$HOME", "/w/\u202e"], ids=ascii)
def test_a_path_is_read_back_with_its_home(path: str) -> None:
    whole = path.replace("~", os.environ["HOME"])
    written = search_words.shell_path(whole)
    assert safe_line(written) == written
    assert _as_a_shell_reads(written) == [whole]
    assert ("~" in written) == ("~" in path)


def test_filters_and_options_of_tools_go_with_the_tools() -> None:
    typed = Typed(query="-x y", tool=("Bash",), deep=True, in_=("tools",), since="7d", project="/a", below=True)
    assert search_words.search_command(typed, in_=("answers",)) == (
        "asx search --in answers --project /a --since 7d --below -- '-x y'"
    )
    assert search_words.without_filters(typed) == "asx search --in tools --deep -- '-x y'"
    assert search_words.without_filters(replace(typed, in_=())) == "asx search --in tools --deep -- '-x y'"


def test_what_is_written_out_has_every_option_of_the_command() -> None:
    """A new option that is not written out would be lost in the commands that an answer proposes."""
    shown = search_words.search_command(
        Typed(
            query="x", in_=("tools",), deep=True, words=True, regex=True, agent=("a",), project="/p", below=True,
            session=("s",), exclude_session=("e",), since="1d", until="2d", role=("user",), tool=("t",), branch="b",
            main_only=True, sort="time", limit=1, all_=True, offset=1, count=True, context=1, snippet=1, per_session=1,
            explain=True, json=True, jsonl=True, lines=True, index="i",
        )
    )  # fmt: skip
    options = {name for param in build_command("search").params for name in param.opts if name.startswith("--")}
    assert options - {word for word in shlex.split(shown) if word.startswith("--")} == {
        *("--here", "--recent", "--no-refresh")
    }
