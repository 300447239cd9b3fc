"""Provider calls: which usage record stands for a call, and which session the call belongs to (DESIGN 6, "Tokens").

The rule is pure (``choose``); ``choose_calls`` reads the touched messages and stores what it says. A usage record
without a message id is a call of its own and needs no choice: the view counts it while its event is canonical.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple


class UsageRecord(NamedTuple):
    """One usage record of a message, in canonical order: by (names a parent, head time, session, path, line)."""

    usage_id: int
    request_id: str | None
    output_tokens: int | None
    session_row: int | None
    call_session: int | None


_GROUPS: Final = """SELECT t.agent_id, t.message_id, u.id, u.request_id, u.output_tokens, s.session_row, u.call_session
FROM touched_message t
CROSS JOIN usage_rows u ON u.message_id = t.message_id
CROSS JOIN source_rows s ON s.id = u.source_id AND s.agent_id = t.agent_id
LEFT JOIN session_rows n ON n.id = s.session_row
ORDER BY t.agent_id, t.message_id, s.names_parent, s.head_time IS NULL, s.head_time, n.session_id, s.path,
  u.line_number, u.id"""
_STORE: Final = "UPDATE usage_rows SET call_session = ? WHERE id = ?"
_TOUCH_SESSIONS: Final = """INSERT OR IGNORE INTO touched_session
SELECT s.session_row FROM touched_message t
CROSS JOIN usage_rows u ON u.message_id = t.message_id
CROSS JOIN source_rows s ON s.id = u.source_id AND s.agent_id = t.agent_id
WHERE s.session_row IS NOT NULL"""


def choose(records: Sequence[UsageRecord]) -> dict[int, int]:
    """Return {usage id: session row} of the records that stand for calls of one message.

    Different request ids are different calls, a missing one joins the first. The record with the most output
    stands (the first of equals); the call belongs to the session of the first record. Records without a session are
    passed over.
    """
    first_request = next((record.request_id for record in records if record.request_id is not None), None)
    calls: dict[str | None, tuple[int, UsageRecord]] = {}
    for record in records:
        if record.session_row is None:
            continue
        request = record.request_id or first_request
        session, standing = calls.get(request, (record.session_row, record))
        more = _output(record) > _output(standing)
        calls[request] = (session, record if more else standing)
    return {standing.usage_id: session for session, standing in calls.values()}


def _output(record: UsageRecord) -> int:
    return -1 if record.output_tokens is None else record.output_tokens


def choose_calls(connection: sqlite3.Connection) -> None:
    """Settle the messages noted in ``touched_message`` and note the sessions they bear on.

    Cost: one message's records in memory at a time; rows change behind the place that is being read, never before it.
    """
    connection.executemany(_STORE, _changes(connection.execute(_GROUPS)))
    connection.execute(_TOUCH_SESSIONS)


def _changes(rows: Iterable[tuple[int, str, int, str | None, int | None, int | None, int | None]]) -> Iterator[
    tuple[int | None, int]
]:  # fmt: skip
    for _, group in groupby(rows, key=lambda row: row[:2]):
        records = [UsageRecord(*row[2:]) for row in group]
        chosen = choose(records)
        for record in records:
            session = chosen.get(record.usage_id)
            if session != record.call_session:
                yield (session, record.usage_id)
