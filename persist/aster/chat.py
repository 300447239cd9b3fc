"""Rebuilds the chat that a session's next turn continues (``spec/aster.md`` 3). Pure.

A summary stands for older messages; which, is the question. Ours say it: ``keeps_from_line`` is the physical line of
the first message that stays. Aster's say ``replaces_through``, a number of entries of a list in the memory of the
program that wrote it, and that list is not the file: the summary before is its first entry, and commentary beside
tool calls, messages typed while a turn ran and prompts of failed turns are not in it. So the list is lived through
again, and the number is a hint that picks between what it can have been:

1. the list of a program that ran all along (one entry a prompt, one a final answer) whose last six entries stay,
   as Aster's writer keeps them: the number fits, exactly;
2. the list of a program that resumed the file (every visible message an entry), last six kept: the same;
3. a smaller number than the first list's: more than six stay, as it says;
4. between the two lists, a session resumed on the way: six entries stay;
5. up to the second list's length: another writer's count of visible messages, taken literally (so does Aster);
6. beyond it, the list was a caller's own and longer than the file: six entries stay.

The newest prompt may or may not have been in the list (an automatic compaction is written after it): both fit. When in
doubt more stays, because a message told twice does less harm than one that was never summarised and is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from persist.aster.transcript import Message, Summary, Transcript

SUMMARY_OPENING: Final = "Summary of earlier conversation:\n"
KEPT_BY_ASTER: Final = 6
"""Entries that Aster's compaction keeps word for word (``spec/aster.md`` 3.4)."""
_SUMMARY_ENTRY: Final = 0
"""Stands in a list of line numbers for the summary that opens a folded history; no line has it."""


class ChatMessage(NamedTuple):
    """One message of the rebuilt chat; ``line_number`` is where it stands in the file."""

    role: str
    content: str
    line_number: int


def to_chat_messages(transcript: Transcript) -> list[ChatMessage]:
    """Return the last summary, if any, as one message of the assistant, and the messages that stay, in order.

    Tool results, steering, titles, evictions, blank messages and rounds of calls without words are not part
    of a chat; words beside tool calls are. Cost: linear in the transcript.
    """
    history = _History()
    last: Summary | None = None
    for event in transcript.events:
        if isinstance(event, Message):
            history.add(event)
        elif isinstance(event, Summary) and event.content:
            history.fold(event)
            last = event
    chat = []
    if last is not None:
        chat.append(ChatMessage("assistant", f"{SUMMARY_OPENING}{last.content}", last.line.number))
    for message in transcript.messages:
        if message.is_visible and message.line.number >= history.kept_from_line:
            chat.append(ChatMessage(message.role, message.content or "", message.line.number))
    return chat


def resume_turns(chat: Sequence[ChatMessage]) -> int:
    """Return how many prompts a rebuilt chat still shows; the transcript's ``user_turns`` counts all."""
    return sum(message.role == "user" for message in chat)


def keeps_last(transcript: Transcript, kept: int) -> int:
    """Return the line from which the last ``kept`` visible messages stand (the next line when there are none)."""
    visible = [message.line.number for message in transcript.messages if message.is_visible]
    if kept <= 0:
        return visible[-1] + 1 if visible else 1
    return visible[-kept] if len(visible) >= kept else 1


def folded_before(transcript: Transcript, line_number: int) -> int:
    """Return how many visible messages stand before a line: what Aster's reader takes ``replaces_through`` for."""
    return sum(message.is_visible and message.line.number < line_number for message in transcript.messages)


class _History:
    """The two lists that the writing program can have held, each entry the line where it stands."""

    def __init__(self) -> None:
        self.kept_from_line = 1
        self._turns: list[int] = []
        self._visible: list[int] = []
        self._turn_is_open = False

    def add(self, message: Message) -> None:
        """Live through one message."""
        if message.is_visible:
            self._visible.append(message.line.number)
        if message.role == "user":
            if not self._turn_is_open:
                self._turns.append(message.line.number)
            self._turn_is_open = True
        elif message.role == "assistant" and not message.tool_calls:
            self._turns.append(message.line.number)
            self._turn_is_open = False

    def fold(self, summary: Summary) -> None:
        """Live through a compaction: forget what it folded, put the summary first."""
        kept_from_line = self._kept_from(summary)
        folded_nothing = kept_from_line <= self.kept_from_line
        self.kept_from_line = max(self.kept_from_line, kept_from_line)
        for entries in (self._turns, self._visible):
            earlier = folded_nothing and entries[:1] == [_SUMMARY_ENTRY]
            kept = [line for line in entries if line >= self.kept_from_line]
            entries[:] = [_SUMMARY_ENTRY, *([_SUMMARY_ENTRY] if earlier else []), *kept]

    def _kept_from(self, summary: Summary) -> int:
        if summary.keeps_from_line is not None:
            return min(summary.keeps_from_line, summary.line.number)
        if summary.replaces_through is None:
            return self.kept_from_line
        entries, folded = self._choose(summary.replaces_through)
        return entries[folded - 1] + 1 if folded > 0 else self.kept_from_line

    def _choose(self, number: int) -> tuple[list[int], int]:
        """Return the list that a number counts in, and how many of its entries it folds."""
        length = number + KEPT_BY_ASTER
        pending = int(self._turn_is_open)
        turns, visible = len(self._turns), len(self._visible)
        if turns - pending <= length <= turns:
            return self._turns, number
        if visible - pending <= length <= visible:
            return self._visible, number
        if length < turns:
            return self._turns, number
        if length > visible >= number:
            return self._visible, number
        return self._turns, max(0, turns - pending - KEPT_BY_ASTER)
