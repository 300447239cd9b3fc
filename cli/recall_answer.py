"""What is said for a prompt: from the question as typed to items that were read from their files at this moment.

Asks ``index.recall``, which reads the store's files where there is no index. Must never import SQLAlchemy, Alembic,
pydantic, ulid or filelock: a hook runs this at every prompt.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from cli.shapes.memory import STORE_AGENT

if TYPE_CHECKING:
    from index.recall.recall import MemoryAnswer
    from index.recall.turns import TurnsAnswer
    from index.settings import Settings
    from persist.recall.answer import Verdict
    from persist.recall.evidence import Term
    from persist.recall.frame import Quoted
    from persist.recall.scope import Place

Status = Literal["ok", "nothing_relevant", "stale", "damaged", "partial"]
HOOK_READS_S: Final = 1.0
"""So long a hook reads notes where there is no index: half of what it has (``cli.hook_process.LIMIT_S``)."""
_PIECE: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt and all that its answer depends on.

    ``cwd`` is the absolute folder in which it was typed, ``as_of`` the moment in the index's form; ``index`` is what
    ``--index`` was given. A hook is answered without turns where there is no index; ``counts_turns`` asks how many
    would help where nothing else does, ``looks_elsewhere`` which notes of other projects.
    """

    prompt: str
    cwd: str
    as_of: str
    limit: int
    session: str | None = None
    with_turns: bool = False
    is_hook: bool = False
    counts_turns: bool = False
    looks_elsewhere: bool = False
    may_refresh: bool = True
    index: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that helps: as it is quoted, and why it is said, one clause each. ``line`` counts from 1.

    ``text`` is what its file says now. ``event_index`` and ``copies`` (other sessions with that text) are a turn's.
    """

    kind: Literal["block", "fact", "turn"]
    quoted: Quoted
    agent: str
    score: float
    evidence: float
    why: tuple[str, ...]
    text: str
    session_id: str | None = None
    line: int | None = None
    offset: int | None = None
    event_index: int | None = None
    copies: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """The items in the order to be given, and every verdict: the chosen ones first, then the nearest of the refused.

    ``considered`` counts the candidates that share a word with the prompt and count where it was typed. ``terms`` are
    the prompt's words, the heaviest first, and ``words`` maps them to what was typed. ``notes`` are sentences about
    what went wrong; ``behind`` are those about an index that is older than the files, ``without_index`` says that there
    is none yet. ``turns`` is null where they were not asked for; ``helpful_turns`` is how many would help where no item
    does, ``elsewhere`` what would help in another project, the best first. ``has_words`` is false for a prompt of
    grammar and signs alone, that tells nothing.
    """

    status: Status
    items: tuple[Item, ...]
    chosen: tuple[Verdict, ...]
    refused: tuple[Verdict, ...]
    considered: int
    terms: tuple[Term, ...]
    words: Mapping[str, str]
    notes: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()
    without_index: str | None = None
    turns: TurnsAnswer | None = None
    helpful_turns: int = 0
    elsewhere: tuple[Verdict, ...] = ()
    has_words: bool = True


def answer(asked: Asked) -> Answer:
    """Return what helps with the prompt, after bringing the index up to date if that is little work.

    Raises ``StoreIOError`` where the store must answer without an index and cannot be read, and what opening the index
    raises where turns are asked for.
    """
    from cli.settings import current_home
    from index.recall.recall import recall_memory
    from persist.recall.scope import place_of
    from persist.recall.words import prompt_units

    settings, notes = _settings(asked.index)
    behind = _fresh(settings) if asked.may_refresh and not notes else ()
    place = place_of(asked.cwd, str(current_home()))
    found = recall_memory(
        settings, asked.prompt, place, asked.as_of, asked.limit, HOOK_READS_S if asked.is_hook else None
    )
    words = typed_words(asked.prompt)
    for term in found.terms:
        if term.typed is not None:  # read as another word than was typed
            words.setdefault(term.word, words.get(term.typed, term.typed))
    items = tuple(_item(one.verdict, one.quoted, words) for one in found.given)
    has_none = not found.from_index and not os.path.lexists(settings.index_path)
    turns, trouble = _turns(settings, asked, place)
    elsewhere = _elsewhere(settings, asked, found) if asked.looks_elsewhere and not items else ()
    told = Answer(
        found.status,
        items,
        tuple(one.verdict for one in found.given),
        found.refused,
        found.considered,
        found.terms,
        words,
        (*notes, *(found.notes[1:] if has_none else found.notes), *trouble),
        behind,
        found.notes[0] if has_none else None,
        elsewhere=elsewhere,
        has_words=bool(prompt_units(asked.prompt)),
    )
    if turns is None:
        return told
    if not asked.with_turns:
        return replace(told, helpful_turns=0 if items else len(turns.hits))
    return _with_turns(told, turns)


def _elsewhere(settings: Settings, asked: Asked, here: MemoryAnswer) -> tuple[Verdict, ...]:
    """Return what would help with the prompt were it typed in another project. Cost: another recall."""
    from index.recall.recall import recall_memory
    from persist.recall.scope import ANYWHERE

    found = recall_memory(settings, asked.prompt, ANYWHERE, asked.as_of, asked.limit)
    known = {one.candidate.key for one in here.refused}
    return tuple(one.verdict for one in found.given if one.verdict.candidate.key not in known)


def _turns(settings: Settings, asked: Asked, place: Place) -> tuple[TurnsAnswer | None, tuple[str, ...]]:
    """Return the past turns, null where none are asked for or can be, and a sentence about that."""
    from index.errors import AsterIndexError

    if not (asked.with_turns or asked.counts_turns):
        return None, ()
    from cli.recall_turns import ask_turns

    try:
        return ask_turns(settings, asked, place), ()
    except AsterIndexError as error:
        if asked.with_turns and not asked.is_hook:
            raise
        return None, (str(error),) if asked.with_turns else ()


def _with_turns(told: Answer, turns: TurnsAnswer) -> Answer:
    """Return an answer with past turns behind what memory says."""
    from cli.recall_turns import turn_item

    items = (*told.items, *(turn_item(hit, told.words) for hit in turns.hits))
    status = told.status
    if turns.is_stale and status in ("ok", "nothing_relevant"):
        status = "stale"
    elif items and status == "nothing_relevant":
        status = "ok"
    behind = ("a transcript changed since it was indexed, and what it said is left out; run: asx ingest",)
    return replace(
        told,
        status=status,
        items=items,
        considered=told.considered + turns.considered,
        behind=(*told.behind, *(behind if turns.is_stale else ())),
        turns=turns,
    )


def _settings(index: str | None) -> tuple[Settings, tuple[str, ...]]:
    """Return the settings; without the configuration where that is broken, and a sentence about it.

    What the store holds is no matter of the configuration, and an answer is worth more than none.
    """
    from cli.settings import current_folder, open_settings
    from persist.errors import ConfigError

    try:
        return open_settings(index), ()
    except ConfigError as error:
        from index.settings import Settings
        from persist.agents import AGENTS
        from persist.config import Configuration
        from persist.places import current_environment, places_of

        environment = current_environment()
        places = places_of(environment, current_folder(), index)
        agents = tuple(AGENTS.values())
        roots = tuple(root for agent in agents for root in agent.locate(environment))
        return Settings(places.index, places, Configuration(), agents, roots), (str(error),)


def _fresh(settings: Settings) -> tuple[str, ...]:
    """Bring the index up to date if that is little work; return what a person should know of it."""
    from index.errors import AsterIndexError
    from index.refresh import refresh

    try:
        state = refresh(settings)
    except AsterIndexError:  # told by the recall, which then reads the files
        return ()
    return tuple(filter(None, (*state.notes, state.sentence)))


def _item(verdict: Verdict, quoted: Quoted, words: Mapping[str, str]) -> Item:
    from persist.memory.names import fact_line

    candidate = verdict.candidate
    line = fact_line(quoted.name) if candidate.agent == STORE_AGENT else None
    return Item(
        kind="block" if line is None else "fact",
        quoted=quoted,
        agent=candidate.agent,
        score=verdict.score,
        evidence=verdict.evidence,
        why=why(verdict, words),
        text=quoted.text,
        line=line,
    )


def why(verdict: Verdict, words: Mapping[str, str]) -> tuple[str, ...]:
    """Return why a candidate was chosen, one clause each, in the prompt's own words; pure."""
    clauses = [why_named(verdict, words)]
    if verdict.matched:
        clauses.append(f"has {', '.join(shown(verdict.matched, words))}")
    return tuple(filter(None, clauses))


def why_named(verdict: Verdict, words: Mapping[str, str]) -> str:
    """Return the clause of a candidate whose alias stands in the prompt; empty for any other."""
    if verdict.alias is None:
        return ""
    return f"the prompt names its alias {' '.join(words.get(word, word) for word in verdict.alias)}"


def shown(matched: tuple[str, ...], words: Mapping[str, str]) -> list[str]:
    """Return matched words as they were typed, each once, in order."""
    return list(dict.fromkeys(words.get(word, word) for word in matched))


def typed_words(prompt: str) -> dict[str, str]:
    """Return how each word of a prompt was typed, in small letters; the first way counts."""
    from persist.recall.words import one_word, prompt_units

    found: dict[str, str] = {}
    for unit in prompt_units(prompt):
        if unit.whole is not None:
            found.setdefault(unit.whole, unit.typed)
        elif unit.parts:
            found.setdefault(unit.parts[0], unit.typed)
    for piece in _PIECE.findall(prompt.casefold()):
        found.setdefault(one_word(piece), piece)
    return found
