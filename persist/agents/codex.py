"""Codex as an agent: its places, its parsers, and what is left out of the index on purpose.

The parts: ``codex_places`` (folders), ``codex_records`` (a rollout's parser; ``codex_state``), under it ``codex_head``
(the header), ``codex_items`` and ``codex_events`` (one record), ``codex_content`` (words and outputs),
``codex_tokens`` (usage), ``codex_lineage`` (what forks repeat); ``codex_history`` (prompt history) and ``codex_skips``
(what is left out). Its files are only ever read. Never imports SQL or a terminal.
"""

from __future__ import annotations

from typing import Final

from persist.agents.codex_history import HistoryParser
from persist.agents.codex_places import NAME, discover, locate
from persist.agents.codex_records import TranscriptParser
from persist.agents.codex_skips import SKIPS
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
)
