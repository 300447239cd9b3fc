"""Prints an answer for people: the framed text, or why each candidate was chosen or refused."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from cli import output
from cli.moments import count
from cli.recall_answer import Answer, shown, why_named
from cli.recall_giving import Given
from cli.tables import Column, table_of_sentences

if TYPE_CHECKING:
    from index.recall.turns import RefusedTurn, TurnHit
    from persist.recall.answer import Verdict
    from persist.recall.candidate import Candidate

_COLUMNS: Final = (
    Column("candidate", shrinks_to=20),
    Column("given"),
    Column("evidence", right=True),
    Column("covers", right=True),
    Column("score", right=True, drop=1),
    Column("has", shrinks_to=12),
    Column("why"),
)
_SHOWN_WORDS: Final = 12


def print_given(given: Given, max_characters: int) -> None:
    """Print the framed text, and on stderr what had no room."""
    if given.text:
        output.line(output.safe(given.text))
    if given.items and (given.cut or given.left_out):
        left = f", {count(given.left_out, 'item')} left out" if given.left_out else ""
        output.talk(f"{count(given.cut, 'item')} cut{left}: --max-chars {max_characters} gives no more room")


def print_no_room(given: Given, max_characters: int) -> None:
    """Tell that something helps, of which nothing was printed."""
    verb = "helps and has" if given.left_out == 1 else "help and have"
    output.talk(f"{count(given.left_out, 'item')} {verb} no room in {max_characters} characters; give --max-chars more")


def print_why(answer: Answer) -> None:
    """Print how the prompt was read and a line for each candidate, the chosen ones first."""
    if not answer.has_words:
        output.line("the prompt has no word that tells anything")
        return
    if answer.terms:
        _print_words(answer)
    if not answer.considered and not answer.elsewhere:
        output.line("no candidate has one of its words")
        output.talk("a note is also found by words that it lacks, as its aliases: asx remember --alias")
        return
    rows = [_row(verdict, answer) for verdict in (*answer.chosen, *answer.refused)]
    rows += [_row(one, answer, f"is about another project, {project_of(one.candidate)}") for one in answer.elsewhere]
    if answer.turns is not None:
        rows += [_turn_row(hit, answer) for hit in answer.turns.hits]
        rows += [_refused_turn_row(one, answer) for one in answer.turns.refused]
    for text in table_of_sentences(_COLUMNS, rows, output.table_columns()):
        output.line(text)


def _print_words(answer: Answer) -> None:
    heaviest = [
        f"{output.safe_line(answer.words.get(term.word, term.word))} {term.weight:.1f}" for term in answer.terms
    ]
    more = f" and {len(heaviest) - _SHOWN_WORDS} more" if len(heaviest) > _SHOWN_WORDS else ""
    output.line(f"words by weight: {', '.join(heaviest[:_SHOWN_WORDS])}{more}")
    for term in answer.terms:
        if term.typed is not None:
            output.line(output.safe_line(f"{answer.words.get(term.word, term.typed)} is read as {term.word}"))


def print_notes(answer: Answer, *, is_explained: bool) -> None:
    """Tell what a person should know of the answer beside it; on a terminal silence has a word, elsewhere none."""
    if answer.without_index is not None and not answer.items:
        output.talk(f"{output.safe_line(answer.without_index)}; run: asx ingest")
    for note in (*answer.behind, *answer.notes):
        output.talk(output.safe_line(note))
    if answer.items or is_explained or not output.is_terminal(sys.stdout):
        return
    if answer.helpful_turns:
        output.talk(f"no note helps, but {count(answer.helpful_turns, 'past turn')} may: add --turns")
    if answer.elsewhere:
        output.talk(_told_elsewhere(answer.elsewhere))
    elif not answer.helpful_turns:
        output.talk("no note helps with this prompt; --explain says why")


def project_of(candidate: Candidate) -> str:
    """Return which project a note is limited to; of another agent's note that names none the folder it lies in."""
    return candidate.project or str(PurePath(candidate.path).parent)


def _told_elsewhere(elsewhere: Sequence[Verdict]) -> str:
    first = elsewhere[0].candidate
    project = output.safe_line(project_of(first))
    more = f", and {count(len(elsewhere) - 1, 'other note')} of other projects" if len(elsewhere) > 1 else ""
    cure = f"; to ask there: --cwd {shlex.quote(project)}" if (first.project or "").startswith("/") else ""
    return f"no note helps here, but {output.safe_line(first.name)} of {project} has the words{more}{cure}"


def _row(verdict: Verdict, answer: Answer, refused: str | None = None) -> tuple[object, ...]:
    """Return the cells of a candidate; ``refused`` is why it is not given although it is chosen."""
    return (
        verdict.candidate.name,
        "yes" if verdict.is_chosen and refused is None else "no",
        f"{verdict.evidence:.1f}",
        f"{verdict.coverage:.0%}",
        f"{verdict.score:.1f}",
        " ".join(shown(verdict.matched, answer.words)),
        refused or (verdict.reason if not verdict.is_chosen else _enough(verdict, answer)),
    )


def _turn_row(hit: TurnHit, answer: Answer) -> tuple[object, ...]:
    name = f"{hit.session_id}:{hit.texts[hit.at].event_index}"
    has = " ".join(shown(hit.matched, answer.words))
    return (name, "yes", f"{hit.evidence:.1f}", f"{hit.coverage:.0%}", f"{hit.score:.1f}", has, "a past turn")


def _refused_turn_row(turn: RefusedTurn, answer: Answer) -> tuple[object, ...]:
    has = " ".join(shown(turn.matched, answer.words))
    measured = (f"{turn.evidence:.1f}", f"{turn.coverage:.0%}", f"{turn.score:.1f}")
    return (turn.session_id, "no", *measured, has, turn.reason)


def _enough(verdict: Verdict, answer: Answer) -> str:
    from persist.recall.tuning import TUNING

    return why_named(verdict, answer.words) or f"evidence is {TUNING.evidence:g} or more"
