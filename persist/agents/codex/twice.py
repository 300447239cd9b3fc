"""Which of two tellings of the same words is taken: Codex writes what was said as an item and mostly as an event too.

Pure; imports only ``persist`` values. The two stand close by, in either order, and the first is taken. No flag in a
file tells whether it has events (a converter may write a version and none, or events for some answers only), so each
text is looked for among the last ones of the other form. A prompt that only an item tells is one until the file's
first prompt that is an event: from then on people's words have events, and a user's item without one is the program's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from persist.agents.values import mark

Form = Literal["item", "event"]
Speaker = Literal["user", "assistant"]

NEAREST: Final = 8
"""How many texts of one form wait for the other; Codex writes the two side by side."""


@dataclass(slots=True)
class Twice:
    """What was told in one form and waits for the other: marks of the words, by form and speaker, oldest first."""

    writes_prompts: bool = False
    waiting: dict[str, list[str]] = field(default_factory=dict)

    def takes(self, form: Form, speaker: Speaker, text: str | None) -> bool:
        """Whether these words are told here first; they are noted, or what they repeat is crossed out.

        Empty words count as any others: a prompt may be a picture alone.
        """
        told = mark((text or "").strip())
        other = self.waiting.get(_key("event" if form == "item" else "item", speaker), [])
        if form == "event" and speaker == "user":
            self.writes_prompts = True
        if told in other:
            other.remove(told)
            return False
        if form == "item" and speaker == "user" and self.writes_prompts:
            return False
        mine = self.waiting.setdefault(_key(form, speaker), [])
        mine.append(told)
        del mine[:-NEAREST]
        return True

    def copied(self) -> Twice:
        """Return the same state, to be changed apart."""
        return Twice(self.writes_prompts, {key: list(marks) for key, marks in self.waiting.items()})


def _key(form: Form, speaker: Speaker) -> str:
    return f"{form} {speaker}"
