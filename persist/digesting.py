"""The digest of one transcript file, for a program that has the store and no index.

I/O on one file, which is read once; nothing of it is held but what the digest keeps. ``index.digest`` does the same for
a session of any agent, and knows what is a copy of another session.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from persist.digest import Digest, Head, Said, digest
from persist.errors import NotFoundError, StoreIOError
from persist.fingerprint import stat_of
from persist.reading import SourceReader
from persist.regular import open_regular
from persist.sources import TRANSCRIPT, Agent, Source


def digest_transcript(agent: Agent, path: Path, head: Head) -> Digest:
    """Return the digest of the session in a transcript. Raises ``NotFoundError`` and ``StoreIOError``."""
    damaged = Counter[str]()
    try:
        found = digest(head, _said(agent, path, damaged))
        return replace(found, damaged_lines=damaged.total())
    except FileNotFoundError:
        raise NotFoundError("file", str(path), "it was deleted or moved meanwhile") from None
    except OSError as error:
        raise StoreIOError(path, "read", error.strerror or str(error)) from error


def _said(agent: Agent, path: Path, damaged: Counter[str]) -> Iterator[Said]:
    with open_regular(path) as file:
        source = Source(agent.name, TRANSCRIPT, str(path), "", stat_of(os.fstat(file.fileno())))
        for line in SourceReader(agent, source, file):
            damaged[str(path)] += line.error is not None
            for numbered in line.events:
                event = numbered.event
                yield Said(
                    event.event_type, event.text, event.ts, numbered.turn_index, event.tool_call_id, event.tool_name,
                    event.tool_arguments, event.message_id,
                )  # fmt: skip
