"""Writes Aster's transcripts: one event, one line, one append (``spec/aster.md`` 1).

The wire format is exact: compact JSON, Aster's key order, absent fields left out, times with as many fraction
digits as are needed. Every append takes the folder's lock, mends a torn tail and goes out in one write
(``persist.files.append``); nothing stays open in between. A session deleted meanwhile is not begun again without its
header, and a file whose format is newer than ours is never written to.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Final

from persist import history
from persist.agents.aster.shapes import SUPPORTED_VERSION, Call
from persist.aster.chat import KEPT_BY_ASTER, folded_before, keeps_last
from persist.aster.incoming import Given
from persist.aster.key_order import call_record, header_record, message_record, summary_record
from persist.aster.places import SESSIONS, find_in_folder, new_session_path
from persist.aster.transcript import Citation, Header, Reasoning, TokenCounts, Transcript, read_header
from persist.errors import RefusedError, StoreError
from persist.files import LOCK_NAME, append_lines, locked, make_private_folder
from persist.files.create import create_file
from persist.files.remove import refuse_link_outside, refuse_outside
from persist.ids import checked_session_id, new_session_id
from persist.lines import MAX_LINE_BYTES, encode
from persist.sources import Record


class SessionWriter:
    """An open session. Made by :meth:`create`, :meth:`open` or :meth:`open_or_create`; not safe to share by threads.

    Every method that appends raises ``BusyError``, ``NotFoundError`` when the file was deleted,
    ``RefusedError`` after :meth:`close` or for a line over 64 MB, and ``StoreIOError``. ``ts`` is the event's
    time as text, now where left out. Lone surrogates become U+FFFD. ``history_trouble`` tells why the last
    prompt did not reach the prompt history, if it did not; that never fails an append.
    """

    def __init__(self, path: Path, header: Header | None, *, keeps_history: bool = True) -> None:
        self.path: Final = path
        self.header: Final = header
        self.session_id: Final = (header.id if header is not None else None) or path.stem
        self.history_trouble: str | None = None
        self._keeps_history = keeps_history and path.parent.parent.name == SESSIONS
        self._is_closed = False

    @classmethod
    def create(
        cls,
        home: Path,
        cwd: str,
        repo_root: str,
        model: str | None = None,
        *,
        session_id: str | None = None,
        base_url: str | None = None,
        aster_version: str | None = None,
        title: str | None = None,
        schedule: str | None = None,
        imported_from: str | None = None,
        parent: str | None = None,
        created_at: str | None = None,
        keeps_history: bool = True,
    ) -> SessionWriter:
        """Begin a session: a new file that holds its header. The id is a new ULID where left out.

        ``imported_from`` (``agent:id``) and ``parent`` (the session that a sub-agent works for) are keys of ours,
        behind Aster's. Raises ``RefusedError`` when the id exists in the project, in any case, or cannot name a file;
        ``BusyError``, ``StoreIOError``.
        """
        path = new_session_path(home, repo_root, session_id or new_session_id())
        if path.name == history.HISTORY_NAME:
            raise RefusedError(f"a session cannot be called {path.stem}, as the prompt history is", "choose another id")
        record = header_record(
            session_id=path.stem,
            created_at=created_at or now_text(),
            cwd=cwd,
            repo_root=repo_root,
            model=model,
            base_url=base_url,
            aster_version=aster_version,
            title=title,
            schedule=schedule,
            imported_from=imported_from,
            parent=parent,
        )
        line = wire_line(record)
        refuse_outside(path, home / SESSIONS)
        make_private_folder(path.parent)
        with locked(path.with_name(LOCK_NAME)):
            if session_id is not None and find_in_folder(path.parent, path.stem) is not None:
                raise RefusedError(f"session {path.stem} exists already", "open it to append")
            create_file(path, line + b"\n")
        return cls(path, read_header(path), keeps_history=keeps_history)

    @classmethod
    def open(cls, path: Path, *, keeps_history: bool = True) -> SessionWriter:
        """Open a session's file for appending, with or without a header.

        Raises ``NotFoundError``, ``RefusedError`` when the header's version is newer than ours or no number,
        and ``StoreIOError``.
        """
        refuse_link_outside(path, _store_of(path))
        header = read_header(path)
        if header is not None and (header.version is None or header.version > SUPPORTED_VERSION):
            raise RefusedError(
                f"{path} has format version {header.version or 'that is no number'}",
                f"this program writes version {SUPPORTED_VERSION}; update it",
            )
        return cls(path, header, keeps_history=keeps_history)

    @classmethod
    def open_or_create(
        cls, home: Path, cwd: str, repo_root: str, model: str | None = None, *, session_id: str
    ) -> SessionWriter:
        """Open the project's session that an id names, whatever its case, or begin it.

        Of two programs that begin it at once, one creates and both write to the same file. Raises
        ``RefusedError`` when the file of that id belongs to another project whose path has the same slug,
        ``AmbiguousError`` when several files fit, and what :meth:`create` and :meth:`open` raise.
        """
        folder = new_session_path(home, repo_root, session_id).parent
        found = find_in_folder(folder, session_id)
        if found is None:
            try:
                return cls.create(home, cwd, repo_root, model, session_id=session_id)
            except RefusedError:
                found = find_in_folder(folder, session_id)
                if found is None:
                    raise
        writer = cls.open(found)
        recorded = writer.header.repo_root if writer.header is not None else None
        if recorded is not None and recorded != repo_root and recorded != cwd:
            raise RefusedError(
                f"session {checked_session_id(session_id)} belongs to {recorded}, not to {repo_root}",
                "choose another id",
            )
        return writer

    def __enter__(self) -> SessionWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Refuse further appends. Nothing is pending: every append was on disk when it returned."""
        self._is_closed = True

    def user(self, content: str, *, ts: str | None = None) -> None:
        """Append what a person typed, and add it to the prompt history."""
        self._append(message_record("user", ts or now_text(), content=content))
        if self._keeps_history:
            self._remember([content])

    def assistant(
        self,
        content: str | None,
        tool_calls: Sequence[Call] = (),
        usage: TokenCounts | None = None,
        reasoning: Reasoning | None = None,
        annotations: Sequence[Citation] = (),
        *,
        ts: str | None = None,
    ) -> None:
        """Append an answer, or a round of tool calls with or without words beside them.

        Raises ``ValueError`` for a call without id or name.
        """
        record = message_record(
            "assistant",
            ts or now_text(),
            content=content,
            tool_calls=[_call(call) for call in tool_calls],
            usage=_usage(usage),
            annotations=[_citation(citation) for citation in annotations],
            reasoning=_reasoning(reasoning),
        )
        self._append(record)

    def tool(self, content: str, tool_call_id: str, *, ts: str | None = None) -> None:
        """Append a tool's result; one that failed begins with ``error: ``."""
        self._append(message_record("tool", ts or now_text(), content=content, tool_call_id=tool_call_id))

    def system(self, content: str, *, ts: str | None = None) -> None:
        """Append steering text of the harness: recorded, never replayed."""
        self._append(message_record("system", ts or now_text(), content=content))

    def summary(
        self,
        content: str,
        *,
        keeps_from_line: int | None = None,
        keep_last: int = KEPT_BY_ASTER,
        ts: str | None = None,
    ) -> None:
        """Append a summary of everything before ``keeps_from_line`` (a physical line of the file).

        Left out, the last ``keep_last`` visible messages stay. ``replaces_through`` is written as Aster's
        reader since 0.6 takes it: the visible messages before that line. Cost: the file is read once.
        """
        record = {"type": "summary", "content": content, "ts": ts or now_text(), "keeps_from_line": keeps_from_line}
        self._append(self._placed(record, keep_last))

    def eviction(
        self,
        index: int,
        chars: int,
        *,
        reason: str = "tool_result_over_budget",
        role: str = "tool",
        ts: str | None = None,
    ) -> None:
        """Append that the result at ``index`` of a request, ``chars`` bytes long, was blanked in it."""
        self._append(
            {"type": "eviction", "reason": reason, "role": role, "index": index, "chars": chars, "ts": ts or now_text()}
        )

    def title(self, title: str, *, ts: str | None = None) -> None:
        """Append a title, trimmed; the newest one counts. Raises ``RefusedError`` for an empty one."""
        trimmed = title.strip()
        if not trimmed:
            raise RefusedError("a title is empty", "give it at least one character")
        self._append({"type": "title", "title": trimmed, "ts": ts or now_text()})

    def given(self, events: Sequence[Given]) -> int:
        """Append events that :func:`persist.aster.incoming.read_event` has checked, in order; return how many.

        They go out together, each in one write, but for a summary that names no position in Aster's count: the file
        before it is read for that, so what stands before it is written first. Prompts reach the prompt history.
        """
        waiting: list[bytes] = []
        for event in events:
            record = {**event.record, "ts": event.record["ts"] or now_text()}
            if event.is_unplaced:
                self._append_lines(waiting)
                waiting = []
                record = self._placed(record, KEPT_BY_ASTER if event.keep_last is None else event.keep_last)
            waiting.append(wire_line(record))
        self._append_lines(waiting)
        if self._keeps_history:
            self._remember([event.prompt for event in events if event.prompt is not None])
        return len(events)

    def _placed(self, record: dict[str, Record], keep_last: int) -> dict[str, Record]:
        """Return a summary's record with both positions, ``keeps_from_line`` as given or from the file."""
        transcript = Transcript.load(self.path)
        line_number = record.get("keeps_from_line") or keeps_last(transcript, keep_last)
        folded = folded_before(transcript, line_number)
        ordered = summary_record(record["content"], record["ts"], replaces_through=folded, keeps_from_line=line_number)
        return {**ordered, **{key: value for key, value in record.items() if key not in ordered}}

    def _append(self, record: dict[str, Record]) -> None:
        self._append_lines([wire_line(record)])

    def _append_lines(self, lines: list[bytes]) -> None:
        if self._is_closed:
            raise RefusedError(f"the writer of session {self.session_id} is closed", "open it again")
        if lines:
            append_lines(self.path, lines, existing="required")

    def _remember(self, prompts: Sequence[str]) -> None:
        header = self.header
        cwd = (header.cwd if header is not None else None) or ""
        created_at = (header.created_at if header is not None else None) or ""
        self.history_trouble = None
        try:
            history.extend(
                self.path.parent.parent / history.HISTORY_NAME,
                [history.PromptEntry(self.session_id, cwd, created_at, prompt) for prompt in prompts],
            )
        except StoreError as error:
            self.history_trouble = str(error)


def _store_of(path: Path) -> Path:
    """Return the folder that a transcript lies in once and for all: the sessions' where it is one of a store."""
    return path.parent.parent if path.parent.parent.name == SESSIONS else path.parent


def now_text() -> str:
    """Return this moment as Aster writes it: UTC, ``Z``, a fraction of 0, 3, 6 or 9 digits as needed."""
    seconds, fraction_ns = divmod(time.time_ns(), 1_000_000_000)
    digits = f"{fraction_ns:09d}"
    while digits.endswith("000"):
        digits = digits[:-3]
    whole = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{whole}.{digits}Z" if digits else f"{whole}Z"


def wire_line(record: dict[str, Record]) -> bytes:
    """Return a record as one line of a transcript, without newline. Raises ``RefusedError`` over 64 MB."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    data = encode(text)
    if len(data) > MAX_LINE_BYTES:
        raise RefusedError(f"an event of {len(data)} bytes is over the limit of {MAX_LINE_BYTES}", "record it in parts")
    return data


def _call(call: Call) -> Record:
    if not call.id or not call.name:
        raise ValueError("a tool call needs an id and a name")
    return call_record(call.id, call.name, call.arguments or "{}")


def _usage(usage: TokenCounts | None) -> Record:
    if usage is None or not (usage.prompt_tokens or usage.completion_tokens):
        return None
    return {"prompt_tokens": usage.prompt_tokens or 0, "completion_tokens": usage.completion_tokens or 0}


def _citation(citation: Citation) -> Record:
    return {"type": "url_citation", "url_citation": {"url": citation.url, "title": citation.title}}


def _reasoning(reasoning: Reasoning | None) -> Record:
    if reasoning is None or not reasoning.text:
        return None
    numbers = {"tokens": reasoning.tokens, "duration_ms": reasoning.duration_ms}
    return {"text": reasoning.text, **{key: value for key, value in numbers.items() if value is not None}}
