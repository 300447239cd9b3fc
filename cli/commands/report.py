"""``asx report``: run a named report, or list them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from cli import choices, formats, options, output, query_end, query_options, rows_text, shapes
from cli import search_parameters as filters
from cli.cells import padded, width, wrapped
from cli.report_options import WithChildren, asked_for

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from index.reports import Asked, Reports
    from index.results import Report, Rows

EXAMPLES: Final = (
    "asx report",
    "asx report tool-errors --since 7d --here",
    "asx report usage --with-children --limit 10",
    "asx report activity-by-day --timezone Europe/Berlin --since 2026-03-01",
    "asx report failing-turns --since 7d --sql",
)
_LEAST_ABOUT: Final = 20


def command(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The report; without it they are listed.")] = None,
    since: filters.Since = None,
    until: filters.Until = None,
    project: filters.Project = None,
    here: filters.Here = False,
    below: filters.Below = False,
    agent: filters.Agent = None,
    with_children: WithChildren = False,
    sql: Annotated[bool, typer.Option("--sql", help="Print its SQL instead of running it.")] = False,
    parameter: query_options.Parameters = None,
    limit: query_options.RowLimit = 100,
    max_cell: query_options.MaxCell = 1000,
    timeout: query_options.Timeout = 10.0,
    format_: query_options.Format = None,
    timezone: query_options.Timezone = None,
    json: options.Json = False,
    index: options.Index = None,
) -> int:
    """Run a named report, or list them.

    Each is one SQL statement; --sql prints it with what was asked for in it, to run or change with asx query. A file
    NAME.sql in the reports folder (asx paths reports) is a report too: its first comment line says what it is about,
    :since, :until, :project, :below, :agent and :with_children in it are what the options ask for, and any other :name
    is bound with -p name=value.
    """
    from index.reports import asked_of, get_report
    from index.reports.parts import typed
    from persist.places import current_places

    places = current_places(index)
    form = query_options.chosen_format(format_, json=json)
    query_options.use_timezone(timezone)
    asked = asked_for(
        since=since, until=until, project=project, here=here, below=below, agent=agent, with_children=with_children
    )
    if name is None:
        if asked.values:
            raise typer.BadParameter(f"{typed(next(iter(asked.values)))} narrows one report; give its NAME too")
        _print_list(places.reports, form)
        return 0
    report = get_report(choices.typed_text(name), places.reports)
    filled = asked_of(report, asked)
    if sql:
        _print_sql(filled, as_json=form == formats.JSON)
        return 0
    bounds = _Bounds(places.index, limit, max_cell, timeout)
    _print_rows(
        report, _run(report, query_options.read_parameters(parameter), asked, bounds, form), filled, bounds, form
    )
    return 0


class _Bounds(NamedTuple):
    """Where a report runs, and what its answer is cut to."""

    path: Path
    limit: int
    max_cell: int
    timeout_s: float


def _run(report: Report, bound: Mapping[str, object], asked: Asked, bounds: _Bounds, form: str) -> Rows:
    from index.reports import run_report

    as_json = form == formats.JSON
    with query_end.ending_on_interrupt(as_json=as_json):
        return run_report(
            bounds.path,
            report,
            bound,
            asked,
            limit=bounds.limit,
            max_cell=bounds.max_cell,
            timeout_s=bounds.timeout_s,
            on_overrun=query_end.end_at_limit(bounds.timeout_s, as_json=as_json),
        )


def _print_rows(report: Report, rows: Rows, filled: Report, bounds: _Bounds, form: str) -> None:
    from index.reports import is_built_in

    if form == formats.JSON:
        rows_text.print_json(rows, {"report": filled.name, "sql": filled.sql})
        return
    notes: tuple[str, ...] = ()
    if form == formats.TABLE and output.is_terminal(sys.stdout) and is_built_in(report):
        from cli.report_table import for_the_eye

        rows, notes = for_the_eye(rows, output.columns(), report.main_number)
    rows_text.print_rows(rows, form, bounds.limit, bounds.max_cell)
    for note in notes:
        output.talk(output.safe_line(note))


def _print_list(folder: Path, form: str) -> None:
    from index.reports import list_reports
    from index.results import Rows

    found = list_reports(folder)
    on_terminal = output.is_terminal(sys.stdout)
    if form == formats.JSON:
        output.emit_json(shapes.reports(found.reports))
    elif form == formats.TABLE and on_terminal:
        _print_for_the_eye(found)
    else:
        listed = tuple((report.name, report.about, " ".join(report.parameters)) for report in found.reports)
        rows = Rows(("name", "about", "parameters"), listed, truncated_rows=False, truncated_cells=False)
        for text in formats.lines_of(rows, form, cells=None, for_terminal=on_terminal):
            output.line(text)
    for unreadable in found.unreadable:
        output.talk(f"the report {unreadable.name} cannot be read: {unreadable.reason}")


def _print_for_the_eye(found: Reports) -> None:
    """Print each report's name under its subject, and what it is about beside it on as many lines as that takes."""
    names = max(width(output.safe_line(report.name)) for report in found.reports)
    room = max(output.columns() - names - 4, _LEAST_ABOUT)
    for number, (subject, reports) in enumerate(found.by_subject):
        if number:
            output.line()
        output.line(subject)
        for report in reports:
            name = padded(output.safe_line(report.name), names)
            for at, text in enumerate(wrapped(output.safe_line(_about(report)), room)):
                output.line(f"  {' ' * names if at else output.styled(name, 'strong')}  {text}")
    output.talk("run one: asx report NAME --since 7d; --help has the others")


def _about(report: Report) -> str:
    """Return what a report is about and, where that is not all or more, which options it takes."""
    from index.reports import is_built_in
    from index.reports.parts import PLACE, TIME, typed

    if not is_built_in(report):
        return report.about + "".join(f" :{name}" for name in report.parameters)
    lacking = [option for option in (*TIME, *PLACE) if option not in report.parameters]
    more = [option for option in report.parameters if option not in (*TIME, *PLACE)]
    told = [f"No {', '.join(map(typed, lacking))}."] if lacking else []
    told += [f"Also {', '.join(map(typed, more))}."] if more else []
    return " ".join([report.about, *told])


def _print_sql(report: Report, *, as_json: bool) -> None:
    if as_json:
        output.emit_json({"report": report.name, "about": report.about, "sql": report.sql})
    else:
        output.line(output.safe(report.sql))
