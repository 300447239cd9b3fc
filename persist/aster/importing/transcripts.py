"""Reads the transcripts of an agent whose parser the index has, record by record, for an import.

I/O on one file; memory is one line. What is damaged is counted and hides nothing else. The parser's events come with
the record they were made of, because an import also asks for flags that events do not carry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

from persist import times
from persist.aster.importing.candidates import Candidate, Group, Groups, Offer, SubAgent, Told, Unread
from persist.aster.importing.injected import content_text
from persist.aster.importing.seen import Seen
from persist.compressed import early_end, plain
from persist.errors import ShapeError
from persist.events import AGENT, USER, Event, Parsed, Trait
from persist.lines import decode_line, iter_lines
from persist.regular import open_regular
from persist.sources import TRANSCRIPT, Agent, Found, Line, Record, Root, Source

StreamOf: TypeAlias = Callable[[Source, Told], Groups]

MAX_TARGETS: Final = 1000
"""Titles of other records that are kept until the end; each waits for the record that it is about."""


class Titles:
    """The titles that a session was given: a person's before the agent's, the last of them."""

    def __init__(self) -> None:
        self._by_rank: dict[int, str] = {}
        self._by_target: dict[str, tuple[int, str]] = {}

    def note(self, trait: Trait) -> None:
        """Keep one title."""
        if trait.target_record_id is None:
            self._by_rank[trait.rank] = trait.value
        elif len(self._by_target) < MAX_TARGETS:
            self._by_target[trait.target_record_id] = (trait.rank, trait.value)

    def best(self, seen: Seen | None = None) -> str | None:
        """Return the title that counts; one that is about a record counts only where that record lies."""
        ranked = dict(self._by_rank)
        for target, (rank, title) in self._by_target.items():
            if seen is not None and target in seen:
                ranked.setdefault(rank, title)
        return ranked[min(ranked)] if ranked else None


def transcripts(found: Iterable[Found], agent: str, is_sub_agent: Iterable[str] = ()) -> Iterator[Source | Offer]:
    """Yield the transcripts that were found, and what was in the way; a sub-agent's name begins with one of these."""
    beginnings = tuple(is_sub_agent)
    for one in found:
        for trouble in one.troubles:
            if trouble.kind == "unreadable":
                yield Unread(agent, trouble.path, trouble.message)
        for source in one.sources:
            if source.kind != TRANSCRIPT:
                continue
            if source.path_tells or (beginnings and Path(source.path).name.startswith(beginnings)):
                yield SubAgent(agent, source.path)
            else:
                yield source


def found_in(agent: Agent, folders: Iterable[Path]) -> Iterator[Found]:
    """Look into folders as the agent does."""
    for folder in folders:
        yield agent.discover(Root(agent.name, folder))


def read_records(
    agent: Agent, source: Source, told: Told, titles: Titles
) -> Iterator[tuple[dict[str, Record], Parsed]]:
    """Yield each record that can be read with what the agent's parser makes of it; note what it tells of the session.

    A torn last line is left: its agent is writing it. Raises ``OSError``.
    """
    parser = agent.open_parser(source, None)
    with open_regular(source.path) as opened:
        file = plain(source.path, opened)
        for raw in iter_lines(file):
            decoded = decode_line(raw.data)
            if not raw.oversize and not raw.terminated and not decoded.is_object:
                break
            is_damaged = raw.oversize or decoded.damage is not None
            for record in () if raw.oversize else decoded.records:
                try:
                    parsed = parser.feed(record, Line(raw.number, raw.offset_bytes))
                except ShapeError:
                    is_damaged = True
                    continue
                told.session_id = told.session_id or parser.session_id
                _note(parsed.traits, told, titles)
                yield record, parsed
            told.damaged += is_damaged
        told.damaged += early_end(file) is not None


def candidate(agent: Agent, source: Source, stream: StreamOf, name: str | None) -> Candidate:
    """Return a transcript as a candidate whose beginning tells the rest."""
    return Candidate(
        agent=agent.name,
        path=Path(source.path),
        told=Told(),
        stream=lambda told: stream(source, told),
        name=name,
        changed_at=times.from_ns(source.stat.mtime_ns),
    )


def old_message(role: Record, content: Record, written_time: Record) -> Group:
    """Return a message as Aster's own import takes it: a person's or the agent's text, nothing else."""
    text = content_text(content) if role in ("user", "assistant") else None
    if text is None:
        return ()
    ts = times.from_any(written_time)
    if role == "user":
        return (Event(USER, "user_message", text, ts, is_prompt=True),)
    return (Event(AGENT, "message_text", text, ts),)


def _note(traits: Iterable[Trait], told: Told, titles: Titles) -> None:
    for trait in traits:
        match trait.name:
            case "cwd":
                told.cwd = told.cwd or trait.value
            case "model":
                told.model = told.model or trait.value
            case "created_at":
                told.created_at = told.created_at or trait.value
            case "parent":
                told.is_sub_agent = True
            case "title":
                titles.note(trait)
            case _:
                pass
