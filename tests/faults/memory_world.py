"""What the fault tests of memory share: texts that show whether a file is whole, and a look at a whole folder."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any, Final

from persist.memory import MemoryStore
from tests.faults.cut_lines import Seen, read, seen_after_kill

_LINES: Final = 40
_WHOLE: Final = re.compile(rb"---\n(?:[a-z_]+: [^\n]*\n)+---\n\n(?:(\S+) line \d+ of a longer text\n)+\1 ends here\n\Z")


def long_text(word: str) -> str:
    """Return a text of several lines of which every part shows whether the rest is there."""
    return "\n".join([*(f"{word} line {number} of a longer text" for number in range(_LINES)), f"{word} ends here"])


def is_whole(data: bytes) -> bool:
    """Tell whether a block's file is one that was written whole: a header, a text of :func:`long_text`, and its end."""
    return _WHOLE.match(data) is not None and data.count(b"\n") > _LINES


def note_files(folder: Path) -> dict[str, bytes]:
    """Return every block's file below a memory folder by its path there, archived ones and versions too."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*.md")
        if path.name != "ASTER.md" and path.is_file()
    }


def journal_lines(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of the journal; the test fails where one is not whole."""
    data = read(folder / "journal.jsonl")
    assert data == b"" or data.endswith(b"\n")
    return [json.loads(line) for line in data.splitlines()]


def assert_sound_after_kill(folder: Path, old_facts: bytes = b"") -> tuple[Seen, Seen]:
    """Check as :func:`assert_sound`, but that a line of the journal or of ``ASTER.md`` may be cut at their ends.

    Returns what was seen of the two, to be looked at again after the next change.
    """
    journal = seen_after_kill(folder / "journal.jsonl")
    _assert_sound(folder, [json.loads(line) for line in journal.lines])
    return journal, seen_after_kill(folder / "ASTER.md", old_facts)


def assert_sound(folder: Path) -> None:
    """Check a whole memory folder: each block is whole, and what the journal names is there with the hash it names."""
    _assert_sound(folder, journal_lines(folder))


def _assert_sound(folder: Path, lines: list[dict[str, Any]]) -> None:
    for name, data in note_files(folder).items():
        assert is_whole(data), (name, data[-80:])
    for line in lines:
        if "path" in line:
            assert hashlib.sha256((folder / line["path"]).read_bytes()).hexdigest() == line["sha256"]
    for block in MemoryStore(folder).list_blocks(archived=True):
        assert block.problem is None
