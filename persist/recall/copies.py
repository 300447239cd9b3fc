"""Which candidates are copies of one text: they say the same but for numbers and dates.

Pure; imports ``persist.recall`` only. Copies count once in the statistics: a text that was stored a hundred times makes
its words no more common than one. A copy that differs in any other word is another text; what counts as a difference
must not depend on which of them came first, or the index would not be the one that a rebuild makes.
"""

from __future__ import annotations

import re
from typing import Final

from persist.recall.candidate import Candidate
from persist.recall.words import one_word

_DIGIT: Final = re.compile(r"\d")
_CALENDAR: Final = """january february march april may june july august september october november december jan feb mar
apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur
thurs fri sat sun am pm utc gmt cet cest today yesterday tomorrow"""
_DATES: Final = frozenset(map(one_word, _CALENDAR.split()))


def text_of(candidate: Candidate) -> tuple[str, ...]:
    """Return what all copies of a candidate's text share: the words of description and body, but numbers and dates.

    Words with a digit in them are numbers too (``v2``, a commit's id). A text of such words alone is told by all of
    them, an empty one by the name.
    """
    words = (*candidate.description_words, *candidate.body_words)
    lasting = tuple([word for word in words if word not in _DATES and (word.isalpha() or _DIGIT.search(word) is None)])
    return lasting or words or candidate.name_words
