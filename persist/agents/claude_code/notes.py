"""Claude Code's memory notes (``projects/<folder>/memory/*.md``) to notes.

Pure: bytes in, a value out; read only. Rules: ``spec/agents.md`` 2. Older notes keep ``type`` and
``originSessionId`` beside the name, newer ones indented below ``metadata:``; both are read.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from persist import times
from persist.events import Note
from persist.memory.frontmatter import read_frontmatter
from persist.sources import Source

_HEAD = re.compile(r"---[ \t]*\n(.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)
_NESTED = re.compile(r"^[ \t]+(type|originSessionId|modified):[ \t]*(.*?)[ \t]*$", re.MULTILINE)


def read_note(source: Source, content: bytes) -> Note:
    """Read one note; bytes that are not UTF-8 become U+FFFD. ``updated_at`` falls back on the file's mtime."""
    text = content.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    values, body = read_frontmatter(text)
    nested = _nested_values(text)
    stem = PurePath(source.path).stem

    def value(key: str) -> str | None:
        found = values.get(key)
        return (found if isinstance(found, str) else None) or nested.get(key) or None

    return Note(
        name="MEMORY" if stem == "MEMORY" else value("name") or stem,
        body=body,
        description=value("description") or "",
        kind=value("type"),
        source_session=value("originSessionId"),
        updated_at=times.from_text(value("modified") or "") or times.from_ns(source.stat.mtime_ns),
    )


def _nested_values(text: str) -> dict[str, str]:
    head = _HEAD.match(text)
    if head is None or "\nmetadata:" not in f"\n{head[1]}":
        return {}
    return {key: value.strip("\"'") for key, value in _NESTED.findall(head[1])}
