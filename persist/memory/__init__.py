"""Memory as files: blocks, ASTER.md, the journal and the archive, read without any index.

Imports the standard library, ``persist``'s contracts and, for values that need it, yaml; no SQL, no terminal.
"""

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
from persist.memory.context import MAX_INDEX_ENTRIES, Context, build_context, load_context, read_context
from persist.memory.frontmatter import read_frontmatter
from persist.memory.journal import JOURNAL_FILE, JournalParser, open_journal, read_journal
from persist.memory.project import parse_facts, read_project, read_project_bytes

__all__ = [
    "ARCHIVE_FOLDER",
    "JOURNAL_FILE",
    "MAX_INDEX_ENTRIES",
    "PROJECT_FILE",
    "Block",
    "Context",
    "JournalParser",
    "Version",
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
    "read_project",
    "read_project_bytes",
]
