"""Codex's sessions for an import (``spec/aster.md`` 5.3).

Reads its rollouts, compressed ones too; writes nothing. Sub-agents are left out; a fork is imported whole, with what it
repeats of its origin. A session begins when its header says, not with its last turn, as in Aster's import.

Codex tells prompts and answers twice, as items and as events close by, and the parser takes the first
(``persist.agents.codex.twice``). Where prompts have events it leaves out a user's item that none repeats; an import,
which may be all that stays of a session, tells it where it stands.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final, NamedTuple

from persist import times
from persist.agents.codex.agent import AGENT
from persist.agents.codex.content import sort_typed, words
from persist.agents.codex.head import read_head
from persist.aster.importing.candidates import Group, Groups, Look, Offer, Told
from persist.aster.importing.transcripts import Titles, candidate, found_in, old_message, read_records, transcripts
from persist.events import AGENT as AGENT_KIND
from persist.events import USER, Event
from persist.sources import Record, Source

NEAREST: Final = 8
"""How many groups apart an item and the event that repeats it may stand; Codex writes them side by side."""
_REPEATED: Final = ("repeated user message", "repeated assistant message")


def offers(look: Look) -> Iterator[Offer]:
    """Yield the sessions in Codex's folders, in path order, and what cannot be looked into."""
    folders = look.folders or [root.path for root in AGENT.locate(look.environment)]
    stream = _old_stream if look.text_only else _stream
    for one in transcripts(found_in(AGENT, folders), AGENT.name):
        yield candidate(AGENT, one, stream, None) if isinstance(one, Source) else one


def _stream(source: Source, told: Told) -> Groups:
    titles, twice = Titles(), _ToldTwice()
    for record, parsed in read_records(AGENT, source, told, titles):
        _note_sub_agent(record, told)
        said = _said(record) if parsed.skipped in _REPEATED else None
        if said is not None:
            twice.add_item(said, times.from_any(record.get("timestamp")))
        elif parsed.events:
            twice.add_events(parsed.events)
        yield from twice.ready()
    yield from twice.ready(at_end=True)
    told.title = titles.best()


class _Said(NamedTuple):
    """Who said what."""

    event_type: str
    text: str


class _ToldTwice:
    """Drops the items that an event repeats, before or after them, among the nearest groups; keeps the order."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Group, _Said | None]] = deque()
        self._by_events: deque[_Said] = deque(maxlen=NEAREST)

    def add_item(self, said: _Said, ts: str | None) -> None:
        """Note an item that an event should repeat."""
        if said in self._by_events:
            self._by_events.remove(said)
            return
        kind, is_prompt = (USER, True) if said.event_type == "user_message" else (AGENT_KIND, False)
        self._waiting.append(((Event(kind, said.event_type, said.text, ts, is_prompt=is_prompt),), said))

    def add_events(self, group: Group) -> None:
        """Note the events of any other record."""
        for event in group:
            said = _Said(event.event_type, (event.text or "").strip())
            for entry in self._waiting:
                if entry[1] == said:
                    self._waiting.remove(entry)
                    break
            else:
                self._by_events.append(said)
        self._waiting.append((group, None))

    def ready(self, *, at_end: bool = False) -> Groups:
        """Yield the groups that wait for nothing any more."""
        while self._waiting and (at_end or self._waiting[0][1] is None or len(self._waiting) > NEAREST):
            yield self._waiting.popleft()[0]


def _said(record: dict[str, Record]) -> _Said | None:
    payload = record.get("payload")
    item = payload if isinstance(payload, dict) else record
    is_user = item.get("role") == "user"
    text = sort_typed(item.get("content"))[1] if is_user else words(item.get("content"))
    if text is None or not text.strip():
        return None
    return _Said("user_message" if is_user else "message_text", text.strip())


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
