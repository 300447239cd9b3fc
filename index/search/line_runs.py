"""Cuts a file into runs of whole lines, so that many lines are passed over at once, and a run into its lines.

Knows bytes and offsets only, no records: standard library and ``persist.lines``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from persist.lines import BLOCK_BYTES


def runs_of_lines(file: IO[bytes], max_line_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Yield a file in runs of whole lines, with the offset of each; the last may lack its LF.

    A line over ``max_line_bytes`` is read past, as when it was indexed. Memory is one block and one line. Raises
    ``OSError`` as the file does.
    """
    offset = 0
    pieces: list[bytes] = []
    kept_bytes = 0
    file.seek(0)
    while block := file.read(BLOCK_BYTES):
        cut = block.rfind(b"\n") + 1
        if not cut:
            kept_bytes += len(block)
            if kept_bytes <= max_line_bytes:
                pieces.append(block)
            else:
                pieces.clear()
            continue
        if kept_bytes > max_line_bytes or (pieces and kept_bytes + block.index(b"\n") > max_line_bytes):
            skipped = block.index(b"\n") + 1
            offset += kept_bytes + skipped
            pieces.clear()
            block, cut = block[skipped:], cut - skipped
        pieces.append(block[:cut])
        run = b"".join(pieces)
        if run:
            yield offset, run
        offset += len(run)
        pieces = [block[cut:]] if cut < len(block) else []
        kept_bytes = len(block) - cut
    if pieces and kept_bytes <= max_line_bytes:
        yield offset, b"".join(pieces)


def lines_of(offset_bytes: int, run: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a run that begins at ``offset_bytes``, with their offsets in the file and their LFs."""
    start = 0
    while start < len(run):
        end = run.find(b"\n", start) + 1 or len(run)
        yield offset_bytes + start, run[start:end]
        start = end
