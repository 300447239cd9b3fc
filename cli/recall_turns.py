"""Past turns as what is given out for a prompt: the text that fits whole, what was said around it in short.

Asks ``index.recall``; must never import SQLAlchemy, Alembic, pydantic, ulid or filelock.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from cli.moments import count
from cli.recall_answer import Asked, Item, shown

if TYPE_CHECKING:
    from index.recall.turns import TurnHit, TurnsAnswer
    from index.settings import Settings
    from persist.recall.frame import Quoted
    from persist.recall.scope import Place

AROUND_CHARACTERS: Final = 200
"""Of what was said around it so much is quoted."""
KIND: Final = "turn"


def ask_turns(settings: Settings, asked: Asked, place: Place) -> TurnsAnswer:
    """Return the past turns that help. Raises what opening the index raises: without it there are none."""
    from index.recall.turns import recall_turns

    return recall_turns(settings, asked.prompt, place, asked.as_of, asked.session, asked.limit)


def turn_item(hit: TurnHit, words: Mapping[str, str]) -> Item:
    """Return the item of a turn; ``words`` maps the prompt's words to what was typed."""
    said = hit.texts[hit.at]
    return Item(
        kind="turn",
        quoted=_quoted(hit),
        agent=hit.agent,
        score=hit.score,
        evidence=hit.evidence,
        why=(f"has {', '.join(shown(hit.matched, words))}",) if hit.matched else (),
        session_id=hit.session_id,
        line=said.line_number,
        offset=said.offset_bytes,
        text=said.text,
        event_index=said.event_index,
        copies=hit.copies,
    )


def _quoted(hit: TurnHit) -> Quoted:
    from persist.recall.frame import Quoted

    said = hit.texts[hit.at]
    title = " ".join((hit.title or "").split())
    same = f"the same in {count(hit.copies, 'other session')}" if hit.copies else ""
    parts = [
        f"{one.role}: {one.text.strip() if at == hit.at else _short(one.text)}" for at, one in enumerate(hit.texts)
    ]
    return Quoted(
        name=f"{hit.session_id}:{said.event_index}",
        path=said.path,
        description="; ".join(filter(None, (title, same))),
        text="\n".join(parts),
        kind=KIND,
        updated_at=said.ts,
    )


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= AROUND_CHARACTERS else plain[: AROUND_CHARACTERS - 1] + "\u2026"
