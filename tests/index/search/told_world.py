"""A store of all agents with every kind of text, and what was written into it, text by text, as the docs mean it.

What each text is (field, time, role, tool, project, branch, session) is noted while it is written, never read back from
the index. ``docs/search.md`` and ``docs/agents.md`` are the source of each rule.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Final, NamedTuple

from index.ingest import ingest
from index.search import answer, candidates, hunt_words, matches, ranked, statements
from index.settings import Settings
from tests import builders as make
from tests.builders import HomeBuilder, Record

HEAD_BYTES: Final = 512
MORNING_S: Final = 1_777_881_600
"""The builders' minute 0, in seconds since 1970."""
WORDS: Final = ("lantern", "lantern", "Lantern", "läntern", "lanterns", "heron", "old", "of", "漢字", "reed-bed", "ab")
RARE: Final = "zephyrine"
TOOLS: Final = ("Bash", "Read", "bash")


MANY: Final[tuple[tuple[ModuleType, str, int], ...]] = (
    (candidates, "FETCH_BELOW", 2), (candidates, "LISTED_BELOW", 4), (candidates, "FETCH_TOGETHER", 5),
    (candidates, "FIRST_STRETCH", 3), (statements, "SHORT_CHARACTERS", 12), (ranked, "SHORT_CHARACTERS", 12),
    (answer, "LOOKED_AT_FURTHER", 2), (answer, "FEW_TOOL_EVENTS", 2), (hunt_words, "_LOOKED_UP_TOGETHER", 7),
    (matches, "_FETCHED_TOGETHER", 4),
)  # fmt: skip
"""Bounds of search, set so low that this store is a large one: no list is fetched whole, and every way to candidates is
gone."""


class Session(NamedTuple):
    """A session as a person knows it."""

    agent: str
    id: str
    project: str | None = None
    branch: str | None = None
    parent: str | None = None
    forked_from: str | None = None


class Told(NamedTuple):
    """One text as it was written. ``session`` is what the text itself names; ``number`` its event or line."""

    family: str
    field: str
    text: str
    at: str
    ts_source: str
    kind: str
    session: Session | None
    agent: str
    project: str | None
    path: str
    number: int
    part: str = "text"
    tool: str | None = None
    whole_length: int = 0
    is_summary: bool = False

    @property
    def session_id(self) -> str | None:
        return self.session.id if self.session is not None else None

    @property
    def order(self) -> tuple[object, ...]:
        """DESIGN 9: time, agent, session, source, event (the later part of one first)."""
        return (self.at, self.agent, self.session_id or "", self.path, self.number, self.part == "text")


class ToldWorld:
    """The store, its texts (canonical ones), its sessions, and every prompt that any transcript has."""

    def __init__(self, home: HomeBuilder) -> None:
        self.home = home
        self.told: list[Told] = []
        self.sessions: list[Session] = []
        self.typed: set[tuple[str, str, str]] = set()
        self.known: dict[tuple[str, str], Session] = {}
        self.settings: Settings | None = None

    def texts(self, fields: tuple[str, ...]) -> list[Told]:
        return [one for one in self.told if one.field in fields]


class Transcript:
    """One file under way: what it says, and the last time in it."""

    def __init__(
        self, world: ToldWorld, session: Session, path: Path, created: float | None, file_minute: float, hidden: bool
    ) -> None:
        self.world = world
        self.session = session
        self.path = path
        self.created = created
        self.file_minute = file_minute
        self.hidden = hidden
        self.records: list[Record] = []
        self.last: float | None = None
        self.number = 0

    def say(
        self, record: Record, minute: float | None, *texts: tuple[str, str, str, str | None, str], copied: bool = False
    ) -> None:
        """Add a record with one event and its (field, kind, text, tool, part)."""
        self.records.append(record)
        if minute is not None:
            self.last = minute
        at, source = self._time(minute)
        for name, kind, text, tool, part in texts:
            if name == "prompts":
                self.world.typed.add((self.session.agent, self.session.id, text))
            if not (copied or self.hidden):
                head = text.encode()[:HEAD_BYTES].decode("utf-8", "ignore") if name == "tools" else text
                self.world.told.append(
                    Told("event", name, head, at, source, kind, self.session, self.session.agent,
                         self.session.project, str(self.path), self.number, part, tool, len(text),
                         record.get("type") == "summary")
                )  # fmt: skip
        self.number += 1

    def _time(self, minute: float | None) -> tuple[str, str]:
        if minute is not None:
            return make.at(minute), "record"
        if self.last is not None:
            return make.at(self.last), "previous"
        if self.created is not None:
            return make.at(self.created), "session"
        return make.at(self.file_minute), "file"

    def write(self, *head: Record) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(make.lines(*head, *self.records))
        set_time(self.path, self.file_minute)


def set_time(path: Path, minute: float) -> None:
    stamp = MORNING_S + int(minute * 60)
    os.utime(path, (stamp, stamp))


def some_text(rng: Random) -> str:
    words = [rng.choice(WORDS) for _ in range(rng.randint(1, 4))]
    if rng.random() < 0.08:
        words.insert(rng.randint(0, len(words)), RARE)
    if rng.random() < 0.5:
        words.append(str(rng.randrange(30)))
    return " ".join(words)


def build_world(home: HomeBuilder, seed: int) -> ToldWorld:
    """Write and ingest the store: about 500 texts."""
    world = ToldWorld(home)
    rng = Random(seed)  # noqa: S311
    written: set[tuple[str, str, object]] = set()
    _aster_sessions(world, rng, written)
    _aether_sessions(world, rng)
    _claude_sessions(world, rng)
    _histories(world, rng)
    _memory(world, rng)
    world.settings = home.settings()
    report = ingest(world.settings)
    assert report.problems == []
    return world


# --- Aster ----------------------------------------------------------------------------------------------------------

ASTER: Final = (
    Session("aster", "01kfaaaaaaaaaaaaaaaaaaaaaa", "/a/b"),
    Session("aster", "01kfbbbbbbbbbbbbbbbbbbbbbb", "/a/bc"),
    Session("aster", "01kfcccccccccccccccccccccc", "/a/b/sub"),
    Session("aster", "01kfdddddddddddddddddddddd", None),
    Session("aster", "twin-id-0001", "/a/b%"),
    Session("aster", "01kfeeeeeeeeeeeeeeeeeeeeee", "/a/b", parent="01kfaaaaaaaaaaaaaaaaaaaaaa"),
)
IMPORTED: Final = Session("aster", "01kfiiiiiiiiiiiiiiiiiiiiii", "/a/b")


def _aster_sessions(world: ToldWorld, rng: Random, written: set[tuple[str, str, object]]) -> None:
    first: Transcript | None = None
    for session in (*ASTER, IMPORTED):
        world.sessions.append(session)
        path = world.home.aster_home / "sessions" / "any" / f"{session.id}.jsonl"
        created = float(rng.randrange(10))
        file = Transcript(world, session, path, created, 90, session is IMPORTED)
        keys: Record = {} if session.parent is None else {"parent": session.parent}
        if session is IMPORTED:
            keys["imported_from"] = {"agent": "claude-code", "id": "c-main-00001"}
        head = make.aster_header(session.id, created, **keys)
        if session.project is None:
            del head["cwd"]
        else:
            head["cwd"] = session.project
        if session.parent is not None and first is not None:
            for record, number in zip(first.records[:6], range(6), strict=True):
                file.records.append(record)  # what its parent told it, with the same times: these are copies
                file.number = number + 1
                if "ts" not in record:
                    raise AssertionError("the copied beginning must have times")
                file.last = None
            file.last = 30.0
        _aster_records(file, rng, written)
        file.write(head)
        first = first or file


def _aster_records(file: Transcript, rng: Random, written: set[tuple[str, str, object]]) -> None:
    wanted = file.number + 34
    while file.number < wanted:
        name = rng.choice(
            ("prompts", "prompts", "answers", "answers", "summary", "thinking", "notices", "titles", "tools")
        )
        text = some_text(rng)
        timed = file.number < 6 or rng.random() < 0.85
        minute = (30.0 if file.number == 5 else float(rng.randrange(40))) if timed else None
        if (name, text, minute) in written:
            continue
        if minute is not None:  # equal texts of one moment would be copies; without a time they are the session's own
            written.add((name, text, minute))
        if name == "tools":
            if timed and file.number >= 6:
                _aster_tool(file, rng, text, minute or 0.0)
            continue
        record, field_name, kind = _aster_record(name, text)
        if minute is not None:
            record["ts"] = make.at(minute)
        else:
            record.pop("ts", None)
        file.say(record, minute, (field_name, kind, text, None, "text"))


def _aster_record(name: str, text: str) -> tuple[Record, str, str]:
    if name == "prompts":
        return make.aster_prompt(text, 0), "prompts", "user"
    if name == "answers":
        return make.aster_answer(text, 0), "answers", "agent"
    if name == "summary":
        return {"type": "summary", "content": text}, "answers", "agent"
    if name == "thinking":
        return {**make.aster_answer("", 0), "reasoning": {"text": text}}, "thinking", "agent"
    if name == "notices":
        return {**make.aster_prompt(text, 0), "role": "system"}, "notices", "control"
    return make.aster_title(text, 0), "titles", "control"


def _aster_tool(file: Transcript, rng: Random, text: str, minute: float) -> None:
    tool, call_id = rng.choice(TOOLS), f"{file.session.id}-{file.number}"
    arguments = json.dumps({"command": f"{text} {call_id}"}, ensure_ascii=False)
    call = {**make.aster_answer("", minute), "tool_calls": [
        {"id": call_id, "type": "function", "function": {"name": tool, "arguments": arguments}}]}  # fmt: skip
    file.say(call, minute, ("tools", "agent", arguments, tool, "tool_arguments"))
    said = f"error: {text} {call_id}" if rng.random() < 0.3 else f"{text} {call_id}"
    if rng.random() < 0.2:
        said += " x" * 300 + f" {RARE} beyond"
    if rng.random() < 0.3:
        return
    said_at = minute + 1
    result = {"type": "message", "role": "tool", "content": said, "tool_call_id": call_id, "ts": make.at(said_at)}
    head_bytes = 2000 if said.startswith("error") else HEAD_BYTES
    file.records.append(result)
    file.last = said_at
    head = said.encode()[:head_bytes].decode("utf-8", "ignore")
    file.world.told.extend(
        [] if file.hidden else [
            Told("event", "tools", head, make.at(said_at), "record", "agent", file.session, "aster",
                 file.session.project, str(file.path), file.number, "text", tool, len(said))]
    )  # fmt: skip
    file.number += 1


# --- Aether ---------------------------------------------------------------------------------------------------------

AETHER: Final = (Session("aether", "twin-id-0001", "/a/B"), Session("aether", "ae-none-0002", None))


def _aether_sessions(world: ToldWorld, rng: Random) -> None:
    for session in AETHER:
        world.sessions.append(session)
        path = world.home.home / ".aether" / "sessions" / f"{session.id}.jsonl"
        created = None if session.project is None else 15.0
        file = Transcript(world, session, path, created, 20, False)
        while file.number < 30:
            text = some_text(rng)
            name = rng.choice(("prompts", "answers", "thinking", "tools"))
            if name == "prompts":
                file.say(make.aether_prompt(text), None, ("prompts", "user", text, None, "text"))
            elif name == "tools":
                _aether_tool(file, rng, text)
            else:
                record = make.aether_answer(text, f"m{file.number}")
                if name == "thinking":
                    record["data"]["event"]["type"] = "thought"
                file.say(record, None, (name, "agent", text, None, "text"))
        head: Record = {"sessionId": session.id, "model": "m", "selectedMode": "Coder"}
        if session.project is not None:
            head |= {"cwd": session.project, "createdAt": make.at(15)}
        file.write(head)


def _aether_tool(file: Transcript, rng: Random, text: str) -> None:
    tool, call_id = rng.choice(TOOLS), f"a{file.number}"
    request = {"id": call_id, "name": tool, "arguments": text}
    call = {"category": "tool", "event": {"type": "call", "request": request}}
    file.say({"kind": "agent", "data": call}, None, ("tools", "agent", text, tool, "tool_arguments"))
    said = some_text(rng)
    kind = "error" if rng.random() < 0.4 else "result"
    event = {"type": kind, kind: {**request, kind: said}}  # Aether repeats the arguments
    file.say({"kind": "agent", "data": {"category": "tool", "event": event}}, None,
             ("tools", "agent", said, tool, "text"), ("tools", "agent", text, tool, "tool_arguments"))  # fmt: skip


# --- Claude Code ----------------------------------------------------------------------------------------------------

CLAUDE: Final = (
    Session("claude-code", "c-main-00001", "/a/b", "main"),
    Session("claude-code", "c-two-000002", "/a_b", "dev"),
    Session("claude-code", "c-none-00004", None, None),
)
FORK: Final = Session("claude-code", "c-fork-00003", "/a/b", "dev", forked_from="c-main-00001")
SUB_AGENT: Final = Session("claude-code", "c-main-00001/x1", "/a/b", "main", "c-main-00001")


def _claude_sessions(world: ToldWorld, rng: Random) -> None:
    folder = world.home.claude_home / "projects"
    main: Transcript | None = None
    for session in (*CLAUDE, FORK, SUB_AGENT):
        world.sessions.append(session)
        path = folder / "-w-gamma" / f"{session.id}.jsonl"
        if session is SUB_AGENT:
            path = folder / "-w-gamma" / "c-main-00001" / "subagents" / "agent-x1.jsonl"
        file = Transcript(world, session, path, None, 33, False)
        if session is FORK and main is not None:
            for record, (name, kind, text) in zip(main.records[:10], CLAUDE_BEGINNING, strict=True):
                copy = {**record, "sessionId": FORK.id, "forkedFrom": {"sessionId": FORK.forked_from}}
                if record.get("cwd"):
                    copy |= {"cwd": FORK.project, "gitBranch": FORK.branch}
                file.say(copy, None, (name, kind, text, None, "text"), copied=True)
        if session is CLAUDE[0]:
            main = file
            for number, (name, kind, text) in enumerate(CLAUDE_BEGINNING):
                record = _claude_record(file, name, text, float(number))
                file.say(record, float(number), (name, kind, text, None, "text"))
        _claude_records(file, rng, 34)
        file.write()
    other = Transcript(world, CLAUDE[1], folder / "-w-delta" / "c-two-000002.jsonl", None, 34, False)
    _claude_records(other, rng, 20, prefix="second")
    other.write()


CLAUDE_BEGINNING: Final = tuple(
    (("prompts", "user", f"copied lantern {n}") if n % 2 == 0 else ("answers", "agent", f"copied answer lantern {n}"))
    for n in range(10)
)


def _claude_records(file: Transcript, rng: Random, count: int, prefix: str = "") -> None:
    wanted = file.number + count
    while file.number < wanted:
        text = some_text(rng)
        name = rng.choice(("prompts", "prompts", "answers", "thinking", "titles", "tools"))
        minute = float(rng.randrange(40)) if rng.random() < 0.8 else None
        if file.number == 10 and file.session is FORK:
            minute = 12.0
        if name == "tools":
            _claude_tool(file, rng, text, minute, prefix)
            continue
        if name == "titles":
            text += f" {prefix}{file.session.id}{file.number}"  # a title told again is no new one
        record = _claude_record(file, name, text, minute, prefix)
        field_name, kind = {"prompts": ("prompts", "user"), "titles": ("titles", "control")}.get(name, (name, "agent"))
        if field_name == "prompts" and file.session is SUB_AGENT:
            field_name = "notices"  # nobody typed it
        file.say(record, minute, (field_name, kind, text, None, "text"))


def _claude_record(file: Transcript, name: str, text: str, minute: float | None, prefix: str = "") -> Record:
    session = file.session
    session_id = session.id.partition("/")[0]
    uuid = f"{prefix}{session.id}-{file.number}"
    if name == "titles":
        record: Record = {"type": "custom-title", "customTitle": text, "sessionId": session_id, "timestamp": make.at(0)}
    elif name == "prompts":
        record = make.claude_prompt(text, session_id, uuid, 0)
    else:
        record = make.claude_answer(text, session_id, uuid, 0)
        if name == "thinking":
            record["message"]["content"] = [{"type": "thinking", "thinking": text}]
    return _claude_keys(file, record, minute)


def _claude_keys(file: Transcript, record: Record, minute: float | None) -> Record:
    record.pop("cwd", None)
    if file.session.project is not None and record["type"] != "custom-title":
        record |= {"cwd": file.session.project, "gitBranch": file.session.branch}
    if minute is None:
        record.pop("timestamp")
    else:
        record["timestamp"] = make.at(minute)
    if file.session is SUB_AGENT:
        record |= {"agentId": "x1", "isSidechain": True}
    return record


def _claude_tool(file: Transcript, rng: Random, text: str, minute: float | None, prefix: str) -> None:
    session_id = file.session.id.partition("/")[0]
    tool, call_id = rng.choice(TOOLS), f"toolu_{prefix}{file.session.id.replace('/', '-')}{file.number}"
    call = make.claude_tool_call(call_id, session_id, f"{prefix}{file.session.id}-{file.number}", 0, command=text)
    call["message"]["content"][0]["name"] = tool
    arguments = json.dumps({"command": text}, ensure_ascii=False, separators=(",", ":"))
    file.say(_claude_keys(file, call, minute), minute, ("tools", "agent", arguments, tool, "tool_arguments"))
    said = some_text(rng)
    result = make.claude_tool_result(call_id, said, session_id, f"{prefix}{file.session.id}-{file.number}", 0)
    if rng.random() < 0.4:
        result["message"]["content"][0]["is_error"] = True
    file.say(_claude_keys(file, result, minute), minute, ("tools", "agent", said, tool, "text"))


# --- Histories ------------------------------------------------------------------------------------------------------

GONE: Final = Session("claude-code", "gone-claude-1")
GONE_AETHER: Final = Session("aether", "gone-aether-1")


def _histories(world: ToldWorld, rng: Random) -> None:
    world.known.update({(one.agent, one.id): one for one in world.sessions})
    claude: list[Record] = []
    path = world.home.claude_home / "history.jsonl"
    typed = [text for agent, _, text in sorted(world.typed) if agent == "claude-code"]
    for line in range(1, 41):
        session_id = rng.choice(("c-main-00001", "c-none-00004", GONE.id, None))
        text = rng.choice(typed) if rng.random() < 0.3 else some_text(rng) + rng.choice(("", " typed"))
        entry = make.claude_history_entry(text, session_id, float(line % 30))
        folder = rng.choice(("/a/b", "/a/bc", "/a_b", "/a/b/sub", None))
        entry["project"] = folder
        if folder is None:
            del entry["project"]
        minute = None if rng.random() < 0.2 else float(line % 30)
        if minute is None:
            del entry["timestamp"]
        claude.append(entry)
        _note_entry(world, "claude-code", path, line, session_id, folder, text, minute, 25.0)
    world.home.claude_history(*claude)
    set_time(path, 25)
    for agent, ids in (("aster", (ASTER[0].id, ASTER[3].id)), ("aether", ("twin-id-0001", GONE_AETHER.id))):
        root = world.home.aster_home if agent == "aster" else world.home.home / ".aether"
        path = root / "sessions" / "prompt-history.jsonl"
        entries: list[Record] = []
        for line in range(1, 16):
            text, session_id = some_text(rng) + " kept", rng.choice(ids)
            folder = rng.choice(("/a/b", "/a/bc", "/a/b%"))
            entries.append({**make.history_entry(text, session_id, 1), "cwd": folder})
            _note_entry(world, agent, path, line, session_id, folder, text, None, 26.0)
        world.home.prompt_history(agent, *entries)
        set_time(path, 26)


def _note_entry(
    world: ToldWorld, agent: str, path: Path, line: int, session_id: str | None, folder: str | None, text: str,
    minute: float | None, file_minute: float,
) -> None:  # fmt: skip
    if any(by == agent and words == text and session_id in (None, told) for by, told, words in world.typed):
        return  # a transcript has it
    session = None if session_id is None else world.known.get((agent, session_id), Session(agent, session_id))
    project = (session.project if session else None) or folder
    at = make.at(file_minute if minute is None else minute)
    source = "file" if minute is None else "record"
    world.told.append(
        Told("history", "prompts", text, at, source, "user", session, agent, project, str(path), line,
             whole_length=len(text))
    )  # fmt: skip


# --- Memory ---------------------------------------------------------------------------------------------------------


def _memory(world: ToldWorld, rng: Random) -> None:
    folder = world.home.aster_home / "memory"
    folder.mkdir(parents=True)
    for number in range(24):
        name, description, body = f"note-{number}", some_text(rng), some_text(rng)
        project = rng.choice(("/a/b", "/a/bc", "/a/b/sub", "/a/b%", "/a/B", "/a_b", None))
        session_id = rng.choice((ASTER[0].id, "twin-id-0001", GONE.id, None, None))
        minute = rng.choice((None, float(rng.randrange(40))))
        title = f"What I typed, {number}" if number % 3 == 0 else None
        head = [f"name: {name}", f"description: {description}"]
        head += [f"title: {title}"] if title else []
        head += [f"project: {project}"] if project else []
        head += [f"source_session: {session_id}"] if session_id else []
        head += [f"{rng.choice(('created_at', 'updated_at'))}: {make.at(minute)}"] if minute is not None else []
        path = folder / f"{name}.md"
        path.write_text("---\n" + "\n".join(head) + f"\n---\n\n{body}\n", encoding="utf-8")
        set_time(path, 28)
        text = "\n".join(part for part in (name, title, description, body) if part is not None)
        _note_block(world, "aster", path, text, project, session_id, minute, 28.0)
    folder = world.home.claude_home / "projects" / "-w-gamma" / "memory"
    folder.mkdir(parents=True)
    for number in range(6):
        body, session_id = some_text(rng), rng.choice(("c-main-00001", None))
        origin = f"originSessionId: {session_id}\n" if session_id else ""
        path = folder / f"claude-{number}.md"
        path.write_text(
            f"---\nname: claude-{number}\ndescription: d\n{origin}modified: {make.at(number)}\n---\n{body}\n"
        )
        _note_block(world, "claude-code", path, f"claude-{number}\nd\n{body}", None, session_id, float(number), 0.0)
    path = world.home.facts(*(facts := [f"{some_text(rng)} fact {number}" for number in range(8)]))
    set_time(path, 29)
    for number, text in enumerate(facts):
        world.told.append(
            Told("fact", "memory", text, make.at(29), "file", "memory", None, "aster", None, str(path), number + 3,
                 whole_length=len(text))
        )  # fmt: skip


def _note_block(
    world: ToldWorld, agent: str, path: Path, text: str, project: str | None, session_id: str | None,
    minute: float | None, file_minute: float,
) -> None:  # fmt: skip
    at = make.at(file_minute if minute is None else minute)
    session = None if session_id is None else Session(agent, session_id)
    world.told.append(
        Told("block", "memory", text, at, "file" if minute is None else "record", "memory", session, agent, project,
             str(path), 0, whole_length=len(text))
    )  # fmt: skip
