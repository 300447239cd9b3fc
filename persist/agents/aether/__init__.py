"""Aether: where its files lie and how its records become events. Imports nothing but ``persist``."""

from __future__ import annotations

from persist.agents.aether.agent import AGENT

__all__ = ["AGENT"]
