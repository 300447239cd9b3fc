"""Proves that the index says what the files say: builds a second one beside it and compares.

Reads the index and every source; writes only a temporary folder, which it removes. What a rebuild could not know
(held sources, roots that this run does not visit) is set apart and named. Checks the full-text tables against their
own content and their content against the prose.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, Final

from index import statements
from index.apply import Applier
from index.discovery import Look, look
from index.dump import NATURAL_KEYS, columns_of, dump_view
from index.errors import IndexUnusableError
from index.fields import IN_PROMPT_KEYS
from index.load import Progress, Silent
from index.match.key import stored_key
from index.opening import is_current, open_reader
from index.plan import FAILED, HELD, KnownSource
from index.rebuild import build
from index.recall.word_settling import postings_problem
from index.results import Difference, VerifyReport
from index.run import plan_of, read_known
from index.settings import Settings
from index.settle import settle_touched
from index.sqlite_errors import translate_read_errors
from persist.files.folders import PRIVATE_FILE
from persist.projects import ProjectResolver

MAX_DIFFERENCES: Final = 100


def verify(settings: Settings, progress: Progress | None = None) -> VerifyReport:
    """Compare the index with a fresh build of the same files and tell where they differ (the first 100).

    An index that is merely behind differs: run ``ingest`` first. Needs free space for two copies of the index beside
    the temporary folder's own. Raises ``NoIndexError`` and the other errors of ``open_reader``, also for damage met
    while copying, those of ``build``, and ``IndexUnusableError`` for an index that was made by other rules, whose rows
    are meant to differ. Cost: a rebuild.
    """
    with tempfile.TemporaryDirectory(prefix="aster-index-verify-") as folder:
        copy_path, fresh_path = Path(folder) / "copy.sqlite", Path(folder) / "fresh.sqlite"
        _make_private_copy(settings.index_path, settings.projection, copy_path)
        seen = look(settings)
        build(settings, fresh_path, seen, progress or Silent())
        with closing(_open_scratch(copy_path)) as copy, closing(_open_scratch(fresh_path)) as fresh:
            differences = list(_behind(settings, seen, copy))
            checked = fresh.execute("SELECT count(*) FROM source_rows").fetchone()[0]
            apart = _set_apart(settings, seen, copy, fresh)
            differences += islice(_compare(copy, fresh), MAX_DIFFERENCES)
            fulltext = _fulltext_problem(copy)
    if fulltext is not None:
        differences.append(Difference("", "fulltext", fulltext))
    return VerifyReport(not differences, checked, tuple(apart), tuple(differences), fulltext is None)


def _make_private_copy(index_path: Path, projection: str, path: Path) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE_FILE))
    with (
        translate_read_errors(index_path),
        closing(open_reader(index_path)) as reader,
        closing(sqlite3.connect(path, isolation_level=None)) as copy,
    ):
        if not is_current(reader, projection):
            raise IndexUnusableError(index_path, "was made by other rules", "run: asx ingest")
        copy.execute("PRAGMA journal_mode = off")
        reader.backup(copy)


def _open_scratch(path: Path) -> sqlite3.Connection:
    """Open a database of the temporary folder, which may be changed; its journal needs no file."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = memory")
    return connection


def _behind(settings: Settings, seen: Look, copy: sqlite3.Connection) -> Iterator[Difference]:
    """Say first that the files have changed since, where they have: then differences are no fault of the index."""
    plan = plan_of(settings, seen, read_known(copy))
    changed = [step for step in plan.steps if step.known is None or step.known.status not in (HELD, FAILED)]
    count = len(changed) + len(plan.gone) + len(plan.excluded)
    if count:
        sources = "1 source" if count == 1 else f"{count:,} sources"
        yield Difference("", "behind", f"{sources} changed since the last ingest; run: asx ingest, then verify")


def _set_apart(
    settings: Settings, seen: Look, copy: sqlite3.Connection, fresh: sqlite3.Connection
) -> list[tuple[str, str]]:
    """Remove from both sides, as an ingest would, what a rebuild of today's files cannot have."""
    plan = plan_of(settings, seen, read_known(copy))
    apart = [(row, "gone") for row in plan.withheld]
    apart += [(row, "its root is not visited") for row in plan.unvisited]
    apart += plan.unreachable
    built = read_known(fresh)
    unreadable = [
        row
        for key, row in sorted(read_known(copy).items())
        if row.status == HELD and key in built and built[key].status == FAILED
    ]
    _remove(copy, [row for row, _ in apart] + unreadable)
    _remove(fresh, [built[row.agent, row.path] for row in unreadable])
    apart += [(row, "cannot be read") for row in unreadable]
    return sorted((row.path, why) for row, why in apart)


def _remove(connection: sqlite3.Connection, rows: Sequence[KnownSource]) -> None:
    if not rows:
        return
    connection.execute("BEGIN")
    applier = Applier(connection, touching=True)
    for row in rows:
        applier.remove_source(row.id)
    settle_touched(connection, ProjectResolver().project_of)
    connection.execute("COMMIT")


def _compare(index: sqlite3.Connection, fresh: sqlite3.Connection) -> Iterator[Difference]:
    for view in NATURAL_KEYS:
        columns = columns_of(fresh, view)
        ours, theirs = dump_view(index, view), dump_view(fresh, view)
        for mine, other in zip_longest(ours, theirs):
            if mine == other:
                continue
            yield _difference(view, columns, mine, other)
            if mine is None or other is None or mine[: len(NATURAL_KEYS[view])] != other[: len(NATURAL_KEYS[view])]:
                break  # from here on the rows no longer stand beside their like


def _difference(
    view: str, columns: tuple[str, ...], mine: tuple[Any, ...] | None, other: tuple[Any, ...] | None
) -> Difference:
    key = mine or other or ()
    path = next((str(value) for name, value in zip(columns, key, strict=False) if name in ("source_path", "path")), "")
    if mine is None:
        detail = f"missing from the index: {_key_text(view, other)}"
    elif other is None:
        detail = f"only in the index: {_key_text(view, mine)}"
    elif _key_text(view, mine) != _key_text(view, other):
        detail = f"{_key_text(view, mine)} stands where a rebuild has {_key_text(view, other)}"
    else:
        pairs = zip(columns, mine, other, strict=True)
        named = [name for name, a, b in pairs if a != b]
        detail = f"{_key_text(view, mine)} differs in {', '.join(named)}"
    return Difference(path, view, detail)


def _key_text(view: str, row: tuple[Any, ...] | None) -> str:
    """Return a row's natural key; texts of transcripts are never part of it."""
    names = NATURAL_KEYS[view]
    return ", ".join(f"{name}={value}" for name, value in zip(names, row or (), strict=False) if name != "error")


def _fulltext_problem(copy: sqlite3.Connection) -> str | None:
    for table in statements.FULL_TEXT_TABLES:
        try:
            copy.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)")
        except sqlite3.DatabaseError:
            return f"{table} does not agree with its own content"
    problem = postings_problem(copy)
    if problem is not None:
        return problem
    for id_, field, text, prompt_key, prose_key, agrees in copy.execute(
        """SELECT p.id, p.field, p.text, q.key, r.key,
          p.hidden = coalesce((SELECT hidden <> 0 FROM event_rows WHERE id = p.id),
            (SELECT in_transcript FROM history_rows WHERE id = p.id), 0)
        FROM prose p
        LEFT JOIN prompt_keys q ON q.rowid = p.id LEFT JOIN prose_keys r ON r.rowid = p.id"""
    ):
        if not agrees:
            return f"text {id_} is hidden where its event is not, or not hidden where it is"
        key, stray = (prompt_key, prose_key) if field in IN_PROMPT_KEYS else (prose_key, prompt_key)
        if key != stored_key(text) or stray is not None:
            return f"the key of text {id_} is not that of its prose"
    counts = copy.execute(
        "SELECT (SELECT count(*) FROM prose), (SELECT count(*) FROM prompt_keys) + (SELECT count(*) FROM prose_keys)"
    ).fetchone()
    return None if counts[0] == counts[1] else f"{counts[0]} texts have {counts[1]} keys"
