"""Prints a transcript's own lines: byte for byte in a pipe, made safe on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Collection
from contextlib import ExitStack
from pathlib import Path
from typing import IO, BinaryIO, Final

from cli import output
from persist.archive.opening import open_transcript
from persist.errors import StoreIOError
from persist.lines import iter_lines

_BLOCK_BYTES: Final = 256 * 1024


def print_raw(archive: Path, agent: str, path: str, wanted: Collection[int] | None = None) -> None:
    """Print a transcript, or its lines of these numbers. Memory is one block or one line.

    Where the original is gone its newest copy in ``archive`` is printed. Raises ``StoreIOError`` where it cannot be
    read and ``OSError`` where stdout cannot be written.
    """
    with ExitStack() as opened:
        try:
            stream = opened.enter_context(open_transcript(archive, agent, path)).plain
        except OSError as error:
            raise _unread(path, error) from error
        if output.is_terminal(sys.stdout):
            for line in iter_lines(stream):
                if wanted is None or line.number in wanted:
                    output.line(output.safe(line.data.decode("utf-8", "replace")))
            return
        out = _bytes_out()
        if wanted is not None:
            for line in iter_lines(stream):
                if line.number in wanted:
                    out.write(line.data + b"\n" * line.terminated)
            return
        while block := _read(path, stream):
            out.write(block)


def _bytes_out() -> BinaryIO:
    if sys.stdout is None:  # the caller closed it: the same as a pipe that is gone
        raise BrokenPipeError
    sys.stdout.flush()
    return sys.stdout.buffer


def _read(path: str, stream: IO[bytes]) -> bytes:
    try:
        return stream.read(_BLOCK_BYTES)
    except OSError as error:
        raise _unread(path, error) from error


def _unread(path: str, error: OSError) -> StoreIOError:
    return StoreIOError(path, "read", error.strerror or type(error).__name__)
