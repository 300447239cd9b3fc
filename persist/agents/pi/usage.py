"""Tokens and cost as pi and omp write them, in one vocabulary.

Pure; imports ``persist`` values only. Both take cached tokens out of ``input`` themselves and count reasoning within
``output`` (``totalTokens`` is the sum of the four), whatever the vendor's own nesting.
"""

from __future__ import annotations

from typing import Final

from persist.agents.values import read_cost, read_count
from persist.events import Usage

_COUNT_KEYS: Final = ("input", "output", "cacheRead", "cacheWrite")
_REASONING_KEYS: Final = ("reasoning", "reasoningTokens")
"""What pi and omp call it."""


def read_usage(
    usage: object,
    ts: str | None,
    *,
    provider: str | None = None,
    model: str | None = None,
    message_id: str | None = None,
    record_id: str | None = None,
) -> Usage | None:
    """Return what a ``usage`` object says of one call; ``None`` where it is no such object or has no count.

    Zero in all four counts is what both programs write before a provider told anything, so it is unknown: the counts
    and the cost are then ``None``. A server may give the same ``message_id`` to several calls (Ollama draws from a
    thousand), so the entry's id serves as the request's.
    """
    if not isinstance(usage, dict):
        return None
    given, output, cache_read, cache_write = counts = tuple(read_count(usage.get(key)) for key in _COUNT_KEYS)
    if not any(count is not None for count in counts):
        return None
    request_id = record_id if message_id is not None else None
    if not any(counts):
        given = output = cache_read = cache_write = None
    reasoning = next((count for key in _REASONING_KEYS if (count := read_count(usage.get(key))) is not None), None)
    return Usage(
        message_id=message_id,
        request_id=request_id,
        provider=provider,
        model_name=model,
        ts=ts,
        input_tokens=given,
        output_tokens=output,
        cache_read_tokens=cache_read,
        cache_write_tokens=cache_write,
        reasoning_tokens=reasoning if any(counts) else None,
        cost_usd=_cost(usage.get("cost")) if any(counts) else None,
    )


def is_unknown(usage: Usage) -> bool:
    """Return whether no count of a call is known."""
    return usage.input_tokens is usage.output_tokens is usage.cache_read_tokens is usage.cache_write_tokens is None


def _cost(value: object) -> float | None:
    """Read a cost in US dollars: the ``total`` of pi's object."""
    return read_cost(value.get("total")) if isinstance(value, dict) else None
