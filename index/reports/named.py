"""Named reports: those that come with the program, and one's own, ``<config>/reports/NAME.sql``.

A report runs exactly as ``asx query`` runs its text (``index.query``). What is asked of a built-in one stands as SQL
literals in its text; one's own is bound to it. Never imports SQLAlchemy or pydantic.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from index.errors import QueryFailedError, UnknownReportError
from index.query.guard import HEAP_LIMIT_BYTES
from index.query.run import LIMIT, MAX_CELL, run_query
from index.query.statement_text import first_comment_line, parameter_names
from index.reports.parts import OPTIONS, columns_of, typed, with_values
from index.reports.statements import REPORTS, SUBJECTS
from index.results import Report, Rows
from persist.errors import StoreIOError
from persist.regular import read_regular

TIMEOUT_S: Final = 10.0
"""More than a statement of ``asx query`` has: a report sums up the whole index where nothing narrows it."""
MAX_REPORT_BYTES: Final = 100_000
OWN: Final = "your own"
_MOST_NEAR: Final = 3
_LEAST_PART: Final = 3
"""Letters of a part of a name that is compared on its own: ``by`` tells nothing."""
_ALIKE: Final = 0.75
"""Of the words that are less alike than this, those that the reports are about go before."""
_SUFFIX: Final = ".sql"
_NAME: Final = re.compile(r"[\w][\w.-]*\Z")
_OPTION_NAMES: Final = frozenset(columns_of(OPTIONS))


class ReportParametersError(QueryFailedError):
    """A report was not given the parameters it binds, or others; ``names`` are the ones concerned."""

    def __init__(self, message: str, names: tuple[str, ...], hint: str = "asx report lists what each takes") -> None:
        self.names = names
        self.hint = hint
        super().__init__(message, message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a report is asked for: a span of time, a project, agents. Null, empty and false: not asked.

    ``since`` (inclusive) and ``until`` (exclusive) are moments in the index's form, ``project`` an absolute path, meant
    exactly or, with ``below``, together with what lies beneath it.
    """

    since: str | None = None
    until: str | None = None
    project: str | None = None
    below: bool = False
    agents: tuple[str, ...] = ()
    with_children: bool = False

    @property
    def values(self) -> dict[str, str | int]:
        """Return what was asked by the names under which statements know it."""
        beneath = None if self.project is None or not self.below else self.project.rstrip("/") + "/"
        named: dict[str, str | int | None] = {
            "since": self.since,
            "until": self.until,
            "project": self.project,
            "below": beneath,
            "agent": ",".join(self.agents) or None,
            "with_children": 1 if self.with_children else None,
        }
        return {name: value for name, value in named.items() if value is not None}


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

    @property
    def by_subject(self) -> tuple[tuple[str, tuple[Report, ...]], ...]:
        """Return the reports under what they are about, in the order of listing; one's own are a subject too."""
        of_subjects = [(subject, tuple(one for one in of if one in self.reports)) for subject, of in SUBJECTS]
        own = tuple(report for report in self.reports if not is_built_in(report))
        return tuple((subject, of) for subject, of in (*of_subjects, (OWN, own)) if of)


def is_built_in(report: Report) -> bool:
    """Return whether a report comes with the program; its ``parameters`` are then the options that it takes."""
    return report in REPORTS


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
    raise UnknownReportError(name, known, nearest(name, known, listed.by_subject))


def nearest(name: str, known: Sequence[str], by_subject: Sequence[tuple[str, Sequence[Report]]]) -> tuple[str, ...]:
    """Return the names that may be meant, the likeliest first: like it, with a part like it, or about it. Pure.

    What a report is about is told by its subject and its sentence, else by what its statement names.
    """
    wanted = name.casefold()
    near = get_close_matches(wanted, known, _MOST_NEAR, _ALIKE)
    parts = {part: None for one in known for part in one.split("-") if len(part) >= _LEAST_PART}
    like = get_close_matches(wanted, parts, cutoff=_ALIKE)
    near += [one for part in like for one in known if part in one.split("-")]
    if not near and len(wanted) >= _LEAST_PART:
        reports = [(subject, report) for subject, those in by_subject for report in those]
        near = [report.name for subject, report in reports if wanted in subject.casefold()]
        near += [report.name for _, report in reports if wanted in report.about.casefold()]
        near = near or [report.name for _, report in reports if wanted in report.sql.casefold()]
    return tuple(dict.fromkeys(near or get_close_matches(wanted, known)))[:_MOST_NEAR]


def asked_of(report: Report, asked: Asked) -> Report:
    """Return the report with what was asked in its text, so that the text alone gives the same; one's own as it is.

    Raises ``ReportParametersError`` for an option that the report does not take, naming those that it does.
    """
    takes = columns_of(report.parameters) if is_built_in(report) else report.parameters
    refused = tuple(name for name in asked.values if name not in takes)
    if refused:
        options = [option for option in OPTIONS if option in takes]
        told = f"takes {_listed(list(map(typed, options)))}" if options else "takes none of these options"
        left = _listed([typed(name) for name in refused])
        message = f"the report {report.name} {told}; leave out {left}"
        if is_built_in(report):
            raise ReportParametersError(message, refused)
        bound = _listed([f":{name}" for name in refused])
        raise ReportParametersError(message, refused, f"a report of your own takes an option where its SQL has {bound}")
    if not is_built_in(report):
        return report
    return replace(report, sql=with_values(report.sql, report.parameters, asked.values), parameters=())


def run_report(
    path: Path,
    report: Report,
    parameters: Mapping[str, object] | None = None,
    asked: Asked = Asked(),
    *,
    limit: int = LIMIT,
    max_cell: int = MAX_CELL,
    timeout_s: float = TIMEOUT_S,
    on_overrun: Callable[[], None],
    heap_limit_bytes: int | None = HEAP_LIMIT_BYTES,
) -> Rows:
    """Run a report on the index at ``path``; its parameters and no others must be given.

    A report of one's own may bind the names of options (``since``, ``until``, ``project``, ``below``, ``agent``,
    ``with_children``): null where they are not asked. Raises ``ReportParametersError`` naming what is missing, unknown,
    not taken or given twice, and what ``run_query`` raises.
    """
    filled = asked_of(report, asked)
    return run_query(
        path,
        filled.sql,
        _bound(filled, parameters or {}, {} if is_built_in(report) else asked.values),
        limit=limit,
        max_cell=max_cell,
        timeout_s=timeout_s,
        on_overrun=on_overrun,
        heap_limit_bytes=heap_limit_bytes,
    )


def _bound(report: Report, given: Mapping[str, object], asked: Mapping[str, str | int]) -> dict[str, object]:
    """Return the values for a report's parameters. Raises ``ReportParametersError``."""
    twice = tuple(name for name in given if name in asked)
    missing = tuple(name for name in report.parameters if name not in {*given, *_OPTION_NAMES})
    unknown = tuple(name for name in given if name not in report.parameters)
    if twice:
        raise ReportParametersError(f"{_listed(list(twice))} is given by an option and by -p; leave one out", twice)
    if missing:
        needed = " ".join(f"-p {name}=VALUE" for name in missing)
        raise ReportParametersError(f"the report {report.name} needs {needed}", missing)
    if unknown:
        instead = "".join(f"; give {typed(name)}" for name in unknown if name in _OPTION_NAMES)
        message = f"the report {report.name} has no parameter {', '.join(unknown)}{instead}"
        raise ReportParametersError(message, unknown)
    return {**dict.fromkeys(report.parameters), **asked, **given}


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


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
        data = read_regular(path, MAX_REPORT_BYTES + 1)
        sql = data.decode("utf-8-sig")
    except OSError as error:
        raise StoreIOError(path, "read", error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise StoreIOError(path, "read", "it is not UTF-8") from error
    if len(data) > MAX_REPORT_BYTES:
        raise StoreIOError(path, "read", f"it is longer than {MAX_REPORT_BYTES} bytes")
    return Report(path.stem, first_comment_line(sql), sql, parameter_names(sql))
