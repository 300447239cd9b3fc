"""A prompt against a candidate: how much of what the prompt is about the candidate covers, and how well.

Pure; imports ``persist.recall`` only. Knows no dates, no places and nothing of other candidates but their statistics.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import pairwise
from typing import Final, NamedTuple

from persist.recall.background import background, idf
from persist.recall.candidate import Candidate
from persist.recall.corpus import Statistics
from persist.recall.small_words import light_words
from persist.recall.tuning import TUNING, Tuning
from persist.recall.words import Unit, one_word

MAX_UNITS: Final = 512
"""Different units of a prompt that are weighed; of a longer one the first and the last."""


class Term(NamedTuple):
    """A word of the prompt: its weight, how many candidates hold it, and for a repaired one what was typed.

    A light term tells too little to admit anything, however many there are; an identifier's whole tells in a body as
    much as elsewhere.
    """

    word: str
    weight: float
    frequency: int
    is_light: bool = False
    is_identifier: bool = False
    typed: str | None = None


class Group(NamedTuple):
    """Parts that were written as one, and the whole: what a candidate has of the parts counts, or the whole if more."""

    parts: tuple[Term, ...]
    whole: Term | None = None
    words: int = 1
    """As how many words of the prompt it counts at most: two for neighbours, one for a unit, whatever its parts."""

    def telling(self, words: Set[str]) -> int:
        """Return as how many words these count that are not light."""
        count = int(self.whole is not None and self.whole.word in words and not self.whole.is_light)
        for term in self.parts:
            if term.word in words and not term.is_light:
                count += 1
        return min(self.words, count)


class Window(NamedTuple):
    """A stretch of a prompt: its groups, which share no word, the number of each word's group, and the total.

    ``total`` is the weight of its heaviest words.
    """

    groups: tuple[Group, ...]
    group_of: Mapping[str, int]
    total: float


class Reading(NamedTuple):
    """A prompt as it is compared.

    ``terms`` by word. A short prompt is one window, a long one several that overlap: what a candidate has must stand
    together in it, for of many words some stand in any text. ``places`` tells the windows' numbers for each word,
    ``order`` the words' own, in which they stand in ``terms``.
    ``by_unit`` and ``by_part`` are its words in order, for aliases, one for each unit or for each part; ``joined`` are
    neighbours written as one word.
    """

    terms: Mapping[str, Term]
    windows: tuple[Window, ...]
    places: Mapping[str, Sequence[int]]
    order: Mapping[str, int]
    by_unit: tuple[str, ...]
    by_part: tuple[str, ...]
    joined: frozenset[str]

    @property
    def least_total(self) -> float:
        """The least of the windows' totals, of those that have any; 0 where none has."""
        return min((window.total for window in self.windows if window.total), default=0.0)


class Evidence(NamedTuple):
    """What a candidate has of a prompt; see ``persist.recall.answer.Verdict`` for the fields that it shares.

    All but score and alias are of the window where it has most. ``head`` is the weight matched in name and description,
    or anywhere in a brief fact; ``telling`` are the matched words that are not light, ``words`` as how many they count.
    """

    matched: tuple[str, ...]
    score: float
    evidence: float
    coverage: float
    head: float
    telling: frozenset[str]
    words: int
    alias: tuple[str, ...] | None


def distinct(units: Iterable[Unit]) -> tuple[Unit, ...]:
    """Return each unit once, in order; of very many the first and the last."""
    found = tuple(dict.fromkeys(units))
    return found if len(found) <= MAX_UNITS else (*found[: MAX_UNITS // 2], *found[-MAX_UNITS // 2 :])


def joined_words(units: Sequence[Unit]) -> dict[str, tuple[Unit, Unit]]:
    """Return what neighbouring units make when they are written as one word (``date picker``), with the two."""
    return {word: (first, second) for _, word, first, second in _neighbours(units)}


def _neighbours(units: Sequence[Unit]) -> Iterator[tuple[int, str, Unit, Unit]]:
    """Yield what each unit makes with the next, with the first one's number and the two."""
    for place, (first, second) in enumerate(pairwise(units)):
        if not (first.is_pair or second.is_pair) and not first.typed.isdecimal():
            yield place, one_word(first.typed + second.typed), first, second


def words_to_count(units: Sequence[Unit]) -> tuple[str, ...]:
    """Return every word whose frequency :func:`read` asks for."""
    words = dict.fromkeys(word for unit in units for word in unit.words)
    return tuple(dict.fromkeys((*words, *joined_words(units))))


def read(
    units: Sequence[Unit], statistics: Statistics, repaired: Mapping[str, str], tuning: Tuning = TUNING
) -> Reading:
    """Return the reading of a prompt's units (all of them, in order); ``repaired`` maps words to better ones."""
    neighbours = list(_neighbours(units))
    terms = _terms(units, dict.fromkeys(word for _, word, *_ in neighbours), statistics, repaired, tuning)
    held = [one for one in neighbours if one[1] in terms]
    size, step = tuning.window, max(1, tuning.window // 2)
    starts = range(0, max(1, len(units) - size + step), step)
    windows = []
    for start in starts:
        joined = {word: pair for place, word, *pair in held if start <= place < start + size - 1}
        windows.append(_window(units[start : start + size], joined, terms, repaired, tuning))
    places: dict[str, list[int]] = {}
    for number, window in enumerate(windows):
        for word in window.group_of:
            places.setdefault(word, []).append(number)
    one_each = (repaired.get(word, word) for unit in units for word in (unit.whole or unit.parts[0],))
    parts = (repaired.get(part, part) for unit in units for part in unit.parts)
    order = {word: number for number, word in enumerate(terms)}
    return Reading(
        terms, tuple(windows), places, order, tuple(one_each), tuple(parts), frozenset(word for _, word, *_ in held)
    )


def weigh(reading: Reading, candidate: Candidate, statistics: Statistics, tuning: Tuning = TUNING) -> Evidence:
    """Return what a candidate has of a prompt; all zero where they share no word."""
    terms = reading.terms
    names = _count(candidate.name_words, terms)
    descriptions = _count(candidate.description_words, terms)
    bodies = _count(candidate.body_words, terms)
    in_aliases = {word for alias in candidate.aliases for word in alias if word in terms}
    head_words = names.keys() | descriptions.keys()
    if candidate.name_words or len(candidate.body_words) > tuning.brief_words:
        head_words |= {word for word in bodies if terms[word].is_identifier}
    else:
        head_words |= bodies.keys()
    found = head_words | bodies.keys() | in_aliases
    alias = _alias(reading, candidate.aliases)
    # In the prompt's order, not a set's: sums of the same numbers must be the same in every run.
    matched = tuple(sorted(found, key=reading.order.__getitem__))
    if not matched:
        return Evidence((), 0.0, 0.0, 0.0, 0.0, frozenset(), 0, alias)
    name_norm = _norm(len(candidate.name_words), statistics.mean_name, tuning)
    description_norm = _norm(len(candidate.description_words), statistics.mean_description, tuning)
    body_norm = _norm(len(candidate.body_words), statistics.mean_body, tuning)
    score = 0.0
    for word in matched:
        count = (
            tuning.name * names.get(word, 0) / name_norm
            + tuning.description * descriptions.get(word, 0) / description_norm
            + tuning.body * bodies.get(word, 0) / body_norm
            + tuning.alias * (word in in_aliases)
        )
        score += terms[word].weight * count * (tuning.k1 + 1) / (count + tuning.k1)
    window = _densest(reading, matched)
    mass = head = whole_mass = 0.0
    words = 0
    held = found & window.group_of.keys()
    for number in sorted({window.group_of[word] for word in held}):
        group = window.groups[number]
        words += group.telling(found)
        in_head, in_all = _mass(group, head_words), _mass(group, found)
        head += in_head
        whole_mass += in_all
        mass += in_head + tuning.body_share * max(0.0, in_all - in_head)
    coverage = min(1.0, whole_mass / window.total) if window.total else 0.0
    evidence = mass * (tuning.coverage_floor + (1 - tuning.coverage_floor) * coverage)
    telling = frozenset([word for word in held if not terms[word].is_light])
    return Evidence(matched, score, evidence, coverage, head, telling, words, alias)


def most_evidence(
    in_head: float, elsewhere: float, least_total: float, *, has_name: bool, tuning: Tuning = TUNING
) -> float:
    """Return the most that :func:`weigh` can find, of the weight of the words that a candidate holds alone.

    ``in_head`` is that of its name and description and of identifiers, ``elsewhere`` that of all others;
    ``least_total`` is the reading's.
    """
    mass = in_head + (tuning.body_share if has_name else 1.0) * elsewhere
    coverage = min(1.0, (in_head + elsewhere) / least_total) if least_total else 1.0
    return mass * (tuning.coverage_floor + (1 - tuning.coverage_floor) * coverage)


def _densest(reading: Reading, matched: Iterable[str]) -> Window:
    """Return the window in which matched words weigh most; of equals the first."""
    if len(reading.windows) == 1:
        return reading.windows[0]
    weights = [0.0] * len(reading.windows)
    for word in matched:
        for number in reading.places.get(word, ()):
            weights[number] += reading.terms[word].weight
    return reading.windows[weights.index(max(weights))]


def _terms(
    units: Sequence[Unit], joined: Iterable[str], statistics: Statistics, repaired: Mapping[str, str], tuning: Tuning
) -> dict[str, Term]:
    """Return every word of a prompt that counts: parts always, wholes and joined words where a candidate holds them."""
    terms: dict[str, Term] = {}
    for unit in distinct(units):
        for place, part in enumerate(unit.parts):
            word = repaired.get(part, part)
            is_ending = unit.ending and place == len(unit.parts) - 1
            if word not in terms or (terms[word].is_light and not is_ending):
                terms[word] = _term(word, unit, statistics, tuning, is_ending, part if part != word else None)
    wholes = {unit.whole: _is_identifier(unit) for unit in units if unit.whole is not None}
    for word, is_identifier in {**dict.fromkeys(joined, False), **wholes}.items():
        frequency = statistics.frequencies.get(word, 0)
        if frequency and word not in terms:
            weight = idf(word, frequency, statistics.count)
            terms[word] = Term(word, weight, frequency, is_identifier=is_identifier)
    return terms


def _is_identifier(unit: Unit) -> bool:
    """Tell whether only one thing can be called so: code's own spelling, or a file's name that is no everyday word."""
    everyday = any(part in background() or part in light_words() for part in unit.parts[:-1])
    return unit.is_identifier or (unit.ending and not everyday)


def _window(
    units: Sequence[Unit], joined: Mapping[str, Sequence[Unit]], terms: Mapping[str, Term],
    repaired: Mapping[str, str], tuning: Tuning,
) -> Window:  # fmt: skip
    """Return the groups of a stretch: units of several parts and joined neighbours first, then words alone."""
    group_of: dict[str, int] = {}
    groups: list[Group] = []

    def add(parts: Iterable[str], whole: str | None, words: int) -> None:
        fresh = [word for part in parts if (word := repaired.get(part, part)) in terms and word not in group_of]
        new = terms[whole] if whole is not None and whole in terms and whole not in group_of else None
        fresh = [word for word in dict.fromkeys(fresh) if new is None or word != new.word]
        if fresh or new is not None:
            group_of.update(dict.fromkeys(fresh if new is None else (*fresh, new.word), len(groups)))
            groups.append(Group(tuple(terms[word] for word in fresh), new, words))

    for word, (first, second) in joined.items():
        add((*first.parts, *second.parts), word, 2)
    for unit in sorted(dict.fromkeys(units), key=lambda unit: -len(unit.parts)):
        if unit.whole is not None or len(unit.parts) != 1:
            add(unit.parts, unit.whole, 1)
        elif (word := repaired.get(unit.parts[0], unit.parts[0])) in terms and word not in group_of:
            group_of[word] = len(groups)
            groups.append(Group((terms[word],)))
    weights = sorted((part.weight for group in groups for part in group.parts), reverse=True)
    return Window(tuple(groups), group_of, sum(weights[: tuning.coverage_words]))


def _norm(length: int, mean: float, tuning: Tuning) -> float:
    """Return what a count in a field is divided by: more in a field that is longer than is usual."""
    return 1 - tuning.b + tuning.b * length / mean if mean else 1.0


def _term(word: str, unit: Unit, statistics: Statistics, tuning: Tuning, is_ending: bool, typed: str | None) -> Term:
    frequency = statistics.frequencies.get(word, 0)
    is_light = is_ending or word in light_words() or (len(word) == 1 and word.isdecimal())
    weight = idf(word, frequency, statistics.count)
    if is_light:
        weight *= tuning.light
    elif word.isdecimal():
        weight *= tuning.number
    elif unit.is_pair:
        weight *= tuning.pair
    return Term(word, weight * tuning.repaired if typed else weight, frequency, is_light, typed=typed)


def _mass(group: Group, words: Set[str]) -> float:
    """Return the weight that these words have of a group: of its parts together, or of the whole, if that is more."""
    mass = 0.0
    for part in group.parts:
        if part.word in words:
            mass += part.weight
    return max(mass, group.whole.weight) if group.whole is not None and group.whole.word in words else mass


def _count(words: Sequence[str], terms: Mapping[str, Term]) -> dict[str, int]:
    return {word: words.count(word) for word in terms.keys() & words} if words else {}


def _alias(reading: Reading, aliases: Sequence[tuple[str, ...]]) -> tuple[str, ...] | None:
    """Return the first alias whose words stand in the prompt one behind the other."""
    for alias in aliases:
        if len(alias) == 1:
            if alias[0] in reading.by_unit or alias[0] in reading.joined:
                return alias
        elif _stands_in(alias, reading.by_unit) or _stands_in(alias, reading.by_part):
            return alias
    return None


def _stands_in(alias: tuple[str, ...], sequence: tuple[str, ...]) -> bool:
    start = 0
    while alias[0] in sequence[start:]:
        start = sequence.index(alias[0], start)
        if sequence[start : start + len(alias)] == alias:
            return True
        start += 1
    return False
