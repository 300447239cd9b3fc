"""The conversation that an Aether session's next model call continues, from its log (``spec/aether.md`` 1.7). Pure.

Aether logs an assistant's text behind the tool results of the same call, so a message is collected until something ends
it: another text, another call, a prompt, the turn's end. Boundaries and ids are those of the live run. What Aether
discards is discarded here too (outcomes of tools of a call that never came to its text), and counted. Records of every
era come in the current shape (``persist.agents.aether.eras``); where old ones have no message id, the caller's session
and the line make one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from persist.aether.log import MALFORMED, PENDING, PERSISTED, Entry
from persist.events import Event
from persist.sources import Record

Role = Literal["system", "user", "assistant", "tool", "summary"]

SUMMARY_OPENING: Final = "Summary of earlier conversation:\n"
THOUGHT_SUFFIX: Final = ":thought"
IN_BACKGROUND: Final = "The tool goes on in the background; its result will follow in a message of its own."


class ToolCall(NamedTuple):
    """A call as it was answered: the arguments are those that the answer repeats, as JSON text or null."""

    id: str
    name: str
    arguments: str | None


class Message(NamedTuple):
    """One message of the conversation.

    ``content`` holds the content blocks of a user, one text block or none for the others. ``reasoning`` and
    ``tool_calls`` are an assistant's; the tools' answers follow it, one message of role ``tool`` each, with
    ``tool_call_id`` and, for failures, ``is_error``. A ``summary`` stands for all messages before it. ``is_prompt``
    tells what a person typed from what the program said in the user's place.
    """

    role: Role
    message_id: str
    content: tuple[Record, ...]
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    is_error: bool = False
    is_prompt: bool = False

    @property
    def text(self) -> str:
        """The text blocks, joined by one newline; media have none."""
        texts = [block.get("text") for block in self.content if isinstance(block, dict)]
        return "\n".join(text for text in texts if isinstance(text, str))


class ChatMessage(NamedTuple):
    """One message as another program's chat takes it."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages in order, and what the log told beside them.

    ``turns`` counts the prompts of the whole session, ``first_prompt`` is the words of the first (null for media),
    ``discarded_outcomes`` the answers of tools that belong to no message, ``damaged`` the lines that hold no event.
    ``last_agent`` and ``last_usage`` are what the last switch and the last usage sample tell.
    """

    session_id: str
    messages: tuple[Message, ...]
    turns: int
    first_prompt: str | None
    discarded_outcomes: int
    damaged: int
    last_agent: str | None
    last_usage: Record


class _Outcome(NamedTuple):
    call: ToolCall
    text: str
    is_error: bool


@dataclass(slots=True)
class _Pending:
    """An assistant's message that nothing has ended yet."""

    message_id: str | None = None
    text: str = ""
    reasoning: str | None = None
    outcomes: list[_Outcome] = field(default_factory=list)
    notes: list[Message] = field(default_factory=list)


def rebuild(
    entries: Iterable[Entry], session_id: str, *, opening: Sequence[Message] = (), agent: str | None = None
) -> Conversation:
    """Return the conversation that a log's entries, in order, leave behind.

    ``opening`` are the messages it begins with, such as a system prompt, which clearing and folding keep; ``agent`` is
    the one that was chosen before the first switch. Cost and memory: linear in the log.
    """
    builder = _Builder(session_id, list(opening), agent)
    turns = damaged = 0
    first_prompt: str | None = None
    for entry in entries:
        damaged += entry.status in (MALFORMED, PENDING)
        if entry.status == PERSISTED and entry.event is not None:
            if entry.event.is_prompt:
                first_prompt = first_prompt if turns else entry.event.text
                turns += 1
            builder.take(entry, entry.event)
    builder.flush()
    return Conversation(
        session_id,
        tuple(builder.messages),
        turns,
        first_prompt,
        builder.discarded,
        damaged,
        builder.agent,
        builder.usage,
    )


def to_chat_messages(messages: Sequence[Message]) -> list[ChatMessage]:
    """Return the words of a conversation: prompts, answers that are not blank, and a summary as Aster words it.

    What tools were asked and answered is not part of it, nor are media.
    """
    chat = []
    for message in messages:
        if message.role in ("user", "assistant", "system") and message.text.strip():
            chat.append(ChatMessage(message.role, message.text))
        elif message.role == "summary":
            chat.append(ChatMessage("assistant", f"{SUMMARY_OPENING}{message.text}"))
    return chat


class _Builder:
    def __init__(self, session_id: str, messages: list[Message], agent: str | None) -> None:
        self.messages = messages
        self.agent = agent
        self.usage: Record = None
        self.discarded = 0
        self._session_id = session_id
        self._pending = _Pending()

    def take(self, entry: Entry, told: Event) -> None:
        """Live through one event; ``told`` is what the parser made of it."""
        data = entry.record["data"]
        event = data.get("event") if isinstance(data.get("event"), dict) else {}
        match told.event_type:
            case "user_message":
                self._add(Message("user", self._id(data, entry), _blocks(data.get("content")), is_prompt=True))
            case "auto_continue":
                self._add(Message("user", self._id(event, entry), _blocks(event.get("content"))))
            case "clear_context":
                self.flush()
                self._keep_system()
            case "context_cleared":
                self._pending = _Pending()
                self._keep_system()
            case "context_compaction_result":
                self._fold(Message("summary", self._id(event, entry), _blocks(event.get("summary"))))
            case "message_text":
                self._begin(self._id(event, entry), event.get("chunk") or "")
            case "message_thought":
                self._think(event)
            case "tool_call":
                if self._pending.message_id is not None:
                    self.flush()
            case "turn_ended":
                self.flush()
            case "agent_switched":
                self.agent = data.get("to")
            case "session_usage":
                self.usage = event
            case _:
                self._take_tool(entry, told)

    def flush(self) -> None:
        """End the pending message: it and its tools' answers are messages now; without a text they are discarded."""
        pending, self._pending = self._pending, _Pending()
        if pending.message_id is not None:
            calls = tuple(outcome.call for outcome in pending.outcomes)
            if pending.text or calls or pending.reasoning:
                content = _blocks(pending.text or None)
                self.messages.append(Message("assistant", pending.message_id, content, pending.reasoning, calls))
            for call, text, is_error in pending.outcomes:
                answer = Message("tool", f"{pending.message_id}:{call.id}", _blocks(text))
                self.messages.append(answer._replace(tool_call_id=call.id, is_error=is_error))
        else:
            self.discarded += len(pending.outcomes)
        self.messages.extend(pending.notes)

    def _add(self, message: Message) -> None:
        self.flush()
        self.messages.append(message)

    def _begin(self, message_id: str, text: str) -> None:
        if self._pending.message_id is not None:
            self.flush()
        self._pending.message_id = message_id
        self._pending.text = text

    def _think(self, event: dict[str, Record]) -> None:
        """Keep a thought that belongs to the pending text; before the suffix came, both had one id."""
        wanted = self._pending.message_id
        if wanted is not None and event.get("message_id") in (wanted, f"{wanted}{THOUGHT_SUFFIX}"):
            self._pending.reasoning = event.get("chunk") or None

    def _keep_system(self) -> None:
        self.messages = [message for message in self.messages if message.role == "system"]

    def _fold(self, summary: Message) -> None:
        self.flush()
        system = [message for message in self.messages if message.role == "system"]
        if len(self.messages) > len(system):
            self.messages = [*system, summary]

    def _take_tool(self, entry: Entry, told: Event) -> None:
        call = ToolCall(told.tool_call_id or "", told.tool_name or "", told.tool_arguments)
        if told.event_type in ("tool_result", "tool_error", "tool_refused"):
            self._pending.outcomes.append(_Outcome(call, told.text or "", told.event_type != "tool_result"))
        elif told.event_type == "tool_deferred":
            self._pending.outcomes.append(_Outcome(call, IN_BACKGROUND, False))
        elif told.event_type in ("tool_task_completed", "tool_task_failed", "tool_task_cancelled"):
            self._note(entry, told, call)

    def _note(self, entry: Entry, told: Event, call: ToolCall) -> None:
        """Tell the model how a tool in the background ended; behind the answers that still wait for their text."""
        task_id = str(entry.record["data"]["event"].get("task_id") or "")
        status = told.outcome or ""
        text = escape(told.text or "") if status != "cancelled" else ""
        attributes = f"id={quoteattr(task_id)} tool={quoteattr(call.name)} status={quoteattr(status)}"
        note = Message("user", f"task-result:{task_id}", _blocks(f"<task-result {attributes}>{text}</task-result>"))
        if self._pending.message_id is None and self._pending.outcomes:
            self._pending.notes.append(note)
        else:
            self._add(note)

    def _id(self, holder: dict[str, Record], entry: Entry) -> str:
        found = holder.get("message_id")
        return found if isinstance(found, str) and found else f"{self._session_id}:{entry.line.number}"


def _blocks(content: Record) -> tuple[Record, ...]:
    """Return content blocks; plain text is one, nothing is none."""
    if isinstance(content, str):
        return ({"type": "text", "text": content},)
    return tuple(content) if isinstance(content, list) else ()
