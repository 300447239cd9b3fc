"""From local rows to values that depend on more than one source (DESIGN 8). Plain ``sqlite3``, never SQLAlchemy."""

from __future__ import annotations

from index.settle.steps import settle_all, settle_touched

__all__ = ["settle_all", "settle_touched"]
