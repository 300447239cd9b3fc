"""What the gate must know of all candidates together: how many there are, and how common each word is among them.

Pure; imports ``persist.recall`` only. The numbers come from the files or from the index and count the same things:
every text of a candidate that is not archived, of whatever project, superseded ones too, so that no number depends on
where a prompt was typed. Copies of a text (``persist.recall.copies``) count once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from persist.recall.candidate import Candidate
from persist.recall.scope import Place

if TYPE_CHECKING:
    from persist.recall.evidence import Term


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts over the different texts of all candidates.

    ``frequencies`` tells of how many texts a candidate has a word, in any field or alias, once for each; a word that is
    missing stands in none (it needs the words that were asked for, no others). The means count words with repetitions,
    over all texts, those whose field is empty too, of copies the longest; 0 when there is no candidate.
    """

    count: int
    frequencies: Mapping[str, int]
    mean_name: float
    mean_description: float
    mean_body: float

    def with_frequencies(self, more: Mapping[str, int]) -> Statistics:
        """Return the same counts with the frequencies of more words."""
        return replace(self, frequencies={**self.frequencies, **more})


class Scale(Protocol):
    """What a corpus may ask about a candidate before it looks up what the journal tells of it."""

    def compare_with(self, candidate: Candidate) -> None:
        """Compare every other one with this candidate from now on, unless it is superseded."""

    def is_refused(self, candidate: Candidate) -> bool:
        """Tell whether one of these words is refused already, and changes nothing for any other one."""


class Corpus(Protocol):
    """The candidates as a memory folder or the index knows them; asked at most once each for one prompt."""

    def statistics(self, words: Iterable[str]) -> Statistics:
        """Return the counts, with the frequencies of at least these words."""

    def beginning_with(self, letters: str) -> Mapping[str, int]:
        """Return the words of any field or alias that begin with these letters, with their frequencies."""

    def holding(
        self, terms: Sequence[Term], least_total: float, place: Place, limit: int, scale: Scale
    ) -> Iterable[Candidate]:
        """Return candidates that hold one of the words in a field or alias, and whose project the place lies in.

        At least the ``limit`` that hold most, but for those whose evidence cannot come to ``tuning.evidence``
        (``evidence.most_evidence``, which ``least_total`` is for) and those that ``scale`` refuses; terms come the
        heaviest first. Superseded ones may be among them and do not count.
        """


def count_words(texts: Iterable[Sequence[Candidate]], frequencies: Mapping[str, int]) -> Statistics:
    """Return the statistics of candidates that are at hand, the copies of each text together.

    The frequencies are counted already.
    """
    count = names = descriptions = bodies = 0
    for copies in texts:
        count += 1
        names += max(len(candidate.name_words) for candidate in copies)
        descriptions += max(len(candidate.description_words) for candidate in copies)
        bodies += max(len(candidate.body_words) for candidate in copies)
    return Statistics(count, frequencies, names / max(1, count), descriptions / max(1, count), bodies / max(1, count))


def words_of(candidate: Candidate) -> set[str]:
    """Return every word of a candidate, of its fields and aliases."""
    return {*candidate.name_words, *candidate.description_words, *candidate.body_words}.union(*candidate.aliases)
