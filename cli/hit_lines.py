"""Prints hits as lines for ``fzf`` and ``grep``: five columns between tabs, one hit a line, nothing raw.

The columns: what ``asx show`` takes (empty where it cannot show the hit), local time, agent, project, text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from cli import output
from cli.hit_commands import shared_ids, show_argument
from cli.hit_excerpt import one_line, shown_text
from cli.moments import local
from cli.search_words import home_path

if TYPE_CHECKING:
    from index.search import Hit

DEFAULT_CHARACTERS: Final = 200


def print_lines(hits: Sequence[Hit], characters: int | None) -> None:
    """Print a line for each hit, its text cut to ``characters`` (default ``DEFAULT_CHARACTERS``) around the span."""
    shared = shared_ids(hits)
    for hit in hits:
        columns = (
            _argument(hit, shared),
            local(hit.ts),
            hit.agent,
            output.safe_line(home_path(hit.project or "")),
            one_line(
                shown_text(hit.text, hit.whole_length),
                hit.spans,
                DEFAULT_CHARACTERS if characters is None else characters,
            ),
        )
        output.line("\t".join(columns))


def _argument(hit: Hit, shared: frozenset[str]) -> str:
    """Return the first column; empty, too, where it could not be written exactly."""
    argument = show_argument(hit, shared) or ""
    return argument if output.safe_line(argument) == argument else ""
