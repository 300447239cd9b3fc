"""The options that ``asx query`` and ``asx report`` share, and what their texts mean.

Imports Typer for its usage error; the time zone is the process's own, and is set here.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Sequence
from typing import Annotated, Final, TypeAlias

import typer

from cli import choices, formats, output

MAX_TIMEOUT_S: Final = 86400.0
_INTEGER: Final = re.compile(r"-?(0|[1-9][0-9]{0,17})\Z", re.ASCII)
_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]{0,17})\.[0-9]{1,17}\Z", re.ASCII)
_PARAMETER: Final = re.compile(r"[:@$#?]?([\w$]+)(:?)\Z")
_MAX_INTEGER: Final = 2**63 - 1

Parameters: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "-p",
        "--parameter",
        metavar="NAME=VALUE",
        help="Bind :NAME; a value that is a number is one. NAME:=JSON binds exactly that, null too.",
    ),
]
RowLimit: TypeAlias = Annotated[
    int, typer.Option("--limit", metavar="N", min=0, help="At most N rows; the answer says if there are more.")
]
MaxCell: TypeAlias = Annotated[
    int, typer.Option("--max-cell", metavar="N", min=0, help="Texts are cut to N characters.")
]
Timeout: TypeAlias = Annotated[
    float, typer.Option("--timeout", metavar="SECONDS", min=0.01, max=MAX_TIMEOUT_S, help="Stop after that long.")
]
Format: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORM",
        help="json, jsonl, tsv, csv, table or markdown; without it a table on a terminal, else tsv.",
    ),
]
Timezone: TypeAlias = Annotated[
    str | None, typer.Option("--timezone", metavar="ZONE", help="What 'localtime' means in SQL, like Europe/Berlin.")
]


def read_parameters(values: Sequence[str] | None) -> dict[str, str | int | float | None]:
    """Return ``NAME=VALUE`` texts as values to bind: whole and decimal numbers as such, all else as text.

    ``007``, ``1e5`` and whole numbers over 18 digits stay text. ``NAME:=JSON`` leaves nothing to guess: a text in
    quotes, a number, ``null``; ``true`` and ``false`` are 1 and 0, a list or an object is bound as its JSON text (for
    ``json_each``). Raises ``typer.BadParameter``.
    """
    found: dict[str, str | int | float | None] = {}
    for value in values or ():
        name, equals, text = choices.typed_text(value).partition("=")
        match = _PARAMETER.match(name)
        if not equals or match is None:
            raise typer.BadParameter(f"{value!r} is not NAME=VALUE or NAME:=JSON", param_hint="-p")
        if match[1] in found:
            raise typer.BadParameter(f"{match[1]} is given twice", param_hint="-p")
        found[match[1]] = _exactly(match[1], text) if match[2] else _guessed(text)
    return found


def _guessed(text: str) -> str | int | float:
    return int(text) if _INTEGER.match(text) else float(text) if _NUMBER.match(text) else text


def _exactly(name: str, text: str) -> str | int | float | None:
    from json import loads

    try:
        value: object = loads(text)
    except (ValueError, RecursionError):
        raise typer.BadParameter(f'{name}:= takes JSON, like null, 5, "a text" or [1, 2]', param_hint="-p") from None
    if isinstance(value, int) and not -_MAX_INTEGER - 1 <= value <= _MAX_INTEGER:
        raise typer.BadParameter(f"{name}:={text} is a number that SQLite has not", param_hint="-p")
    if isinstance(value, list | dict):
        return text
    if value is None or isinstance(value, str | int | float):
        return value
    raise AssertionError(value)


def chosen_format(form: str | None, *, json: bool) -> str:
    """Return the form to print: ``--json`` is ``--format json``; by default for the eye on a terminal, else TSV."""
    if form is not None:
        choices.names([form], formats.FORMATS, "--format")
        if json and form != formats.JSON:
            raise typer.BadParameter(f"{form} and --json exclude each other", param_hint="--format")
        return form
    if json:
        return formats.JSON
    return formats.TABLE if output.is_terminal(sys.stdout) else formats.TSV


def use_timezone(zone: str | None) -> None:
    """Make ``zone`` this process's time zone, for SQLite's ``'localtime'``. Raises ``typer.BadParameter``."""
    if zone is None:
        return
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise typer.BadParameter(f"{zone!r} is not a time zone like Europe/Berlin", param_hint="--timezone") from None
    os.environ["TZ"] = zone
    time.tzset()
