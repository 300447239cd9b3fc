"""Imports sessions of other agents into the store as Aster's transcripts (``spec/aster.md`` 5).

The parts: a module for each source (``claude_code``, ``codex``, ``cursor``, ``opencode``, ``hermes``) gives a stream of
events; ``rounds`` and ``records`` make Aster's records of them; ``target`` writes one file, whole or not at all;
``run`` decides which (``sessions``: one of them) and reports. Foreign files are only read, by our own readers. Never
imports a terminal.
"""

from persist.aster.importing.candidates import Look
from persist.aster.importing.report import AGENTS, ImportReport, Outcome, Passed, Wanted
from persist.aster.importing.run import import_sessions

__all__ = ["AGENTS", "ImportReport", "Look", "Outcome", "Passed", "Wanted", "import_sessions"]
