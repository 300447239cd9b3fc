"""The sample files of every agent as sources, read with their real parsers; for tests of what all agents share."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Final

from persist.agents import AGENTS
from persist.reading import Checkpoint, ReadLine, SourceReader
from persist.sources import HISTORY, JOURNAL, TRANSCRIPT, Source, Stat

REPOSITORY: Final = Path(__file__).parents[2]
DATA: Final = REPOSITORY / "tests" / "data"
_PATTERNS: Final = {
    "aster": ("aster/**/*.jsonl", "faults/*/**/sessions/**/*.jsonl"),
    "aether": ("aether/*.jsonl",),
    "claude-code": ("claude_code/*.jsonl", "faults/*/claude/**/*.jsonl"),
    "codex": ("codex/*.jsonl",),
    "pi": ("pi/*.jsonl",),
    "omp": ("omp/*.jsonl",),
}
FILES: Final = [
    (agent, path)
    for agent, patterns in _PATTERNS.items()
    for path in sorted(path for pattern in patterns for path in DATA.glob(pattern))
]
"""Every sample and public input that is read line by line, with its agent's name."""
_KINDS: Final = {"prompt-history.jsonl": HISTORY, "history.jsonl": HISTORY, "journal.jsonl": JOURNAL}


def source(agent: str, path: Path | str = "/h/x/s.jsonl") -> Source:
    """Return a source of the kind that its name tells; the file need not be there."""
    kind = _KINDS.get(Path(path).name, TRANSCRIPT)
    return Source(agent, kind, str(path), str(Path(path).parent), Stat(0, 0, 0, 0))


def read(
    agent: str, data: bytes, start: Checkpoint | None = None, path: Path | str = "/h/x/s.jsonl", **limits: int
) -> tuple[list[ReadLine], SourceReader]:
    """Read all of ``data`` as the source at ``path``; return its lines and the reader that is done."""
    reader = SourceReader(AGENTS[agent], source(agent, path), io.BytesIO(data), start, **limits)
    return list(reader), reader
