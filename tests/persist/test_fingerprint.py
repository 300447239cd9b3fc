"""What tells that a file changed: every change within the hashed edges is seen, whatever the file's size."""

from __future__ import annotations

import io
import os
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persist.fingerprint import EDGE_BYTES, edges, stat_of

SIZES = [0, 1, EDGE_BYTES - 1, EDGE_BYTES, EDGE_BYTES + 1, 2 * EDGE_BYTES, 5 * EDGE_BYTES + 7]


def content(size: int) -> bytes:
    return Random(size).randbytes(size)  # noqa: S311


@pytest.mark.parametrize("size", SIZES)
def test_what_is_behind_the_end_does_not_matter(size: int) -> None:
    data = content(size)
    assert edges(io.BytesIO(data + b"appended"), size) == edges(io.BytesIO(data), size)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(SIZES[1:]), st.integers(0, EDGE_BYTES - 1), st.booleans(), st.integers(1, 255))
def test_any_changed_byte_in_an_edge_is_seen(size: int, distance: int, is_tail: bool, change: int) -> None:
    data = bytearray(content(size))
    before = edges(io.BytesIO(data), size)
    distance = min(distance, size - 1)
    data[size - 1 - distance if is_tail else distance] ^= change
    assert edges(io.BytesIO(data), size)[is_tail] != before[is_tail]


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(SIZES[1:]), st.floats(0, 1, exclude_max=True))
def test_a_file_cut_short_is_seen(size: int, share: float) -> None:
    data = content(size)
    assert edges(io.BytesIO(data[: int(size * share)]), size) != edges(io.BytesIO(data), size)


def test_a_byte_put_in_or_taken_out_is_seen() -> None:
    data = content(5 * EDGE_BYTES)
    for changed in (b"x" + data, data[1:], data[: 3 * EDGE_BYTES] + b"x" + data[3 * EDGE_BYTES :]):
        assert edges(io.BytesIO(changed), len(data)) != edges(io.BytesIO(data), len(data))


def test_an_edit_in_the_middle_is_not_seen_here() -> None:
    data = content(5 * EDGE_BYTES)
    changed = bytearray(data)
    changed[2 * EDGE_BYTES] ^= 1
    assert edges(io.BytesIO(changed), len(data)) == edges(io.BytesIO(data), len(data))


def test_both_edges_of_a_huge_file_are_all_that_is_read(tmp_path: Path) -> None:
    class Counting(io.FileIO):
        bytes_read = 0

        def read(self, size: int | None = -1, /) -> bytes:
            data = super().read(-1 if size is None else size)
            self.bytes_read += len(data)
            return data

    path = tmp_path / "f"
    with path.open("wb") as file:
        file.truncate(10**10)
    with Counting(path) as counting:
        head, tail = edges(counting, 10**10)
        assert counting.bytes_read == 2 * EDGE_BYTES
    assert head == tail
    assert len(head) == 16


def test_the_position_in_the_file_does_not_matter() -> None:
    file = io.BytesIO(content(9000))
    first = edges(file, 9000)
    file.seek(77)
    assert edges(file, 9000) == first


def test_a_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    with (tmp_path / "f").open("wb") as file, pytest.raises(OSError, match="read"):
        edges(file, 10)


def test_stat_tells_size_times_and_inode(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"12345")
    os.utime(path, ns=(1, 1_700_000_000_123_456_789))
    stat = stat_of(path.stat())
    assert (stat.size_bytes, stat.mtime_ns, stat.inode) == (5, 1_700_000_000_123_456_789, path.stat().st_ino)
    other = tmp_path / "g"
    other.write_bytes(b"12345")
    os.utime(other, ns=(1, 1_700_000_000_123_456_789))
    other.replace(path)
    replaced = stat_of(path.stat())
    assert replaced[:2] == stat[:2]
    assert replaced.inode != stat.inode
    assert replaced.ctime_ns >= stat.ctime_ns
