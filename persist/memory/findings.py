"""What is to be looked at in a memory: one finding, the words for it, and its order in a list. Imports nothing of ours.

A reason is a sentence with what to do. It never quotes a note or a fact: those may hold what nobody should print.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

UNREADABLE: Final = "unreadable"
SENSITIVE: Final = "secret"
PERSONAL: Final = "personal"
SUPERSEDED_CIRCLE: Final = "superseded_circle"
SUPERSEDED_BROKEN: Final = "superseded_broken"
SUPERSEDED_CHAIN: Final = "superseded_chain"
BROKEN_SOURCE: Final = "broken_source"
NEAR_DUPLICATE: Final = "near_duplicate"
OVERSIZED: Final = "oversized"
FACT_LONG: Final = "fact_too_long"
FACT_CODE: Final = "fact_with_code"
FACT_DUPLICATE: Final = "fact_duplicate"
UNDATED: Final = "undated"
NEVER_RECALLED: Final = "never_recalled"

FINDINGS: Final = (
    UNREADABLE, SENSITIVE, PERSONAL, SUPERSEDED_CIRCLE, SUPERSEDED_BROKEN, SUPERSEDED_CHAIN, BROKEN_SOURCE,
    NEAR_DUPLICATE, FACT_DUPLICATE, FACT_LONG, FACT_CODE, OVERSIZED, UNDATED, NEVER_RECALLED,
)  # fmt: skip
"""In the order of a list: what is wrong first, what may only be old last."""


class Finding(NamedTuple):
    """``name`` is a block's slug, ``ASTER.md``, or ``ASTER.md:LINE``; ``finding`` is one of ``FINDINGS``."""

    name: str
    finding: str
    reason: str
    line: int = 0
    """The line in ``ASTER.md`` or in a block's text, 0 for the whole."""


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings by what they are, then by name and line, equal ones once."""
    return sorted(
        dict.fromkeys(findings),
        key=lambda one: (FINDINGS.index(one.finding), one.name.partition(":")[0], one.line, one),
    )
