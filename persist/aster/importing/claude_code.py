"""Claude Code's sessions for an import (``spec/aster.md`` 5.2).

Reads its files, writes nothing. Sub-agents (files of their own, and ``isSidechain`` records of older versions) are left
out, as in Aster. A fork or a resumed session is a file of its own and is imported whole: it must be readable alone.
A record that a file holds twice is read once.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from persist.agents.claude_code.agent import AGENT
from persist.agents.values import read_id
from persist.aster.importing.candidates import Group, Groups, Look, Offer, Told
from persist.aster.importing.seen import Seen
from persist.aster.importing.transcripts import (
    Titles,
    candidate,
    found_in,
    old_message,
    read_records,
    transcripts,
)
from persist.sources import Record, Source


def offers(look: Look) -> Iterator[Offer]:
    """Yield the sessions in Claude Code's folders, in path order, and what cannot be looked into."""
    folders = look.folders or [root.path for root in AGENT.locate(look.environment)]
    stream = _old_stream if look.text_only else _stream
    for one in transcripts(found_in(AGENT, folders), AGENT.name, ("agent-",)):
        if isinstance(one, Source):
            yield candidate(AGENT, one, stream, Path(one.path).name.removesuffix(".jsonl"))
        else:
            yield one


def _stream(source: Source, told: Told) -> Groups:
    seen, titles = Seen(), Titles()
    for record, parsed in read_records(AGENT, source, told, titles):
        if record.get("isSidechain") is True or not parsed.events:
            continue
        record_id = read_id(record.get("uuid"))
        if record_id is None or seen.is_new(record_id):
            yield parsed.events
    told.title = titles.best(seen)


def _old_stream(source: Source, told: Told) -> Groups:
    seen, titles = Seen(), Titles()
    for record, _parsed in read_records(AGENT, source, told, titles):
        record_id = read_id(record.get("uuid"))
        if record_id is not None and not seen.is_new(record_id):
            continue
        if record.get("isSidechain") is True or record.get("isMeta") is True:
            continue
        yield _old_message(record)
    told.title = titles.best(seen)


def _old_message(record: dict[str, Record]) -> Group:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return old_message(record.get("type"), content, record.get("timestamp"))
