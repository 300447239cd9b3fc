"""Turns notes and facts into what recall compares, so that nothing is cut, folded or added up when a prompt comes.

Pure; imports ``persist.recall``. The words of a field are stored joined by blanks, aliases joined by line ends: words
hold letters and digits only, and none of Unicode's white space (a test proves it).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from index.identity import hash_of
from persist.events import Note, NoteFact
from persist.memory.standing import Standing, noted, standings
from persist.recall.candidate import DEFAULT_KIND, Candidate
from persist.recall.copies import text_of
from persist.recall.from_files import block_candidate, fact_candidate
from persist.recall.words import alias_words

ALIAS_END: Final = "\n"
END: Final = "9999-12-31T23:59:59.999Z"
"""After every time that is stored."""


class FieldWords(NamedTuple):
    """The words of name, description, body and aliases as they are stored, and how many the first three have.

    ``text_key`` is a hash of what copies of the text share (``persist.recall.copies``).
    """

    texts: tuple[str, str, str, str]
    counts: tuple[int, int, int]
    text_key: int


class Settled(NamedTuple):
    """What is known of a candidate beside its words, as it is stored: a standing without its counts and aliases.

    It holds from ``latest_at`` on. Which block a superseded one gave way to is not stored: that name hangs on which
    other blocks there are.
    """

    kind: str = DEFAULT_KIND
    project: str | None = None
    touched_at: str | None = None
    use: float = 0.0
    pinned: int = 0
    is_superseded: int = 0
    last_mark: str | None = None
    latest_at: str = ""


def settled_of(standing: Standing) -> Settled:
    """Return a standing, told for :data:`END`, as it is stored."""
    return Settled(
        standing.kind, standing.project, standing.touched_at, standing.use, int(standing.pinned),
        int(standing.superseded_by is not None), standing.last_mark, standing.latest_at,
    )  # fmt: skip


def projected_block(stem: str, note: Note) -> tuple[FieldWords, Settled]:
    """Return what a block tells by itself; what the journal adds to it is settled (``index.recall.settling``)."""
    block = noted(stem, note)
    (standing,) = standings([block], (), END).values()
    return _field_words(block_candidate("", block, standing)), settled_of(standing)


def projected_fact(fact: NoteFact) -> tuple[FieldWords, Settled]:
    """Return what a fact of ASTER.md tells: its words."""
    return _field_words(fact_candidate("", fact)), Settled()


def aliases_text(aliases: tuple[str, ...]) -> str:
    """Return aliases as they are stored."""
    return _joined(tuple(words for alias in aliases if (words := alias_words(alias))))


def stored_aliases(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the words of each alias that :func:`aliases_text` stored."""
    return tuple(tuple(alias.split(" ")) for alias in text.split(ALIAS_END)) if text else ()


def stored_words(text: str) -> tuple[str, ...]:
    """Return the words of a field, in order."""
    return tuple(text.split(" ")) if text else ()


def _field_words(candidate: Candidate) -> FieldWords:
    fields = (candidate.name_words, candidate.description_words, candidate.body_words)
    name, description, body = map(" ".join, fields)
    return FieldWords(
        (name, description, body, _joined(candidate.aliases)),
        (len(fields[0]), len(fields[1]), len(fields[2])),
        hash_of(" ".join(text_of(candidate))),
    )


def _joined(aliases: tuple[tuple[str, ...], ...]) -> str:
    return ALIAS_END.join(map(" ".join, aliases))
