"""A store that lives: random steps over the files of all three agents, made from small pools so that they collide.

Ids, texts and times are few on purpose: forks, copies, growing answers, shared provider messages and prompts that a
history also knows then come about by themselves.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, Final

from tests import builders as make
from tests.builders import HomeBuilder, Record

TEXTS: Final = ("yes", "water the roses", "water the roses twice", "prune the pear 🍐", "Grüße", "q" * 700, "", " \n ")
SESSIONS: Final = ("s-one", "s-two", "s-three", "s-four", "s-five")
UUIDS: Final = tuple(f"u{number}" for number in range(12))
MESSAGES: Final = ("msg-1", "msg-2", "msg-3")
PROJECTS: Final = ("-w-gamma", "-w-delta")
ODD_LINES: Final = (
    b"", b"   ", b"{", b"7", b'"text"', b"[1, 2]", b"null", b"\0\0\0\0", b'{"type":"brand-new","sessionId":"s-one"}',
    b'{"a":1}{"b":2}', b"\xff\xfe", b'{"type":"message","role":"user","content":"cut \xc3"}',
    b'\xef\xbb\xbf{"type":"x"}',
)  # fmt: skip


class World:
    """Files below one home, and the steps that change them; each step draws what it needs from its own generator."""

    def __init__(self, home: Path) -> None:
        self.build = HomeBuilder(home)
        self._home = home
        self._halves: dict[Path, bytes] = {}

    def take(self, name: str, seed: int) -> None:
        """Take one step; a step that finds nothing to change, or a folder in its way, does nothing."""
        with suppress(IsADirectoryError):
            STEPS[name](self, Random(seed))  # noqa: S311

    def files(self) -> list[Path]:
        """Return all files of the store, in order."""
        return sorted(path for path in self._home.rglob("*") if path.is_file() and not path.is_symlink())

    def _line_files(self) -> list[Path]:
        return [path for path in self.files() if path.suffix == ".jsonl"]

    def add(self, rng: Random) -> None:
        """Write one file of any kind, over what lay at its path."""
        _ADDERS[rng.randrange(len(_ADDERS))](self, rng)

    def add_many(self, rng: Random) -> None:
        """Write several files at once."""
        for _ in range(rng.randint(4, 8)):
            self.add(rng)

    def append(self, rng: Random) -> None:
        """Append whole lines."""
        if path := _any(rng, self._line_files()):
            self._append(path, make.lines(*(record_for(path, rng) for _ in range(rng.randint(1, 3)))))

    def append_half(self, rng: Random) -> None:
        """Append the beginning of a line, cut anywhere, inside a character too."""
        if path := _any(rng, self._line_files()):
            line = make.lines(record_for(path, rng))
            cut = rng.randrange(1, len(line)) if len(line) > 1 else 1
            self._append(path, line[:cut])
            self._halves[path] = line[cut:]

    def complete(self, rng: Random) -> None:
        """Append what was missing of a half line."""
        if path := _any(rng, sorted(path for path in self._halves if path.is_file())):
            self._append(path, self._halves.pop(path))

    def append_open(self, rng: Random) -> None:
        """Append a whole record without its newline."""
        if path := _any(rng, self._line_files()):
            self._append(path, make.lines(record_for(path, rng))[:-1])

    def append_newline(self, rng: Random) -> None:
        """Append a newline alone."""
        if path := _any(rng, self._line_files()):
            self._append(path, b"\n")

    def cut(self, rng: Random) -> None:
        """Cut a file at any byte."""
        if path := _any(rng, self.files()):
            os.truncate(path, rng.randint(0, path.stat().st_size))

    def cut_head(self, rng: Random) -> None:
        """Remove the first line."""
        if path := _any(rng, self._line_files()):
            path.write_bytes(path.read_bytes().partition(b"\n")[2])

    def rewrite(self, rng: Random) -> None:
        """Replace a line by another one, in place or by a new file."""
        if path := _any(rng, self._line_files()):
            all_lines = path.read_bytes().splitlines(keepends=True)
            if all_lines:
                all_lines[rng.randrange(len(all_lines))] = make.lines(record_for(path, rng))
            self._replace(path, b"".join(all_lines), rng)

    def rewrite_equal(self, rng: Random) -> None:
        """Exchange ids or letters by others of equal length, and put the old time back."""
        if path := _any(rng, self.files()):
            before, data = path.stat(), path.read_bytes()
            old, new = rng.choice(((b"u1", b"u2"), (b"msg-1", b"msg-2"), (b"yes", b"yep"), (b"s-one", b"s-two"),
                                   (b"the roses", b"the pears"), (b"08:0", b"09:0")))  # fmt: skip
            self._replace(path, data.replace(old, new), rng)
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    def delete(self, rng: Random) -> None:
        """Delete a file."""
        if path := _any(rng, self.files()):
            path.unlink()

    def rename(self, rng: Random) -> None:
        """Rename a file within its folder."""
        if path := _any(rng, self.files()):
            new = path.with_name(f"{'agent-' * path.stem.startswith('agent-')}r{rng.randrange(9)}{path.suffix}")
            if not new.is_dir():
                path.rename(new)

    def duplicate(self, rng: Random) -> None:
        """Copy a file beside itself or into another project's folder: one session told by two files."""
        if path := _any(rng, self._line_files()):
            folder = path.parent.parent / rng.choice(PROJECTS) if "projects" in path.parts else path.parent
            self._copy(path, folder / f"{path.stem}-copy.jsonl", path.read_bytes())

    def fork(self, rng: Random) -> None:
        """Copy a transcript under another session's id, as forks do."""
        if path := _any(rng, self._line_files()):
            old, new = rng.sample(SESSIONS, 2)
            data = path.read_bytes().replace(old.encode(), new.encode())
            self._copy(path, path.with_name(f"{new}-fork.jsonl"), data)

    def touch(self, rng: Random) -> None:
        """Change a file's time alone."""
        if path := _any(rng, self.files()):
            os.utime(path, ns=(10**18, 10**18 + rng.randrange(10**12)))

    def empty(self, rng: Random) -> None:
        """Empty a file."""
        if path := _any(rng, self.files()):
            os.truncate(path, 0)

    def become_folder(self, rng: Random) -> None:
        """Put a folder in a file's place."""
        if path := _any(rng, self.files()):
            path.unlink()
            path.mkdir()

    def become_link(self, rng: Random) -> None:
        """Put a link that leads nowhere in a file's place."""
        if path := _any(rng, self.files()):
            path.unlink()
            path.symlink_to(path.with_name("nowhere"))

    def clear_way(self, rng: Random) -> None:
        """Remove the folders and links with a file's name."""
        for path in sorted(self._home.rglob("*.jsonl")) + sorted(self._home.rglob("*.md")):
            if path.is_symlink():
                path.unlink()
            elif path.is_dir():
                shutil.rmtree(path)

    def lose_agent(self, rng: Random) -> None:
        """Move an agent's folder away, or back: a disk that is not mounted."""
        folder = rng.choice((self.build.claude_home / "projects", self.build.aster_home, self._home / ".aether"))
        away = self._home.parent / f"away-{folder.name}"
        if away.exists():
            if folder.exists():
                shutil.rmtree(folder)
            away.rename(folder)
        elif folder.exists():
            folder.rename(away)

    def _append(self, path: Path, data: bytes) -> None:
        self._halves.pop(path, None)
        with path.open("ab") as file:
            file.write(data)

    def _copy(self, path: Path, copy: Path, data: bytes) -> None:
        if len(path.name) < 100 and not (copy.is_dir() or copy.is_symlink()):
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(data)

    def _replace(self, path: Path, data: bytes, rng: Random) -> None:
        if rng.random() < 0.5:
            path.write_bytes(data)
            return
        new = path.with_name(".new")
        new.write_bytes(data)
        new.replace(path)

    def _add_aster(self, rng: Random) -> None:
        session = rng.choice(SESSIONS)
        path = self.build.aster_home / "sessions" / rng.choice(PROJECTS) / f"{session}.jsonl"
        head = [] if rng.random() < 0.1 else [_aster_head(session, rng)]
        self._write(path, head, rng)

    def _add_aether(self, rng: Random) -> None:
        session = rng.choice(SESSIONS)
        head = [] if rng.random() < 0.1 else [make.aether_metadata(session, rng.randrange(9))]
        self._write(self._home / ".aether" / "sessions" / f"{session}.jsonl", head, rng)

    def _add_claude(self, rng: Random) -> None:
        session = rng.choice(SESSIONS)
        head = [] if rng.random() < 0.5 else [claude_record(rng, session)]
        self._write(self.build.claude_home / "projects" / rng.choice(PROJECTS) / f"{session}.jsonl", head, rng)

    def _add_agent(self, rng: Random) -> None:
        folder = self.build.claude_home / "projects" / "-w-gamma" / rng.choice(SESSIONS) / "subagents"
        self._write(folder / f"agent-a{rng.randrange(3)}.jsonl", [], rng)

    def _add_history(self, rng: Random) -> None:
        path = rng.choice((self.build.claude_home / "history.jsonl",
                           self.build.aster_home / "sessions" / "prompt-history.jsonl",
                           self._home / ".aether" / "sessions" / "prompt-history.jsonl"))  # fmt: skip
        self._write(path, [], rng)

    def _add_memory(self, rng: Random) -> None:
        name, text = f"note-{rng.randrange(3)}", rng.choice(TEXTS)
        match rng.randrange(3):
            case 0:
                self.build.block(name, text, archived=rng.random() < 0.3)
            case 1:
                self.build.facts(*rng.sample(TEXTS[:5], 2))
            case _:
                self._write(self.build.aster_home / "memory" / "journal.jsonl", [], rng)

    def _write(self, path: Path, head: list[Record], rng: Random) -> None:
        if path.is_dir() or path.is_symlink():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(make.lines(*head, *(record_for(path, rng) for _ in range(rng.randint(0, 6)))))
        self._halves.pop(path, None)


def record_for(path: Path, rng: Random) -> Record | bytes:
    """Return a random record for the kind of file that ``path`` is; now and then something odd."""
    if rng.random() < 0.12:
        return rng.choice(ODD_LINES)
    if path.name == "history.jsonl":
        return make.claude_history_entry(rng.choice(TEXTS), rng.choice((*SESSIONS, None)), rng.randrange(9))
    if path.name == "prompt-history.jsonl":
        return make.history_entry(rng.choice(TEXTS), rng.choice(SESSIONS), rng.randrange(9))
    if path.name == "journal.jsonl":
        return make.journal_entry(rng.choice(("remember", "recall")), f"note-{rng.randrange(3)}", rng.randrange(9))
    if "projects" in path.parts:
        return claude_record(rng, path.stem if rng.random() < 0.8 else rng.choice(SESSIONS))
    return _aether_record(rng) if ".aether" in path.parts else _aster_record(rng)


def claude_record(rng: Random, session: str) -> Record:
    """Return a random record of a Claude Code transcript."""
    uuid, minute, text = rng.choice(UUIDS), rng.randrange(9), rng.choice(TEXTS)
    keys: Record = {}
    if rng.random() < 0.15:
        keys["forkedFrom"] = {"sessionId": rng.choice(SESSIONS)}
    match rng.randrange(8):
        case 0 | 1:
            record = make.claude_prompt(text, session, uuid, minute, **keys)
        case 2 | 3:
            record = make.claude_answer(
                text, session, uuid, minute, message_id=rng.choice((*MESSAGES, None)),
                request_id=rng.choice(("req-1", "req-2", None)), output_tokens=rng.choice((5, 60, 180, None)), **keys,
            )  # fmt: skip
        case 4:
            record = make.claude_tool_call(rng.choice(UUIDS), session, uuid, minute, command=text)
        case 5:
            record = make.claude_tool_result(rng.choice(UUIDS), text, session, uuid, minute)
        case 6:
            record = {"type": "summary", "summary": text, "leafUuid": rng.choice(UUIDS)}
        case _:
            record = {"type": rng.choice(("ai-title", "custom-title")), "sessionId": session, "aiTitle": text,
                      "customTitle": text}  # fmt: skip
    if rng.random() < 0.15:
        record.pop("timestamp", None)
    if rng.random() < 0.1:
        record.pop("uuid", None)
    if rng.random() < 0.1:
        record.pop("sessionId", None)
    return record


def _aster_head(session: str, rng: Random) -> Record:
    keys: dict[str, Any] = {}
    if rng.random() < 0.2:
        keys["parent"] = rng.choice(SESSIONS)
    if rng.random() < 0.4:
        agent = rng.choice(("claude-code", "aether", "aster"))
        keys["imported_from"] = {"agent": agent, "id": rng.choice(SESSIONS)}
    elif rng.random() < 0.2:
        session = f"claude-{session}"
    return make.aster_header(session, rng.choice((-500, *range(9))), **keys)


def _aster_record(rng: Random) -> Record:
    minute, text = rng.randrange(9), rng.choice(TEXTS)
    match rng.randrange(7):
        case 0 | 1:
            record = make.aster_prompt(text, minute)
        case 2 | 3:
            record = make.aster_answer(text, minute, rng.choice((None, (10, 4))))
        case 4:
            record = make.aster_title(text, minute)
        case 5:
            record = {"type": "summary", "content": text, "replaces_through": 2, "ts": make.at(minute)}
        case _:
            record = _aster_head(rng.choice(SESSIONS), rng)
    if rng.random() < 0.2:
        record.pop("ts", None)
    return record


def _aether_record(rng: Random) -> Record:
    text, message = rng.choice(TEXTS), rng.choice(MESSAGES)
    match rng.randrange(5):
        case 0 | 1:
            return make.aether_prompt(text, rng.choice((message, None)))
        case 2:
            return make.aether_answer(text, message)
        case 3:
            return make.aether_context(rng.randrange(1000))
        case _:
            return make.aether_metadata(rng.choice(SESSIONS), rng.randrange(9))


def _any(rng: Random, paths: list[Path]) -> Path | None:
    return rng.choice(paths) if paths else None


_ADDERS: Final[tuple[Callable[[World, Random], None], ...]] = (
    World._add_aster, World._add_aster, World._add_aether, World._add_claude, World._add_claude, World._add_agent,
    World._add_history, World._add_memory,
)  # fmt: skip

STEPS: Final[Mapping[str, Callable[[World, Random], None]]] = {
    step.__name__: step
    for step in (
        World.add, World.add_many, World.append, World.append_half, World.complete, World.append_open,
        World.append_newline, World.cut, World.cut_head, World.rewrite, World.rewrite_equal, World.delete,
        World.rename, World.duplicate, World.fork, World.touch, World.empty, World.become_folder, World.become_link,
        World.clear_way, World.lose_agent,
    )
}  # fmt: skip
"""Every step by name."""
