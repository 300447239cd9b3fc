"""What one run works with: the index's path, the agents and their roots, the limits.

Reads the configuration file and nothing else. Never imports SQLAlchemy or pydantic: every command
begins here.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from index.opening import projection_of
from index.projection import Limits
from persist.agents import AGENTS
from persist.archive.names import OWN_AGENTS
from persist.config import Configuration, check_agents, load
from persist.places import Places, expand, places_of
from persist.sources import Agent, Environment, Root

LOCK_TIMEOUT_S: Final = 30.0
"""How long a writing command waits for another one."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The plain values that every function of ``index`` takes first."""

    index_path: Path
    places: Places
    configuration: Configuration
    agents: tuple[Agent, ...]
    roots: tuple[Root, ...]
    lock_timeout_s: float = LOCK_TIMEOUT_S

    @property
    def limits(self) -> Limits:
        """Return how much of tools' texts is stored."""
        limits = self.configuration.limits
        return Limits(limits.tool_head_bytes, limits.failed_head_bytes)

    @property
    def projection(self) -> str:
        """Return the text that names how this program, so configured, makes rows."""
        versions = {agent.name: agent.parser_version for agent in AGENTS.values()}
        limits = self.configuration.limits
        return projection_of(versions, (limits.tool_head_bytes, limits.failed_head_bytes, limits.max_line_bytes))

    @property
    def agent_names(self) -> frozenset[str]:
        """Return the agents of this run."""
        return frozenset(agent.name for agent in self.agents)

    def keeps(self, agent: str) -> bool:
        """Return whether an agent's transcripts are copied to the archive: those of all agents but our own store's."""
        return self.configuration.keep and agent not in OWN_AGENTS

    def agent(self, name: str) -> Agent:
        """Return an agent by name, also one that is not part of this run. Raises ``KeyError`` for an unknown name."""
        return AGENTS[name]


def load_settings(
    environment: Environment,
    cwd: Path,
    index: str | None = None,
    extra_roots: Sequence[tuple[str, str]] = (),
) -> Settings:
    """Return the settings for an environment. ``extra_roots`` are (agent, path) pairs of ``--root``.

    Raises ``ConfigError`` when the configuration cannot be used or a name is no agent's.
    """
    places = places_of(environment, cwd, index)
    configuration = load(places.config, environment.home)
    check_agents(places.config, configuration, AGENTS)
    chosen = configuration.agents
    extra = [(agent, expand(path, environment.home, cwd)) for agent, path in extra_roots]
    agents = tuple(
        agent for name, agent in AGENTS.items() if chosen is None or name in chosen or any(name == a for a, _ in extra)
    )
    roots: list[Root] = []
    for agent in agents:
        roots.extend(agent.locate(environment))
        roots.extend(Root(agent.name, path) for path in configuration.roots.get(agent.name, ()))
        roots.extend(Root(agent.name, path) for name, path in extra if name == agent.name)
    return Settings(places.index, places, configuration, agents, _once(roots))


def _once(roots: Sequence[Root]) -> tuple[Root, ...]:
    """Leave out roots that are another spelling of one before: read once, counted once."""
    seen: set[tuple[str, str]] = set()
    kept: list[Root] = []
    for root in roots:
        key = (root.agent, os.path.realpath(root.path))
        if key not in seen:
            seen.add(key)
            kept.append(root)
    return tuple(kept)
