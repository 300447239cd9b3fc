"""``asx recall``: what helps with a prompt, or one memory block by its name."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import typer

from cli import choices, exits, options, output
from cli import recall_options as parameters
from cli.memory_store import BLOCK, is_put_aside, print_note, typed_name
from cli.settings import open_places

if TYPE_CHECKING:
    from cli.recall_answer import Answer, Asked

EXAMPLES: Final = (
    "asx recall --prompt 'when may we deploy the billing service?'",
    'echo "$PROMPT" | asx recall --prompt - --cwd ~/src/shop',
    "asx recall --prompt 'why does the export fail' --explain",
    "asx recall --prompt 'which database do we use' --json | jq -r .text",
    "asx recall deploy-window",
    """echo '{"prompt":"when may we deploy?"}' | asx recall --hook""",
)
_OF_A_PROMPT: Final = ("cwd", "as_of", "max_chars", "turns", "explain", "no_refresh", "index")
"""Options that say nothing where a block is asked for by its name."""


def command(
    name: parameters.Name = None,
    prompt: parameters.Prompt = None,
    hook: parameters.Hook = False,
    cwd: parameters.Cwd = None,
    session: parameters.Session = None,
    as_of: parameters.AsOf = None,
    limit: parameters.Limit = parameters.DEFAULT_LIMIT,
    max_chars: parameters.MaxChars = None,
    turns: parameters.Turns = False,
    explain: parameters.Explain = False,
    no_journal: parameters.NoJournal = False,
    no_refresh: parameters.NoRefresh = False,
    json: options.Json = False,
    index: options.Index = None,
) -> int:
    """Print the memory that helps with a prompt, or one block by its name.

    Words that name no block are read as a prompt, unless JSON is asked for, which says that there is none.

    With --prompt the blocks and facts that the prompt is about, at most five, framed as quoted data with their files;
    when none helps, nothing, and exit code 1. Reads the files at this moment and works without an index. Each block
    that is printed is noted in the memory journal.

    With --hook it reads a prompt hook's JSON (prompt, cwd, session_id) on stdin and prints nothing, or one line of JSON
    for the agent. It ends with 0 whatever happens, after 2 seconds at the latest, without a word on stderr; asx doctor
    tells what went wrong.
    """
    values = dict(locals())
    _refuse_mixture(values)
    if hook:
        from cli.recall_hook import answer_stdin

        answer_stdin(parameters.options_of(values))
        return exits.DONE
    if prompt is not None:
        return _for_prompt(prompt, values)
    return _by_name(name or [], values)


def _refuse_mixture(values: Mapping[str, Any]) -> None:
    """Raise ``typer.BadParameter`` unless exactly one thing is asked, and only with what belongs to it."""
    asked = [
        word for word, key in (("NAME", "name"), ("--prompt", "prompt"), ("--hook", "hook")) if _is_given(values[key])
    ]
    if not asked:
        raise typer.BadParameter("give a block's name, or --prompt TEXT", param_hint="NAME")
    if len(asked) > 1:
        hint = "; quote a prompt of several words" if "--prompt" in asked and "NAME" in asked else ""
        raise typer.BadParameter(f"give one of {' and '.join(asked)}{hint}", param_hint=asked[-1])
    wrong = _OF_A_PROMPT if asked == ["NAME"] else ("explain", "json") if asked == ["--hook"] else ()
    for key in wrong:
        if _is_given(values[key]):
            option = f"--{key.replace('_', '-')}"
            hint = f"; a prompt is {_as_prompt(values['name'])}" if asked == ["NAME"] else ""
            raise typer.BadParameter(f"does not go with {asked[0]}{hint}", param_hint=option)


def _is_given(value: object) -> bool:
    """Tell an option that was typed, an empty text too, from one that was not."""
    return value is not None and value is not False and value != [] and value != ()


def _for_prompt(prompt: str, values: Mapping[str, Any]) -> int:
    from cli.recall_answer import answer

    chosen = parameters.options_of(values)
    typed = _read_prompt() if prompt == "-" else choices.typed_text(prompt)
    explain, json, is_read = bool(values["explain"]), bool(values["json"]), output.is_terminal(sys.stdout)
    asked = parameters.asked_of(chosen, typed, counts_turns=is_read, looks_elsewhere=is_read or explain or json)
    return _give(asked, answer(asked), chosen, explain=explain, json=json)


def _give(asked: Asked, found: Answer, chosen: parameters.RecallOptions, *, explain: bool, json: bool) -> int:
    """Print an answer and note what left the program."""
    from cli.recall_giving import given, note_given
    from cli.recall_text import print_given, print_no_room, print_notes, print_why
    from cli.shapes.recall import recall

    out = given(found.items, chosen.max_characters)
    if json:
        output.emit_json(recall(asked.prompt, found, out, with_refused=explain))
    elif explain:
        print_why(found)
    else:
        print_given(out, chosen.max_characters)
    print_notes(found, is_explained=explain)
    output.flush()  # what did not leave was not given out
    if chosen.is_journaled and not explain:
        trouble = note_given(open_places(chosen.index).memory, out.items, asked)
        if trouble is not None:
            output.talk(f"the recall is not in the journal: {trouble}")
    if not explain and not out.items and out.left_out:
        print_no_room(out, chosen.max_characters)
        return exits.REFUSED
    return exits.DONE if found.items else exits.NOTHING_FOUND


def _read_prompt() -> str:
    """Return the prompt on stdin, at most ``MAX_PROMPT_BYTES`` of it; bytes that are no UTF-8 become U+FFFD."""
    if sys.stdin is None:
        return ""
    data = sys.stdin.buffer.read(parameters.MAX_PROMPT_BYTES + 1)
    if len(data) > parameters.MAX_PROMPT_BYTES:
        data = data[: parameters.MAX_PROMPT_BYTES]
        output.talk(f"the prompt was read up to {parameters.MAX_PROMPT_BYTES:,} bytes")
    return data.decode("utf-8-sig", "replace")


def _by_name(words: list[str], values: Mapping[str, Any]) -> int:
    """Print the block of this name; words that name none are read as a prompt, which a program must ask for itself."""
    from persist.errors import NotFoundError

    places, session = open_places(), values["session"]
    name = typed_name(places, words)
    try:
        print_note(
            places,
            name,
            session=None if session is None else choices.typed_text(session),
            journaled=not values["no_journal"],
            json=values["json"],
        )
    except NotFoundError as error:
        if error.what != BLOCK or is_put_aside(places, name):
            raise
        if values["json"]:
            raise NotFoundError(error.what, name, f"for a prompt: {_as_prompt(words)}; {error.hint}") from None
        chosen = parameters.options_of(values)
        asked = parameters.asked_of(chosen, name)
        from cli.recall_answer import answer

        found = answer(asked)
        if not found.items:
            raise NotFoundError(error.what, name, f"as a prompt it finds nothing either; {error.hint}") from None
        output.talk(f"no block is called so; this is what helps with it as a prompt: {_as_prompt(words)}")
        return _give(asked, found, chosen, explain=False, json=False)
    return exits.DONE


def _as_prompt(words: Iterable[str]) -> str:
    return f"asx recall --prompt {shlex.quote(output.safe_line(choices.joined(words)))}"
