"""The shapes of the memory: a block, the list, the log, what a command changed, what an agent is given. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cli.shapes.shape import Shape

if TYPE_CHECKING:
    from index.provenance import Provenance
    from persist.memory.applied import Applied
    from persist.memory.blocks import Block
    from persist.memory.change import Change
    from persist.memory.context import Context
    from persist.memory.decaying import Decay
    from persist.memory.journal import Operation
    from persist.memory.provenance import OfSession
    from persist.memory.review import Review

STORE_AGENT: Final = "aster"
"""The agent whose memory the store's blocks are."""


def block(found: Block) -> Shape:
    """Return the shape of ``recall NAME`` and ``memory show NAME``."""
    note = found.note
    return {
        "name": note.name,
        "title": found.title,
        "description": note.description,
        "body": note.body,
        "kind": note.kind,
        "project": note.project,
        "aliases": list(note.aliases),
        "path": str(found.path),
        "source_session": note.source_session,
        "created_at": note.created_at,
        "updated_at": note.updated_at,
        "archived": note.archived,
        "superseded_by": note.superseded_by,
        "pinned": note.pinned,
    }


def memory_list(folder: Path, project: tuple[Path, str] | None, blocks: Iterable[Block]) -> Shape:
    """Return the shape of ``memory list``; ``project`` is the path and the text of ASTER.md."""
    listed = []
    for found in blocks:
        whole = block(found)
        del whole["body"], whole["aliases"]
        listed.append({"name": whole.pop("name"), "agent": STORE_AGENT, **whole})
    return {
        "dir": str(folder),
        "project": {"path": str(project[0]), "text": project[1]} if project else None,
        "blocks": listed,
    }


def memory_log(operations: Iterable[Operation]) -> Shape:
    """Return the shape of ``memory log``, in the order given (newest first)."""
    return {
        "entries": [
            {
                **one.entry._asdict(),
                "title": one.title,
                "version": one.version,
                "path": one.path,
                "sha256": one.sha256,
                "restored": one.restored,
                "step": one.step,
            }
            for one in operations
        ]
    }


def memory_change(change: Change) -> Shape:
    """Return the shape of every command that changes the memory; ``path`` is null where the block is gone."""
    return {
        "ok": True,
        "kind": "project" if change.name is None else "block",
        "name": change.name,
        "fact": change.fact,
        "path": None if change.path is None else str(change.path),
        "is_new": change.is_new,
        "version": change.version,
        "version_path": None if change.version_path is None else str(change.version_path),
        "superseded": change.superseded,
        "held_again": change.held_again,
        "restored": change.restored,
        "near": list(change.near),
        "journal_error": change.journal_trouble,
    }


def memory_context(found: Context) -> Shape:
    """Return the shape of ``memory context``."""
    return {"text": found.text, "blocks": found.blocks, "left_out": found.left_out}


def memory_decay(done: Decay) -> Shape:
    """Return the shape of ``memory decay``; ``items`` are what was archived, or with ``dry_run`` would be."""
    return {
        "dry_run": done.dry_run,
        "as_of": done.as_of,
        "items": [
            {"name": one.name, "action": "archive", "reason": one.reason, "version": one.version}
            for one in done.archived
        ],
        "staying": done.staying,
        "problems": list(done.troubles),
        "journal_errors": list(done.journal_troubles),
    }


def memory_review(found: Review) -> Shape:
    """Return the shape of ``memory review``, which never changes anything."""
    return {
        "dry_run": True,
        "items": [{"name": one.name, "finding": one.finding, "reason": one.reason} for one in found.findings],
        "blocks": found.blocks,
        "facts": found.facts,
    }


def memory_tools(tools: Iterable[Mapping[str, Any]]) -> Shape:
    """Return the shape of ``memory tools``."""
    return {"tools": [dict(tool) for tool in tools]}


def memory_applied(found: Applied) -> Shape:
    """Return the shape of ``memory apply``, also of taking a plan back; ``step`` is null before it is done."""
    return {
        "ok": True,
        "dry_run": found.is_dry_run,
        "step": found.step,
        "session": found.session,
        "was_done": found.was_done,
        "was_begun": found.was_begun,
        "done": [
            {
                "op": one.op,
                "name": one.name,
                "entry": one.entry,
                "title": one.title,
                "path": None if one.path is None else str(one.path),
                "is_new": one.is_new,
                "by": one.by,
                "version": one.version,
                "detail": one.detail,
                "changed_since": one.changed_since,
            }
            for one in found.done
        ],
        "left": list(found.left),
        "open_steps": list(found.open_steps),
        "journal_error": found.journal_trouble,
    }


def provenance(found: Provenance) -> Shape | None:
    """Return where a note comes from, ``None`` where no session is named; ``rule`` tells how the event was found."""
    if found.writing is None:
        return None
    return {
        "session_id": found.writing.session,
        "ts": found.writing.ts,
        "op": found.writing.op,
        "step": found.writing.step,
        "rule": found.rule,
        "trouble": found.trouble,
    }


def memory_of_session(listed: Shape, found: OfSession) -> Shape:
    """Return the shape of ``memory list --session``: ``listed``, what tells of each block, facts, what is gone."""
    blocks = [{**one, "told_by": list(where)} for one, (_, where) in zip(listed["blocks"], found.blocks, strict=True)]
    facts = [{"name": f"ASTER.md:{fact.line_number}", "text": fact.text} for fact in found.facts]
    return {**listed, "blocks": blocks, "facts": facts, "gone": list(found.gone)}
