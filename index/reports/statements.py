"""The reports that come with the program: one documented statement each, over the public views only.

Pure; the statements stand in modules by subject, their common pieces in ``index.reports.parts``. Each runs as it is
with ``asx query`` (nothing asked), ends in an order without ties, and begins with the table ``asked``, where the values
of options go (``index.reports.named``). A built-in report's ``parameters`` are the options that it takes.
"""

from __future__ import annotations

from typing import Final

from index.reports import activity, memory, tools, trouble, usage
from index.results import Report

SUBJECTS: Final = (
    ("activity", activity.REPORTS),
    ("tokens and cost", usage.REPORTS),
    ("tools", tools.REPORTS),
    ("what went badly", trouble.REPORTS),
    ("memory", memory.REPORTS),
)
"""Subjects with their reports, in the order in which they are listed."""
REPORTS: Final[tuple[Report, ...]] = tuple(report for _, reports in SUBJECTS for report in reports)
