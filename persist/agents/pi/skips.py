"""What pi and omp write that is left out of the index on purpose, and why.

Pure. Names are those that :class:`persist.events.Parsed` counts; a ``*`` at the end stands for a whole family. Imports
nothing of ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

_BOTH: Final = {
    "custom:*": "what an extension or the program remembers for itself; no part of the conversation",
    "label": "a bookmark",
    "session:again": "a second header; the first one is the session's",
    "session:bare": "a header that tells nothing but its id",
    "session_info": "a title that is empty or was written again unchanged",
    "thinking_level_change": "a setting",
    "unknown:*": "a record type that is newer than this program",
}
PI_SKIPS: Final[Mapping[str, str]] = dict(
    sorted(
        {
            **_BOTH,
            "context_transform": "how an extension changed the context; the messages stand as they were",
            "ephemeral": "what was put into one request only, kept to find faults",
        }.items()
    )
)
OMP_SKIPS: Final[Mapping[str, str]] = dict(
    sorted(
        {
            **_BOTH,
            "archive": "whether a branch is shown",
            "credential_pin": "which account served the session; it is never read",
            "message:fileMention": "files that a prompt names, put into the context by the program",
            "mode_change": "a setting",
            "service_tier_change": "a setting",
            "session_init": "a sub-agent's system prompt and settings; its task is its first message",
            "title": "a title line that is empty or was read before",
            "title_change": "a title that is empty or was written again unchanged",
            "ttsr_injection": "names of rules that the program put into the context",
        }.items()
    )
)
"""Name (or family) to reason; the keys are sorted."""
_NAME = re.compile(r"[A-Za-z0-9_.:/-]{1,60}\Z")


def skip_name(record: Mapping[str, Any], known: Mapping[str, str]) -> str:
    """Return the name under which a record that gives nothing is counted; ``known`` are the agent's own skips.

    A name never holds free text: what is no plain word of at most 60 letters is written ``?``.
    """
    kind = record.get("type")
    if kind == "custom":
        return f"custom:{_plain(record.get('customType'))}"
    if kind == "message":
        message = record.get("message")
        name = f"message:{_plain(message.get('role') if isinstance(message, dict) else None)}"
        return name if name in known else f"unknown:{name}"
    return kind if isinstance(kind, str) and kind in known else f"unknown:{_plain(kind)}"


def _plain(value: object) -> str:
    return value if isinstance(value, str) and _NAME.match(value) else "?"
