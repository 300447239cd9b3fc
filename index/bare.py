"""Transcripts of the two stores in which there is no session: empty, torn before the first record, or of garbage.

The index has no row for a session that nothing tells; the store has the file all the same, and whoever wants to be rid
of it must be able to see it (``spec/aster.md`` 8, 12). Reads only; opens no transcript.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import closing
from pathlib import Path
from typing import Final

from index.discovery import look
from index.errors import NoIndexError
from index.opening import Finding, open_reader, read_header
from index.plan import IGNORED
from index.results import SessionRow
from index.settings import Settings
from index.sqlite_errors import translate_read_errors
from persist.sources import TRANSCRIPT, Source
from persist.times import from_ns

STORES: Final = ("aster", "aether")
_IGNORED: Final = f"""SELECT s.path FROM source_rows s JOIN agents a ON a.id = s.agent_id
WHERE s.status = '{IGNORED}' AND s.kind = '{TRANSCRIPT}' AND a.name IN ('aster', 'aether')"""


def has_index(settings: Settings) -> bool:
    """Whether there is an index to ask; without one the files answer, each as far as it is read."""
    return read_header(settings.index_path).finding not in (Finding.MISSING, Finding.EMPTY)


def bare_transcripts(settings: Settings, listed: Collection[SessionRow], agent: str | None = None) -> list[SessionRow]:
    """Return such files as sessions without anything but an id, the file's name, and the file's time.

    ``listed`` are all sessions, needed only where there is no index to ask: what is in none of them is bare. Raises the
    other errors of ``open_reader``. Cost: a look at the folders, and one query.
    """
    is_bare: Callable[[str], bool]
    try:
        with closing(open_reader(settings.index_path)) as connection, translate_read_errors(settings.index_path):
            is_bare = {row[0] for row in connection.execute(_IGNORED)}.__contains__
    except NoIndexError:
        told = {path for row in listed for path in row.paths}
        is_bare = lambda path: path not in told  # noqa: E731 - the twin of the one above
    return [
        _row(source)
        for found in look(settings).found
        for source in found.sources
        if source.kind == TRANSCRIPT and source.agent in STORES and agent in (None, source.agent)
        if is_bare(source.path)
    ]


def _row(source: Source) -> SessionRow:
    return SessionRow(
        session_id=Path(source.path).stem,
        agent=source.agent,
        project=None,
        cwd=None,
        title=None,
        created_at=None,
        updated_at=from_ns(source.stat.mtime_ns),
        model=None,
        turns=0,
        events=0,
        parent_id=None,
        forked_from=None,
        paths=(source.path,),
        size_bytes=source.stat.size_bytes,
        imported_from=None,
    )
