"""Compressed rollouts are read as the plain ones they were, as far as they can be read."""

from __future__ import annotations

import hashlib
import io
import sys
from pathlib import Path
from typing import Any

import pytest

from persist.agents.codex.agent import AGENT
from persist.compressed import early_end, is_compressed, plain
from persist.lines import iter_lines
from persist.reading import ReadLine, SourceReader
from persist.sources import TRANSCRIPT, Source, Stat

DATA = Path(__file__).parent.parent / "data" / "codex"
CONTENT = (DATA / "every-kind-of-record.jsonl").read_bytes()


@pytest.fixture
def zstd() -> Any:
    return pytest.importorskip("zstandard", reason="zstandard is not installed")


def packed(zstd: Any, data: bytes) -> bytes:
    return bytes(zstd.ZstdCompressor(level=3).compress(data))


def read(data: bytes) -> tuple[list[ReadLine], SourceReader]:
    path = "/h/sessions/rollout-x.jsonl.zst"
    source = Source("codex", TRANSCRIPT, path, "/h", Stat(0, 0, 0, 0))
    reader = SourceReader(AGENT, source, plain(path, io.BytesIO(data)))
    return list(reader), reader


def test_only_a_compressed_file_is_opened_another_way() -> None:
    file = io.BytesIO(b"x")
    assert plain("/h/rollout-x.jsonl", file) is file
    assert early_end(file) is None
    assert (is_compressed("a.jsonl.zst"), is_compressed(Path("a.zst.jsonl"))) == (True, False)


def test_without_the_package_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(OSError, match="needs the Python package zstandard"):
        plain("a.zst", io.BytesIO(b"x")).read()


def test_plain_files_never_import_it() -> None:
    before = sys.modules.pop("zstandard", None)
    try:
        assert plain("a.jsonl", io.BytesIO(b"x")).read() == b"x"
        assert "zstandard" not in sys.modules
    finally:
        if before is not None:
            sys.modules["zstandard"] = before


def test_every_line_is_as_in_the_plain_file(zstd: Any) -> None:
    source = Source("codex", TRANSCRIPT, "/h/sessions/rollout-x.jsonl", "/h", Stat(0, 0, 0, 0))
    expected = list(SourceReader(AGENT, source, io.BytesIO(CONTENT)))
    lines, reader = read(packed(zstd, CONTENT))
    assert lines == expected
    assert reader.final.counts.damaged == 0
    assert reader.checkpoint.offset_bytes == len(CONTENT)


def test_frames_behind_each_other_are_one_file(zstd: Any) -> None:
    half = len(CONTENT) // 2
    data = packed(zstd, CONTENT[:half]) + packed(zstd, CONTENT[half:])
    assert plain("a.zst", io.BytesIO(data)).read() == CONTENT


def test_any_position_is_found_again(zstd: Any) -> None:
    file = plain("a.zst", io.BytesIO(packed(zstd, CONTENT)))
    for offset in (0, 5000, 10, len(CONTENT) - 3, 1):
        file.seek(offset)
        assert (file.tell(), file.read(7)) == (offset, CONTENT[offset : offset + 7])
    raw = list(iter_lines(io.BytesIO(CONTENT)))[40]
    assert next(iter_lines(file, raw.offset_bytes, raw.number)) == raw


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.99])
def test_a_file_cut_short_gives_what_it_holds_and_one_damaged_line(zstd: Any, share: float) -> None:
    noise = b"".join(  # what does not compress: else one block holds it all
        b'{"timestamp":"2026-05-04T09:00:00Z","type":"event_msg","payload":{"type":"user_message","message":"%s"}}\n'
        % hashlib.sha512(b"%d" % number).hexdigest().encode()
        for number in range(8000)
    )
    data = packed(zstd, CONTENT + noise)
    lines, reader = read(data[: int(len(data) * share)])
    counts = reader.final.counts
    assert counts.damaged == 1
    assert lines[-1].error is not None
    assert "ends early" in lines[-1].error
    assert counts.seen == counts.indexed + counts.skipped + counts.damaged
    assert reader.bytes_pending == 0
    if share > 0.5:
        assert counts.indexed > 1000
    whole, _ = read(data)
    assert lines[:-1] == whole[: len(lines) - 1]


def test_damage_within_gives_what_stands_before_it(zstd: Any) -> None:
    lines, reader = read(packed(zstd, CONTENT) + b"no frame at all")
    assert reader.final.counts.damaged == 1
    assert lines[-1].error is not None
    assert "is damaged" in lines[-1].error
    assert len(lines) > 30
    lines, reader = read(b"not compressed at all\n")
    assert [line.error is not None for line in lines] == [True]
    assert not reader.final.recognised


def test_a_small_file_that_stands_for_a_huge_one_is_read_in_pieces(zstd: Any) -> None:
    file = plain("a.zst", io.BytesIO(packed(zstd, b"\0" * 200_000_000)))
    assert len(file.read(1000)) == 1000
    file.seek(150_000_000)
    assert file.read(3) == b"\0\0\0"
