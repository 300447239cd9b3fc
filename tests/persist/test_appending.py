"""Events from a stream: each checked before it is written, written as it comes, ended by the first bad one."""

from __future__ import annotations

import pytest

from persist.appending import Appended, BadLine, Format, append_from
from persist.errors import ShapeError


class Stream:
    """Gives its pieces one by one, as a pipe does."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = list(pieces)

    def read(self, most: int) -> bytes:
        return self._pieces.pop(0) if self._pieces else b""


class Kept:
    """What was written, call by call; ``x`` is bad and ``t`` never kept."""

    def __init__(self) -> None:
        self.calls: list[list[bytes]] = []

    def check(self, line: bytes) -> bytes | None:
        if line.startswith(b"x"):
            raise ShapeError("it begins with an x")
        return None if line == b"t" else line

    def of(self) -> Format[bytes]:
        return Format(self.check, self.calls.append)


def take(*pieces: bytes, max_line_bytes: int = 1000) -> tuple[Appended, list[list[bytes]]]:
    kept = Kept()
    return append_from(Stream(*pieces).read, kept.of(), max_line_bytes=max_line_bytes), kept.calls


def test_what_comes_together_is_written_together_and_before_more_is_waited_for() -> None:
    done, calls = take(b"a\nb\nc", b"c\n", b"d")
    assert calls == [[b"a", b"b"], [b"cc"], [b"d"]]
    assert done == Appended(4, 0, None)


def test_the_lines_before_a_bad_one_are_written_and_none_behind_it() -> None:
    done, calls = take(b"a\n\n \r\nb\nxy\nc\n", b"d\n")
    assert calls == [[b"a", b"b"]]
    assert done == Appended(2, 0, BadLine(5, "it begins with an x"))


def test_blank_lines_count_as_lines_and_transient_events_are_counted() -> None:
    done, calls = take(b"\n\nt\na\nt\n\n")
    assert calls == [[b"a"]]
    assert done == Appended(1, 2, None)


def test_nothing_is_nothing() -> None:
    assert take() == (Appended(0, 0, None), [])


@pytest.mark.parametrize("pieces", [(b"a\n", b"yyy", b"yyy"), (b"a\nyyyyyy\nb\n",), (b"a\n", b"yyyyyy")], ids=len)
def test_a_line_over_the_limit_is_bad_before_it_is_read_whole(pieces: tuple[bytes, ...]) -> None:
    done, calls = take(*pieces, max_line_bytes=5)
    assert calls == [[b"a"]]
    assert done == Appended(1, 0, BadLine(2, "the line is over 5 bytes"))


def test_a_failure_to_write_is_raised_with_what_was_written_before() -> None:
    written: list[bytes] = []

    def write(events: list[bytes]) -> None:
        if written:
            raise OSError("full")
        written.extend(events)

    with pytest.raises(OSError, match="full"):
        append_from(Stream(b"a\n", b"b\n", b"c\n").read, Format(lambda line: line, write))
    assert written == [b"a"]
