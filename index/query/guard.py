"""The one way in which a person's SQL runs: read-only, bounded in time and memory, and watched (DESIGN 11).

Plain ``sqlite3`` only; never SQLAlchemy. Statements are judged by SQLite's authorizer, never by their text. No Python
function is ever put on this connection: one that runs inside a step holds the interpreter's lock, and the watchdog,
which must end the process while a single long function call cannot be interrupted, would never run.

What is allowed is decided in ``index.query.guard_rules``; what a denial is called, in ``index.query.run``.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self

from index.errors import IndexUnusableError
from index.opening import open_reader
from index.query.guard_rules import Authorizer, virtual_tables

HEAP_LIMIT_BYTES: Final = 120_000_000
"""What SQLite may allocate; with the interpreter a bomb stays below 300 MB. Sorting is done in memory, within it."""
OVERRUN_GRACE_S: Final = 0.1
"""How long after the limit the watchdog waits for the progress handler to end the statement."""
_OPCODES_PER_LOOK: Final = 4000
"""Measured: looking every 1,000 opcodes costs 7 %, every 10,000 2 %."""
_LIMITS: Final = (
    # It holds for a row that is sorted or grouped too. Above three of the longest stored texts, 4 MiB each: with less,
    # one long prompt would fail ORDER BY on a view that has a text twice, or on a prompt beside its answer.
    (sqlite3.SQLITE_LIMIT_LENGTH, 13_000_000),
    (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 100_000),
    # LIKE with a long pattern on a long text is one opcode that runs for seconds.
    (sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 500),
    (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
    (sqlite3.SQLITE_LIMIT_COLUMN, 200),
    (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 200),
    (sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 50),
    (sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 1000),
    (sqlite3.SQLITE_LIMIT_VDBE_OP, 250_000),
    (sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0),
)
_EPONYMOUS: Final = ("json_each", "json_tree", "pragma_table_info", "pragma_table_xinfo", "pragma_table_list")


class Guarded(NamedTuple):
    """A connection on which any statement may be tried; ``authorizer`` remembers what it denied."""

    connection: sqlite3.Connection
    authorizer: Authorizer


class Deadline:
    """A time limit that starts now; monotonic seconds."""

    def __init__(self, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self._end_s = time.monotonic() + timeout_s

    @property
    def is_over(self) -> bool:
        """Whether the limit has passed."""
        return time.monotonic() >= self._end_s

    @property
    def left_s(self) -> float:
        """How many seconds are left, at least 0."""
        return max(0.0, self._end_s - time.monotonic())


class Watchdog:
    """A thread that calls ``on_overrun`` once, 0.1 s after the deadline, unless the block ended before.

    ``on_overrun`` runs in that thread while the statement may still be running; a one-shot process answers and ends
    itself there (``os._exit``), because nothing else stops a single long function call. If it returns, the block
    goes on until SQLite comes back, and ``has_fired`` tells.
    """

    def __init__(self, deadline: Deadline, on_overrun: Callable[[], None]) -> None:
        self.has_fired = False
        self._deadline = deadline
        self._on_overrun = on_overrun
        self._ended = threading.Event()
        self._decision = threading.Lock()
        self._thread = threading.Thread(target=self._watch, name="query-watchdog", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        # Under the lock an answer is either the block's or the watchdog's, never both.
        with self._decision:
            self._ended.set()

    def _watch(self) -> None:
        if self._ended.wait(self._deadline.left_s + OVERRUN_GRACE_S):
            return
        with self._decision:
            if self._ended.is_set():
                return
            self.has_fired = True
            self._on_overrun()


@contextmanager
def guarded(path: Path, deadline: Deadline, heap_limit_bytes: int | None = HEAP_LIMIT_BYTES) -> Iterator[Guarded]:
    """Open the index for one statement that nobody has seen before; closed at the end of the block.

    The statement sees one snapshot of the index and ends with ``sqlite3.OperationalError`` (``SQLITE_INTERRUPT``)
    soon after the deadline. ``heap_limit_bytes`` holds for the whole process and can never be raised again: right
    for a process that runs one statement; a long-lived host runs the statement in a child, or passes ``None``.
    Raises what ``open_reader`` raises, and ``IndexUnusableError`` when the schema cannot be read.
    """
    connection = open_reader(path)
    try:
        try:
            tables = _prepare(connection, heap_limit_bytes)
        except sqlite3.DatabaseError as error:
            raise IndexUnusableError(path, f"cannot be read ({error})", "run: asx rebuild") from error
        authorizer = Authorizer(tables)
        for category, limit in _LIMITS:
            connection.setlimit(category, limit)
        connection.set_progress_handler(lambda: deadline.is_over, _OPCODES_PER_LOOK)
        connection.set_authorizer(authorizer)
        yield Guarded(connection, authorizer)
    finally:
        connection.close()


def _prepare(connection: sqlite3.Connection, heap_limit_bytes: int | None) -> frozenset[str]:
    """Set what only SQL can set, begin the one transaction, touch virtual tables; return what may be read."""
    connection.execute("PRAGMA query_only = 1")
    connection.execute("PRAGMA temp_store = memory")  # a large sort must not fill the disk
    connection.execute("PRAGMA trusted_schema = 0")
    if heap_limit_bytes is not None:
        connection.execute(f"PRAGMA hard_heap_limit = {heap_limit_bytes}")
    # One snapshot: were the schema changed under the authorizer, the next MATCH would fail to connect its table.
    connection.execute("BEGIN")
    schema = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type IN ('table', 'view')").fetchall()
    # Connecting a virtual table needs what the authorizer denies, so that is done before.
    for name in (*virtual_tables(schema), *_EPONYMOUS):
        connection.execute(f'SELECT * FROM "{name}" LIMIT 0').close()
    return frozenset({name for name, _ in schema} | set(_EPONYMOUS))
