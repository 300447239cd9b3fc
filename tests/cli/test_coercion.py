"""Words become plain values without Pydantic, alike with Typer's own coercion where that is used instead."""

from typing import Annotated

import pytest
import typer
import typer.core
import typer.main

from cli import coercion
from cli.groups import new_app

SEEN: list[object] = []


def _command(
    words: Annotated[list[str] | None, typer.Argument()] = None,
    number: Annotated[int, typer.Option("--number", min=1, max=9)] = 3,
    ratio: Annotated[float | None, typer.Option("--ratio")] = None,
    flag: Annotated[bool, typer.Option("--flag")] = False,
    part: Annotated[list[str] | None, typer.Option("--part")] = None,
) -> int:
    SEEN[:] = [words, number, ratio, flag, part]
    return 0


def _parse(*words: str) -> list[object]:
    app = new_app()
    app.command("x")(_command)
    command = typer.main.get_command(app)
    with command.make_context("x", list(words)) as context:
        command.invoke(context)
    return list(SEEN)


@pytest.fixture(params=["plain", "typer's own"])
def coerced(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    from typer._coercion import build_runtime_param

    monkeypatch.setattr(typer.core, "build_runtime_param", build_runtime_param)
    if request.param == "plain":
        coercion.install()


CASES: list[tuple[list[str], list[object]]] = [
    ([], [None, 3, None, False, None]),
    (["a", "b"], [["a", "b"], 3, None, False, None]),
    (["--number", "1", "--number", "9"], [None, 9, None, False, None]),
    (["--number=4", "--ratio", "0.5"], [None, 4, 0.5, False, None]),
    (["--flag", "--flag"], [None, 3, None, True, None]),
    (["--part", "a", "--part", "b"], [None, 3, None, False, ["a", "b"]]),
    (["--", "--flag", "-1"], [["--flag", "-1"], 3, None, False, None]),
]


@pytest.mark.usefixtures("coerced")
@pytest.mark.parametrize(("words", "values"), CASES, ids=[" ".join(case[0]) or "absent" for case in CASES])
def test_values(words: list[str], values: list[object]) -> None:
    assert _parse(*words) == values


@pytest.mark.usefixtures("coerced")
@pytest.mark.parametrize(
    "words",
    [["--number", "0"], ["--number", "10"], ["--number", "x"], ["--number", "1.5"], ["--ratio", "x"], ["--flag=false"]],
    ids=" ".join,
)
def test_mistakes(words: list[str]) -> None:
    with pytest.raises(typer.TyperException) as mistake:
        _parse(*words)
    assert mistake.value.exit_code == 2


def test_a_renamed_private_name_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(typer.core, "build_runtime_param")
    coercion.install()
    assert not hasattr(typer.core, "build_runtime_param")
