"""The reports that come with the program: one documented statement each, over the public views only.

Pure; the statements stand in modules by subject, their common pieces in ``index.report_parts``. Each runs as it is with
``asx query`` (nothing asked), ends in an order without ties, and begins with the table ``asked``, where the values of
options go (``index.reports``). A built-in report's ``parameters`` are the options that it takes.
"""

from __future__ import annotations

from typing import Final

from index import report_activity, report_memory, report_tools, report_trouble, report_usage
from index.results import Report

SUBJECTS: Final = (
    ("activity", report_activity.REPORTS),
    ("tokens and cost", report_usage.REPORTS),
    ("tools", report_tools.REPORTS),
    ("what went badly", report_trouble.REPORTS),
    ("memory", report_memory.REPORTS),
)
"""Subjects with their reports, in the order in which they are listed."""
REPORTS: Final[tuple[Report, ...]] = tuple(report for _, reports in SUBJECTS for report in reports)
