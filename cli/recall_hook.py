"""What ``asx recall --hook`` does: a hook's JSON on stdin; nothing, or one line for the agent, on stdout.

Every trouble goes to the hook's log (``persist.hook_log``), which ``asx doctor`` tells; no text of a prompt does.
``cli.hook_process`` stands around it and sees to the exit code and the time.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import typer

from cli import coercion, exits, output
from cli.hook_end import index_of
from cli.hook_process import HOOK, LIMIT_S

if TYPE_CHECKING:
    from cli.recall_options import RecallOptions
    from persist.places import Places

MAX_STDIN_BYTES: Final = 16 * 1024 * 1024
_PIECE_BYTES: Final = 64 * 1024
_MAX_ID_CHARACTERS: Final = 200
_SEE_HELP: Final = "see: asx recall --help"


class Submitted(NamedTuple):
    """A prompt as the agent's hook tells it; what it does not tell, or not as a text, is ``None``."""

    prompt: str
    cwd: str | None
    session: str | None


class UnreadableError(Exception):
    """What stood on stdin is no prompt hook's input; says why, and holds nothing of it."""


def answer_hook(words: Sequence[str]) -> None:
    """Answer the hook of this command line. What fails is logged, not raised."""
    output.prepare_streams()
    coercion.install()
    failures: list[exits.Failure] = []
    index: str | None = None
    with exits.edge(as_json=False, tell=failures.append):
        options, index = _options(words)
        if options is not None:
            answer_stdin(options)
    for failure in failures:
        _log(index, failure.kind, _sentence(failure))


def answer_stdin(options: RecallOptions) -> None:
    """Read what the hook submits and print what helps. Raises what recall raises."""
    from cli.recall_answer import answer
    from cli.recall_giving import given, note_given
    from cli.recall_options import asked_of
    from cli.settings import open_places
    from cli.shapes.recall import hook
    from index.recall.recall import OUT_OF_TIME

    places = open_places(options.index)
    try:
        submitted = read_submitted(read_stdin())
    except UnreadableError as error:
        _note(places, "usage", str(error))
        return
    if not submitted.prompt.strip():
        return
    asked = asked_of(options, submitted.prompt, submitted.cwd, submitted.session, is_hook=True)
    found = answer(asked)
    for note in found.notes:
        _note(places, "timeout" if note == OUT_OF_TIME else "io", note)
    out = given(found.items, options.max_characters)
    if not out.text:
        return
    output.line(output.json_text(hook(out.text)))
    output.flush()
    if options.is_journaled:
        trouble = note_given(places.memory, out.items, asked)
        if trouble is not None:
            _note(places, "io", f"the recall is not in the journal: {trouble}")


def read_stdin(limit_bytes: int = MAX_STDIN_BYTES) -> bytes:
    """Return what stands on stdin.

    Raises ``UnreadableError`` for more than the limit, for a terminal, and where the time of the hook is over before
    stdin is: that is no slow recall, and another thing cures it.
    """
    if os.isatty(0):
        raise UnreadableError("stdin is a terminal, not a hook's JSON")
    data = bytearray()
    before = signal.signal(signal.SIGALRM, _stdin_is_late)
    try:
        while piece := os.read(0, _PIECE_BYTES):
            data += piece
            if len(data) > limit_bytes:
                raise UnreadableError(f"stdin holds more than {limit_bytes} bytes")
    finally:
        signal.signal(signal.SIGALRM, before)
    return bytes(data)


def _stdin_is_late(_number: int, _frame: FrameType | None) -> None:
    raise UnreadableError(f"the agent did not write its JSON to stdin and close it within {LIMIT_S:g} s")


def read_submitted(data: bytes) -> Submitted:
    """Return the prompt in a hook's JSON; pure. Raises ``UnreadableError`` where there is none.

    Half a character, which JSON can escape and no database takes, becomes U+FFFD.
    """
    from persist.lines import whole_characters

    try:
        value = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        raise UnreadableError("stdin is not JSON" if data.strip() else "stdin is empty") from None
    if not isinstance(value, dict):
        raise UnreadableError("stdin is JSON, but no object")
    prompt = value.get("prompt")
    if not isinstance(prompt, str):
        raise UnreadableError("stdin has no text named prompt")
    cwd, session = value.get("cwd"), value.get("session_id")
    return Submitted(
        whole_characters(prompt),
        whole_characters(cwd) if isinstance(cwd, str) and cwd.startswith("/") and "\0" not in cwd else None,
        whole_characters(session[:_MAX_ID_CHARACTERS]) if isinstance(session, str) and session.strip() else None,
    )


def _options(words: Sequence[str]) -> tuple[RecallOptions | None, str | None]:
    """Return the options and ``--index``; none where they are wrong (which is logged), or the help was asked for."""
    from cli.groups import build_command
    from cli.recall_options import options_of

    typed = index_of(words)
    try:
        with build_command("recall").make_context("asx recall", _behind_recall(words)) as context:
            values: Mapping[str, Any] = context.params
            is_mixed = any(values[name] for name in ("name", "prompt", "explain", "json"))
            if is_mixed or not values["hook"] or words[0] != "recall":
                _log(typed, "usage", f"{HOOK} goes with recall and its own options alone; {_SEE_HELP}")
                return None, typed
            return options_of(values), typed
    except typer.TyperException as error:
        # What was typed may be a prompt: only an option's name is repeated.
        param = getattr(error, "param", None)
        named = getattr(error, "option_name", None) or getattr(error, "param_hint", None) or getattr(param, "name", "")
        where = f" at {named}" if isinstance(named, str) and named.startswith("-") else ""
        _log(typed, "usage", f"the options are wrong{where}; {_SEE_HELP}")
        return None, typed


def _behind_recall(words: Sequence[str]) -> list[str]:
    return list(words[words.index("recall") + 1 :])


def _sentence(failure: exits.Failure) -> str:
    return f"{failure.message}; {failure.hint}" if failure.hint else failure.message


def _log(index: str | None, kind: str, message: str) -> None:
    from cli.settings import open_places

    _note(open_places(index), kind, message)


def _note(places: Places, kind: str, message: str) -> None:
    from persist.hook_log import note_trouble

    note_trouble(places.hook_log, kind, message)
