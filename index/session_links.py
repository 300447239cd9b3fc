"""Tells which of many session ids nothing knows: no transcript's name, and no row of the index where there is one.

Reads folders and the index; opens no transcript and writes nothing.
"""

from __future__ import annotations

import re
import sqlite3
from bisect import bisect_left
from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import PurePath
from typing import Final

from index.discovery import look
from index.errors import AsterIndexError, NoIndexError
from index.opening import open_reader
from index.settings import Settings
from index.sqlite_errors import translate_read_errors
from persist.agents import AGENTS
from persist.ids import MIN_PREFIX_CHARACTERS
from persist.sources import TRANSCRIPT

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_IS_KNOWN: Final = "SELECT EXISTS (SELECT 1 FROM session_rows WHERE session_id = :id)"
_IS_BEGUN: Final = """SELECT EXISTS (SELECT 1 FROM session_rows
WHERE session_id >= :id AND substr(session_id, 1, length(:id)) = :id)"""


def missing_sessions(settings: Settings, ids: Collection[str]) -> tuple[set[str], str | None]:
    """Return those of ``ids`` that are no session's, and why the index could not be asked, if it could not.

    An id may be ``agent:id`` and, with at least ``MIN_PREFIX_CHARACTERS``, the beginning of one. Cost: one look at
    every agent's folders, and for ids whose files are gone a search in the index each.
    """
    names = sorted(_names_on_disk(settings))
    left = {id_ for id_ in ids if not _begins(names, _plain(id_).partition("/")[0])}
    if not left:
        return left, None
    try:
        with closing(open_reader(settings.index_path)) as reader, translate_read_errors(settings.index_path):
            return {id_ for id_ in left if not _has(reader, _plain(id_))}, None
    except NoIndexError:
        return left, None
    except AsterIndexError as error:
        return left, str(error)


def _plain(id_: str) -> str:
    agent, colon, rest = id_.strip().partition(":")
    return rest if colon and agent in AGENTS else id_.strip()


def _names_on_disk(settings: Settings) -> Iterator[str]:
    """Yield what transcripts' names tell of ids: the stem, what is behind its last ``_``, a UUID at its end."""
    seen = look(settings)
    paths = [source.path for each in (*seen.found, *seen.kept) for source in each.sources if source.kind == TRANSCRIPT]
    for path in (*paths, *(path for _agent, path in seen.excluded)):
        stem = PurePath(path).name.partition(".jsonl")[0]
        at_end = _UUID.search(stem)
        yield from (stem, stem.rpartition("_")[2], at_end[0] if at_end else stem)


def _begins(names: list[str], id_: str) -> bool:
    place = bisect_left(names, id_)
    if place == len(names) or not id_:
        return False
    return names[place] == id_ or (len(id_) >= MIN_PREFIX_CHARACTERS and names[place].startswith(id_))


def _has(reader: sqlite3.Connection, id_: str) -> bool:
    statement = _IS_BEGUN if len(id_) >= MIN_PREFIX_CHARACTERS else _IS_KNOWN
    return bool(reader.execute(statement, {"id": id_}).fetchone()[0])
