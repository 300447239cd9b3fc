"""Aether: where its session logs lie and who reads them (``spec/aether.md`` 2 and 3).

I/O is one ``scandir`` and one ``stat`` per file; imports only persist.
"""

from __future__ import annotations

import os
import stat
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Final

from persist.agents.aether.events import TRANSIENT
from persist.agents.aether.records import AetherParser
from persist.agents.folders import with_readable_names
from persist.agents.plain_files import plain_files
from persist.agents.prompt_history_records import PromptHistoryParser
from persist.fingerprint import stat_of
from persist.history import HISTORY_NAME
from persist.sources import HISTORY, TRANSCRIPT, Agent, Environment, Found, Parser, Root, Source, State, Trouble

NAME: Final = "aether"
SESSIONS: Final = "sessions"
_EXTENSION: Final = ".jsonl"
_COMPRESSED: Final = (".jsonl.zst", ".jsonl.gz")


def locate(env: Environment) -> list[Root]:
    """Return Aether's home: ``$AETHER_HOME`` as it stands unless blank, else ``~/.aether``.

    Where the variable is set, ``~/.aether`` is not read as well: versions before August 2026 did write there
    whatever it said, but today's does not look back, and two homes would mix the sessions of two set-ups.
    ``--root aether=~/.aether`` adds it where someone wants both. A spelling through ``..`` is resolved, so that one
    home has one name.
    """
    override = env.variables.get("AETHER_HOME", "")
    home = Path(override) if override.strip() else env.home / ".aether"
    return [Root(NAME, home.resolve() if ".." in home.parts else home.absolute())]


def discover(root: Root) -> Found:
    """Return the logs in ``<root>/sessions`` and the prompt history beside them, not looking deeper.

    Links to files are followed. What looks like a log and cannot be one (a folder, a compressed copy, a broken
    link, a name that is not UTF-8) is a trouble. Never raises for what it finds.
    """
    folder = root.path / SESSIONS
    troubles: list[Trouble] = []
    try:
        sources, others = plain_files(str(folder), _EXTENSION, NAME, TRANSCRIPT, str(root.path), besides=HISTORY_NAME)
        if others:
            with os.scandir(folder) as entries:
                for entry in sorted(entries, key=attrgetter("name")):
                    seen = _look(root, entry) if entry.name in others else None
                    if isinstance(seen, Source):
                        sources.append(seen)
                    elif seen is not None:
                        troubles.append(seen)
    except FileNotFoundError:
        return Found(root, (), exists=False)
    except OSError as error:
        message = f"the folder cannot be read: {error.strerror}"
        return Found(root, (), (Trouble(str(folder), "unreadable", message),))
    sources.sort(key=itemgetter(2))  # by path
    return with_readable_names(Found(root, tuple(sources), tuple(troubles)))


def _look(root: Root, entry: os.DirEntry[str]) -> Source | Trouble | None:
    """Judge one directory entry; ``None`` is for what Aether does not regard as a log either."""
    if entry.name.endswith(_COMPRESSED):
        return Trouble(entry.path, "compressed", "a compressed log is not read; unpack it beside itself")
    if not entry.name.endswith(_EXTENSION) or entry.name == _EXTENSION:
        return None
    try:
        result = entry.stat()
    except OSError as error:
        return Trouble(entry.path, "unreadable", f"the file cannot be looked at: {error.strerror}")
    if not stat.S_ISREG(result.st_mode):
        return Trouble(entry.path, "not_a_file", "named like a log, but not a regular file")
    kind = HISTORY if entry.name == HISTORY_NAME else TRANSCRIPT
    return Source(NAME, kind, entry.path, str(root.path), stat_of(result))


def open_parser(source: Source, state: State | None) -> Parser:
    """Return the parser for a log or for the prompt history. Raises ``ValueError`` for a foreign state."""
    if source.kind == HISTORY:
        return PromptHistoryParser(state)
    return AetherParser(state)


AGENT: Final = Agent(
    name=NAME,
    title="Aether",
    locate=locate,
    discover=discover,
    open_parser=open_parser,
    skips={
        **{f"transient:{name}": "streamed while it happened; what it led to is recorded" for name in sorted(TRANSIENT)},
        "transient:message/text": "a text that was still growing; the whole one follows",
        "transient:message/thought": "a thought that was still growing; the whole one follows",
        "transient:turn/llm_call_ended": "a provider call that did not fail; its usage is a record of its own",
        "repeated:turn/ended": "the end that old versions wrote once more after a cancellation",
        "metadata": "a metadata line that tells nothing but the session's id",
    },
)
