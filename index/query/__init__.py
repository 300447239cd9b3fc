"""Read-only SQL: one statement under a guard, with limits (DESIGN 11). Never imports SQLAlchemy or pydantic."""

from __future__ import annotations

from index.query.run import LIMIT, MAX_CELL, TIMEOUT_S, run_query

__all__ = ["LIMIT", "MAX_CELL", "TIMEOUT_S", "run_query"]
