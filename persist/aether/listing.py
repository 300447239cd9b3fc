"""Aether's session list and preview, from the heads of the logs (``spec/aether.md`` 2, "List", "Bounds", "Preview").

Reads a bounded window of each log; imports only persist, never the index. Differences from Aether are on purpose: older
eras have titles too, a damaged line or byte spoils nothing else, logs that cannot be listed are named, ``createdAt``
is compared as a time, and a first prompt that alone outgrows the window still gives its title.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, NamedTuple

from persist.aether.log import MetadataError, metadata_of, trimmed
from persist.agents.aether.agent import NAME, discover
from persist.agents.aether.records import AetherParser, Metadata
from persist.errors import NotFoundError, ShapeError, StoreError, StoreIOError
from persist.events import Event
from persist.lines import decode_line
from persist.regular import open_regular
from persist.sources import TRANSCRIPT, Line, Root, Source, Trouble
from persist.times import from_any

LIST_LINES: Final = 64
LIST_BYTES: Final = 64 * 1024
PREVIEW_LINES: Final = 200
PREVIEW_BYTES: Final = 128 * 1024
PREVIEW_TURNS: Final = 8
TITLE_BYTES: Final = 80
"""A longer title is cut at a character and gets an ellipsis of three bytes more."""
MAX_PROMPT_BYTES: Final = 8 * 1024 * 1024
"""How long a first prompt may be (media lie in its line) to give a title although it is longer than the window."""
MAX_METADATA_BYTES: Final = 1024 * 1024

_USER_LINE: Final = b'"kind":"user"'


class Listed(NamedTuple):
    """One session in the list. ``title`` is ``None`` where the window holds no user message.

    ``created_at`` is in the index's form, or ``None`` where the metadata's is unreadable.
    """

    session_id: str
    path: str
    cwd: str | None
    model: str | None
    selected_mode: str | None
    created_at: str | None
    title: str | None
    size_bytes: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Listing:
    """The sessions of one home, newest first (creation time, then id, descending), and what is missing and why."""

    sessions: tuple[Listed, ...]
    troubles: tuple[Trouble, ...]


class Turn(NamedTuple):
    """One line of a preview: ``role`` is ``user`` or ``assistant``, ``text`` its first line, cut as a title is."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Preview:
    """The beginning of a session: the first turns, and the tool calls within the window.

    ``truncated`` when the window was too small for the log or there were more turns.
    """

    metadata: Metadata
    transcript: tuple[Turn, ...]
    tool_call_count: int
    truncated: bool


def list_sessions(home: Path) -> Listing:
    """List the sessions in ``<home>/sessions``; a missing folder is an empty list.

    Cost: at most 64 KiB and 64 lines after the metadata of each log, and the first prompt's own line.
    """
    found = discover(Root(NAME, home))
    listed: list[tuple[str, str, Listed]] = []
    troubles = list(found.troubles)
    for source in found.sources:
        if source.kind != TRANSCRIPT:
            continue
        try:
            listed.append(_list_one(source))
        except MetadataError as error:
            troubles.append(Trouble(source.path, "metadata", str(error)))
        except StoreError as error:
            troubles.append(Trouble(source.path, "unreadable", str(error)))
    listed.sort(key=lambda one: (one[0], one[1], one[2].session_id), reverse=True)
    return Listing(tuple(session for _, _, session in listed), tuple(troubles))


def preview(path: Path) -> Preview:
    """Return the beginning of one log.

    Raises ``NotFoundError`` for a missing file, ``MetadataError`` when it does not begin with metadata,
    ``StoreIOError`` when it cannot be read.
    """
    with _Window(path, PREVIEW_LINES, PREVIEW_BYTES) as window:
        turns: list[Turn] = []
        calls = 0
        for event in window.events():
            calls += event.event_type == "tool_call"
            turn = turn_of(event)
            if turn is not None:
                turns.append(turn)
        truncated = window.truncated or len(turns) > PREVIEW_TURNS
        return Preview(window.metadata, tuple(turns[:PREVIEW_TURNS]), calls, truncated)


def title_of(text: str | None) -> str:
    """Return the title that a first user message with this text gives; ``None`` or blank is a media prompt."""
    line = (text or "").strip().partition("\n")[0].strip()
    return _cut(line) if line else "Media prompt"


def _list_one(source: Source) -> tuple[str, str, Listed]:
    """Return a session with its sort key: creation time, and the text of it where times are equal."""
    path = Path(source.path)
    with _Window(path, LIST_LINES, LIST_BYTES) as window:
        first = next((event for event in window.events() if event.is_prompt), None)
        first = first or window.outgrown_prompt()
        metadata = window.metadata
    created_at = from_any(metadata.created_at)
    listed = Listed(
        metadata.session_id,
        source.path,
        metadata.cwd,
        metadata.model,
        metadata.selected_mode,
        created_at,
        title_of(first.text) if first is not None else None,
        source.stat.size_bytes,
        source.stat.mtime_ns,
    )
    return created_at or "", str(metadata.created_at or ""), listed


def turn_of(event: Event) -> Turn | None:
    """Return an event as a line of a preview, cut as titles are; one whose first line is blank gives none."""
    if event.is_prompt:
        role, text = "user", event.text if event.text is not None else "[media prompt]"
    elif event.event_type == "message_text":
        role, text = "assistant", event.text or ""
    else:
        return None
    line = text.partition("\n")[0].strip()
    return Turn(role, _cut(line)) if line else None


def _cut(line: str) -> str:
    """Cut to ``TITLE_BYTES``, before a character and its accents rather than between them, and mark the cut."""
    data = line.encode("utf-8", "replace")
    if len(data) <= TITLE_BYTES:
        return line
    end = len(data[:TITLE_BYTES].decode("utf-8", "ignore"))
    while end > 1 and (unicodedata.combining(line[end]) or "\u200d" in (line[end], line[end - 1])):
        end -= 1
    return line[:end] + "…"


class _Window:
    """The metadata of a log and a bounded number of lines and bytes behind it (``spec/aether.md`` 2, "Bounds").

    Non-blank lines are counted, and every byte; reaching a bound exactly is fine, the line that goes beyond
    is not parsed and sets ``truncated``.
    """

    def __init__(self, path: Path, max_lines: int, max_bytes: int) -> None:
        self._path = path
        self._max_lines = max_lines
        self._max_bytes = max_bytes
        self._parser = AetherParser()
        self._beyond = b""
        self.truncated = False

    def __enter__(self) -> _Window:
        try:
            self._file: IO[bytes] = open_regular(self._path, LIST_BYTES)
        except FileNotFoundError as error:
            raise NotFoundError("Aether session log", str(self._path)) from error
        except OSError as error:
            raise self._failed(error) from error
        try:
            self.metadata = self._read_metadata()
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(self, *_reason: object) -> None:
        self._file.close()

    def events(self) -> Iterator[Event]:
        """Yield the persisted events of the window; damaged lines are passed over."""
        lines, spent_bytes = 0, 0
        while data := self._readline(self._max_bytes - spent_bytes + 1):
            spent_bytes += len(data)
            blank = not trimmed(data)
            lines += not blank
            if spent_bytes > self._max_bytes or lines > self._max_lines:
                self.truncated = True
                self._beyond = b"" if blank or lines > self._max_lines else data
                return
            if not blank:
                yield from self._parse(data)

    def outgrown_prompt(self) -> Event | None:
        """Return the prompt whose line began in the window and went beyond it, after :meth:`events` has ended."""
        if _USER_LINE not in self._beyond[:64]:
            return None
        rest = b"" if self._beyond.endswith(b"\n") else self._readline(MAX_PROMPT_BYTES)
        return next((event for event in self._parse(self._beyond + rest) if event.is_prompt), None)

    def _parse(self, data: bytes) -> Iterator[Event]:
        for record in decode_line(trimmed(data)).records:
            try:
                parsed = self._parser.feed(record, Line(0, 0))
            except ShapeError:
                continue
            yield from parsed.events

    def _read_metadata(self) -> Metadata:
        number = 0
        while data := self._readline(MAX_METADATA_BYTES):
            number += 1
            if not trimmed(data):
                continue
            try:
                return metadata_of(data)
            except ShapeError as error:
                raise MetadataError(self._path, number, f"not metadata: {error}") from error
        raise MetadataError(self._path, None, "no metadata, only blank lines")

    def _readline(self, limit_bytes: int) -> bytes:
        try:
            return self._file.readline(limit_bytes)
        except OSError as error:
            raise self._failed(error) from error

    def _failed(self, error: OSError) -> StoreIOError:
        return StoreIOError(self._path, "read", error.strerror or "unknown reason")
