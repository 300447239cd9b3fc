"""Named reports: one documented statement each over the public views. Never imports SQLAlchemy or pydantic."""

from __future__ import annotations

from index.reports.named import (
    TIMEOUT_S,
    Asked,
    ReportParametersError,
    Reports,
    UnreadableReport,
    asked_of,
    get_report,
    is_built_in,
    list_reports,
    run_report,
)

__all__ = [
    "TIMEOUT_S",
    "Asked",
    "ReportParametersError",
    "Reports",
    "UnreadableReport",
    "asked_of",
    "get_report",
    "is_built_in",
    "list_reports",
    "run_report",
]
