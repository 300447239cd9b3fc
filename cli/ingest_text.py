"""What ``ingest`` and ``rebuild`` say to a person, and the exit code of what they did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cli import exits, output
from cli.moments import count, size
from cli.tables import Column, table
from index.results import SourceCounts

if TYPE_CHECKING:
    from index.results import IngestReport

_SHOWN_PROBLEMS: Final = 10
_ALWAYS: Final = ("seen", "new", "unchanged")


def exit_code(report: IngestReport, *, strict: bool, asked_roots: Sequence[str] = ()) -> int:
    """Return 6 when a source could not be read, is held, or a root that was asked for is missing; else 0.

    Damaged lines alone are 0, with ``strict`` 6.
    """
    counts = [agent.sources for agent in report.agents.values()]
    missing = {path for agent in report.agents.values() for path in agent.missing_roots}
    asked = {str(Path(path).expanduser().absolute()) for path in asked_roots}
    if any(one.failed or one.held for one in counts) or asked & missing or (strict and report.lines_damaged):
        return exits.PARTLY_DONE
    return exits.DONE


def print_report(report: IngestReport, *, quiet: bool) -> None:
    """Print the agents' table and the totals to stdout, problems and notes to stderr."""
    if not quiet:
        _print_agents(report)
        lines = f"{count(report.lines_seen, 'line')} read"
        if report.lines_damaged:
            lines += f", {report.lines_damaged:,} damaged"
        if report.bytes_pending:
            lines += f", {size(report.bytes_pending)} pending"
        totals = f"{count(report.sessions, 'session')} and {count(report.events, 'event')} in the index"
        output.line(f"{lines} in {report.seconds:.1f} s; {totals}")
    for problem in report.problems[:_SHOWN_PROBLEMS]:
        place = problem.path + (f":{problem.line_number}" if problem.line_number is not None else "")
        output.talk(f"{output.safe_line(place)}: {output.safe_line(problem.message)}")
    more = report.problems_total - min(len(report.problems), _SHOWN_PROBLEMS)
    if more > 0:
        output.talk(f"and {count(more, 'more problem')}; asx ingest --json lists the first 100")
    if not quiet:
        for note in report.notes:
            output.talk(note)


def _print_agents(report: IngestReport) -> None:
    rows = [(name, *astuple(agent.sources)) for name, agent in report.agents.items() if agent.sources.seen]
    names = [field.name for field in fields(SourceCounts)]
    used = [at for at, name in enumerate(names, start=1) if name in _ALWAYS or any(row[at] for row in rows)]
    columns = [Column("agent"), *(Column(names[at - 1], right=True) for at in used)]
    if rows:
        for text in table(columns, [[row[0], *(row[at] for at in used)] for row in rows], output.columns()):
            output.line(text)
