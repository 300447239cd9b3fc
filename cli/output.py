"""What leaves the program: data on stdout, talk on stderr, and nothing that a terminal would obey (DESIGN 12).

Standard library only. Everything that came from a file goes through :func:`safe` before it is written as text;
JSON escapes the same characters. Writing may raise ``BrokenPipeError``, which ``cli.exits`` ends quietly.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import sys
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, Final, TextIO

SCHEMA_VERSION: Final = 1
"""The version of the JSON contract; fields may be added to it, none renamed."""

ANSWERED: Final = ContextVar("answered", default=False)
"""Whether the one JSON value of this run was begun; what fails after it is told on stderr."""

DEFAULT_COLUMNS: Final = 80
UNLIMITED_COLUMNS: Final = 1_000_000
"""A width at which nothing is cut: where no person looks, a table is whole."""

_UNSAFE_RANGES: Final = (
    "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f"  # C0 but tab and newline, DEL, C1
    "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069"  # direction marks, embeddings, overrides, isolates
    "\\u2028\\u2029\\ufeff"  # line and paragraph separators, byte order mark
    "\\ud800-\\udfff"  # lone surrogates: bytes of a file name that are not UTF-8
)
_UNSAFE: Final = re.compile(f"[{_UNSAFE_RANGES}]")
_UNSAFE_IN_LINE: Final = re.compile(f"[\\t\\n{_UNSAFE_RANGES}]")
_SURROGATES: Final = re.compile("[\\ud800-\\udfff]")
_IN_JSON: Final = re.compile("[\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff]")
_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\a": "\\a"}


def safe(text: str) -> str:
    r"""Return ``text`` with control and direction characters as visible escapes; newlines and tabs stay.

    ``\r\n`` is an ordinary line end; a lone ``\r`` is not. The result is for the eye: offsets refer to ``text``.
    """
    return _UNSAFE.sub(_escape, text.replace("\r\n", "\n"))


def safe_line(text: str) -> str:
    r"""Return ``text`` as :func:`safe` does and on one line: newlines and tabs become ``\n`` and ``\t`` too."""
    return _UNSAFE_IN_LINE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    number = ord(character)
    return _SHORT.get(character) or (f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}")


def json_text(value: Mapping[str, Any]) -> str:
    """Return ``value`` as one line of JSON, whole and valid UTF-8, without its newline.

    Not-a-number and infinities become null, lone surrogates U+FFFD. Control and direction characters are
    escaped, so that the line is harmless on a terminal and still decodes to the stored text.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:
        text = json.dumps(_without_nan(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", _SURROGATES.sub("\ufffd", text))


def _without_nan(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {key: _without_nan(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(inner) for inner in value]
    return value


def emit_json(value: Mapping[str, Any]) -> None:
    """Write the one JSON value of a command to stdout, ``schema_version`` first."""
    text = json_text({"schema_version": SCHEMA_VERSION, **value})
    ANSWERED.set(True)
    line(text)


def line(text: str = "") -> None:
    """Write ``text`` and a newline to stdout. ``text`` is already safe. Raises ``BrokenPipeError``."""
    if sys.stdout is None:  # the caller closed it: the same as a pipe that is gone
        raise BrokenPipeError
    sys.stdout.write(text + "\n")


def talk(text: str) -> None:
    """Write a sentence for the person to stderr, made safe; a stderr that is gone is no failure."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(safe(text) + "\n")
        sys.stderr.flush()
    except OSError:
        _discard(sys.stderr)


def flush() -> None:
    """Hand everything written so far to the system. Raises ``BrokenPipeError`` or another ``OSError``."""
    if sys.stdout is not None:
        sys.stdout.flush()


def abandon_stdout() -> None:
    """Let go of a stdout whose reader is gone, so that the interpreter's last flush finds nothing to fail on."""
    if sys.stdout is not None:
        _discard(sys.stdout)


def _discard(stream: TextIO) -> None:
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    except OSError:  # no file behind it, as in a test: nothing will be flushed either
        return


def prepare_streams() -> None:
    """Make stdout and stderr UTF-8 with plain newlines, whatever the locale says."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a person reads the stream."""
    return stream is not None and stream.isatty()


def has_colours() -> bool:
    """Return whether stdout may be coloured: a terminal, not a dumb one, and ``NO_COLOR`` unset or empty."""
    return is_terminal(sys.stdout) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def columns() -> int:
    """Return how many cells a line may take: ``COLUMNS``, else the terminal's width, else 80; at least 20."""
    return max(20, shutil.get_terminal_size((DEFAULT_COLUMNS, 24)).columns)


def table_columns() -> int:
    """Return how many cells a table's line may take: as :func:`columns` does for a person, else no limit.

    In a pipe nothing is cut or left out, so that ``grep`` finds it, unless ``COLUMNS`` asks for a width.
    """
    return columns() if is_terminal(sys.stdout) or os.environ.get("COLUMNS") else UNLIMITED_COLUMNS


_STYLES: Final = {"hit": "\x1b[1;31m", "strong": "\x1b[1m", "quiet": "\x1b[2m", "id": "\x1b[33m"}
_PLAIN: Final = "\x1b[0m"


def without_styles(text: str) -> str:
    """Return ``text`` without what :func:`styled` added; the rest of it is safe, so has no escapes."""
    return re.sub("\x1b\\[[0-9;]*m", "", text)


def styled(text: str, style: str) -> str:
    """Return ``text`` (already safe) in one of our styles, where colours are allowed."""
    return f"{_STYLES[style]}{text}{_PLAIN}" if text and has_colours() else text
