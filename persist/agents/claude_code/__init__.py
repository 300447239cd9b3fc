"""Claude Code: where its files lie and how its records become events. Imports nothing but ``persist``."""

from __future__ import annotations

from persist.agents.claude_code.agent import AGENT

__all__ = ["AGENT"]
