"""The home with real files of agents, for tests that read them where it is there."""

from __future__ import annotations

import pytest

from persist.sources import Agent, Environment, Source
from tests.conftest import SHARED

HOME = SHARED / "real" / "home"
WHERE_IT_IS = pytest.mark.skipif(not HOME.is_dir(), reason="the real files are not here")


def sources_of(agent: Agent) -> tuple[Source, ...]:
    """Return an agent's sources there, in path order; nothing may be in the way."""
    (root,) = agent.locate(Environment({}, HOME))
    look = agent.discover(root)
    assert look.troubles == ()
    return look.sources
