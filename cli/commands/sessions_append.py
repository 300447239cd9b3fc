"""``asx sessions append``: events from stdin to a session of the store."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Final, cast

import typer

from cli import choices, options, output, shapes
from cli.moments import count
from cli.session_store import followed
from cli.settings import current_folder, folder_at, open_settings

if TYPE_CHECKING:
    from io import BufferedReader

    from index.settings import Settings
    from index.store_sessions import StoredSession
    from persist.appending import Appended

EXAMPLES: Final = (
    """echo '{"type":"message","role":"user","content":"hello"}' | asx sessions append ID""",
    """echo '{"type":"message","role":"tool","tool_call_id":"c1","content":"04:12"}' | asx sessions append ID""",
    """echo '{"type":"title","title":"High water at station 417"}' | asx sessions append ID""",
    """echo '{"type":"summary","content":"They spoke of tides.","keep_last":6}' | asx sessions append ID""",
    "asx sessions append 01k5p3 --json < events.jsonl",
    "my-agent --events | asx sessions append aether:5b0c7f1e",
)


def command(
    id_: Annotated[str, typer.Argument(metavar="ID", help="The session's id; 4 characters do where they fit one.")],
    project: Annotated[
        str | None,
        typer.Option("--project", metavar="PATH", help="Whose, where several projects have the id; else this one's."),
    ] = None,
    json: options.Json = False,
    index: options.Index = None,
) -> int:
    """Append events to a session, one JSON line each.

    Reads stdin to its end and writes each event as it comes, so a program may keep one append open as long as it runs.
    Every line is checked before anything of it is written. A bad one ends it with code 2, its number and the reason;
    the lines before it are written, none behind it is. Only Aster's and Aether's sessions are written to.

    A line of Aster's is a message with content and a role (user, assistant, tool or system), a title, a summary or an
    eviction, as in the examples; without ts it is of now. One of Aether's is a kind and its data.
    """
    from index.store_sessions import writable_session
    from persist.files.in_use import in_use

    settings = open_settings(index)
    folder = current_folder() if project is None else folder_at(project)
    session = writable_session(settings, choices.typed_text(id_), choices.typed_text(str(folder)))
    if output.is_terminal(sys.stdin):
        output.talk("reading events from the terminal, one JSON object a line; Ctrl-D ends them")
    with followed(settings), in_use(session.path):  # nobody moves it away between two lines
        done, trouble = _append(settings, session)
    if trouble is not None:
        output.talk(f"the prompt history does not have every prompt: {trouble}")
    if done.bad is not None:
        written = f"{count(done.appended, 'event')} before it {'is' if done.appended == 1 else 'are'} written"
        raise typer.BadParameter(f"{done.bad.reason}; {written}", param_hint=f"line {done.bad.number} of the input")
    if json:
        output.emit_json(shapes.appended(session.session_id, done))
        return 0
    left_out = f"; {done.transient} of a kind that Aether never keeps" if done.transient else ""
    output.talk(f"{count(done.appended, 'event')} appended to {output.safe_line(session.session_id)}{left_out}")
    return 0


def _append(settings: Settings, session: StoredSession) -> tuple[Appended, str | None]:
    """Append what stdin gives; return what was done, and why a prompt did not reach the prompt history."""
    from index.store_sessions import aether_store
    from persist.agents.aether.agent import NAME as AETHER
    from persist.appending import Format, append_from

    def read(most: int) -> bytes:
        return b"" if sys.stdin is None else cast("BufferedReader", sys.stdin.buffer).read1(most)

    troubles: list[str] = []
    if session.agent == AETHER:
        from persist.aether.incoming import Fields
        from persist.aether.incoming import read_event as read_aether

        store = aether_store(settings)

        def write_aether(events: list[Fields]) -> None:
            trouble = store.append_checked(session.path, events).history_trouble
            troubles.extend([trouble] if trouble else [])

        done = append_from(read, Format(read_aether, write_aether))
    else:
        from persist.aster.incoming import Given, read_event
        from persist.aster.writer import SessionWriter

        writer = SessionWriter.open(session.path)

        def write(events: list[Given]) -> None:
            writer.given(events)
            troubles.extend([writer.history_trouble] if writer.history_trouble else [])

        done = append_from(read, Format(read_event, write))
    return done, troubles[-1] if troubles else None
