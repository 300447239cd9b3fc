"""The edge: every error becomes an exit code, a kind and one sentence (DESIGN 12; output contract, "Error").

Imports the two error trees, which are standard library only. Here (and around one source, in ``index.load``) stands
``except Exception``: what nobody foresaw is named by its type and place, never by its message or locals, which may
hold a transcript's text.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import typer

from cli import output
from index import errors as index_errors
from persist import errors as store_errors

DONE: Final = 0
NOTHING_FOUND: Final = 1
USAGE: Final = 2
NO_INDEX: Final = 3
INDEX_UNUSABLE: Final = 4
BUSY: Final = 5
PARTLY_DONE: Final = 6
REFUSED: Final = 7
INTERRUPTED: Final = 130

DEBUG_VARIABLE: Final = "ASX_DEBUG"


class Answer(NamedTuple):
    """What an error comes to: exit code, ``kind`` of the JSON, and the cure where the error names none."""

    code: int
    kind: str
    hint: str = ""


ANSWERS: Final[dict[type[BaseException], Answer]] = {
    store_errors.NotFoundError: Answer(NOTHING_FOUND, "not_found"),
    store_errors.AmbiguousError: Answer(USAGE, "ambiguous", "give more of the id"),
    store_errors.RefusedError: Answer(REFUSED, "refused"),
    store_errors.BusyError: Answer(BUSY, "busy", "try again shortly"),
    store_errors.ConfigError: Answer(USAGE, "usage", "correct it or remove the file"),
    store_errors.PlanError: Answer(USAGE, "usage", "asx memory apply --schema prints what a plan may say"),
    store_errors.StoreIOError: Answer(PARTLY_DONE, "io"),
    store_errors.StoreError: Answer(PARTLY_DONE, "io"),
    index_errors.NoIndexError: Answer(NO_INDEX, "no_index", "asx ingest"),
    index_errors.IndexUnusableError: Answer(INDEX_UNUSABLE, "index_unusable"),
    index_errors.IndexNewerError: Answer(INDEX_UNUSABLE, "index_newer", "update aster-index"),
    index_errors.IndexBusyError: Answer(BUSY, "busy", "try again when it is done"),
    index_errors.IndexWriteError: Answer(PARTLY_DONE, "io"),
    index_errors.EmptyQueryError: Answer(USAGE, "usage"),
    index_errors.BadPatternError: Answer(USAGE, "usage"),
    index_errors.QueryRefusedError: Answer(REFUSED, "refused", "asx schema"),
    index_errors.QueryFailedError: Answer(USAGE, "usage", "asx schema prints the views and columns"),
    index_errors.SearchTimeoutError: Answer(REFUSED, "timeout", "make the pattern simpler, or narrow the search"),
    index_errors.QueryTimeoutError: Answer(REFUSED, "timeout", "narrow the statement or give --timeout"),
    index_errors.UnknownReportError: Answer(NOTHING_FOUND, "not_found", "asx report lists them"),
    index_errors.AsterIndexError: Answer(INDEX_UNUSABLE, "index_unusable"),
    OSError: Answer(PARTLY_DONE, "io"),
}
"""Looked up along a class's bases, so that a new error of a tree is answered like its nearest ancestor."""


@dataclass(slots=True)
class Failure:
    """An error as it is told: ``usage`` is the usage line of the command, for a mistake on the command line."""

    code: int
    kind: str
    message: str
    hint: str = ""
    usage: str = ""


@dataclass(slots=True)
class Outcome:
    """The exit code of a run; the command sets it, or the edge does."""

    code: int = DONE


def wants_json(words: Sequence[str]) -> bool:
    """Return whether JSON is asked for, before the words are parsed: a usage error is told in JSON as well."""
    options = words[: words.index("--")] if "--" in words else words
    return "--json" in options or "--format=json" in options or ("--format", "json") in pairwise(options)


@contextmanager
def edge(*, as_json: bool, tell: Callable[[Failure], object] | None = None) -> Iterator[Outcome]:
    """Run a command in this block; whatever it raises ends as ``outcome.code`` and one told failure.

    ``tell`` is told of it instead of the person, for a command that may say nothing.
    """
    outcome = Outcome()
    output.ANSWERED.set(False)
    try:
        yield outcome
        output.flush()
    except typer.Exit as ended:
        outcome.code = ended.exit_code
        _finish(outcome)
    except BrokenPipeError:
        output.abandon_stdout()
        outcome.code = DONE
    except OSError as error:
        if error.filename is None:  # not a file of ours: stdout itself, on a full disk
            _give_up_writing(error, outcome)
        else:
            _tell(failure_of(error), outcome, as_json=as_json, tell=tell)
    except (KeyboardInterrupt, EOFError, typer.Abort):
        _tell(Failure(INTERRUPTED, "interrupted", "interrupted"), outcome, as_json=as_json, tell=tell)
    except Exception as error:  # noqa: BLE001 - the edge: nothing may leave as a traceback
        _tell(failure_of(error), outcome, as_json=as_json, tell=tell)
        if os.environ.get(DEBUG_VARIABLE):
            _tell_frames(error)


def failure_of(error: Exception) -> Failure:
    """Return what an error comes to; pure."""
    if isinstance(error, typer.TyperException):
        return _usage_failure(error)
    for ancestor in type(error).__mro__:
        answer = ANSWERS.get(ancestor)
        if answer is not None:
            hint = getattr(error, "hint", "") or getattr(error, "cure", "") or answer.hint
            return Failure(answer.code, answer.kind, _sentence(error), hint)
    frame = traceback.extract_tb(error.__traceback__)[-1:] or [traceback.FrameSummary("?", 0, "?")]
    place = f"{Path(frame[0].filename).name} line {frame[0].lineno}"
    return Failure(
        PARTLY_DONE,
        "io",
        f"an error that was not foreseen: {type(error).__name__} in {place}",
        f"set {DEBUG_VARIABLE}=1 to see where it came from, and report it",
    )


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"cannot use {error.filename}: {error.strerror or type(error).__name__}"
    return str(error)


def _usage_failure(error: typer.TyperException) -> Failure:
    message = error.format_message()
    context = getattr(error, "ctx", None)
    if message.startswith("Usage:"):  # a group without a command: the help is the answer
        return Failure(USAGE, "usage", "no command given", f"{context.command_path} --help" if context else "", message)
    message = message[:1].lower() + message[1:].rstrip(".")
    hint = f"{context.command_path} --help" if context else ""
    if hasattr(error, "option_name"):
        hint = "; ".join(part for part in (hint, "put -- before words that begin with a dash") if part)
    return Failure(error.exit_code, "usage", message, hint, context.get_usage() if context else "")


def _tell(
    failure: Failure, outcome: Outcome, *, as_json: bool, tell: Callable[[Failure], object] | None = None
) -> None:
    outcome.code = failure.code
    if tell is not None:
        _finish(outcome)
        tell(failure)
        return
    if as_json and not output.ANSWERED.get():
        told = {"kind": failure.kind, "message": failure.message, "hint": failure.hint}
        try:
            output.emit_json({"error": told})
        except BrokenPipeError:
            output.abandon_stdout()
            return
        _finish(outcome)
        return
    _finish(outcome)
    if failure.usage.startswith("Usage:\n") or "\n\n" in failure.usage:
        output.talk(failure.usage)
        return
    if failure.usage:
        output.talk(failure.usage)
    hint = f"\nhint: {failure.hint}" if failure.hint and failure.hint not in failure.message else ""
    output.talk(f"asx: {failure.message}{hint}")


def _finish(outcome: Outcome) -> None:
    """Flush what was written before the failure; a pipe that is gone makes it quiet, a full disk code 6."""
    try:
        output.flush()
    except BrokenPipeError:
        output.abandon_stdout()
    except OSError as error:
        _give_up_writing(error, outcome)


def _give_up_writing(error: OSError, outcome: Outcome) -> None:
    output.abandon_stdout()
    outcome.code = PARTLY_DONE
    output.talk(f"asx: cannot write the answer: {error.strerror or type(error).__name__}")


def _tell_frames(error: BaseException) -> None:
    """Tell where an error came from: frames and types, without messages and locals."""
    seen: BaseException | None = error
    while seen is not None:
        sys.stderr.write("".join(traceback.format_tb(seen.__traceback__)) + f"{type(seen).__name__}\n")
        seen = seen.__cause__ or seen.__context__
