"""Reads ``ASTER.md``, the project memory: its whole text, and its facts, one per bullet.

Writes nothing (appending a fact is the store's writer's business) and needs no index.
"""

from __future__ import annotations

import re
from pathlib import Path

from persist.errors import StoreIOError
from persist.events import NoteFact
from persist.memory.blocks import PROJECT_FILE
from persist.regular import read_regular

_BULLET = re.compile(r"[ \t]*[-*][ \t]+(\S.*)")
_RULE = re.compile(r"\s*(?:-[ \t]*){3,}\Z|\s*(?:\*[ \t]*){3,}\Z")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|\Z)")
_BOM = b"\xef\xbb\xbf"


def parse_facts(data: bytes) -> list[NoteFact]:
    """Return the facts of ASTER.md in order: each bullet (``-`` or ``*``) with the line and byte it begins at.

    What continues a bullet belongs to it, joined by a newline and without its indentation: indented lines
    (bullets below a bullet too: alone they would say half), also after a blank line, and unindented text
    right below, because Aster writes a fact of several lines as it is. A blank line and then unindented text,
    a heading, a rule or the next bullet end it. Bullets inside code fences are facts like others: a fence
    somebody forgot to close must not hide every fact that Aster appends below. Never raises; bytes that are
    not UTF-8 become U+FFFD.
    """
    facts: list[NoteFact] = []
    parts: list[str] = []
    start = (0, 0)
    last = 0
    after_blank = False
    offset = 0

    def close() -> None:
        if parts:
            facts.append(NoteFact("\n".join(parts), *start, last))
            parts.clear()

    for number, raw in enumerate(data.split(b"\n"), start=1):
        line = (raw.removeprefix(_BOM) if number == 1 else raw).decode("utf-8", "replace").rstrip()
        bullet = None if _RULE.match(line) else _BULLET.match(line)
        indented = line[:1] == "\t" or line[:2] == "  "
        if not line:
            after_blank = True
        elif bullet is not None and not (parts and indented):
            close()
            parts.append(bullet[1])
            start, last = (number, offset), number
            after_blank = False
        elif parts and (indented or not (after_blank or _HEADING.match(line) or _RULE.match(line))):
            parts.append(line.strip())
            last = number
            after_blank = False
        else:
            close()
        offset += len(raw) + 1
    close()
    return facts


def same_fact(fact: NoteFact, bullet: str) -> bool:
    """Tell whether a fact of ``ASTER.md`` says what a bullet says."""
    return [one.text for one in parse_facts(bullet.encode("utf-8", "replace"))] == [fact.text]


def read_project(folder: Path) -> str | None:
    """Return the text of ``ASTER.md`` in a memory folder, ``None`` where there is none.

    Without a BOM; bytes that are not UTF-8 become U+FFFD (Aster takes such a file for empty). Raises
    ``StoreIOError`` where it cannot be read.
    """
    data = read_project_bytes(folder)
    return None if data is None else data.removeprefix(_BOM).decode("utf-8", "replace")


def read_project_bytes(folder: Path) -> bytes | None:
    """Return the bytes of ``ASTER.md``, for :func:`parse_facts`. Raises like :func:`read_project`."""
    path = folder / PROJECT_FILE
    try:
        return read_regular(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreIOError(path, "read", error.strerror or str(error)) from error
