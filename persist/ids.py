"""Names that may become file names: the slug rule, session ids, and what is refused as one.

Pure but for :func:`new_session_id`, which reads the clock. Knows no folder and touches no file; ``ulid`` is
imported only where an id is made. Rules: ``spec/aster.md`` 2.4 and 2.5.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
import time
from typing import Final

from persist.errors import RefusedError

MAX_SESSION_ID_BYTES: Final = 200
"""Room is left below the 255 bytes of a file name for the suffix and for temporary names."""
MAX_FOLDER_BYTES: Final = 255
DEFAULT_PROJECT: Final = "default"
MIN_PREFIX_CHARACTERS: Final = 4
"""A shorter beginning of an id names nothing (DESIGN 12)."""

_NOT_KEPT = re.compile(r"[^a-z0-9]+")
_UPPER_TO_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_NEVER_IN_A_NAME = re.compile(r"[/\\\x00-\x1f\x7f]")


def slug(text: str) -> str:
    """Return Aster's slug of ``text``: ASCII letters and digits lower-cased, any other run one ``-``.

    Never begins or ends with ``-``; empty when nothing is left, and the caller decides what that means.
    No length limit. Letters outside ASCII are never folded into it (``İ`` gives nothing, not ``i``).
    """
    return _NOT_KEPT.sub("-", text.translate(_UPPER_TO_LOWER)).strip("-")


def project_slug(root: str) -> str:
    """Return the folder name of a project: its path's slug, ``default`` when nothing is left.

    A slug too long for a file name is cut and ends in a hash of the whole path, so that two long paths
    do not meet. Different paths may share a slug; the recorded path tells them apart, never this name.
    """
    name = slug(root)
    if len(name) <= MAX_FOLDER_BYTES:
        return name or DEFAULT_PROJECT
    digest = hashlib.blake2b(root.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
    return f"{name[: MAX_FOLDER_BYTES - len(digest) - 1].rstrip('-')}-{digest}"


def checked_session_id(text: str) -> str:
    """Return the session id that a caller's ``text`` stands for: its slug, which cannot leave a folder.

    ``conv_1`` and ``conv-1`` are one session, as in Aster. Raises ``RefusedError`` for what a slug would
    only disguise: an empty name, one without an ASCII letter or digit (``..``), path separators, control
    characters, and names over ``MAX_SESSION_ID_BYTES``.
    """
    if not text.strip():
        raise RefusedError("a session id is empty", "leave it out to get a new one")
    if _NEVER_IN_A_NAME.search(text):
        raise RefusedError("a session id holds a path separator or a control character", "use letters, digits and -")
    if len(text.encode("utf-8", "surrogatepass")) > MAX_SESSION_ID_BYTES:
        raise RefusedError(f"a session id is over {MAX_SESSION_ID_BYTES} bytes", "use a shorter one")
    name = slug(text)
    if not name:
        raise RefusedError("a session id has no ASCII letter or digit", "use letters, digits and -")
    return name


_last_lock = threading.Lock()
_last_id = b""


def new_session_id() -> str:
    """Return a new lower-case ULID (26 characters), greater than any this process returned before.

    Greater even within one millisecond and when the clock was set back.
    """
    from ulid import ULID

    global _last_id
    with _last_lock:
        fresh = (time.time_ns() // 1_000_000).to_bytes(6, "big") + os.urandom(10)
        if fresh <= _last_id:
            fresh = (int.from_bytes(_last_id, "big") + 1).to_bytes(16, "big")
        _last_id = fresh
        return str(ULID(fresh)).lower()
