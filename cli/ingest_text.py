"""What ``ingest`` and ``rebuild`` say to a person, and the exit code of what they did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple, fields
from typing import TYPE_CHECKING, Final

from cli import exits, output
from cli.moments import count, size
from cli.settings import folder_at
from cli.tables import Column, table
from index.results import SourceCounts

if TYPE_CHECKING:
    from index.results import IngestReport, Problem

_SHOWN_FILES: Final = 10
_SHOWN_TYPES: Final = 5
_UNKNOWN: Final = "unknown:"
"""How a parser names a record type that it does not know (``persist.reading``)."""
_ALWAYS: Final = ("seen", "new", "unchanged")


def exit_code(report: IngestReport, *, strict: bool, asked_roots: Sequence[str] = ()) -> int:
    """Return 6 when a source or a folder could not be read, is held or not copied, or a root asked for is missing.

    Else 0; 1 when there is no folder of any agent. Damaged lines alone are 0, with ``strict`` 6.
    """
    counts = [agent.sources for agent in report.agents.values()]
    unread = any(problem.kind in ("unreadable", "not_kept") for problem in report.problems)
    if unread or any(one.failed or one.held for one in counts) or _missing(report, asked_roots):
        return exits.PARTLY_DONE
    if _finds_no_folder(report):
        return exits.NOTHING_FOUND
    return exits.PARTLY_DONE if strict and report.lines_damaged else exits.DONE


def _finds_no_folder(report: IngestReport) -> bool:
    return bool(report.agents) and not any(agent.roots for agent in report.agents.values())


def _missing(report: IngestReport, asked_roots: Sequence[str]) -> list[str]:
    """Return the roots that were asked for and are not there."""
    asked = {str(folder_at(path)) for path in asked_roots}
    return sorted(asked & {path for agent in report.agents.values() for path in agent.missing_roots})


def _empty(report: IngestReport, named: Sequence[str]) -> list[tuple[str, str]]:
    """Return the agents' titles and the roots, of those that were named, below which nothing of that agent is."""
    from persist.agents import AGENTS

    paths = {str(folder_at(path)) for path in named}
    return [
        (AGENTS[name].title, path)
        for name, agent in report.agents.items()
        for path in agent.empty_roots
        if path in paths
    ]


def print_report(
    report: IngestReport, *, quiet: bool, asked_roots: Sequence[str] = (), named_roots: Sequence[str] = ()
) -> None:
    """Print the agents' table and the totals to stdout, problems and notes to stderr.

    ``named_roots`` are those that a variable or the configuration names: told where they are missing or empty, as those
    that were asked for.
    """
    if not quiet:
        _print_agents(report)
        lines = f"{count(report.lines_seen, 'line')} read"
        if report.lines_damaged:
            lines += f", {report.lines_damaged:,} damaged"
        if report.bytes_pending:
            lines += f", {size(report.bytes_pending)} pending"
        totals = f"{count(report.sessions, 'session')} and {count(report.events, 'event')} in the index"
        output.line(f"{lines} in {report.seconds:.1f} s; {totals}")
    _print_problems(report)
    for path in _missing(report, asked_roots if _finds_no_folder(report) else [*asked_roots, *named_roots]):
        output.talk(f"{output.safe_line(path)} does not exist; nothing was read there")
    finds_any = any(agent.sources.seen for agent in report.agents.values())
    for title, path in _empty(report, [*asked_roots, *named_roots] if finds_any else asked_roots):
        output.talk(f"no files of {title} are below {output.safe_line(path)}; nothing was read there")
    if not quiet:
        _print_unknown_types(report)
        if _finds_no_folder(report):
            looked_at = ", ".join(path for agent in report.agents.values() for path in agent.missing_roots)
            output.talk(f"no agent's folder was found; looked at {output.safe_line(looked_at)}")
        elif not any(agent.sources.seen or agent.sources.held for agent in report.agents.values()):
            output.talk("no agent's files were found; asx paths prints where they are looked for")
        for note in report.notes:
            output.talk(note)


def _print_problems(report: IngestReport) -> None:
    """Name the first problem of each file, how many more it has, and where all of them are listed."""
    files: dict[str, list[Problem]] = {}
    for problem in report.problems:
        files.setdefault(problem.path, []).append(problem)
    told = 0
    for path, problems in list(files.items())[:_SHOWN_FILES]:
        told += len(problems)
        line = f":{problems[0].line_number}" if problems[0].line_number is not None else ""
        more = f" (and {len(problems) - 1:,} more in this file)" if len(problems) > 1 else ""
        output.talk(f"{output.safe_line(path)}{line}: {output.safe_line(problems[0].message)}{more}")
    if report.problems_total > told:
        output.talk(f"and {count(report.problems_total - told, 'more problem')}")
    unread = Counter(problem.kind for problem in report.problems if problem.kind != "damaged_line")
    if unread.total() > 1:
        kinds = ", ".join(f"{number:,} {kind.replace('_', ' ')}" for kind, number in sorted(unread.items()))
        output.talk(f"by kind: {kinds}")
    if report.lines_damaged and report.problems_total > len(files):
        output.talk("asx report damaged-lines lists every damaged line")
    elif report.problems_total > told:
        output.talk("asx status lists what cannot be read")


def _print_unknown_types(report: IngestReport) -> None:
    """Say in one line for each agent how many records of how many types this version does not know."""
    for agent, told in report.agents.items():
        counts = {name.removeprefix(_UNKNOWN): n for name, n in told.skipped_types.items() if name.startswith(_UNKNOWN)}
        if counts:
            names = ", ".join(sorted(counts)[:_SHOWN_TYPES]) + (", …" if len(counts) > _SHOWN_TYPES else "")
            records = count(sum(counts.values()), "record")
            output.talk(f"{agent}: unknown types: {len(counts):,} ({records}): {output.safe_line(names)}")


def _print_agents(report: IngestReport) -> None:
    rows = [
        (name, *astuple(agent.sources))
        for name, agent in report.agents.items()
        if agent.sources.seen or agent.sources.held
    ]
    names = [field.name for field in fields(SourceCounts)]
    used = [at for at, name in enumerate(names, start=1) if name in _ALWAYS or any(row[at] for row in rows)]
    columns = [Column("agent"), *(Column(names[at - 1], right=True) for at in used)]
    if rows:
        for text in table(columns, [[row[0], *(row[at] for at in used)] for row in rows], output.table_columns()):
            output.line(text)
