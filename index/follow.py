"""Lets the index follow a change of the store at once, where there is one and nobody is in the way.

With the code of the refresh before search; must never import SQLAlchemy, Alembic, pydantic or filelock. A command that
changed the store has done its work whatever happens here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from index.errors import AsterIndexError
from index.refresh import refresh
from index.settings import Settings
from persist.errors import StoreError

FOLLOW_MS: Final = 2000
"""The work that is done at once, by estimate; more is left to the next ingest, and told."""


def follow_store(settings: Settings) -> str | None:
    """Bring an index that is there up to date; return one sentence for a person where it stays behind.

    Null where it is up to date, or where there is none to follow. Never waits for a lock and never raises: the change
    of the store is done, and a search refreshes or says that it is stale. Cost: a look at the disk, and the work.
    """
    budget = replace(settings.configuration, refresh_ms=FOLLOW_MS)
    try:
        return refresh(replace(settings, configuration=budget)).sentence
    except (AsterIndexError, StoreError):
        return None
