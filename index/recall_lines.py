"""Whether the index is behind by nothing but the journal's lines of recalls, each of which a recall wrote itself.

Reads only. Such lines are taken in before the next search or recall, so nobody needs to do anything about them; an
ingest would still find work, which is what ``index.status`` tells.
"""

from __future__ import annotations

from contextlib import closing
from typing import Final

from index.freshness import look_behind
from index.opening import is_current, open_reader
from index.plan import Action, Step
from index.run import without_cycles
from index.settings import Settings
from index.sqlite_errors import translate_read_errors
from persist.lines import iter_lines
from persist.memory.journal import operations_of
from persist.regular import open_regular
from persist.sources import JOURNAL

MAX_READ_BYTES: Final = 1024 * 1024
"""A journal that grew by more than that is worth an ingest, whatever it tells."""
_RECALL: Final = "recall"


def is_behind_by_recalls_alone(settings: Settings) -> bool:
    """Tell whether all that an ingest would do is to read lines of recalls.

    Raises the errors of ``open_reader``. Cost: one ``stat`` for each source, and what was added to the journals.
    """
    with translate_read_errors(settings.index_path), closing(open_reader(settings.index_path)) as connection:
        if not is_current(connection, settings.projection):
            return False
        with without_cycles():
            behind = look_behind(settings, connection)
    plan = behind.plan
    if behind.moved or plan.gone or plan.excluded or plan.newly_held:
        return False
    return all(_adds_recalls(step) for step in plan.steps)


def _adds_recalls(step: Step) -> bool:
    """Tell whether a journal only grew, and by lines of recalls."""
    if step.action is not Action.MAYBE_TAIL or step.known is None or step.source.kind != JOURNAL:
        return False
    start_bytes = step.known.offset_bytes
    if step.source.stat.size_bytes - start_bytes > MAX_READ_BYTES:
        return False
    try:
        with open_regular(step.read_path) as file:
            told = [operations_of(line.data) for line in iter_lines(file, start_bytes)]
    except OSError:
        return False
    return all(found and all(one.entry.op == _RECALL for one in found) for found in told)
