"""Prints hits as lines for ``fzf`` and ``grep``: five columns between tabs, one hit a line, nothing raw.

The columns: what ``asx show`` takes (empty where it cannot show the hit), local time, agent, project, the line that
was hit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cli import output
from cli.hit_commands import show_argument
from cli.hit_excerpt import one_line, shown_text
from cli.moments import local
from cli.search_words import home_path

if TYPE_CHECKING:
    from index.search import Hit

DEFAULT_CHARACTERS: Final = 200


def print_line(hit: Hit, characters: int | None) -> None:
    """Print a hit, the line of its text cut to ``characters`` (default ``DEFAULT_CHARACTERS``) around the span."""
    columns = (
        _argument(hit),
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


def _argument(hit: Hit) -> str:
    """Return the first column, the agent always named: a line knows no other hit that might share its session's id.

    Empty, too, where it could not be written exactly.
    """
    argument = show_argument(hit, frozenset([hit.session_id or ""])) or ""
    return argument if output.safe_line(argument) == argument else ""
