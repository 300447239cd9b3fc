"""Alembic's environment: runs the revisions on the connection that ``migrations.upgrade`` passes in."""

from __future__ import annotations

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=context.config.attributes.get("target_metadata"),
    transactional_ddl=False,
    render_as_batch=False,
)
context.run_migrations()
