"""Codex's sessions for an import (``spec/aster.md`` 5.3).

Reads its rollouts, compressed ones too; writes nothing. Sub-agents are left out; a fork is imported whole, with what it
repeats of its origin. A session begins when its header says, not with its last turn, as in Aster's import.
"""

from __future__ import annotations

from collections.abc import Iterator

from persist.agents.codex.agent import AGENT
from persist.agents.codex.head import read_head
from persist.aster.importing.candidates import Group, Groups, Look, Offer, Told
from persist.aster.importing.transcripts import Titles, candidate, found_in, old_message, read_records, transcripts
from persist.sources import Record, Source


def offers(look: Look) -> Iterator[Offer]:
    """Yield the sessions in Codex's folders, in path order, and what cannot be looked into."""
    folders = look.folders or [root.path for root in AGENT.locate(look.environment)]
    stream = _old_stream if look.text_only else _stream
    for one in transcripts(found_in(AGENT, folders), AGENT.name):
        yield candidate(AGENT, one, stream, None) if isinstance(one, Source) else one


def _stream(source: Source, told: Told) -> Groups:
    titles = Titles()
    for record, parsed in read_records(AGENT, source, told, titles):
        _note_sub_agent(record, told)
        if parsed.events:
            yield parsed.events
    told.title = titles.best()


def _old_stream(source: Source, told: Told) -> Groups:
    titles = Titles()
    for record, _parsed in read_records(AGENT, source, told, titles):
        _note_sub_agent(record, told)
        yield _old_message(record)
    told.title = titles.best()


def _note_sub_agent(record: dict[str, Record], told: Told) -> None:
    """Note that the session's own header, and not one of an origin that is repeated, is a sub-agent's."""
    payload = record.get("payload")
    if record.get("type") == "session_meta" and isinstance(payload, dict):
        head = read_head(payload)
        told.is_sub_agent = told.is_sub_agent or (head.is_sub_agent and head.session_id == told.session_id)


def _old_message(record: dict[str, Record]) -> Group:
    payload = record.get("payload")
    item = payload if isinstance(payload, dict) else record
    if item.get("type") != "message":
        return ()
    return old_message(item.get("role"), item.get("content"), record.get("timestamp"))
