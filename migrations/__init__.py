"""Owns every CREATE statement of the index, as frozen SQL in numbered Alembic revisions.

Imports nothing of ours; SQLAlchemy and Alembic are imported only inside ``upgrade``. The index is derived and
disposable, so there is one forward chain, no downgrade, no batch mode and no upgrade in place (DESIGN 7).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["APPLICATION_ID", "GENERATION", "PAGE_SIZE_BYTES", "upgrade"]

APPLICATION_ID: Final = 0x41735849
"""``AsXI`` in the header (bytes 68 to 71) marks a database file as ours: https://www.sqlite.org/fileformat2.html."""
GENERATION: Final = 1
"""The newest revision's number; kept in ``user_version``."""
PAGE_SIZE_BYTES: Final = 8192
"""Fixed for ever: the backup API refuses to put one page size over another."""

_SCRIPTS: Final = Path(__file__).resolve().parent


def upgrade(connection: Connection) -> None:
    """Bring the empty database on ``connection`` to the newest generation; the caller owns the transaction.

    Raises Alembic's and SQLite's own errors; the caller's rollback then leaves nothing behind.
    """
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
    connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.exec_driver_sql(f"PRAGMA user_version = {GENERATION}")
