"""Which field a text is: the small numbers stored in ``prose.field``, and what ``--in`` calls them.

Pure; imports nothing but the standard library, so that the read path stays light.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PROMPT: Final = 1
HISTORY_PROMPT: Final = 2
ANSWER: Final = 3
THINKING: Final = 4
NOTICE: Final = 5
SUMMARY: Final = 6
TITLE: Final = 7
BLOCK: Final = 8
MEMORY_FACT: Final = 9
TOOL: Final = 10
"""Never in ``prose``: the texts of tools stand in ``event_rows``, their beginnings only."""

FIELD_OF_TYPE: Final[Mapping[str, int]] = {
    "user_message": PROMPT,
    "message_text": ANSWER,
    "message_thought": THINKING,
    "user_notice": NOTICE,
    "system_message": NOTICE,
    "auto_continue": NOTICE,
    "context_compaction_result": SUMMARY,
    "session_title": TITLE,
}
"""Event types whose text is prose, stored whole; the texts of all others keep a head only (DESIGN 7)."""

SEARCHED: Final[Mapping[str, tuple[int, ...]]] = {
    "prompts": (PROMPT, HISTORY_PROMPT),
    "answers": (ANSWER, SUMMARY),
    "thinking": (THINKING,),
    "notices": (NOTICE,),
    "tools": (TOOL,),
    "memory": (BLOCK, MEMORY_FACT),
    "titles": (TITLE,),
}
"""The names a person uses, in the order in which results name them."""

FIELD_NAMES: Final[Mapping[int, str]] = {field: name for name, fields in SEARCHED.items() for field in fields}
"""What each field is called where it is searched."""

IN_PROMPT_KEYS: Final = frozenset({PROMPT, HISTORY_PROMPT})
"""Fields whose keys lie in ``prompt_keys``; all others lie in ``prose_keys``."""
