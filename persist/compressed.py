"""Reads a compressed transcript as the plain one it was, in pieces, as far as it can be read.

I/O on one open file; the standard library, and zstandard where a compressed file is met. Never imports SQL. Such a
file is never appended to: whoever compresses a transcript writes a new file, so there is no reading on from an offset
but by reading up to it.
"""

from __future__ import annotations

import importlib
import io
from pathlib import Path
from types import ModuleType
from typing import IO, Any, Final, cast

SUFFIX: Final = ".zst"
MAX_WINDOW_BYTES: Final = 64 * 1024 * 1024
"""How far back a frame may refer, which is held in memory; writers use 8 MB unless told otherwise."""
_PIECE_BYTES: Final = 128 * 1024
_COMPRESSED_PIECE_BYTES: Final = 1024
"""Four bytes may stand for 128 KiB, and a piece is decompressed as a whole: 32 MiB at most."""


def is_compressed(path: Path | str) -> bool:
    """Tell from its name whether a file is compressed in a way that can be read."""
    return str(path).endswith(SUFFIX)


def plain(path: Path | str, file: IO[bytes]) -> IO[bytes]:
    """Return ``file`` itself, or for a compressed one what it was made of.

    Positions of the result are offsets in the plain file. Reading it raises ``OSError`` as the file does, and where
    zstandard is not installed.
    """
    return cast("IO[bytes]", DecompressedFile(file)) if is_compressed(path) else file


def early_end(file: IO[bytes]) -> str | None:
    """Return why a file that :func:`plain` gave ended before its time; ``None`` where it did not so far."""
    return file.damage if isinstance(file, DecompressedFile) else None


class DecompressedFile(io.RawIOBase):
    """The plain bytes of a file of zstd frames. Cost: reading up to a position; memory is one frame's window.

    ``damage`` is null, or after the end was reached one sentence on why the file ended before its time: what could be
    read before that was given.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._begin()

    def _begin(self) -> None:
        self._file.seek(0)
        self._frame: Any = None
        self._waiting = b""
        self._plain = b""
        self._taken = 0  # of the piece: cutting it at each read would copy megabytes for a line
        self._position = 0
        self._read_bytes = 0
        self._ended = False
        self.damage: str | None = None

    def readable(self) -> bool:
        """Always true."""
        return True

    def seekable(self) -> bool:
        """Always true; see :meth:`seek`."""
        return True

    def fileno(self) -> int:
        """Return the descriptor of the compressed file."""
        return self._file.fileno()

    def tell(self) -> int:
        """Return the position in the plain bytes."""
        return self._position

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a position from the beginning, by reading up to it; beyond the end it is the end."""
        if whence != 0:
            raise io.UnsupportedOperation("a compressed file is sought from its beginning only")
        if offset < self._position:
            self._begin()
        while self._position < offset and self.read(min(_PIECE_BYTES, offset - self._position)):
            pass
        return self._position

    def read(self, size: int = -1) -> bytes:
        """Return up to ``size`` plain bytes, all that are left if negative; fewer at the end only."""
        pieces: list[bytes] = []
        wanted = size
        while wanted != 0:
            if self._taken == len(self._plain) and not self._fill():
                break
            end = len(self._plain) if wanted < 0 else min(self._taken + wanted, len(self._plain))
            piece = self._plain[self._taken : end]
            self._taken = end
            self._position += len(piece)
            wanted -= len(piece) if wanted > 0 else 0
            pieces.append(piece)
        return b"".join(pieces)

    def _fill(self) -> bool:
        """Decompress until there are plain bytes; false at the end. ``damage`` is then set where it came early."""
        zstandard = _zstandard()
        self._plain, self._taken = b"", 0
        while not self._plain and not self._ended:
            data = self._waiting or self._file.read(_COMPRESSED_PIECE_BYTES)
            self._waiting = b""
            if not data:
                self._ended = True
                if self._frame is not None or self._read_bytes == 0:
                    self.damage = f"the compressed file ends early, behind {self._read_bytes} bytes"
                break
            self._read_bytes += len(data)
            if self._frame is None:
                self._frame = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES).decompressobj()
            try:
                self._plain = self._frame.decompress(data)
            except zstandard.ZstdError:
                self._ended = True
                self.damage = f"the compressed file is damaged within its first {self._read_bytes} bytes"
                break
            if self._frame.eof:
                self._waiting = self._frame.unused_data
                self._read_bytes -= len(self._waiting)
                self._frame = None
        return bool(self._plain)


def _zstandard() -> ModuleType:
    try:
        return importlib.import_module("zstandard")
    except ImportError as error:
        raise OSError(0, "reading it needs the Python package zstandard, which is not installed") from error
