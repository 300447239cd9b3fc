"""Tells what a person typed from what Claude Code wrote around it, by structure alone.

Pure; imports nothing of ours. A text is the program's only if the whole of it is made of its elements
(``<command-name>…</command-name>`` and the like, ``spec/aster.md`` 5.1); a prompt that merely quotes such
an element is a prompt.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

TYPED: Final = "typed"
COMMAND: Final = "command"
BARE_COMMAND: Final = "bare command"
NOTICE: Final = "notice"
INTERRUPTED: Final = "interrupted"

_ELEMENT = re.compile(
    r"\s*<(ide_[\w-]+|local-command-[\w-]+|command-[\w-]+|bash-(?:input|stdout|stderr)|system-reminder"
    r"|user-prompt-submit-hook|session-start-hook|task-notification|queued-user-input|user-memory-input"
    r"|teammate-message)(?:\s[^<>]*)?>"
)
_NOTIFICATION_TAIL = re.compile(r"\s*Read the output file to retrieve the result: \S+")
"""Versions of 2026 put this line after a task notification's element; it is part of the notice."""
_INTERRUPTED = re.compile(r"\s*\[Request interrupted by user[^\]\n]{0,40}\]\s*\Z")


class Said(NamedTuple):
    """A text, sorted: ``sort`` is one of this module's constants, ``text`` what to keep of it."""

    sort: str
    text: str


def sort_text(text: str) -> Said:
    """Sort one text of a user record; O(n) in its length, and O(1) if it does not begin like an element.

    A slash command is kept as it was typed (``/name arguments``); everything else is kept whole.
    """
    if _INTERRUPTED.match(text):
        return Said(INTERRUPTED, text.strip())
    elements = _whole_elements(text)
    if not elements:
        return Said(TYPED, text)
    name = elements.get("command-name", "").strip()
    if not name:
        return Said(NOTICE, text)
    arguments = elements.get("command-args", "").strip()
    command = name if name.startswith("/") else f"/{name}"
    return Said(COMMAND, f"{command} {arguments}") if arguments else Said(BARE_COMMAND, command)


def _whole_elements(text: str) -> dict[str, str]:
    """Return the first inner text of each element if ``text`` is nothing but elements, else nothing."""
    found: dict[str, str] = {}
    at = 0
    while (opening := _ELEMENT.match(text, at)) is not None:
        tag = opening[1]
        end = text.find(f"</{tag}>", opening.end())
        if end < 0:
            return {}
        found.setdefault(tag, text[opening.end() : end])
        at = end + len(tag) + 3
        if tag == "task-notification" and (tail := _NOTIFICATION_TAIL.match(text, at)) is not None:
            at = tail.end()
    return found if not text[at:].strip() else {}
