"""Which facts of ``ASTER.md`` do not belong there: it stands whole in every prompt. Pure.

Too long, with code, said twice (by another fact or by a block), secret or personal. Facts are named by their line and
never quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from persist.memory import findings
from persist.memory.blocks import PROJECT_FILE
from persist.memory.findings import Finding
from persist.memory.near import shared_words, telling_words
from persist.memory.private_values import private_values
from persist.memory.project import parse_facts

MAX_FACT_CHARACTERS: Final = 300
"""Two sentences; what is longer is a block, of which only the description stands in every prompt."""
MAX_PROJECT_CHARACTERS: Final = 8_000
"""About 2,000 tokens in each prompt."""
_MIN_SAME_WORDS: Final = 4
_FENCE = re.compile(r"\s*(?:[-*][ \t]+)?(?:```|~~~)")
_SENTENCE_END = re.compile(r"[.!?]+(?:\s|\Z)|\n+")
_MARKS = re.compile(r"[\W_]+")


def review_facts(data: bytes, block_words: Mapping[str, set[str]]) -> Iterator[Finding]:
    """Yield what is to be said of the bytes of ``ASTER.md``.

    ``block_words`` are the telling words of the blocks' names, titles and descriptions, by slug. What a block's text
    says word for word is asked of :func:`told_by`.
    """
    text = data.decode("utf-8", "replace")
    facts = parse_facts(data)
    if len(text) > MAX_PROJECT_CHARACTERS:
        told = f"has {len(text):,} characters and stands whole in every prompt; make blocks of what is seldom needed"
        yield Finding(PROJECT_FILE, findings.OVERSIZED, told)
    for fact in facts:
        if len(fact.text) > MAX_FACT_CHARACTERS:
            told = f"has {len(fact.text):,} characters, over {MAX_FACT_CHARACTERS}; remember it with a title"
            yield _at(fact.line_number, findings.FACT_LONG, told)
    opened = (number for number, line in enumerate(text.split("\n"), start=1) if _FENCE.match(line))
    for number in list(opened)[::2]:
        yield _at(number, findings.FACT_CODE, "begins a code block; remember it with a title")
    for private in private_values(text):
        yield _at(private.line, private.sort, f"looks like {private.looks_like} in every prompt; take it out")
    yield from _duplicates({fact.line_number: fact.text for fact in facts}, block_words)


def facts_by_text(data: bytes) -> dict[str, int]:
    """Return the line of the first fact that says so, by its words alone; short ones are left out."""
    known: dict[str, int] = {}
    for fact in parse_facts(data):
        for said in _forms(fact.text):
            known.setdefault(said, fact.line_number)
    return known


def told_by(name: str, texts: Iterable[str], known: Mapping[str, int]) -> Iterator[Finding]:
    """Yield the facts, of :func:`facts_by_text`, that a block's description or text says word for word."""
    sentences = (sentence for text in texts for sentence in (text, *_SENTENCE_END.split(text)))
    lines = {known[form] for sentence in sentences for form in _forms(sentence) if form in known}
    for line in sorted(lines):
        yield _at(line, findings.FACT_DUPLICATE, f"block {name} says the same; take it out")


def _duplicates(facts: Mapping[int, str], block_words: Mapping[str, set[str]]) -> Iterator[Finding]:
    """Yield facts that have nearly the same words as an earlier fact or as a block's heading."""
    words = {f"{PROJECT_FILE}:{line:09d}": telling_words(text) for line, text in facts.items()}
    words |= block_words
    for one, other, shared in shared_words(words):
        union = len(words[one] | words[other])
        if shared < _MIN_SAME_WORDS or 5 * shared < 4 * union:
            continue
        lines = [_line_of(name) for name in (one, other)]
        if lines[0] and lines[1]:
            told = f"says nearly the same as {PROJECT_FILE}:{min(lines)}; take one out"
            yield _at(max(lines), findings.FACT_DUPLICATE, told)
        elif any(lines):
            block = other if lines[0] else one
            yield _at(max(lines), findings.FACT_DUPLICATE, f"block {block} says the same; take it out")
    first: dict[str, int] = {}
    for line, text in facts.items():
        for said in _forms(text, at_least=1):
            if said in first:
                told = f"says nearly the same as {PROJECT_FILE}:{first[said]}; take one out"
                yield _at(line, findings.FACT_DUPLICATE, told)
            first.setdefault(said, line)


def _forms(text: str, at_least: int = _MIN_SAME_WORDS) -> Iterator[str]:
    form = _MARKS.sub(" ", text.casefold()).strip()
    if form and form.count(" ") >= at_least - 1:
        yield form


def _line_of(name: str) -> int:
    head, _, line = name.partition(":")
    return int(line) if head == PROJECT_FILE and line else 0


def _at(line: int, finding: str, reason: str) -> Finding:
    return Finding(f"{PROJECT_FILE}:{line}", finding, reason, line)
