"""pi as an agent: its place, its parser, and what is left out of the index on purpose.

The parts, which ``omp`` shares: ``places`` (folders), ``records`` (a transcript's parser and its state), under it
``readers`` (one record), ``blocks`` (its content) and ``usage`` (tokens), and ``skips`` (what is left out).
Its files are only ever read. Never imports SQL or a terminal.
"""

from __future__ import annotations

from typing import Final

from persist.agents.pi.places import PI, discover, locate
from persist.agents.pi.records import TranscriptParser
from persist.agents.pi.skips import PI_SKIPS
from persist.sources import Agent, Parser, Source, State


def open_parser(source: Source, state: State | None = None) -> Parser:
    """Return the parser for a transcript, going on from ``state`` where one is given.

    Raises ``ValueError`` for a state that another version of the parser saved.
    """
    return TranscriptParser(source, PI_SKIPS, state)


def resume(session_id: str, folder: str | None) -> tuple[str, ...]:
    """Return the command that goes on with a session; none without its folder: elsewhere pi offers a fork."""
    return () if folder is None else ("pi", "--session", session_id)


AGENT: Final = Agent(
    name=PI, title="pi", locate=locate, discover=discover, open_parser=open_parser, skips=PI_SKIPS, resume=resume
)
"""pi deletes no transcript by itself."""
