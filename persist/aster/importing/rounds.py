"""Makes Aster's messages of an agent's events: what one reply of the model said and called is one message.

Pure. Agents tell one reply in several records, some again and longer while it streams. A round is what belongs
together: thoughts, words, calls; it is written when a result, a person or another reply follows. Results follow the
round with their calls. Memory is one round.

What becomes of the rest: machine text, steering and failures of the provider are ``system`` messages (recorded, never
replayed, no turn); a compaction is a ``summary``; usage, retries and titles leave no record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from persist.agents.aster.shapes import Call
from persist.aster.importing.candidates import Group
from persist.aster.importing.injected import BETWEEN_PARTS
from persist.aster.importing.records import is_visible, message_record, result_text, wire_time
from persist.aster.key_order import summary_record
from persist.events import Event
from persist.sources import Record

ATTACHED: Final = "[image]"
"""How Aster records an image that came without words (``spec/aster.md`` 1.3)."""
_HEADER_LINES: Final = 1
_RESULTS: Final = {"tool_result": False, "tool_error": True, "tool_refused": True}
_STEERING: Final = ("user_notice", "system_message", "llm_call_ended", "turn_ended")
_STAGES: Final = {"message_thought": 0, "message_text": 1, "tool_call": 2}


class Rounds:
    """Turns the groups of events of one session into records, in order.

    ``fallback_ts`` gives the time of what comes before any time is known. ``holds_talk`` tells whether any record so
    far is a person's or the agent's: a session of nothing else is empty. ``first_ts`` is the time of the first such.
    """

    def __init__(self, fallback_ts: Callable[[], str]) -> None:
        self.holds_talk = False
        self.first_ts: str | None = None
        self._fallback_ts = fallback_ts
        self._last_ts: str | None = None
        self._records = 0
        self._visible = 0
        self._round = _Round()
        self._made_ids = 0

    def feed(self, group: Group) -> Iterator[dict[str, Record]]:
        """Yield the records that a group completes."""
        for event in _calls_first(group):
            if event.event_type in _STAGES:
                if not self._round.fits(event):
                    yield from self.end()
                self._round.add(self._named(event))
            else:
                record = self._record(event)
                if record is not None:
                    yield from self.end()
                    yield self._counted(record(self._time(event.ts)))

    def end(self) -> Iterator[dict[str, Record]]:
        """Yield what the open round holds; to be called behind the last group as well."""
        done = self._round
        self._round = done.next()
        if done.is_empty:
            return
        content = BETWEEN_PARTS.join(done.texts) if done.texts else None
        reasoning = BETWEEN_PARTS.join(done.thoughts) if done.thoughts else None
        ts = self._time(done.ts)
        yield self._counted(message_record("assistant", ts, content=content, calls=done.calls, reasoning=reasoning))

    def _record(self, event: Event) -> Callable[[str], dict[str, Record]] | None:
        """Return how an event outside a round is recorded once its time is known; ``None`` for no record."""
        kind, text = event.event_type, event.text
        has_words = text is not None and bool(text.strip())
        if kind in _RESULTS:
            content = result_text(text, failed=_RESULTS[kind])
            return lambda ts: message_record("tool", ts, content=content, tool_call_id=event.tool_call_id)
        if kind == "user_message" and (has_words or event.is_prompt):
            return lambda ts: message_record("user", ts, content=text if has_words else ATTACHED)
        if kind in _STEERING and has_words:
            return lambda ts: message_record("system", ts, content=text)
        if kind == "context_compaction_result" and text is not None and has_words:
            return lambda ts: summary_record(
                text, wire_time(ts), replaces_through=self._visible, keeps_from_line=self._records + _HEADER_LINES + 1
            )
        return None

    def _named(self, event: Event) -> Event:
        """Give a call without an id one of its own: Aster rejects a message with a nameless call."""
        if event.event_type != "tool_call" or event.tool_call_id:
            return event
        self._made_ids += 1
        return event._replace(tool_call_id=f"call_{self._made_ids}")

    def _time(self, ts: str | None) -> str:
        self._last_ts = ts or self._last_ts or self._fallback_ts()
        return self._last_ts

    def _counted(self, record: dict[str, Record]) -> dict[str, Record]:
        self._records += 1
        self._visible += is_visible(record)
        if record.get("role") in ("user", "assistant"):
            self.holds_talk = True
            self.first_ts = self.first_ts or self._last_ts
        return record


class _Round:
    """One reply that is being told. ``told`` are texts of the same reply that were written before a result came."""

    def __init__(self, message_id: str | None = None, told: tuple[str, ...] = ()) -> None:
        self.texts: list[str] = []
        self.thoughts: list[str] = []
        self.calls: list[Call] = []
        self.ts: str | None = None
        self._message_id = message_id
        self._told = told
        self._stage = 0

    @property
    def is_empty(self) -> bool:
        return not (self.texts or self.thoughts or self.calls)

    def next(self) -> _Round:
        """Return the round behind this one, which may go on with the same reply."""
        return _Round(self._message_id, (*self._told, *self.texts) if self._message_id is not None else ())

    def fits(self, event: Event) -> bool:
        """Whether an event belongs here: to the same reply, or where replies have no ids by its place in the order."""
        if self.is_empty or (event.message_id is not None and event.message_id == self._message_id):
            return True
        stage = _STAGES[event.event_type]
        in_order = stage >= self._stage and not (stage == 1 and self.texts)
        return event.message_id is None and self._message_id is None and in_order

    def add(self, event: Event) -> None:
        """Take an event that fits. A text that an earlier one begins takes its place; one told already is left out."""
        if event.message_id != self._message_id:
            self._message_id, self._told = event.message_id, ()
        if event.event_type == "tool_call":
            if all(call.id != event.tool_call_id for call in self.calls):
                self.calls.append(Call(event.tool_call_id, event.tool_name, event.tool_arguments))
        elif not event.text or not event.text.strip():
            return
        elif event.event_type == "message_thought":
            _grow(self.thoughts, event, ())
        else:
            _grow(self.texts, event, self._told)
        self._stage = _STAGES[event.event_type]
        self.ts = event.ts or self.ts


def _grow(texts: list[str], event: Event, told: tuple[str, ...]) -> None:
    text = event.text or ""
    if event.may_grow and event.message_id is not None:
        if any(earlier.startswith(text) for earlier in (*told, *texts)):
            return
        for at, earlier in enumerate(texts):
            if text.startswith(earlier):
                texts[at] = text
                return
    texts.append(text)


def _calls_first(group: Group) -> list[Event]:
    """Return a record's events with each call before its result: some records tell them the other way round."""
    late = {event.tool_call_id: event for event in group if event.event_type == "tool_call" and event.tool_call_id}
    ordered: list[Event] = []
    for event in group:
        if event.event_type in _RESULTS and event.tool_call_id in late:
            ordered.append(late.pop(event.tool_call_id))
        elif event.event_type == "tool_call" and event.tool_call_id and late.pop(event.tool_call_id, None) is None:
            continue
        ordered.append(event)
    return ordered
