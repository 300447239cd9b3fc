"""What the benchmark asks: classes of queries cut from a corpus, each with the time it must keep.

Pure; the same texts give the same questions. A question is plain values, so that a run can put those of a small corpus
to a larger one as well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from bench.gen import COMMON
from bench.plain import Text, contains
from index.search import Filters, Mode, SearchRequest, Sort

QUERIES: Final = 10
"""Queries of a class, as a rule; a small corpus may have fewer."""
TIMES: Final = 5
"""How often each is timed."""
LONG_MUST_S: Final[Mapping[str, float | None]] = {"prompts": 0.015, "answers": 0.100}
SHORT_MUST_S: Final = 0.200
DEEP_MUST_S: Final = 2.0
COMMON_WORDS: Final = tuple(word for word in COMMON if len(word) > 2)[:QUERIES]
SHORT_WORDS: Final = tuple(word for word in COMMON if len(word) == 2)[: QUERIES // 2]
FIFTH_PAGE: Final = 80
MIDDLING_SHARE: Final = 0.01
"""A middling word stands in about this share of the texts."""

_KNOWN: Final = frozenset(COMMON)
_SEVERAL: Final = 2
"""Queries of a class that costs seconds."""
_FEW_TIMES: Final = 2
_FIRST_CJK: Final = "\u3042"
_LAST_CJK: Final = "\u9fff"
_IDENTIFIER: Final = re.compile(r"(?<![^\W_])[a-z]+_[a-z]+(?![^\W_])")
_WORD: Final = re.compile(r"(?<!\w)[a-z]{4,}(?!\w)")
_THREE_WORDS: Final = re.compile(r"(?<=\s)[a-z_.]{2,} [a-z_.]{2,} [a-z_.]{2,}(?=\s)")
_UNKNOWN: Final = (
    "zqxjv",
    "wqkzzv",
    "qqvzx jw",
    "xvqj_zzw",
    "bqvvk.zx",
    "vvqzx the",
    "of the qzvvx",
    "鿰鿱鿲",
    "jjqqvv",
    "zxqvvj of",
)
_UNKNOWN_ROWS: Final = (
    "that the with they you for and",
    "was his are with the that the",
    "for the and that with you are",
    "they are for his with was the",
)


@dataclass(frozen=True, slots=True)
class Question:
    """One class of queries. ``name`` begins with the field. ``must_s`` is the limit on the slowest but a twentieth.

    ``options`` are what a request has beside query and field, as JSON has it; ``finds`` is false for a class of which
    nothing may be found, true for one with a hit at least.
    """

    name: str
    where: str
    queries: tuple[str, ...]
    must_s: float | None
    options: Mapping[str, Any] = field(default_factory=dict)
    finds: bool = True
    times: int = TIMES

    def request(self, query: str) -> SearchRequest:
        """Return the request for one of the queries."""
        options = dict(self.options)
        if "filters" in options:
            options["filters"] = _filters_of(options["filters"])
        if "mode" in options:
            options["mode"] = Mode(options["mode"])
        if "sort" in options:
            options["sort"] = Sort(options["sort"])
        return SearchRequest(query, (self.where,), **options)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Question:
        """Read what :meth:`to_json` gave."""
        return cls(**{**told, "queries": tuple(told["queries"])})


def _filters_of(told: Mapping[str, Any]) -> Filters:
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in told.items()}
    return Filters(**values)


def questions_of(texts: Mapping[str, Sequence[Text]], heads: Sequence[str], whole: Sequence[str]) -> list[Question]:
    """Return every class that the texts of a corpus can be asked.

    ``texts`` are those of each field, ``heads`` some heads of tools' texts, ``whole`` some that are longer than a head.
    A class for which the texts give no query (no memory note, say) is left out.
    """
    found: list[Question] = []
    for where in ("prompts", "answers"):
        found.extend(_of_prose(where, texts[where]))
    found += [
        Question("tools, common", "tools", COMMON_WORDS, None),
        Question("tools, nothing found", "tools", _UNKNOWN[:_SEVERAL], None, finds=False, times=_FEW_TIMES),
        *_deep(heads, whole),
    ]
    for where in ("titles", "memory"):
        words = [text.text.split()[0] for text in _spread(texts[where], QUERIES) if text.text.split()]
        found.append(Question(f"{where}, a word", where, _unique(words), LONG_MUST_S["answers"]))
    return [question for question in found if question.queries]


def _of_prose(where: str, texts: Sequence[Text]) -> Iterator[Question]:
    must_s = LONG_MUST_S[where]
    rare = _rare(texts)
    middling = _middling(texts)
    filters = _filters(texts)
    dates = {name: filters[name] for name in ("since", "until")}
    project = {"project": filters["project"]}
    session = {"agents": filters["agents"], "sessions": filters["sessions"]}

    def ask(name: str, queries: Iterable[str], must_s: float | None = must_s, **more: Any) -> Question:  # noqa: ANN401
        beside = {key: more.pop(key) for key in ("finds", "times") if key in more}
        return Question(f"{where}, {name}", where, _unique(queries), must_s, more, **beside)

    yield ask("rare", rare)
    yield ask("common", COMMON_WORDS)
    yield ask("identifier", _identifiers(texts))
    yield ask("exact case", [word.capitalize() for word in COMMON_WORDS])
    yield ask("CJK, 4 characters", _eastern(texts, 4))
    yield ask("CJK, 2 characters", _eastern(texts, 2), SHORT_MUST_S)
    yield ask("Latin, 2 characters", [*SHORT_WORDS, *(words[1:3] for words in rare)], SHORT_MUST_S)
    yield ask("1 character", ["a", "e", "x", "7", *_eastern(texts, 1)[:2]], SHORT_MUST_S)
    yield ask("nothing found", _UNKNOWN, finds=False)
    yield ask("nothing found, common words", _absent(texts), finds=False)
    yield ask("common, project", COMMON_WORDS, filters=project)
    yield ask("common, date", COMMON_WORDS, filters=dates)
    yield ask("common, project and date", COMMON_WORDS, filters={**project, **dates})
    yield ask("common, agent and session", COMMON_WORDS, filters=session)
    yield ask("phrase of common words", _common_phrases(texts))
    yield ask("words: one rare", [max(words.split(), key=len) for words in rare], mode="words")
    yield ask(
        "words: two", [f"{one} {other}" for one, other in zip(middling, COMMON_WORDS, strict=False)], mode="words"
    )
    yield ask("words: a phrase", [f'"{words}"' for words in rare], mode="words")
    yield ask("words: a prefix", [f"{word[:-1]}*" for word in middling], mode="words")
    yield ask("regex with a literal", [_with_gap(words) for words in rare[: QUERIES // 2]], mode="regex")
    yield ask("regex without", [r"\d{2,3}\)", r"(?<!\w)[a-c]\w{9}(?!\w)", r"[A-Z][a-z]+[A-Z]\w+"], None, mode="regex",
              times=_FEW_TIMES)  # fmt: skip
    yield ask("middling, by relevance", middling, sort="relevance")
    yield ask("middling, counted", middling, limit=1, exact_total=True)
    yield ask("common, page 5", COMMON_WORDS, offset=FIFTH_PAGE)


def _deep(heads: Sequence[str], whole: Sequence[str]) -> Iterator[Question]:
    rare = [found[0] for text in whole if (found := _THREE_WORDS.search(text, len(text) // 2))]
    rare.sort(key=lambda words: any(words in head for head in heads))  # those beyond every head first
    yield Question("deep, rare", "tools", _unique(rare)[:_SEVERAL], DEEP_MUST_S, {"deep": True}, times=_FEW_TIMES)
    yield Question("deep, nothing found", "tools", _UNKNOWN[:_SEVERAL], DEEP_MUST_S, {"deep": True}, False, _FEW_TIMES)


def _spread(texts: Sequence[Text], count: int) -> Sequence[Text]:
    """Return about so many texts, evenly spread."""
    return texts[:: max(1, len(texts) // count)]


def _unique(queries: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(queries))[:QUERIES]


def _latin(texts: Sequence[Text]) -> list[list[str]]:
    """Return the words of some Latin texts of seven words or more, spread over all."""
    sample = _spread(texts, QUERIES * 6)
    return [words for text in sample if text.text.isascii() and len(words := text.folded.split(" ")) > 6]


def _rare(texts: Sequence[Text]) -> tuple[str, ...]:
    """Return three words that follow each other, not all of them common."""
    return _unique(" ".join(words[2:5]) for words in _latin(texts) if not _KNOWN.issuperset(words[2:5]))


def _middling(texts: Sequence[Text]) -> list[str]:
    """Return the words that stand in about ``MIDDLING_SHARE`` of the texts, by a sample."""
    sample = _spread(texts, 4000)
    held = Counter(word for text in sample for word in set(_WORD.findall(text.folded)))
    wanted = max(1.0, MIDDLING_SHARE * len(sample))
    return sorted(held, key=lambda word: (abs(held[word] - wanted), word))[:QUERIES]


def _identifiers(texts: Sequence[Text]) -> Iterator[str]:
    for text in _spread(texts, QUERIES * 20):
        yield from _IDENTIFIER.findall(text.text)[:1]


def _eastern(texts: Sequence[Text], characters: int) -> list[str]:
    east = [text.text for text in texts if _FIRST_CJK <= text.text[:1] <= _LAST_CJK]
    east = east[:: max(1, len(east) // QUERIES)][:QUERIES]
    return [text[:characters] for text in east if all(_FIRST_CJK <= sign <= _LAST_CJK for sign in text[:characters])]


def _absent(texts: Sequence[Text]) -> list[str]:
    """Return rows of common words that stand nowhere: each of their trigrams is common."""
    return [row for row in _UNKNOWN_ROWS if not any(contains(text, row) for text in texts)]


def _common_phrases(texts: Sequence[Text]) -> list[str]:
    found = Counter(
        " ".join(three)
        for text in _spread(texts, 4000)
        for words in [text.folded.split(" ")]
        for three in zip(words, words[1:], words[2:], strict=False)
        if _KNOWN.issuperset(three)
    )
    usual = [phrase for phrase, _ in sorted(found.items(), key=lambda item: (-item[1], item[0]))]
    return ["of the and", *usual] if any(contains(text, "of the and") for text in texts) else usual


def _with_gap(words: str) -> str:
    first, _, last = words.split(" ")
    return rf"{re.escape(first)}\s+\S+\s+{re.escape(last)}"


def _filters(texts: Sequence[Text]) -> dict[str, Any]:
    """Return filters that the text in the middle of all times passes: its project, its month, its session."""
    by_time = sorted(texts, key=lambda text: text.at)
    middle = by_time[len(by_time) // 2]
    year, month = int(middle.at[:4]), int(middle.at[5:7])
    following = f"{year + month // 12:04d}-{month % 12 + 1:02d}"
    return {
        "project": middle.project,
        "since": f"{middle.at[:7]}-01T00:00:00.000Z",
        "until": f"{following}-01T00:00:00.000Z",
        "agents": [middle.agent],
        "sessions": [middle.session_id],
    }
