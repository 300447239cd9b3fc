"""Lists the store's sessions from their files alone, and finds one by id (``spec/aster.md`` 2.6).

Memory is one line at a time, whatever the file's size; only lines that can matter to a list (headers, titles, prompts
and the last one) are decoded. Nothing is left out: a transcript without a header is listed without one, and a
file that cannot be read is a trouble. Never writes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from persist import times
from persist.aster.places import SESSIONS, choose, is_transcript, transcripts_in
from persist.aster.transcript import Header, Message, Title, event_of
from persist.errors import AmbiguousError, NotFoundError, ShapeError, StoreError, StoreIOError
from persist.ids import MIN_PREFIX_CHARACTERS, checked_session_id, slug
from persist.lines import RawLine, decode_line, iter_lines
from persist.regular import open_regular
from persist.sources import Line, Record, Trouble

_MAY_MATTER: Final = (b'"user"', b'"title"', b'"session"')
"""Inside a JSON string the closing quote is escaped, so quoted tool output does not look like these."""
_FRACTION = re.compile(r"\d\d:\d\d:\d\d[.,](\d{1,12})")
_NEVER: Final = ""


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """One session in a list. ``id`` is the header's, else the file's stem; ``header`` may be missing.

    ``turns`` counts prompts, blank ones too; ``prompts`` those with words. ``created_at`` is the header's
    time and ``updated_at`` that of the last line but titles that has one, else the file's; both in the index's form.
    """

    id: str
    path: Path
    home: Path
    header: Header | None
    title: str | None
    turns: int
    prompts: int
    created_at: str | None
    updated_at: str | None
    size_bytes: int


class Listing(NamedTuple):
    """Sessions, newest ``created_at`` first, then id descending, those without last; and what was in the way."""

    sessions: tuple[SessionEntry, ...]
    troubles: tuple[Trouble, ...]


def list_sessions(homes: Sequence[Path], project_folder: str | None = None) -> Listing:
    """Return every session below ``homes``, or those in the folder of one project's slug.

    A file that an earlier home also has, by its path below the home, hides the later one. Cost: every
    transcript is read once, few of its lines are decoded. Never raises for a file or folder.
    """
    entries: list[SessionEntry] = []
    troubles: list[Trouble] = []
    for home, path in transcripts(homes, project_folder, troubles):
        try:
            entries.append(describe(path, home))
        except StoreError as error:
            troubles.append(Trouble(str(path), "unreadable", str(error)))
    entries.sort(key=_order, reverse=True)
    return Listing(tuple(entries), tuple(troubles))


def latest(entries: Sequence[SessionEntry]) -> SessionEntry | None:
    """Return the last used of ``entries`` that has a prompt and was not imported (DESIGN 5); pure."""
    usable = [
        entry
        for entry in entries
        if entry.prompts and not (entry.header is not None and entry.header.imported_from is not None)
    ]
    return max(usable, key=lambda entry: (entry.updated_at or _NEVER, entry.id), default=None)


def find_session(homes: Sequence[Path], session_id: str) -> Path:
    """Return the file that an id names, whatever its case, in any project of ``homes``.

    The whole id first (file names, then the ids in headers), else a prefix of at least
    ``MIN_PREFIX_CHARACTERS`` that fits one. Raises ``NotFoundError``, ``AmbiguousError``, ``RefusedError``
    for what cannot be an id. Opens files only when no file's name fits whole.
    """
    checked = checked_session_id(session_id)
    troubles: list[Trouble] = []
    paths = [path for _home, path in transcripts(homes, None, troubles)]
    named = choose(paths, session_id, checked)
    if named is not None:
        return named
    headed = [path for path in paths if _header_id(path) == session_id]
    if len(headed) == 1:
        return headed[0]
    started = headed
    if not headed and len(checked) >= MIN_PREFIX_CHARACTERS:
        started = [path for path in paths if slug(path.stem).startswith(checked)]
    if len(started) == 1:
        return started[0]
    if started:
        raise AmbiguousError("session", session_id, tuple(sorted(path.stem for path in started)))
    unread = "1 folder" if len(troubles) == 1 else f"{len(troubles)} folders"
    hint = f"{unread} could not be read" if troubles else "list the sessions to see their ids"
    raise NotFoundError("session", session_id, hint)


def describe(path: Path, home: Path) -> SessionEntry:
    """Return one session's entry. Raises ``StoreIOError`` where its file cannot be read."""
    seen = _Seen()
    last: RawLine | None = None
    try:
        with open_regular(path) as file:
            stat = os.fstat(file.fileno())
            for raw in iter_lines(file):
                if raw.oversize:
                    continue
                if not any(word in raw.data for word in _MAY_MATTER) or not seen.read(raw):
                    last = raw
    except OSError as error:
        raise StoreIOError(path, "read", error.strerror or str(error)) from error
    if last is not None and seen.last_number != last.number:
        seen.read(last)
    header = seen.header
    created_at = times.from_any(header.created_at) if header is not None else None
    title = seen.title or (header.title if header is not None else None) or seen.first_prompt
    return SessionEntry(
        id=(header.id if header is not None else None) or path.stem,
        path=path,
        home=home,
        header=header,
        title=title,
        turns=seen.turns,
        prompts=seen.prompts,
        created_at=created_at,
        updated_at=seen.last_ts or created_at or times.from_ns(stat.st_mtime_ns),
        size_bytes=stat.st_size,
    )


class _Seen:
    """What the lines read so far told about their session."""

    def __init__(self) -> None:
        self.header: Header | None = None
        self.title: str | None = None
        self.title_is_by_person = False
        self.first_prompt: str | None = None
        self.turns = 0
        self.prompts = 0
        self.last_ts: str | None = None
        self.last_number = 0

    def read(self, raw: RawLine) -> bool:
        """Take in a line; whether it holds nothing but titles: who names a session does not use it."""
        decoded = decode_line(raw.data)
        if not raw.terminated and not decoded.is_object:
            return False
        titles = [self._take(record, Line(raw.number, raw.offset_bytes)) for record in decoded.records]
        is_title = bool(titles) and all(titles)
        if not is_title:
            self.last_number = raw.number
        return is_title

    def _take(self, record: Record, line: Line) -> bool:
        try:
            event = event_of(record, line)
        except ShapeError:
            return False
        ts = times.from_any(record.get("ts"))
        if ts is not None and not isinstance(event, Title):
            self.last_ts = ts
        if isinstance(event, Header) and self.header is None:
            self.header = event
        elif isinstance(event, Title) and event.title and event.title.strip():
            if event.is_by_person or not self.title_is_by_person:
                self.title = event.title
                self.title_is_by_person = event.is_by_person
        elif isinstance(event, Message) and event.role == "user":
            self.turns += 1
            self.prompts += event.is_visible
            if self.turns == 1:
                self.first_prompt = event.content
        return isinstance(event, Title)


def transcripts(
    homes: Sequence[Path], project_folder: str | None, troubles: list[Trouble], *, shadowed: bool = False
) -> Iterator[tuple[Path, Path]]:
    """Yield (home, path) of every transcript; ``shadowed`` gives those too that an earlier home also has.

    What cannot be looked into goes to ``troubles``. No file is opened.
    """
    seen: set[Path] = set()
    for home in homes:
        sessions = home / SESSIONS
        for folder in _folders(sessions, project_folder, troubles):
            try:
                paths = transcripts_in(folder)
            except StoreIOError as error:
                troubles.append(Trouble(str(folder), "unreadable", str(error)))
                continue
            for path in paths:
                below = path.relative_to(home)
                if shadowed or below not in seen:
                    seen.add(below)
                    yield home, path


def _folders(sessions: Path, project_folder: str | None, troubles: list[Trouble]) -> list[Path]:
    if project_folder is not None:
        return [sessions / slug(project_folder)]
    try:
        inside = sorted(path for path in sessions.iterdir() if path.is_dir() and not path.name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        troubles.append(Trouble(str(sessions), "unreadable", f"the folder cannot be read: {error.strerror}"))
        return []
    return [sessions, *inside]


def _header_id(path: Path) -> str | None:
    """Return the id in the first line's header, if there is one; a file that cannot be read has none."""
    try:
        if not is_transcript(path):
            return None
        with open_regular(path) as file:
            for raw in iter_lines(file):
                for record in decode_line(raw.data).records:
                    if isinstance(record, dict) and record.get("type") == "session":
                        value = record.get("id")
                        return value if isinstance(value, str) else None
                if raw.data.strip():
                    return None
    except OSError:
        return None
    return None


def _order(entry: SessionEntry) -> tuple[str, str, str]:
    """Sort key, to be reversed: creation to the last digit recorded, then id."""
    recorded = entry.header.created_at if entry.header is not None else None
    fraction = _FRACTION.search(recorded) if recorded else None
    return (entry.created_at or _NEVER, (fraction[1] if fraction else "").ljust(12, "0"), entry.id)
