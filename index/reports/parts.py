"""Pieces that the statements of reports have in common: what was asked, and which parts of a total are unknown.

Pure; standard library only. A statement begins with the table ``asked``: one row with what the options ask for, null
for what was not asked. :func:`with_values` puts values there, and nowhere else, so that what ran can be printed and run
again as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

OPTIONS: Final = ("since", "until", "project", "agent", "with_children")
"""What a report may be asked for. ``project`` goes with the column ``below``: the beginning of paths beneath it."""
_COLUMNS: Final = {"project": ("project", "below")}

TIME: Final = ("since", "until")
PLACE: Final = ("project", "agent")


def asked(*options: str) -> str:
    """Return the beginning of a statement that takes these of ``OPTIONS``; a further table or ``SELECT`` follows."""
    return f"WITH asked AS ({_asked_row(options, {})})"


def with_values(sql: str, options: Iterable[str], values: Mapping[str, str | int | None]) -> str:
    """Return a statement that begins with ``asked(*options)`` with ``values`` (by column) as SQL literals in it."""
    named = tuple(options)
    return sql.replace(_asked_row(named, {}), _asked_row(named, values), 1) if named else sql


def literal(value: str | int | None) -> str:
    """Return a value as SQL writes it."""
    if value is None:
        return "NULL"
    if isinstance(value, int):
        return str(value)
    return "'" + value.replace("'", "''") + "'"


def columns_of(options: Iterable[str]) -> tuple[str, ...]:
    """Return the columns of ``asked`` that belong to the options, in order."""
    return tuple(column for option in options for column in _COLUMNS.get(option, (option,)))


def typed(option: str) -> str:
    """Return an option as it is typed on the command line: how messages name it to a person."""
    return "--" + option.replace("_", "-")


def _asked_row(options: Iterable[str], values: Mapping[str, str | int | None]) -> str:
    return "SELECT " + ", ".join(f"{literal(values.get(column))} AS {column}" for column in columns_of(options))


def fits(alias: str, *options: str, time: str = "sort_ts", project: str = "project") -> str:
    """Return the condition that a row of ``alias`` is what was asked for; ``asked`` is joined as ``q``.

    A time is compared as text with the moments ``since`` (inclusive) and ``until`` (exclusive).
    """
    conditions = {
        "since": f"(q.since IS NULL OR {alias}.{time} >= q.since)",
        "until": f"(q.until IS NULL OR {alias}.{time} < q.until)",
        "project": f"(q.project IS NULL OR {alias}.{project} = q.project"
        f" OR substr({alias}.{project}, 1, length(q.below)) = q.below)",
        "agent": f"(q.agent IS NULL OR instr(',' || q.agent || ',', ',' || {alias}.agent || ',') > 0)",
    }
    return "\n    AND ".join(conditions[option] for option in options)


def top_of(alias: str) -> str:
    """Return the session that a row of ``alias`` counts for: with ``with_children`` the one at the top of its tree.

    ``asked`` is joined as ``q``, and :func:`tree_of` the same alias.
    """
    own = f"{alias}.session_id"
    return f"CASE WHEN q.with_children = 1 THEN coalesce(t.root_session_id, {own}) ELSE {own} END"


def tree_of(alias: str) -> str:
    """Return the join of ``session_tree`` as ``t``, which finds nothing where ``with_children`` is not asked."""
    return (
        f"LEFT JOIN session_tree t ON q.with_children = 1"
        f" AND t.agent = {alias}.agent AND t.session_id = {alias}.session_id"
    )


TOKENS: Final = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")


class Part(NamedTuple):
    """A total that may lack some of its parts: SQL of how many are known and of how many there are, and what they are.

    With ``is_shown_anyway`` the report shows something where no part is known, so that this is named too.
    """

    total: str
    known: str
    all: str
    what: str
    is_shown_anyway: bool = False


def call_totals(alias: str, *more: Part) -> str:
    """Return the columns that add up calls of ``llm_calls``: how many, tokens, cost, and what is unknown of them.

    ``more`` are named first among what is unknown.
    """
    sums = ", ".join(f"sum({alias}.{column}) AS {column}" for column in TOKENS)
    parts = [Part(column, f"count({alias}.{column})", "count(*)", "calls") for column in (*TOKENS, "cost_usd")]
    return f"count(*) AS calls, {sums},\n  round(sum({alias}.cost_usd), 9) AS cost_usd,\n  {unknown([*more, *parts])}"


def unknown(parts: Iterable[Part]) -> str:
    """Return the column ``unknown``, which names the totals that lack some of their parts; null where none does."""
    told = "\n    || ".join(
        f"CASE WHEN {part.known} BETWEEN {0 if part.is_shown_anyway else 1} AND {part.all} - 1"
        f" THEN '; {part.total}: ' || ({part.all} - {part.known}) || ' of ' || {part.all} || ' {part.what}' ELSE '' END"
        for part in parts
    )
    return f"nullif(substr({told}, 3), '') AS unknown"


_AROUND: Final = "char(9, 10, 13, 32) || '─━│┃╭╮╰╯┌┐└┘├┤═║╔╗╚╝'"
"""Blanks, line ends, and the frames that some tools draw around their messages."""


def first_line(column: str, characters: int) -> str:
    """Return the first line of a text that says anything, cut to so many characters."""
    text = f"ltrim({column}, {_AROUND})"
    line = f"substr({text}, 1, min({characters}, instr({text} || char(10), char(10)) - 1))"
    return f"rtrim({line}, {_AROUND})"
