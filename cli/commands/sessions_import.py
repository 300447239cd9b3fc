"""``asx sessions import``: other agents' sessions copied into the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from cli import choices, exits, options, output, shapes
from cli.moments import count, local
from cli.settings import current_folder, open_settings
from cli.tables import Column, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from index.settings import Settings
    from persist.aster.importing import ImportReport, Look, Outcome

EXAMPLES: Final = (
    "asx sessions import --dry-run",
    "asx sessions import --from codex --since 30d",
    "asx sessions import --all --json",
)
_ALIASES: Final = {"claude": "claude-code"}
"""What Aster's own import calls a source."""
_COLUMNS: Final = (
    Column("status"),
    Column("id"),
    Column("began", drop=3),
    Column("messages", right=True, drop=2),
    Column("about", shrinks_to=16),
)


def command(
    from_: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            metavar="AGENT",
            help="Only from claude-code, codex, cursor, opencode, hermes; several with commas.",
        ),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Of every project, not of the current folder's alone.")] = False,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Begun at TIME or later (7d, today, 2026-03-29).")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="Begun before TIME; a day is a whole day.")
    ] = None,
    text_only: Annotated[
        bool,
        typer.Option("--text-only", help="Only what was typed and answered, as Aster's own import does; no tools."),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read and report; write nothing.")] = False,
    json: options.Json = False,
    index: options.Index = None,
) -> int:
    """Copy other agents' sessions into Aster's store.

    Each becomes a transcript of Aster's, with its folder, times, tool calls and results; the original is only read. A
    session that is there already is left as it is. As long as both are there, asx sessions list has both and a search
    finds the original alone. Sub-agents are left out. Exits with 6 when something could not be read or written, and
    names it.
    """
    from persist.aster.importing import AGENTS, Wanted, import_sessions
    from persist.projects import project_of

    settings = open_settings(index)
    typed = [_ALIASES.get(name, name) for name in choices.split(from_)]
    agents = choices.names(typed, AGENTS, "--from") or AGENTS
    wanted = Wanted(
        agents=agents,
        project=None if all_ else project_of(str(current_folder())),
        since=choices.moment(since, "--since"),
        until=choices.moment(until, "--until", until=True),
        excludes=settings.configuration.excludes,
        dry_run=dry_run,
    )
    looks = {agent: _look(settings, agent, text_only=text_only) for agent in agents}
    homes = [root.path for root in settings.roots if root.agent == shapes.STORE_AGENT]
    report = import_sessions(settings.places.data, homes, wanted, looks)
    if json:
        output.emit_json(shapes.sessions_import(report))
    else:
        _print(report, wanted.project)
    if not dry_run and any(report.of(agent, "imported") for agent in agents):
        _follow(settings)
    return _exit_code(report)


def _look(settings: Settings, agent: str, *, text_only: bool) -> Look:
    from persist.aster.importing import Look
    from persist.places import current_environment

    folders = [root.path for root in settings.roots if root.agent == agent]
    return Look(current_environment(), folders, text_only=text_only)


def _follow(settings: Settings) -> None:
    from index.follow import follow_store

    sentence = follow_store(settings)
    if sentence is not None:
        output.talk(sentence)


def _exit_code(report: ImportReport) -> int:
    if any(outcome.status == "failed" for outcome in report.outcomes):
        return exits.PARTLY_DONE
    return exits.DONE if report.outcomes else exits.NOTHING_FOUND


def _print(report: ImportReport, project: str | None) -> None:
    """Print a row for each session to stdout; what could not be read, and the totals, to stderr."""
    rows = [_row(outcome, dry_run=report.dry_run) for outcome in report.outcomes if outcome.session_id is not None]
    for text in table(_COLUMNS, rows, output.table_columns()) if rows else ():
        output.line(text)
    for outcome in report.outcomes:
        path = output.safe_line(outcome.source_path)
        if outcome.status == "failed":
            output.talk(f"{path}: {output.safe_line(outcome.reason or '')}")
        elif outcome.damaged:
            output.talk(f"{path}: {count(outcome.damaged, 'damaged record')} left out, the rest imported")
    changed = sum(outcome.changed_since for outcome in report.outcomes)
    if changed:
        output.talk(f"{count(changed, 'original')} changed since the import; a session is imported anew once deleted")
    output.talk(_summary(report, project))


def _row(outcome: Outcome, *, dry_run: bool) -> Sequence[object]:
    status = {"imported": "would import" if dry_run else "imported", "existing": "there"}
    about = {
        "existing": "changed since" if outcome.changed_since else None,
        "empty": "no message in it",
        "failed": outcome.reason,
    }
    return (
        status.get(outcome.status, outcome.status),
        outcome.session_id,
        local(outcome.created_at),
        outcome.messages or None,
        about.get(outcome.status, outcome.title),
    )


def _summary(report: ImportReport, project: str | None) -> str:
    outcomes = report.outcomes
    imported = sum(outcome.status == "imported" for outcome in outcomes)
    there = sum(outcome.status == "existing" for outcome in outcomes)
    verb = "would be imported" if report.dry_run else "imported"
    parts = [f"{count(imported, 'session')} {verb}", f"{there:,} already there"]
    for name, words in (
        ("other_projects", "of other projects (--all imports them)"),
        ("outside_range", "outside of the time asked for"),
        ("sub_agents", "of sub-agents left out"),
        ("excluded", "excluded by the configuration"),
    ):
        number = sum(getattr(passed, name) for passed in report.passed.values())
        if number:
            parts.append(f"{number:,} {words}")
    where = f"{output.safe_line(project)}: " if project is not None else ""
    return f"{where}{', '.join(parts)}"
