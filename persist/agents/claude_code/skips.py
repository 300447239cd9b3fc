"""What Claude Code writes that is left out of the index on purpose, and why.

Pure. Names are those that :class:`persist.events.Parsed` counts; a ``*`` at the end stands for a whole family.
Imports only ``persist.agents.values``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from persist.agents.values import plain_word

SKIPS: Final[Mapping[str, str]] = {
    "agent-color": "the terminal's look",
    "agent-name": "written beside custom-title with the same words",
    "agent-setting": "a setting",
    "ai-title": "a title that was written again unchanged",
    "atis-latch": "the program's own bookkeeping",
    "attachment:*": "what the program put into the context by itself: hook output, listings, reminders",
    "attribution-snapshot": "the program's own bookkeeping",
    "bridge-session": "the program's own bookkeeping",
    "content-replacement": "the program's own bookkeeping",
    "conversation_reset": "the program's own bookkeeping",
    "cost-state": "running totals; each call's usage is counted instead",
    "custom-title": "a title that was written again unchanged",
    "empty prompt": "a history entry without words",
    "ended": "the program's own bookkeeping",
    "file-history-delta": "copies of edited files",
    "file-history-snapshot": "copies of edited files",
    "isolation-latch": "the program's own bookkeeping",
    "last-prompt": "repeats a prompt",
    "mode": "a setting",
    "permission-mode": "a setting",
    "pr-link": "the program's own bookkeeping",
    "progress:*": "repeats what tools and sub-agents record themselves",
    "queue-operation": "repeats a prompt that waited; what was sent is recorded when it is sent",
    "relocated": "the program's own bookkeeping",
    "summary": "a title that was written again unchanged",
    "system:*": "notes of the program without words, as durations and hook counts",
    "tag": "the program's own bookkeeping",
    "unknown:*": "a record type that is newer than this program",
    "worktree-state": "the program's own bookkeeping",
}
"""Name (or family) to reason; the keys are unique and sorted."""

_FAMILY_KEYS: Final = {"attachment": "attachment", "progress": "data"}


def skip_name(record: Mapping[str, Any]) -> str:
    """Return the name under which a record that gives no event is counted.

    A name never holds free text: what is no plain word of at most 60 letters is written ``?``.
    """
    kind = record.get("type")
    if kind == "system":
        return f"system:{plain_word(record.get('subtype'))}"
    if isinstance(kind, str) and kind in _FAMILY_KEYS:
        inner = record.get(_FAMILY_KEYS[kind])
        return f"{kind}:{plain_word(inner.get('type') if isinstance(inner, dict) else None)}"
    if isinstance(kind, str) and kind in SKIPS:
        return kind
    return f"unknown:{plain_word(kind)}"
