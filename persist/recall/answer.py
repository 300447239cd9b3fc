"""What to recall for a prompt: the one function that commands, hooks and ``load_context`` call.

Pure but for what its corpus does; must never read a block's text: who prints reads that from the file at that moment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from persist.recall import evidence, gate, ranking, typos
from persist.recall.candidate import Candidate
from persist.recall.corpus import Corpus, Statistics
from persist.recall.evidence import Evidence, Term
from persist.recall.scope import Place
from persist.recall.tuning import TUNING, Tuning
from persist.recall.words import Unit, prompt_units

MAX_RECALLED: Final = 5
MAX_SCORED: Final = 50
"""Candidates that the index hands over at most."""
MAX_WORDS: Final = 256
"""Words of a prompt that candidates are looked up by, the heaviest."""


class Verdict(NamedTuple):
    """What came of one candidate.

    ``matched`` are the prompt's words that it holds, in the prompt's order. ``score`` orders and ``evidence`` admits;
    neither depends on a date, ``rank`` (score x recency) does. ``coverage`` is the share of the prompt's weight, 0 to
    1. ``alias`` are the words of the alias that stands in the prompt. ``reason`` is one clause in plain words: why it
    was chosen, or why not.
    """

    candidate: Candidate
    is_chosen: bool
    reason: str
    score: float
    evidence: float
    coverage: float
    rank: float
    matched: tuple[str, ...]
    alias: tuple[str, ...] | None


class Recalled(NamedTuple):
    """The answer: ``chosen`` in the order to be given, ``refused`` the nearest first, and how the prompt was read."""

    chosen: tuple[Verdict, ...]
    refused: tuple[Verdict, ...]
    terms: tuple[Term, ...]


def recall(
    prompt: str, corpus: Corpus, *, place: Place, as_of: str, limit: int = MAX_RECALLED, tuning: Tuning = TUNING
) -> Recalled:
    """Return what helps with a prompt typed at ``place``, at the moment ``as_of`` (the index's form); never raises.

    At most ``limit`` are chosen. The same prompt, corpus, place and moment give the same answer.
    """
    units = prompt_units(prompt)
    if not units:
        return Recalled((), (), ())
    statistics = corpus.statistics(evidence.words_to_count(units))
    if not statistics.count:
        return Recalled((), (), ())
    repaired, statistics = _repaired(units, corpus, statistics)
    reading = evidence.read(units, statistics, repaired, tuning)
    held = [term for term in reading.terms.values() if term.frequency]
    heaviest = sorted(held, key=lambda term: (-term.weight, term.word))[:MAX_WORDS]
    found = [
        (candidate, evidence.weigh(reading, candidate, statistics, tuning))
        for candidate in corpus.holding(heaviest, reading.least_total, place, MAX_SCORED)
    ]
    verdicts = _judged(found, as_of, limit, tuning)
    return Recalled(
        tuple(verdict for verdict in verdicts if verdict.is_chosen),
        tuple(verdict for verdict in verdicts if not verdict.is_chosen),
        tuple(sorted(reading.terms.values(), key=lambda term: (-term.weight, term.word))),
    )


def _repaired(units: tuple[Unit, ...], corpus: Corpus, statistics: Statistics) -> tuple[Mapping[str, str], Statistics]:
    """Return the words of the prompt that are read as others, and the statistics with those others' frequencies."""
    repaired: dict[str, str] = {}
    frequencies: dict[str, int] = {}
    for word in typos.to_repair(units, statistics):
        known = corpus.beginning_with(word[: typos.SAME_LETTERS])
        better = typos.repair(word, known, statistics.count)
        if better is not None:
            repaired[word] = better
            frequencies[better] = known[better]
    if not repaired:
        return repaired, statistics
    return repaired, statistics.with_frequencies(frequencies)


def _judged(found: list[tuple[Candidate, Evidence]], as_of: str, limit: int, tuning: Tuning) -> list[Verdict]:
    """Return a verdict for each candidate, the best rank first."""
    current = [one for candidate, one in found if candidate.superseded_by is None]
    best = gate.best_of(current)
    admitted = [one for one in current if gate.refusal(one, best, tuning) is None]
    ranked = sorted(
        ((one.score * ranking.recency(candidate, as_of, tuning), candidate, one) for candidate, one in found),
        key=lambda placed: ranking.order(placed[1], placed[0]),
    )
    verdicts: list[Verdict] = []
    said: dict[tuple[tuple[str, ...], ...], str] = {}
    for rank, candidate, one in ranked:
        reason = _refusal(candidate, one, best, admitted, tuning)
        if reason is None:
            same = (candidate.description_words, candidate.body_words)
            if same in said:
                reason = f"says the same as {said[same]}"
            elif len(said) >= limit:
                reason = f"{limit} better ones are chosen"
            else:
                said[same] = candidate.name
        verdicts.append(
            Verdict(
                candidate,
                reason is None,
                reason or _reason(one),
                one.score,
                one.evidence,
                one.coverage,
                rank,
                one.matched,
                one.alias,
            )
        )
    return verdicts


def _refusal(
    candidate: Candidate, found: Evidence, best: gate.Best, admitted: list[Evidence], tuning: Tuning
) -> str | None:
    if candidate.superseded_by is not None:
        return f"superseded by {candidate.superseded_by}"
    reason = gate.refusal(found, best, tuning)
    if reason is None and found.evidence < tuning.dominated and any(gate.is_dominated(found, one) for one in admitted):
        return (
            f"a better one has the same words and more, and evidence {found.evidence:.1f} is under {tuning.dominated:g}"
        )
    return reason


def _reason(found: Evidence) -> str:
    if found.alias is not None:
        return f"the prompt names its alias {' '.join(found.alias)}"
    return f"evidence {found.evidence:.1f} from {', '.join(found.matched)}"
