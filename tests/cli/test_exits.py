"""Every error has its exit code and kind, and is told once: as one JSON value, or on stderr."""

import json
from pathlib import Path

import pytest
import typer

from cli import exits
from cli.app import main
from index import errors as index_errors
from persist import errors as store_errors
from tests.cli.conftest import Run

HERE = Path("/somewhere/index.sqlite")
CASES = [
    (store_errors.NotFoundError("session", "x"), 1, "not_found"),
    (store_errors.AmbiguousError("session", "x", ("xa", "xb")), 2, "ambiguous"),
    (store_errors.RefusedError("not for this agent"), 7, "refused"),
    (store_errors.BusyError(HERE, 1.0), 5, "busy"),
    (store_errors.ConfigError(HERE, "is not YAML"), 2, "usage"),
    (store_errors.StoreIOError(HERE, "read", "Permission denied"), 6, "io"),
    (index_errors.NoIndexError(HERE), 3, "no_index"),
    (index_errors.IndexUnusableError(HERE, "is damaged", "run: asx rebuild"), 4, "index_unusable"),
    (index_errors.IndexNewerError(HERE, 9, 1), 4, "index_newer"),
    (index_errors.IndexBusyError(HERE, 1.0), 5, "busy"),
    (index_errors.QueryRefusedError("writing"), 7, "refused"),
    (index_errors.QueryFailedError("no such table"), 2, "usage"),
    (index_errors.QueryTimeoutError(2.0), 7, "timeout"),
    (index_errors.UnknownReportError("x", ("a",)), 1, "not_found"),
    (PermissionError(13, "Permission denied", "/etc/shadow"), 6, "io"),
    (typer.BadParameter("is no number"), 2, "usage"),
]
KINDS = {
    *("usage", "no_index", "index_unusable", "index_newer", "busy", "not_found", "ambiguous"),
    *("refused", "timeout", "io", "interrupted"),
}


@pytest.mark.parametrize(("error", "code", "kind"), CASES, ids=[type(case[0]).__name__ for case in CASES])
def test_an_error_has_its_code_and_kind(error: Exception, code: int, kind: str) -> None:
    failure = exits.failure_of(error)
    assert (failure.code, failure.kind) == (code, kind)
    assert "\n" not in failure.message
    assert kind in KINDS


def test_every_error_of_both_trees_has_an_answer() -> None:
    def below(error: type[Exception]) -> list[type[Exception]]:
        return [error, *(inner for child in error.__subclasses__() for inner in below(child))]

    for error in below(store_errors.StoreError) + below(index_errors.AsterIndexError):
        assert any(base in exits.ANSWERS for base in error.__mro__)
    assert {answer.kind for answer in exits.ANSWERS.values()} <= KINDS


def _ended_by(error: BaseException, *, as_json: bool) -> exits.Outcome:
    with exits.edge(as_json=as_json) as outcome:
        _raise(error)
    return outcome


def _raise(error: BaseException) -> None:
    raise error


@pytest.mark.parametrize("as_json", [True, False], ids=["json", "plain"])
def test_a_failure_is_told_in_one_place(as_json: bool, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = _ended_by(index_errors.NoIndexError(HERE), as_json=as_json)
    shown = capsys.readouterr()
    assert outcome.code == 3
    if as_json:
        told = json.loads(shown.out)
        assert told["schema_version"] == 1
        assert told["error"] == {
            "kind": "no_index",
            "message": f"no index at {HERE}; run: asx ingest",
            "hint": "asx ingest",
        }
        assert shown.err == ""
    else:
        assert shown.out == ""
        assert shown.err == f"asx: no index at {HERE}; run: asx ingest\n"


@pytest.mark.parametrize("debug", [True, False], ids=["ASX_DEBUG=1", "plain"])
def test_an_unforeseen_error_shows_its_place_and_no_text(
    debug: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if debug:
        monkeypatch.setenv("ASX_DEBUG", "1")
    outcome = _ended_by(LookupError('said: "sk-test-000"'), as_json=False)
    told = capsys.readouterr().err
    assert outcome.code == 6
    assert "LookupError in test_exits.py line" in told
    assert "sk-test-000" not in told
    assert ('File "' in told) is debug
    assert "ASX_DEBUG=1" in told


@pytest.mark.parametrize("error", [KeyboardInterrupt, EOFError, typer.Abort], ids=lambda error: error.__name__)
def test_interrupted_is_130(error: type[BaseException], capsys: pytest.CaptureFixture[str]) -> None:
    outcome = _ended_by(error(), as_json=True)
    assert outcome.code == 130
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "interrupted"


def test_a_command_may_end_with_a_code_of_its_own() -> None:
    assert _ended_by(typer.Exit(7), as_json=False).code == 7


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["search", "--json", "x"], True),
        (["search", "--", "--json"], False),
        (["search", "json"], False),
        (["--json"], True),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_json_is_wanted_before_words_are_read(words: list[str], wanted: bool) -> None:
    assert exits.wants_json(words) is wanted


USAGE_CASES = [
    (["serch"], "did you mean search?"),
    (["list"], "no command 'list'; did you mean sessions list or memory list?"),
    (["rename"], "did you mean sessions rename?"),
    (["lists"], "did you mean sessions list or memory list?"),
    (["sessions", "lst"], "did you mean list"),
    (["sessions", "archive"], "did you mean asx memory archive?"),
    (["memory", "search"], "did you mean asx search?"),
    (["search"], "missing argument"),
    (["search", "--force", "x"], "put -- before words that begin with a dash"),
    (["search", "-1"], "put -- before words that begin with a dash"),
    (["search", "--limit", "0", "x"], "0 is less than 1"),
    (["search", "--limit", "many", "x"], "'many' is not a whole number"),
    (["search", "--limit", "1_000", "x"], "'1_000' is not a whole number"),
    (["search", "--in", "prompts,nowhere", "x"], "'nowhere' is none of"),
    (["search", "--json=false", "x"], "does not take a value"),
    (["search", "--limit"], "requires an argument"),
    (["ingest", "--root", "nobody"], "is not AGENT=PATH"),
    (["ingest", "--root", "nobody=/x"], "'nobody' is none of"),
    (["show"], "give a session's id"),
    (["paths", "nowhere"], "'nowhere' is none of"),
    (["verify", "more"], "unexpected extra argument"),
]


@pytest.mark.parametrize(("words", "said"), USAGE_CASES, ids=[" ".join(case[0]) for case in USAGE_CASES])
def test_a_usage_error_is_2_and_says_what_is_wrong(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:

    assert main(words) == 2
    plain = capsys.readouterr()
    assert plain.out == ""
    assert said in plain.err
    assert plain.err.startswith(("Usage: asx", "asx: "))
    assert main([words[0], "--json", *words[1:]]) == 2
    told = capsys.readouterr()
    assert json.loads(told.out)["error"]["kind"] == "usage"
    assert told.err == ""


def test_no_command_shows_the_help_and_is_2(run: Run) -> None:
    shown = run()
    assert shown.code == 2
    assert shown.stdout == ""
    assert "Commands:" in shown.stderr


COMMANDS_WITHOUT_INDEX = [
    (["search", "x"], 3),
    (["search", "--count", "x"], 3),
    (["search", "--recent", "x"], 3),
    (["search", "--no-refresh", "x"], 3),
    (["memory", "show", "nothing"], 1),
    (["recall", "nothing"], 1),
    (["memory", "list"], 1),
    (["memory", "log"], 1),
    (["paths"], 0),
    (["status"], 0),
]


@pytest.mark.parametrize(
    ("words", "code"), COMMANDS_WITHOUT_INDEX, ids=[" ".join(case[0]) for case in COMMANDS_WITHOUT_INDEX]
)
def test_without_an_index(words: list[str], code: int, run: Run, isolated: Path) -> None:
    before = sorted(isolated.rglob("*"))
    plain, told = run(*words), run(*words, "--json")
    assert (plain.code, told.code) == (code, code)
    assert isinstance(told.json(), dict)
    assert sorted(isolated.rglob("*")) == before


def test_a_broken_configuration_is_a_usage_error(run: Run, isolated: Path) -> None:
    config = isolated / ".config" / "aster-index" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("exclude: [~/secret]\n")
    shown = run("paths", "--json")
    assert shown.code == 2
    assert "config.yaml" in shown.json()["error"]["message"]
