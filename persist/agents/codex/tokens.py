"""What a ``token_count`` of Codex says about one provider call, and about how full the context is.

Pure; imports only ``persist`` values. ``total_token_usage`` runs over the whole session (a fork's goes on from its
origin's), ``last_token_usage`` is one call's; the record is written again, unchanged, whenever the limits change.
Cached tokens are within the input and reasoning within the output, as OpenAI counts them: total = input + output.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from persist.agents.values import read_count
from persist.events import Measures, Usage

_KEYS: Final = (
    "input_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
    "total_tokens",
)
Totals = list[int | None]


class TokenCount(NamedTuple):
    """What one record says: the call, the fullness of the context, the running totals; ``None`` where it says none."""

    usage: Usage | None
    measures: Measures | None
    totals: Totals | None


def read_token_count(payload: Mapping[str, Any], before: Sequence[int | None] | None) -> TokenCount | None:
    """Read one record; ``before`` are the running totals so far. Returns ``None`` if it tells of no new call."""
    info = payload.get("info")
    if not isinstance(info, dict):
        return None
    totals = _counts(info.get("total_token_usage"))
    if totals is not None and before is not None and totals == list(before):
        return None
    last = _counts(info.get("last_token_usage"))
    if last is None:
        last = _difference(totals, before)
    if last is None:
        return None
    usage = _usage(last)
    return TokenCount(usage, _measures(info.get("model_context_window"), last), totals)


def running_total(totals: Sequence[int | None]) -> int | None:
    """Return all tokens so far, which no two calls of one session share."""
    given, output, total = totals[0], totals[3], totals[5]
    if total is not None:
        return total
    return given + output if given is not None and output is not None else None


def _usage(last: Totals) -> Usage | None:
    given, cache_read, cache_write, output, reasoning, _ = last
    if not given and not output:
        return None
    if given is not None:
        given = max(0, given - (cache_read or 0) - (cache_write or 0))
    return Usage(
        input_tokens=given,
        output_tokens=output,
        cache_read_tokens=cache_read,
        cache_write_tokens=cache_write,
        reasoning_tokens=reasoning,
    )


def _measures(window: object, last: Totals) -> Measures | None:
    limit = read_count(window)
    if not limit:
        return None
    used = running_total(last)
    return Measures(usage_ratio=None if used is None else used / limit, context_limit=limit)


def _difference(totals: Totals | None, before: Sequence[int | None] | None) -> Totals | None:
    """Return what was added to the totals; all of them where they began anew."""
    if totals is None or before is None:
        return totals
    added = [None if new is None else new - (old or 0) for new, old in zip(totals, before, strict=True)]
    return totals if any(count is not None and count < 0 for count in added) else added


def _counts(usage: object) -> Totals | None:
    if not isinstance(usage, dict):
        return None
    counts = [read_count(usage.get(key)) for key in _KEYS]
    return counts if any(count is not None for count in counts) else None
