"""``asx report``: run a named report, or list them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from cli import choices, formats, options, output, shapes, statements
from cli.cells import padded, width, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from index.results import Report

EXAMPLES: Final = (
    "asx report",
    "asx report usage --limit 10",
    "asx report prompts-by-day --timezone Europe/Berlin",
    "asx report tools --sql",
)
_LEAST_ABOUT: Final = 20


def command(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The report; without it they are listed.")] = None,
    sql: Annotated[bool, typer.Option("--sql", help="Print its SQL instead of running it.")] = False,
    parameter: statements.Parameters = None,
    limit: statements.RowLimit = 100,
    max_cell: statements.MaxCell = 1000,
    timeout: statements.Timeout = 10.0,
    format_: statements.Format = None,
    timezone: statements.Timezone = None,
    json: options.Json = False,
    index: options.Index = None,
) -> int:
    """Run a named report, or list them.

    A file NAME.sql in the reports folder (asx paths reports) is a report too: its first comment line says what it
    is about, and each :name in it is bound with -p name=value.
    """
    from index.reports import get_report, run_report
    from persist.places import current_places

    places = current_places(index)
    form = statements.chosen_format(format_, json=json)
    if name is None:
        _print_list(places.reports, form)
        return 0
    report = get_report(choices.typed_text(name), places.reports)
    if sql:
        _print_sql(report, as_json=form == formats.JSON)
        return 0
    bound = statements.read_parameters(parameter)
    as_json = form == formats.JSON
    statements.use_timezone(timezone)
    with statements.ending_on_interrupt(as_json=as_json):
        rows = run_report(
            places.index,
            report,
            bound,
            limit=limit,
            max_cell=max_cell,
            timeout_s=timeout,
            on_overrun=statements.end_at_limit(timeout, as_json=as_json),
        )
    if as_json:
        output.emit_json(shapes.report_rows(report, rows))
    else:
        statements.print_rows(rows, form, limit, max_cell)
    return 0


def _print_list(folder: Path, form: str) -> None:
    from index.reports import list_reports
    from index.results import Rows

    found = list_reports(folder)
    on_terminal = output.is_terminal(sys.stdout)
    if form == formats.JSON:
        output.emit_json(shapes.reports(found.reports))
    elif form == formats.TABLE and on_terminal:
        _print_for_the_eye(found.reports)
    else:
        listed = tuple((report.name, report.about, " ".join(report.parameters)) for report in found.reports)
        rows = Rows(("name", "about", "parameters"), listed, truncated_rows=False, truncated_cells=False)
        for text in formats.lines_of(rows, form, cells=None, for_terminal=on_terminal):
            output.line(text)
    for unreadable in found.unreadable:
        output.talk(f"the report {unreadable.name} cannot be read: {unreadable.reason}")


def _print_for_the_eye(reports: Sequence[Report]) -> None:
    """Print each report's name and what it is about, beside it on as many lines as that takes."""
    names = max(width(output.safe_line(report.name)) for report in reports)
    room = max(output.columns() - names - 2, _LEAST_ABOUT)
    for report in reports:
        about = report.about + "".join(f" -p {name}=…" for name in report.parameters)
        name = padded(output.safe_line(report.name), names)
        for number, text in enumerate(wrapped(output.safe_line(about), room)):
            output.line(f"{' ' * names if number else output.styled(name, 'strong')}  {text}")
    output.talk("run one: asx report NAME")


def _print_sql(report: Report, *, as_json: bool) -> None:
    if as_json:
        output.emit_json({"report": report.name, "about": report.about, "sql": report.sql})
    else:
        output.line(output.safe(report.sql))
