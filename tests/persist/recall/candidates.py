"""What the tests of recall share: candidates made of texts, and random worlds of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any, Final

from hypothesis import strategies as st

from persist.recall.answer import Recalled, recall
from persist.recall.candidate import Candidate
from persist.recall.from_files import FileCorpus
from persist.recall.scope import Place
from persist.recall.words import alias_words, field_words

AS_OF: Final = "2026-11-30T12:00:00.000Z"
PLACE: Final = Place("/repos/ferry", "/repos/ferry")
VOCABULARY: Final = [
    "harbour",
    "lantern",
    "tide",
    "invoice",
    "planner",
    "export_csv",
    "Redis",
    "429",
    "fix",
    "the",
    "移行",
]


def candidate(
    name: str, body: str = "", *, description: str = "", aliases: tuple[str, ...] = (), **known: Any
) -> Candidate:
    """Return a candidate as files would give it."""
    return Candidate(
        name=name,
        path=f"/memory/{name}.md",
        name_words=field_words(name),
        description_words=field_words(description),
        body_words=field_words(body),
        aliases=tuple(map(alias_words, aliases)),
        **known,
    )


def ask(prompt: str, *candidates: Candidate, as_of: str = AS_OF, place: Place = PLACE, limit: int = 5) -> Recalled:
    """Return the answer for these candidates."""
    return recall(prompt, FileCorpus(candidates), place=place, as_of=as_of, limit=limit)


def names(recalled: Recalled) -> list[str]:
    """Return the names that were chosen, in order."""
    return [verdict.candidate.name for verdict in recalled.chosen]


def texts(most: int) -> st.SearchStrategy[str]:
    """Texts of a few words that meet each other often."""
    return st.lists(st.sampled_from(VOCABULARY), max_size=most).map(" ".join)


days = st.one_of(
    st.none(), st.dates(date(2020, 1, 1), date(2027, 1, 1)).map(lambda day: f"{day.isoformat()}T00:00:00.000Z")
)


@st.composite
def worlds(draw: st.DrawFn, most: int = 7) -> list[Candidate]:
    """Candidates of different texts, of random ages, some pinned, superseded or with an alias."""
    return [
        candidate(
            f"note-{number}",
            f"{draw(texts(8))} zz{number}",
            description=draw(texts(4)),
            aliases=tuple(alias for alias in draw(st.lists(texts(2), max_size=1)) if alias_words(alias)),
            touched_at=draw(days),
            pinned=draw(st.booleans()),
            superseded_by=draw(st.sampled_from([None, None, None, "note-0"])),
            use=draw(st.floats(-6, 6)),
        )
        for number in range(draw(st.integers(0, most)))
    ]


def at(when: str | None, candidates: list[Candidate]) -> list[Candidate]:
    """Return the candidates as if all were touched at one moment."""
    return [replace(one, touched_at=when) for one in candidates]
