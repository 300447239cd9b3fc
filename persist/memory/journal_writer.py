"""Writes the memory journal: one whole line per operation in one write (``spec/aster.md`` 4.6, DESIGN 10).

Aster's keys come first, in Aster's order; then those of this store, which Aster passes over. Whoever calls holds the
folder's lock, or says that it has no need of one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from persist.errors import StoreError
from persist.files import append_lines
from persist.files.lock import WAIT_S
from persist.lines import encode
from persist.memory.journal import JOURNAL_FILE

MAX_DETAIL_CHARACTERS: Final = 200
"""Of a fact, as in Aster."""
RECALL_WAIT_S: Final = 0.5
"""A recall answers at once: its line in the journal is worth no longer wait."""
KEY_ORDER: Final = (
    "ts", "op", "name", "detail", "source_session",
    "by", "title", "aliases", "kind", "project", "pinned", "restored", "version", "path", "sha256",
)  # fmt: skip
"""``version``, ``path`` (below the memory folder) and ``sha256`` are those of what the operation put aside,
``restored`` is the version that it brought back."""

JournalValue = str | bool | list[str] | None


def journal_line(values: Mapping[str, JournalValue]) -> bytes:
    """Return one line, without newline, in ``KEY_ORDER``; what is ``None``, false or empty is left out."""
    ordered = {key: values[key] for key in KEY_ORDER if values.get(key)}
    return encode(json.dumps(ordered, ensure_ascii=False, separators=(",", ":")))


def append_operation(
    folder: Path,
    values: Mapping[str, JournalValue],
    *,
    already_locked: bool = False,
    durable: bool = True,
    timeout_s: float = WAIT_S,
) -> str | None:
    """Append one operation to a memory folder's journal; return why it could not be written, ``None`` when it was.

    Never raises for what the disk or another program does: the operation itself is done by then.
    """
    try:
        append_lines(
            folder / JOURNAL_FILE,
            [journal_line(values)],
            already_locked=already_locked,
            durable=durable,
            timeout_s=timeout_s,
        )
    except StoreError as error:
        return str(error)
    return None
