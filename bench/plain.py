"""The plain look: what a query must find, told by reading all texts, without the product's way of finding.

Plain ``sqlite3`` and the standard library's ``re``; of the product it knows names of tables and of fields only. It
holds for what ``bench.gen`` writes: texts in Unicode's composed form, where case folding is all that smart case does.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from index.fields import SEARCHED

FIELDS: Final = ("prompts", "answers", "titles", "memory")
_LETTER_OR_DIGIT: Final = r"[^\W_]"
_ESCAPE: Final = re.compile(r"\\.")
_PROSE: Final = """SELECT p.text, coalesce(p.sort_ts, s.file_time), n.project, a.name, n.session_id
FROM prose p JOIN source_rows s ON s.id = p.source_id JOIN agents a ON a.id = s.agent_id
LEFT JOIN session_rows n ON n.id = s.session_row
WHERE p.hidden = 0 AND p.field IN (SELECT value FROM json_each(?)) ORDER BY p.id"""
_HEADS: Final = "SELECT head, arguments_head FROM event_rows WHERE hidden = 0"


class Text(NamedTuple):
    """One text of the index: as stored, folded, its time, and what filters go by."""

    text: str
    folded: str
    at: str
    project: str | None
    agent: str
    session_id: str | None


class Lying(NamedTuple):
    """What must be found: the times of the texts, newest first; equal prompts once.

    ``is_whole`` is false where more than these may be found: words have endings that this look does not know.
    """

    times: list[str]
    is_whole: bool = True


def read_texts(index_path: Path) -> dict[str, list[Text]]:
    """Return all texts of each of ``FIELDS``, in the order in which they were read."""
    connection = sqlite3.connect(f"file:{index_path}?mode=ro", uri=True)
    try:
        return {
            where: [_text(*row) for row in connection.execute(_PROSE, (json.dumps(SEARCHED[where]),))]
            for where in FIELDS
        }
    finally:
        connection.close()


def _text(text: str, *others: Any) -> Text:  # noqa: ANN401 - columns
    return Text(text, text.casefold(), *others)


def contains(text: Text, query: str) -> bool:
    """Return whether a text holds a query literally: an upper-case letter in it makes it exact."""
    return query in text.text if query != query.lower() else query.casefold() in text.folded


def lying(where: str, texts: Sequence[Text], query: str, options: Mapping[str, Any]) -> Lying:
    """Return what a request must find among the texts of a field."""
    mode = options.get("mode", "substring")
    holds = _decider(mode, query)
    filters = options.get("filters", {})
    found = [text for text in texts if holds(text) and _passes(text, filters)]
    found.sort(key=lambda text: text.at, reverse=True)
    if where == "prompts":
        found = list({text.text: text for text in reversed(found)}.values())
        found.sort(key=lambda text: text.at, reverse=True)
    return Lying([text.at for text in found], mode != "words" or query.endswith("*"))


def _passes(text: Text, filters: Mapping[str, Any]) -> bool:
    return (
        (not filters.get("project") or text.project == filters["project"])
        and text.at >= filters.get("since", "")
        and ("until" not in filters or text.at < filters["until"])
        and ("agents" not in filters or text.agent in filters["agents"])
        and ("sessions" not in filters or text.session_id in filters["sessions"])
    )


def _decider(mode: str, query: str) -> Callable[[Text], object]:
    if mode == "substring":
        return lambda text: contains(text, query)
    if mode == "regex":
        literals = _ESCAPE.sub("", query)
        pattern = re.compile(query, re.MULTILINE | (re.IGNORECASE if literals == literals.lower() else 0))
        return lambda text: any(found.end() > found.start() for found in pattern.finditer(text.text))
    terms = [(_words(term), re.compile(_pattern(term))) for term in _terms(query)]
    return lambda text: all(words[0] in text.folded and pattern.search(text.folded) for words, pattern in terms)


def _terms(query: str) -> list[str]:
    return [query.strip('"')] if query.startswith('"') else query.split()


def _words(term: str) -> list[str]:
    return re.findall(rf"{_LETTER_OR_DIGIT}+", term)


def _pattern(term: str) -> str:
    """Return a pattern for words that follow each other, the last perhaps a beginning."""
    after = "" if term.endswith("*") else f"(?!{_LETTER_OR_DIGIT})"
    return f"(?<!{_LETTER_OR_DIGIT})" + r"[\W_]+".join(_words(term)) + after


def read_heads(index_path: Path) -> Iterator[str]:
    """Yield what the index keeps of tools' texts."""
    connection = sqlite3.connect(f"file:{index_path}?mode=ro", uri=True)
    try:
        for row in connection.execute(_HEADS):
            yield from (text for text in row if text is not None)
    finally:
        connection.close()


def read_whole(home: Path) -> Iterator[str]:
    """Yield the whole texts of tools in a home that ``bench.gen`` wrote."""
    for record in read_records(home):
        if record["type"] == "eviction":
            yield record["reason"]
        elif record.get("role") == "tool":
            yield record["content"]
        else:
            yield from (call["function"]["arguments"] for call in record.get("tool_calls", ()))


def read_prose(home: Path) -> Iterator[str]:
    """Yield prompts, answers and summaries of a home that ``bench.gen`` wrote."""
    for record in read_records(home):
        if record["type"] == "summary" or record.get("role") in ("user", "assistant"):
            yield record["content"]


def read_records(home: Path) -> Iterator[dict[str, Any]]:
    """Yield every record of every transcript, decoded: what any look at the files costs at least."""
    for path in sorted((home / "sessions").glob("*/*.jsonl")):
        with path.open("rb") as file:
            yield from map(orjson.loads, file)


def count_each(texts: Iterable[str], queries: Iterable[str]) -> dict[str, int]:
    """Return how many texts hold each query, none of which has upper case."""
    counts = dict.fromkeys(queries, 0)
    for text in texts:
        folded = text.casefold()
        for query in counts:
            counts[query] += query in folded
    return counts
