"""``asx memory apply``: what a model made of a session becomes blocks and facts, as one step that can be taken back."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from cli import choices, exits, options, output, shapes
from cli.memory_store import index_follows
from cli.moments import count
from cli.settings import open_places
from cli.tables import Column, table_of_sentences

if TYPE_CHECKING:
    from persist.memory.applied import Applied, Done
    from persist.memory.plan import Plan

EXAMPLES: Final = (
    """echo '{"lessons":["Deploys leave from the main branch only."]}' | asx memory apply -""",
    "asx memory apply plan.json",
    "asx memory apply plan.json --yes --session 01k5p3",
    "asx memory apply --revert 01KBVGBANK --yes",
    "asx memory apply --schema",
)
STDIN: Final = "-"
_COLUMNS: Final = (Column("what"), Column("block", shrinks_to=16), Column("detail"))
_WORDS: Final = {
    "remember": "write over", "supersede": "supersede", "archive": "archive", "append_project": "add fact",
    "restore": "bring back", "forget": "take away",
}  # fmt: skip


def command(
    file: Annotated[str | None, typer.Argument(metavar="FILE", help="The plan, JSON; - is stdin.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do it. Without it nothing is changed.")] = False,
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="ID", help="The session that it comes from, where the plan names none."),
    ] = None,
    revert: Annotated[
        str | None,
        typer.Option(
            "--revert", metavar="ULID", help="Take back the plan applied as this step; asx memory log names it."
        ),
    ] = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of a plan, for a model.")] = False,
    json: options.Json = False,
) -> int:
    """Do what a consolidation plan says as one step, or take it back.

    A plan has new blocks, merges, archives and lessons (facts of ASTER.md). All of it is checked against the memory
    before anything is written. Without --yes it is only told what would be done. Cut short, the same plan again does
    the rest; the same plan once more does nothing. --revert brings every block back byte for byte.
    """
    if (file is not None) + (revert is not None) + schema != 1:
        raise typer.BadParameter("give a plan, or --revert and a step, or --schema", param_hint="FILE")
    if (revert is not None or schema) and session is not None:
        raise typer.BadParameter("is for a plan that is applied", param_hint="--session")
    if schema:
        _print_schema(as_json=json)
        return exits.DONE
    applied = _apply(file, session, yes=yes) if file is not None else _revert(revert or "", yes=yes)
    if json:
        output.emit_json(shapes.memory_applied(applied))
    else:
        _print(applied)
    _tell(applied, is_revert=revert is not None)
    return exits.DONE


def _apply(file: str, session: str | None, *, yes: bool) -> Applied:
    from persist.memory import MemoryStore
    from persist.memory.applying import files_that_may_go

    plan = _with_session(_read_plan(file), session)
    folder = open_places().memory
    if not yes:
        return MemoryStore(folder).apply(plan, dry_run=True)
    with index_follows(files_that_may_go(folder, plan)):
        return MemoryStore(folder).apply(plan)


def _revert(typed: str, *, yes: bool) -> Applied:
    from persist.memory import MemoryStore
    from persist.memory.reverting import files_that_may_go

    folder = open_places().memory
    step = choices.typed_text(typed)
    if not yes:
        return MemoryStore(folder).revert(step, dry_run=True)
    with index_follows(files_that_may_go(folder, step)):
        return MemoryStore(folder).revert(step)


def _read_plan(file: str) -> Plan:
    """Return the plan in a file or on stdin; one byte over the limit is enough to refuse it."""
    from persist.memory.plan import MAX_PLAN_BYTES, parse_plan
    from persist.regular import read_regular

    if file == STDIN:
        if sys.stdin is None:
            raise typer.BadParameter("there is no stdin to read the plan from", param_hint="FILE")
        return parse_plan(sys.stdin.buffer.read(MAX_PLAN_BYTES + 1))
    return parse_plan(read_regular(file, MAX_PLAN_BYTES + 1))


def _with_session(plan: Plan, session: str | None) -> Plan:
    """Return the plan with the session that was named. Raises ``typer.BadParameter`` where it names another."""
    if session is None:
        return plan
    typed = choices.typed_text(session)
    if not typed.strip():
        raise typer.BadParameter("is empty; give a session's id or leave the option out", param_hint="--session")
    if plan.session not in (None, typed):
        raise typer.BadParameter(f"the plan names another session, {plan.session}", param_hint="--session")
    return plan.model_copy(update={"session": typed})


def _print_schema(*, as_json: bool) -> None:
    from json import dumps

    from persist.memory.plan import plan_schema

    if as_json:
        output.emit_json({"schema": plan_schema()})
    elif output.is_terminal(sys.stdout):
        output.line(dumps(plan_schema(), indent=2))
    else:
        output.line(output.json_text(plan_schema()))


def _print(applied: Applied) -> None:
    rows = [(_word(one), one.name or "ASTER.md", _detail(one)) for one in applied.done]
    if rows:
        for text in table_of_sentences(_COLUMNS, rows, output.table_columns()):
            output.line(text)


def _word(done: Done) -> str:
    return "new block" if done.op == "remember" and done.is_new else _WORDS[done.op]


def _detail(done: Done) -> str:
    """Return what is known beside the name: the title, the successor, why it is archived, a fact's text."""
    by = f"by {done.by}" if done.by and done.op == "supersede" else None
    since = "changed since; that is kept" if done.changed_since else None
    return ", ".join(part for part in (done.title, by, done.detail, since) if part)


def _tell(applied: Applied, *, is_revert: bool) -> None:
    """Tell a person what became of it and what may be done next."""
    for bullet in applied.left:
        why = "was edited or taken out since, and is left as it is" if is_revert else "stands in ASTER.md already"
        output.talk(f"{bullet.partition(chr(10))[0]}: {why}")
    if applied.was_done:
        done = "taken back" if is_revert else "applied"
        output.talk(f"this plan was {done} before, as {applied.step}; nothing is left to do")
    elif applied.is_dry_run:
        rest = "the rest of a plan that was cut short" if applied.was_begun else "nothing was changed"
        output.talk(f"{rest}; --yes does it" if applied.done or applied.session else "there is nothing to do")
    elif is_revert:
        output.talk(f"took back {applied.step}: {count(len(applied.done), 'change')}")
    else:
        output.talk(f"applied as {applied.step}; to take it back: asx memory apply --revert {applied.step} --yes")
    for step in applied.open_steps:
        output.talk(f"{step} was cut short: apply its plan again, or: asx memory apply --revert {step} --yes")
    if applied.journal_trouble is not None:
        output.talk(f"the journal does not tell all of it: {applied.journal_trouble}")
