"""Claude Code as an agent: its places, its parsers, and what is left out of the index on purpose.

The parts: ``places`` (folders), ``records`` (a transcript's parser and its state), under it
``readers`` (one record), ``blocks`` (its content) and ``text`` (who said a text),
``history`` (prompt history), ``notes`` (memory notes), ``skips`` (what is left
out). Its files are only ever read. Never imports SQL or a terminal.
"""

from __future__ import annotations

from typing import Final

from persist.agents.claude_code.history import HistoryParser
from persist.agents.claude_code.notes import read_note
from persist.agents.claude_code.places import NAME, discover, locate
from persist.agents.claude_code.records import TranscriptParser
from persist.agents.claude_code.skips import SKIPS
from persist.sources import HISTORY, Agent, Parser, Source, State


def open_parser(source: Source, state: State | None = None) -> Parser:
    """Return the parser for a source's kind, going on from ``state`` where one is given.

    Raises ``ValueError`` for a state that another version of the parser saved.
    """
    return HistoryParser(state) if source.kind == HISTORY else TranscriptParser(source, state)


def resume(session_id: str, folder: str | None) -> tuple[str, ...]:
    """Return the command that goes on with a session; none without its folder: Claude Code finds it only from there."""
    return () if folder is None else ("claude", "--resume", session_id)


AGENT: Final = Agent(
    name=NAME,
    title="Claude Code",
    locate=locate,
    discover=discover,
    open_parser=open_parser,
    read_note=read_note,
    skips=SKIPS,
    deletes_after_days=30,
    resume=resume,
    parser_version=3,
)
"""Claude Code deletes transcripts that were not used for 30 days, unless its settings say otherwise."""
