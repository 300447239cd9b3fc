"""${message}"""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "${up_revision}"
down_revision: Final = ${repr(down_revision)}

STATEMENTS: Final = ()


def upgrade() -> None:
    """Create what this generation adds."""
    for statement in STATEMENTS:
        op.execute(statement)
