"""The shapes of what can be asked in SQL: the list of reports, the views. Pure; rows: ``cli.formats``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cli.shapes.shape import Shape

if TYPE_CHECKING:
    from index.results import Report, SchemaDescription


def reports(found: Iterable[Report]) -> Shape:
    """Return the shape of ``report`` without a name."""
    return {
        "reports": [
            {"name": report.name, "about": report.about, "parameters": list(report.parameters)} for report in found
        ]
    }


def schema(found: SchemaDescription) -> Shape:
    """Return the shape of ``schema``."""
    return {
        "generation": found.generation,
        "tables": [
            {
                "name": table.name,
                "kind": table.kind,
                "about": table.about,
                "columns": [{"name": one.name, "type": one.type, "about": one.about} for one in table.columns],
            }
            for table in found.tables
        ],
        "examples": [{"name": one.name, "about": one.about, "sql": one.sql} for one in found.examples],
    }
