"""One session that is to be imported: its ids, its beginning, its records, its header.

Reads the session's source; writes nothing.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import closing
from typing import Final, NamedTuple

from persist import times
from persist.aster.importing.candidates import CLAUDE_CODE, Candidate, Told
from persist.aster.importing.records import wire_time
from persist.aster.importing.report import Outcome
from persist.aster.importing.rounds import Rounds
from persist.aster.key_order import header_record
from persist.ids import checked_session_id, slug
from persist.sources import Record

ID_BEGINNINGS: Final[Mapping[str, str]] = {CLAUDE_CODE: "claude"}
"""What Aster's own import calls a source, where that is not the agent's name here."""
EARLIEST: Final = f"{times.EARLIEST}-01-01T00:00:00.000Z"
"""The time of what has none, nor has its source."""


class Ids(NamedTuple):
    """The id of the imported session, the agent's own, and how the header tells that one."""

    session_id: str
    original_id: str
    imported_from: str
    guessed_from: str


def ids_of(offer: Candidate, told: Told) -> Ids:
    """Return the ids of a session. Raises ``RefusedError`` for one that cannot name a file."""
    name = offer.name or told.session_id or offer.path.name.partition(".")[0]
    session_id = checked_session_id(f"{ID_BEGINNINGS.get(offer.agent, offer.agent)}-{name}")
    original_id = told.session_id or name
    return Ids(session_id, original_id, f"{offer.agent}:{original_id}", f"{offer.agent}:{slug(name)}")


def peek(offer: Candidate) -> Told:
    """Read a session's beginning: until its folder and the time of its first message are known."""
    told = offer.told.copy()
    rounds = Rounds(lambda: told.created_at or offer.changed_at or EARLIEST)
    with closing(offer.stream(told)) as stream:
        for group in stream:
            for _ in rounds.feed(group):
                pass
            if told.is_sub_agent or (told.cwd is not None and rounds.holds_talk):
                break
    for _ in rounds.end():
        pass
    told.created_at = told.created_at or rounds.first_ts
    return told


def records_of(offer: Candidate, told: Told, rounds: Rounds) -> Generator[dict[str, Record], None, None]:
    """Yield a session's records in order; ``told`` and ``rounds`` are filled meanwhile. Raises as the stream does."""
    with closing(offer.stream(told)) as stream:
        for group in stream:
            yield from rounds.feed(group)
    yield from rounds.end()


def header_of(outcome: Outcome, told: Told, root: str) -> dict[str, Record]:
    """Return the header of a session that was read; ``root`` is its project's. Its folder is kept as it was."""
    return header_record(
        session_id=outcome.session_id or "",
        created_at=wire_time(outcome.created_at or EARLIEST),
        cwd=told.cwd or root,
        repo_root=root,
        model=told.model,
        title=outcome.title,
        imported_from=f"{outcome.agent}:{outcome.original_id}",
    )


def one_line(title: str | None) -> str | None:
    """Return a title on one line; ``None`` for a blank one."""
    return " ".join(title.split()) or None if title is not None else None
