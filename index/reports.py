"""Named reports: those that come with the program, and one's own, ``<config>/reports/NAME.sql``.

A report runs exactly as ``asx query`` runs its text (``index.query``). Never imports SQLAlchemy or pydantic.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from index.errors import QueryFailedError, UnknownReportError
from index.guard import HEAP_LIMIT_BYTES
from index.query import LIMIT, MAX_CELL, TIMEOUT_S, run_query
from index.report_statements import REPORTS
from index.results import Report, Rows
from index.statement_text import first_comment_line, parameter_names
from persist.errors import StoreIOError
from persist.regular import open_regular

MAX_REPORT_BYTES: Final = 100_000
_SUFFIX: Final = ".sql"
_NAME: Final = re.compile(r"[\w][\w.-]*\Z")


class ReportParametersError(QueryFailedError):
    """A report was not given the parameters it binds, or others; ``names`` are the ones concerned."""

    def __init__(self, message: str, names: tuple[str, ...]) -> None:
        self.reason = message
        self.names = names
        Exception.__init__(self, message)


@dataclass(frozen=True, slots=True)
class UnreadableReport:
    """A file of one's own that could not be read; the other reports are there all the same."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Reports:
    """Every report in the order of listing, one's own last and by name; and what could not be read."""

    reports: tuple[Report, ...]
    unreadable: tuple[UnreadableReport, ...] = ()


def list_reports(folder: Path | None = None) -> Reports:
    """Return the reports that come with the program and those of ``folder`` (``*.sql``), which need not exist.

    One's own report takes the place of a built-in one of the same name. A report that cannot be read is named in the
    answer; raises ``StoreIOError`` where the folder itself cannot be listed.
    """
    own: list[Report] = []
    unreadable: list[UnreadableReport] = []
    for path in _own_files(folder):
        try:
            own.append(_read_report(path))
        except StoreIOError as error:
            unreadable.append(UnreadableReport(path.stem, error.reason))
    taken = {report.name for report in own}
    built_in = [report for report in REPORTS if report.name not in taken]
    return Reports((*built_in, *own), tuple(unreadable))


def get_report(name: str, folder: Path | None = None) -> Report:
    """Return one report by its name. Raises ``UnknownReportError``, and ``StoreIOError`` for the folder or its file."""
    for path in _own_files(folder):
        if path.stem == name:
            return _read_report(path)
    for report in REPORTS:
        if report.name == name:
            return report
    listed = list_reports(folder)
    known = (*(report.name for report in listed.reports), *(report.name for report in listed.unreadable))
    raise UnknownReportError(name, known)


def run_report(
    path: Path,
    report: Report,
    parameters: Mapping[str, object] | None = None,
    *,
    limit: int = LIMIT,
    max_cell: int = MAX_CELL,
    timeout_s: float = TIMEOUT_S,
    on_overrun: Callable[[], None],
    heap_limit_bytes: int | None = HEAP_LIMIT_BYTES,
) -> Rows:
    """Run a report on the index at ``path``; its parameters and no others must be given.

    Raises ``ReportParametersError`` naming those that are missing or unknown, and what ``run_query`` raises.
    """
    given = parameters or {}
    missing = tuple(name for name in report.parameters if name not in given)
    unknown = tuple(name for name in given if name not in report.parameters)
    if missing:
        asked = " ".join(f"-p {name}=VALUE" for name in missing)
        raise ReportParametersError(f"the report {report.name} needs {asked}", missing)
    if unknown:
        raise ReportParametersError(f"the report {report.name} has no parameter {', '.join(unknown)}", unknown)
    return run_query(
        path,
        report.sql,
        given,
        limit=limit,
        max_cell=max_cell,
        timeout_s=timeout_s,
        on_overrun=on_overrun,
        heap_limit_bytes=heap_limit_bytes,
    )


def _own_files(folder: Path | None) -> list[Path]:
    if folder is None:
        return []
    try:
        found = sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise StoreIOError(folder, "list", error.strerror or str(error)) from error
    return [path for path in found if path.suffix == _SUFFIX and _NAME.match(path.stem)]


def _read_report(path: Path) -> Report:
    try:
        with open_regular(path) as file:
            data = file.read(MAX_REPORT_BYTES + 1)
        sql = data.decode("utf-8-sig")
    except OSError as error:
        raise StoreIOError(path, "read", error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise StoreIOError(path, "read", "it is not UTF-8") from error
    if len(data) > MAX_REPORT_BYTES:
        raise StoreIOError(path, "read", f"it is longer than {MAX_REPORT_BYTES} bytes")
    return Report(path.stem, first_comment_line(sql), sql, parameter_names(sql))
