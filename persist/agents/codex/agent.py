"""Codex as an agent: its places, its parsers, and what is left out of the index on purpose.

The parts: ``places`` (folders), ``records`` (a rollout's parser; ``state``), under it ``head``
(the header), ``items`` and ``events`` (one record), ``content`` (words and outputs),
``tokens`` (usage), ``lineage`` (what forks repeat); ``history`` (prompt history) and ``skips``
(what is left out). Its files are only ever read. Never imports SQL or a terminal.
"""

from __future__ import annotations

from typing import Final

from persist.agents.codex.history import HistoryParser
from persist.agents.codex.places import NAME, discover, locate
from persist.agents.codex.records import TranscriptParser
from persist.agents.codex.skips import SKIPS
from persist.sources import HISTORY, Agent, Parser, Source, State


def open_parser(source: Source, state: State | None = None) -> Parser:
    """Return the parser for a source's kind, going on from ``state`` where one is given.

    Raises ``ValueError`` for a state that another version of the parser saved.
    """
    return HistoryParser(state) if source.kind == HISTORY else TranscriptParser(source, state)


def resume(session_id: str, folder: str | None) -> tuple[str, ...]:  # noqa: ARG001 - Codex finds it from anywhere
    """Return the command that goes on with a session; Codex finds it by its id from any folder."""
    return ("codex", "resume", session_id)


AGENT: Final = Agent(
    name=NAME,
    title="Codex",
    locate=locate,
    discover=discover,
    open_parser=open_parser,
    skips=SKIPS,
    resume=resume,
    parser_version=2,
)
