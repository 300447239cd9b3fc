"""Memory as files: blocks, ASTER.md, the journal and the archive, read and written without any index.

What reads is here; what writes is ``persist.memory.store.MemoryStore``, which commands that only read never import.
Imports the standard library, ``persist``'s contracts and, for values that need it, yaml; no SQL, no terminal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from persist.memory.archive import Version, list_archived, list_versions
from persist.memory.blocks import (
    ARCHIVE_FOLDER,
    PROJECT_FILE,
    Block,
    by_name,
    find_block,
    list_blocks,
    newest_first,
    parse_note,
    read_block,
)
from persist.memory.context import MAX_INDEX_ENTRIES, Context, blocks_for, build_context, load_context, read_context
from persist.memory.frontmatter import read_frontmatter
from persist.memory.journal import (
    JOURNAL_FILE,
    JournalParser,
    Operation,
    open_journal,
    read_journal,
    read_operations,
)
from persist.memory.project import parse_facts, read_project, read_project_bytes

if TYPE_CHECKING:
    from persist.memory.store import MemoryStore

__all__ = [
    "ARCHIVE_FOLDER",
    "JOURNAL_FILE",
    "MAX_INDEX_ENTRIES",
    "PROJECT_FILE",
    "Block",
    "Context",
    "JournalParser",
    "MemoryStore",
    "Operation",
    "Version",
    "blocks_for",
    "build_context",
    "by_name",
    "find_block",
    "list_archived",
    "list_blocks",
    "list_versions",
    "load_context",
    "newest_first",
    "open_journal",
    "parse_facts",
    "parse_note",
    "read_block",
    "read_context",
    "read_frontmatter",
    "read_journal",
    "read_operations",
    "read_project",
    "read_project_bytes",
]


def __getattr__(name: str) -> object:
    """Return ``MemoryStore`` when it is asked for: who only reads never imports what writes."""
    if name == "MemoryStore":
        from persist.memory.store import MemoryStore

        return MemoryStore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
