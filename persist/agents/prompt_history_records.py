"""``prompt-history.jsonl`` as Aether writes it and Aster took it over (``spec/aether.md`` 3).

Pure; imports only the persist contracts, and the keys from ``persist.history``, which writes the file. One entry per
line, all four keys required, further keys passed over; no time per prompt.
"""

from __future__ import annotations

from persist.entries import EntryParser
from persist.errors import ShapeError
from persist.events import HistoryPrompt, Parsed
from persist.history import KEYS
from persist.sources import Record


class PromptHistoryParser(EntryParser):
    """Turns entries into prompts; one that is whole is of the format."""

    def read_entry(self, record: Record) -> Parsed:
        """Read one entry. Raises ``ShapeError`` when a key is missing or not text."""
        if not isinstance(record, dict):
            raise ShapeError("a prompt history entry is not an object")
        for key in KEYS:
            if not isinstance(record.get(key), str):
                raise ShapeError(f"{key} of a prompt history entry is missing or not text")
        prompt = HistoryPrompt(record["prompt"], session_id=record["sessionId"], project=record["cwd"])
        return Parsed(prompts=(prompt,))
