"""The agents whose files can be read: one package each, listed here and in ``docs/agents.md``.

Imports nothing but its own modules and ``persist``; knows no SQL.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from persist.agents import aether, aster, claude_code, codex, pi
from persist.sources import Agent

__all__ = ["AGENTS"]

AGENTS: Final[Mapping[str, Agent]] = {
    agent.name: agent for agent in (aster.AGENT, aether.AGENT, claude_code.AGENT, codex.AGENT, pi.PI, pi.OMP)
}
"""Every agent by name, in the order in which results name them."""
