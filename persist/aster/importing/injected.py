"""Which texts agents put into a conversation by themselves, and what Aster's own import takes for a message's text.

Pure. The rules are those of Aster's importer (``spec/aster.md`` 5.1): a beginning is enough, and parts are joined by a
blank line.
"""

from __future__ import annotations

from typing import Final

from persist.sources import Record

_BEGINNINGS: Final = (
    "<ide_",
    "<system-reminder",
    "<command-name",
    "<local-command",
    "<bash-input",
    "<bash-stdout",
    "<user-prompt-submit-hook",
    "<session-start-hook",
    "<task-notification",
    "<permissions instructions>",
    "<environment_context",
    "<user_instructions",
    "<turn_context",
    "<queued-user-input",
)
_TEXT_TYPES: Final = ("text", "input_text", "output_text", None)
BETWEEN_PARTS: Final = "\n\n"


def is_injected(text: str) -> bool:
    """Whether a text begins like one that an agent wrote into a person's message."""
    return text.lstrip().startswith(_BEGINNINGS)


def is_kept(text: str) -> bool:
    """Whether Aster's import keeps a text: neither blank nor injected."""
    return bool(text.strip()) and not is_injected(text)


def content_text(content: Record) -> str | None:
    """Return the text of a content: a string, or the kept texts of its parts; ``None`` where nothing is kept."""
    if isinstance(content, str):
        return content if is_kept(content) else None
    if not isinstance(content, list):
        return None
    texts = [
        part["text"]
        for part in content
        if isinstance(part, dict) and _is_text_type(part.get("type")) and isinstance(part.get("text"), str)
    ]
    kept = [text for text in texts if is_kept(text)]
    return BETWEEN_PARTS.join(kept) if kept else None


def _is_text_type(kind: Record) -> bool:
    return kind in _TEXT_TYPES  # a tuple: a kind may be a list, and only == is safe with that
