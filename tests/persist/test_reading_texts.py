"""What may leave the reader: words of the vocabulary, text that can be written, and no content in any message.

Sample records of all agents, changed and damaged at random. Public faults B35 and B127.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from persist.events import AGENT, CONTROL, EVENT_TYPES, TRAITS, USER
from persist.lines import decode_line
from tests.persist.sample_files import FILES, read

FAKE_KEY = "sk-test-000 0123456789"
seeds = st.integers(0, 2**32)
RECORDS = [
    (agent, path, record)
    for agent, path in FILES
    for line in path.read_bytes().split(b"\n")
    for record in decode_line(line).records
    if isinstance(record, dict)
]


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, element in value.items():
            yield key
            yield from texts_in(element)
    elif isinstance(value, list | tuple):
        for element in value:
            yield from texts_in(element)


def mutated(record: Any, random: Random, new: str) -> Any:
    """Return the record with one text in it, a key or a value, replaced or followed by ``new``."""
    paths = list(texts_in(record))
    chosen, seen = random.randrange(max(1, len(paths))), -1

    def walk(value: Any) -> Any:
        nonlocal seen
        if isinstance(value, str):
            seen += 1
            return random.choice([new, value + new]) if seen == chosen else value
        if isinstance(value, dict):
            return {walk(key): walk(element) for key, element in value.items()}
        return [walk(element) for element in value] if isinstance(value, list) else value

    return walk(record)


def damaged(data: bytes, random: Random) -> bytes:
    at, to = sorted(random.randrange(len(data) + 1) for _ in range(2))
    mark = random.choice([b"\0" * 9, b"\xff", *(bytes([byte]) for byte in b'"{}[],:\\')])
    return random.choice(
        [data[:at], data[at:], data[:at] + data[to:], data[:to] + data[at:], data[:at] + mark + data[at:]]
    )


class TestPrivateAndPrintable:
    @settings(max_examples=800, deadline=None)
    @given(seeds)
    def test_no_message_tells_what_stands_in_a_line(self, seed: int) -> None:
        random = Random(seed)  # noqa: S311
        agent, path, record = random.choice(RECORDS)
        written = json.dumps(mutated(record, random, FAKE_KEY)).encode()
        if random.random() < 0.6:
            written = damaged(written, random)
        found, reader = read(agent, written + b"\n", None, path)
        for line in found:
            assert FAKE_KEY not in (line.error or "")
        for name in reader.final.counts.skipped_types:
            assert agent == "aster" or FAKE_KEY not in name  # names are counted, if they look like names

    @settings(max_examples=800, deadline=None)
    @given(seeds, st.sampled_from([r"\ud83d", r"\udc00", r"\udc00\ud800", r"\ud800\ud800\udc00"]))
    def test_lone_surrogates_never_leave_the_reader(self, seed: int, escape: str) -> None:
        random = Random(seed)  # noqa: S311
        agent, path, record = random.choice(RECORDS)
        inner = json.dumps(json.dumps({"a": "@@"}))[1:-1]
        marked = json.dumps(mutated(record, random, random.choice(["@@", "x@@y", inner])))
        found, reader = read(agent, marked.replace("@@", escape).encode() + b"\n", None, path)
        for text in texts_in([found, reader.final.save(), reader.checkpoint.save()]):
            text.encode("utf-8")
        assert reader.final.counts.damaged == read(agent, marked.encode() + b"\n", None, path)[1].final.counts.damaged

    @settings(max_examples=300, deadline=None)
    @given(seeds)
    def test_no_bytes_at_all_end_the_reading(self, seed: int) -> None:
        random = Random(seed)  # noqa: S311
        agent, path, record = random.choice(RECORDS)
        written = json.dumps(record, ensure_ascii=False).encode()
        for _ in range(random.randrange(4)):
            written = damaged(written, random)
        found, reader = read(agent, written + b"\n{}\n", None, path)
        counts = reader.final.counts
        assert counts.seen == counts.indexed + counts.skipped + counts.damaged == 2 + written.count(b"\n")
        json.dumps([found, reader.checkpoint.save()], ensure_ascii=False, allow_nan=False).encode()


class TestVocabulary:
    def test_all_that_the_samples_give_is_in_the_vocabulary(self) -> None:
        seen: Counter[str] = Counter()
        for agent, path in FILES:
            for line in read(agent, path.read_bytes(), None, path)[0]:
                seen.update(trait.name for trait in line.traits)
                for numbered in line.events:
                    event = numbered.event
                    seen[event.event_type] += 1
                    assert event.event_type in EVENT_TYPES
                    assert event.kind in (USER, AGENT, CONTROL)
                    assert event.kind == USER or not event.is_prompt
                assert {trait.name for trait in line.traits} <= TRAITS.keys()
                assert line.events or not line.usage
        assert len(EVENT_TYPES.keys() & seen.keys()) > 20
        assert len(TRAITS.keys() & seen.keys()) > 7

    @settings(max_examples=500, deadline=None)
    @given(seeds)
    def test_so_is_all_that_changed_records_give(self, seed: int) -> None:
        random = Random(seed)  # noqa: S311
        agent, path, record = random.choice(RECORDS)
        word = random.choice([text for text in texts_in(random.choice(RECORDS)[2]) if text] or ["x"])
        for line in read(agent, json.dumps(mutated(record, random, word)).encode() + b"\n", None, path)[0]:
            assert {numbered.event.event_type for numbered in line.events} <= EVENT_TYPES.keys()
            assert {trait.name for trait in line.traits} <= TRAITS.keys()
            assert line.events or not line.usage
