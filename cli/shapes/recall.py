"""The shape of ``recall --prompt``, and of what a prompt hook prints. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.shapes.shape import Shape

if TYPE_CHECKING:
    from cli.recall_answer import Answer, Item
    from cli.recall_giving import Given
    from index.recall.turns import RefusedTurn
    from persist.recall.answer import Verdict

HOOK_EVENT = "UserPromptSubmit"


def recall(prompt: str, answer: Answer, given: Given, *, with_refused: bool) -> Shape:
    """Return the shape of ``recall --prompt``; ``text`` is the framed text, items are whole.

    ``elsewhere`` are notes of other projects that would help, where nothing does here.
    """
    told: Shape = {
        "prompt": prompt,
        "status": answer.status,
        "considered": answer.considered,
        "items": [_item(one) for one in given.items],
        "text": given.text,
        "cut": given.cut,
        "left_out": given.left_out,
        "elsewhere": [
            {"name": one.candidate.name, "project": one.candidate.project, "path": one.candidate.path}
            for one in answer.elsewhere
        ],
        "notes": [*filter(None, [answer.without_index]), *answer.behind, *answer.notes],
    }
    if with_refused:
        told["refused"] = [_refused(one, one.reason) for one in answer.refused]
        told["refused"] += [_refused(one, "is about another project") for one in answer.elsewhere]
        if answer.turns is not None:
            told["refused"] += [_refusal(one.session_id, one.reason, one) for one in answer.turns.refused]
    return told


def _refused(one: Verdict, reason: str) -> Shape:
    return _refusal(one.candidate.name, reason, one)


def _refusal(name: str, reason: str, one: Verdict | RefusedTurn) -> Shape:
    return {
        "name": name,
        "reason": reason,
        "score": round(one.score, 3),
        "evidence": round(one.evidence, 3),
        "coverage": round(one.coverage, 3),
    }


def hook(text: str) -> Shape:
    """Return what a prompt hook prints."""
    return {"hookSpecificOutput": {"hookEventName": HOOK_EVENT, "additionalContext": text}}


def _item(one: Item) -> Shape:
    told: Shape = {
        "kind": one.kind,
        "name": None if one.kind == "turn" else one.quoted.name,
        "agent": one.agent,
        "session_id": one.session_id,
        "score": round(one.score, 3),
        "evidence": round(one.evidence, 3),
        "why": list(one.why),
        "text": one.text,
        "source": {"path": one.quoted.path, "line": one.line, "offset": one.offset},
        "updated_at": one.quoted.updated_at,
    }
    if one.kind == "turn":
        told |= {"event_index": one.event_index, "count": one.copies + 1}
    return told
