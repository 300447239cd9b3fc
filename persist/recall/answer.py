"""What to recall for a prompt: the one function that commands, hooks and ``load_context`` call.

Pure but for what its corpus does; must never read a block's text: who prints reads that from the file at that moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from persist.recall import evidence, gate, ranking, typos
from persist.recall.candidate import Candidate
from persist.recall.copies import text_of
from persist.recall.corpus import Corpus, Statistics
from persist.recall.evidence import Evidence, Reading, Term
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
    neither depends on a date or a mark, ``rank`` does. ``coverage`` is the share of the prompt's weight, 0 to
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


SaysSame: TypeAlias = Callable[[Candidate, Candidate], bool]


def by_words(_first: Candidate, _second: Candidate) -> bool:
    """Say of two candidates with the same words that they say the same."""
    return True


def recall(
    prompt: str, corpus: Corpus, *, place: Place, as_of: str, limit: int = MAX_RECALLED, says_same: SaysSame = by_words,
    tuning: Tuning = TUNING,
) -> Recalled:  # fmt: skip
    """Return what helps with a prompt typed at ``place``, at the moment ``as_of`` (the index's form); never raises.

    At most ``limit`` are chosen. ``says_same`` is asked of two that have the same words: these leave out small ones,
    and ``not`` is one of them. The same prompt, corpus, place and moment give the same answer.
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
    scale = _Scale(reading, statistics, tuning)
    candidates = corpus.holding(heaviest, reading.least_total, place, MAX_SCORED, scale)
    found = [(candidate, scale.weigh(candidate)) for candidate in candidates]
    verdicts = _judged(found, as_of, limit, says_same, tuning)
    return Recalled(
        tuple(verdict for verdict in verdicts if verdict.is_chosen),
        tuple(verdict for verdict in verdicts if not verdict.is_chosen),
        tuple(sorted(reading.terms.values(), key=lambda term: (-term.weight, term.word))),
    )


class _Scale:
    """Weighs candidates, each set of words once, and knows the best of those that it was told to compare with."""

    def __init__(self, reading: Reading, statistics: Statistics, tuning: Tuning) -> None:
        self._reading = reading
        self._statistics = statistics
        self._tuning = tuning
        self._known: dict[tuple[tuple[str, ...] | tuple[tuple[str, ...], ...], ...], Evidence] = {}
        self._best = gate.Best(0.0, 0.0)
        self._better: list[Evidence] = []

    def weigh(self, candidate: Candidate) -> Evidence:
        words = (candidate.name_words, candidate.description_words, candidate.body_words, candidate.aliases)
        found = self._known.get(words)
        if found is None:
            found = self._known[words] = evidence.weigh(self._reading, candidate, self._statistics, self._tuning)
        return found

    def compare_with(self, candidate: Candidate) -> None:
        if candidate.superseded_by is None:
            found = self.weigh(candidate)
            self._best = gate.Best(max(self._best.score, found.score), max(self._best.evidence, found.evidence))
            if found.words > 1:
                self._better.append(found)

    def is_refused(self, candidate: Candidate) -> bool:
        """Tell it of the best so far: the better that is, the more is refused.

        Who has less than one of several words is refused with that one at the latest: a better one yet that refuses
        both has more than both.
        """
        found, best = self.weigh(candidate), self._best
        if found.score > best.score or found.evidence > best.evidence:
            return False
        if gate.refusal(found, best, self._tuning) is not None:
            return True
        return found.evidence < self._tuning.dominated and any(
            gate.is_dominated(found, one) and gate.refusal(one, best, self._tuning) is None for one in self._better
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


def _judged(
    found: list[tuple[Candidate, Evidence]], as_of: str, limit: int, says_same: SaysSame, tuning: Tuning
) -> list[Verdict]:
    """Return a verdict for each candidate, the best rank first."""
    current = [one for candidate, one in found if candidate.superseded_by is None]
    best = gate.best_of(current)
    admitted = _unlike([one for one in current if gate.refusal(one, best, tuning) is None])
    ranked = sorted(
        (
            (one.score * ranking.recency(candidate, as_of, tuning) * ranking.marked(candidate, tuning), candidate, one)
            for candidate, one in found
        ),
        key=lambda placed: ranking.order(placed[1], placed[0]),
    )
    reasons = [_refusal(candidate, one, best, admitted, tuning) for _, candidate, one in ranked]
    worth_saying = [place for place, reason in enumerate(reasons) if reason is None]
    choice = _Choice(limit, says_same)
    for place in choice.by_text([(place, ranked[place][1]) for place in worth_saying]):
        reasons[place] = choice.refusal(ranked[place][1])
    return [
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
        for (rank, candidate, one), reason in zip(ranked, reasons, strict=True)
    ]


class _Choice:
    """Chooses among what is worth saying: each thing once, and at most so many."""

    def __init__(self, limit: int, says_same: SaysSame) -> None:
        self._limit = limit
        self._says_same = says_same
        self._chosen = 0
        self._said: dict[tuple[tuple[str, ...], ...], list[Candidate]] = {}

    @staticmethod
    def by_text(ranked: Sequence[tuple[int, Candidate]]) -> Iterator[int]:
        """Yield the places of the first candidate of each text, then those of its copies, with other numbers or dates.

        For a list that is cut, what is told a second time must not be told before what was not told at all.
        """
        texts: set[tuple[str, ...]] = set()
        copies: list[int] = []
        for place, candidate in ranked:
            text = text_of(candidate)
            if text in texts:
                copies.append(place)
            else:
                texts.add(text)
                yield place
        yield from copies

    def refusal(self, candidate: Candidate) -> str | None:
        """Choose a candidate, or return why it is not chosen."""
        alike = self._said.setdefault((candidate.description_words, candidate.body_words), [])
        twin = next((other for other in alike if self._says_same(other, candidate)), None)
        if twin is not None:
            return f"says the same as {twin.name}"
        if self._chosen >= self._limit:
            return f"{self._limit} better ones are chosen"
        alike.append(candidate)
        self._chosen += 1
        return None


def _unlike(found: list[Evidence]) -> list[Evidence]:
    """Return those that differ in what refuses others; copies are many, and would be compared with each other."""
    return list({(one.telling, one.score, one.alias is None): one for one in found}.values())


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
