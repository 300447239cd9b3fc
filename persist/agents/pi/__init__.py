"""pi and omp, its fork: where their files lie and how their records become events. Imports nothing but ``persist``."""

from __future__ import annotations

from persist.agents.pi.agent import AGENT as PI
from persist.agents.pi.omp import AGENT as OMP

__all__ = ["OMP", "PI"]
