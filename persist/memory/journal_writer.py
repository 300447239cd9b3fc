"""Writes the memory journal: one whole line per operation in one write (``spec/aster.md`` 4.6, DESIGN 10).

Aster's keys come first, in Aster's order; then those of this store, which Aster passes over. Whoever calls holds the
folder's lock, or says that it has no need of one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from persist.errors import StoreError
from persist.files import append_lines
from persist.files.lock import LOCK_NAME, WAIT_S, locked_soon
from persist.files.remove import refuse_link_outside
from persist.lines import encode
from persist.memory.journal import JOURNAL_FILE

MAX_DETAIL_CHARACTERS: Final = 200
"""Of a fact, as in Aster."""
RECALL_WAIT_S: Final = 0.5
"""A recall answers at once: its line in the journal is worth no longer wait."""
KEY_ORDER: Final = (
    "ts", "op", "name", "detail", "source_session",
    "by", "title", "aliases", "kind", "project", "pinned", "restored", "version", "path", "sha256", "step",
)  # fmt: skip
"""``version``, ``path`` (below the memory folder) and ``sha256`` are those of what the operation put aside,
``restored`` is the version that it brought back, ``step`` the plan that it was part of (``persist.memory.steps``)."""

JournalValue = str | bool | list[str] | None


def journal_line(values: Mapping[str, JournalValue]) -> bytes:
    """Return one line, without newline, in ``KEY_ORDER``; what is ``None``, false or empty is left out."""
    ordered = {key: values[key] for key in KEY_ORDER if values.get(key)}
    return encode(json.dumps(ordered, ensure_ascii=False, separators=(",", ":")))


def append_recalls(folder: Path, names: Sequence[str], *, session: str | None, ts: str) -> str | None:
    """Append a ``recall`` line for each block (its slug) that was given out at one moment, all under one lock.

    Waits ``RECALL_WAIT_S`` at most and imports no ``filelock``: a prompt waits for it. Returns why the lines could not
    be written, ``None`` when they were; never raises for what the disk or another program does.
    """
    path = folder / JOURNAL_FILE
    values = ({"ts": ts, "op": "recall", "name": name, "source_session": session} for name in names)
    try:
        refuse_link_outside(path, folder)
        with locked_soon(path.with_name(LOCK_NAME), RECALL_WAIT_S):
            append_lines(path, [journal_line(one) for one in values], already_locked=True, durable=False)
    except StoreError as error:
        return str(error)
    return None


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
    path = folder / JOURNAL_FILE
    try:
        refuse_link_outside(path, folder)
        append_lines(
            path,
            [journal_line(values)],
            already_locked=already_locked,
            durable=durable,
            timeout_s=timeout_s,
        )
    except StoreError as error:
        return str(error)
    return None
