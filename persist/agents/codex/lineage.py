"""Which session and turn a record of Codex was first written in: what tells a copy in a fork from a new record.

Pure; imports ``persist.times`` only. Codex's records have no ids that last. A fork or a sub-agent begins with its
origin's records, written again in one burst and mostly with the time of the copying; some kinds may be left out. What
stays the same are turn ids, running totals and words. So a record is anchored in its turn where that has an id of its
own (a UUID), else in the session that wrote it first, and equal ones there are counted (``index.identity``).

Where the copied part ends: a UUID of version 7 tells when it was made, so a turn younger than its session is its own.
Without such ids it ends with the burst: at the first record over a second after the one before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

BURST_GAP_MS: Final = 1000
"""Copies are written within milliseconds of each other; a person or a model takes longer."""
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\Z", re.IGNORECASE)


@dataclass(slots=True)
class Lineage:
    """Where reading is: ``origin`` is the session whose records are being repeated, ``turn`` the turn at hand.

    ``known_origin`` stays when the repetition ends. ``created_ms`` and ``burst_ms`` are milliseconds since 1970: when
    the session began, and the last record of the burst.
    """

    session_id: str | None = None
    known_origin: str | None = None
    is_copying: bool = False
    turn: str | None = None
    created_ms: int | None = None
    burst_ms: int | None = None

    def begin(self, session_id: str, origin: str | None, created_at: str | None, ts: str | None) -> None:
        """Note the session's own header: its id, the origin that it names, its times in the index's form."""
        self.session_id = session_id
        self.known_origin = origin
        self.is_copying = origin is not None
        self.created_ms = uuid7_ms(session_id) or epoch_ms(created_at) or epoch_ms(ts)
        self.burst_ms = epoch_ms(ts)

    def meet_header(self, session_id: str) -> None:
        """Note the header of another session, which only a copy of that session's records can hold."""
        self.known_origin = session_id
        self.is_copying = True

    def meet_time(self, ts: str | None) -> None:
        """Note a record's time: the copying is over when a second passed since the one before it."""
        if not self.is_copying:
            return
        now_ms = epoch_ms(ts)
        if now_ms is None or self.burst_ms is None or now_ms <= self.burst_ms:
            return  # times that were kept as they were lie before the session's own beginning
        if now_ms - self.burst_ms > BURST_GAP_MS:
            self.is_copying = False
            self.turn = None
        else:
            self.burst_ms = now_ms

    def meet_turn(self, turn_id: str) -> None:
        """Note that a turn begins or goes on."""
        self.turn = turn_id
        made_ms = uuid7_ms(turn_id)
        if made_ms is not None and self.created_ms is not None and self.known_origin is not None:
            self.is_copying = made_ms < self.created_ms

    def anchor(self) -> str | None:
        """Return what is the same wherever the record at hand is repeated; ``None`` while the session is unknown."""
        if self.turn is not None and _UUID.match(self.turn):
            return self.turn
        owner = self.known_origin if self.is_copying else self.session_id
        return None if owner is None else f"{owner}/{self.turn or ''}"


def uuid7_ms(text: str) -> int | None:
    """Return when a UUID of version 7 was made, in milliseconds since 1970 (RFC 9562, 5.7); else ``None``."""
    match = _UUID.match(text)
    return int(text[:8] + text[9:13], 16) if match is not None and match[1] == "7" else None


def epoch_ms(ts: str | None) -> int | None:
    """Return a time of the index's form in milliseconds since 1970."""
    return None if ts is None else round(datetime.fromisoformat(ts).timestamp() * 1000)
