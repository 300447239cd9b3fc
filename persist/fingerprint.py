"""What tells that a file changed, and how: ``stat`` first, then hashes of the first and last bytes read.

I/O on one open file or one path; standard library only. DESIGN 8: unchanged by stat is skipped; grown with
the same inode and hashes is read from its checkpoint; anything else is read anew. An edit in the middle of a file
that grew as well is not seen here (``verify`` and ``ingest --check`` read everything).
"""

from __future__ import annotations

import hashlib
import os
from typing import IO, Final

from persist.sources import Stat

EDGE_BYTES: Final = 4096
"""How much of each edge is hashed: reading both costs the same whatever the file's size."""


def stat_of(result: os.stat_result) -> Stat:
    """Return the compared part of an ``os.stat`` answer."""
    return Stat(result.st_size, result.st_mtime_ns, result.st_ctime_ns, result.st_ino)


def edges(file: IO[bytes], end_bytes: int) -> tuple[bytes, bytes]:
    """Return 16-byte hashes of the first and the last ``EDGE_BYTES`` before byte ``end_bytes`` (exclusive).

    A file shorter than ``end_bytes`` gives hashes that differ from those taken before, never an error.
    Raises ``OSError`` where reading fails.
    """
    file.seek(0)
    head = file.read(min(EDGE_BYTES, end_bytes))
    file.seek(max(0, end_bytes - EDGE_BYTES))
    tail = file.read(min(EDGE_BYTES, end_bytes))
    return _hash(head), _hash(tail)


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()
