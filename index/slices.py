"""Carries out a plan in slices, each a transaction: rows, checkpoints and settled values commit together.

What a killed run loses, and what settling has in hand, is one slice. A slice in which a source that the index already
has cannot be read to its end is rolled back and done again with that source held, so that its rows stay as they were
(DESIGN law 5). Plain ``sqlite3`` on the caller's connection; savepoints would flush FTS5 at each source.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import fields
from typing import Final

from index import statements
from index.apply import Applier
from index.errors import IndexUnusableError
from index.load import CopyOrder, Loader, Progress, SourceLostError, StoredState
from index.plan import GONE_TOGETHER, Action, Plan, Step
from index.results import IngestReport
from index.settings import Settings
from index.settle import settle_touched
from index.settle.sessions import touch_moved
from migrations import GENERATION
from persist.projects import ProjectResolver
from persist.reading import Checkpoint
from persist.times import now

SLICE_BYTES: Final = 64 * 1024 * 1024
SLICE_SOURCES: Final = 2000
"""A commit comes after about this much work: what a killed run loses, and what settling has in hand, is bounded."""


def slices(steps: Sequence[Step]) -> Iterator[list[Step]]:
    """Cut steps, in order, into runs of about ``SLICE_BYTES`` to read or ``SLICE_SOURCES``; none is empty."""
    part: list[Step] = []
    size_bytes = 0
    for step in steps:
        part.append(step)
        size_bytes += step.source.stat.size_bytes if step.action is not Action.MAYBE_TAIL else 0
        if size_bytes > SLICE_BYTES or len(part) == SLICE_SOURCES:
            yield part
            part, size_bytes = [], 0
    if part:
        yield part


class SliceWriter:
    """Writes one slice after the other and keeps the run's report true, also when a slice has to be done again."""

    def __init__(
        self,
        settings: Settings,
        connection: sqlite3.Connection,
        resolver: ProjectResolver,
        report: IngestReport,
        progress: Progress,
    ) -> None:
        self._settings = settings
        self._connection = connection
        self._resolver = resolver
        self._report = report
        self._progress = progress
        self._now = now()
        self._lost: dict[tuple[str, str], str] = {}

    def let_go(self, plan: Plan, moved: list[tuple[str, str, str]]) -> None:
        """Remove what is gone or excluded, hold what is out of reach, and settle what moved to another project.

        Raises ``IndexUnusableError`` when another generation lies at the path by now.
        """
        if not (plan.gone or plan.excluded or plan.withheld or plan.unreachable or moved):
            return
        self._begin()
        applier = Applier(self._connection, touching=True)
        for row in (*plan.gone, *plan.excluded):
            applier.remove_source(row.id)
        for row, why in (*((row, GONE_TOGETHER) for row in plan.withheld), *plan.unreachable):
            applier.hold(row.id, why)
        touch_moved(self._connection, moved)
        self._commit()

    def write(self, steps: Sequence[Step]) -> None:
        """Carry out one slice. Raises ``IndexUnusableError`` as ``let_go`` does; the caller rolls back."""
        while not self._tried(steps):
            pass

    def _tried(self, steps: Sequence[Step]) -> bool:
        before = deepcopy(self._report)
        self._begin()
        loader = Loader(
            self._settings, Applier(self._connection, touching=True), self._report, self._now, self._progress
        )
        try:
            for step in steps:
                why = self._lost.get((step.source.agent, step.source.path))
                if why is None:
                    loader.carry_out(step, self._stored(step))
                else:
                    loader.cannot_read(step, why)
        except SourceLostError as error:
            self._connection.rollback()
            self._lost[error.agent, error.path] = error.reason
            for each in fields(before):
                setattr(self._report, each.name, getattr(before, each.name))
            return False
        loader.flush()
        self._commit()
        return True

    def _begin(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        generation = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if generation != GENERATION:
            path = self._settings.index_path
            raise IndexUnusableError(path, f"became generation {generation} while this ran", "run: asx ingest")

    def _commit(self) -> None:
        settle_touched(self._connection, self._resolver.project_of)
        self._connection.execute("COMMIT")

    def _stored(self, step: Step) -> StoredState | None:
        if step.known is None:
            return None
        row = self._connection.execute(statements.SOURCE_STATE, (step.known.id,)).fetchone()
        head_hash, tail_hash, saved, *order = row
        try:
            checkpoint = Checkpoint.load(json.loads(saved)) if saved else Checkpoint()
        except (KeyError, TypeError, ValueError):
            checkpoint = Checkpoint()
        return StoredState(head_hash, tail_hash, checkpoint, CopyOrder(*order))
