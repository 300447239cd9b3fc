"""Reads the two public sets from where they lie: PrecisionMemBench and toon-memory. Nothing of them is kept here.

Beliefs and entries become blocks as a person would store them: the name, the aliases where the set has any, and the
text as it is.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

from bench.evals.case import Block, Case, Expected
from persist.ids import slug
from persist.recall.answer import MAX_RECALLED

PRECISION: Final = "precision-mem-bench"
TOON: Final = "toon-memory"
_NOW: Final = "2026-11-30"
_TOON_NOW: Final = "2026-08-01"
_ENTRY = re.compile(r"  [0-9a-z]{8}\|")
_DATED = re.compile(r"\|[^|]*\|(?P<tags>[^|]*)\|(?P<day>20\d\d-\d\d-\d\d)(?=\|)")


def precision_cases(folder: Path) -> list[Case]:
    """Return PrecisionMemBench's cases, as its tier ``relevantBeliefs`` asserts them.

    Its pinned beliefs, and those of other scopes, superseded and resolved ones, are other tiers' and no candidates; so
    the filter that a store would apply is given, and the gate is what is measured.
    """
    beliefs = json.loads((folder / "beliefs.seed.json").read_text(encoding="utf-8"))
    cases = json.loads((folder / "retrieval.cases.json").read_text(encoding="utf-8"))
    names = {belief["_id"]: slug(belief["canonical_name"]) for belief in beliefs}
    return [
        Case(
            id=case["caseId"],
            group=case["category"],
            prompt=case["query"],
            cwd="/",
            now=_NOW,
            blocks=tuple(_belief(one, names) for one in beliefs if _is_candidate(one, case["scope"])),
            expected=Expected(
                recall=frozenset(names[one] for one in case["expect"]["relevantBeliefs"]["shouldOnlyInclude"])
            ),
            limit=_room(case, beliefs),
        )
        for case in cases
    ]


def toon_cases(folder: Path) -> list[Case]:
    """Return toon-memory's gold queries over its entries; a query with a date sees what was there by then."""
    told = json.loads((folder / "gold-queries.json").read_text(encoding="utf-8"))
    entries = _entries((folder / "retrieval-corpus.toon").read_text(encoding="utf-8"))
    return [
        Case(
            id=query["id"],
            group=query["category"],
            prompt=query["q"],
            cwd="/",
            now=query.get("asOf") or _TOON_NOW,
            blocks=tuple(entry for entry in entries if entry.created <= (query.get("asOf") or _TOON_NOW)),
            expected=Expected(may=frozenset(query["gold"])),
            gold=tuple(map(slug, query["gold"])),
        )
        for query in told["queries"]
    ]


def _room(case: dict[str, Any], beliefs: list[dict[str, Any]]) -> int:
    """Return how many may come: the product's five, or what the case's budget leaves behind the pinned beliefs."""
    budget: int | None = case.get("budget", {}).get("maxBeliefs")
    if budget is None:
        return MAX_RECALLED
    pinned = sum(bool(one["pinned"]) and not set(one["scope"]).isdisjoint(case["scope"]) for one in beliefs)
    return max(0, min(MAX_RECALLED, budget - pinned))


def _is_candidate(belief: dict[str, Any], scopes: list[str]) -> bool:
    return (
        belief["epistemic_status"] in ("active", "inferred")
        and not belief["pinned"]
        and belief["superseded_by"] is None
        and belief["resolved_at"] is None
        and not set(belief["scope"]).isdisjoint(scopes)
    )


def _belief(belief: dict[str, Any], names: dict[str, str]) -> Block:
    return Block(
        name=names[belief["_id"]],
        body=belief["content"],
        created=belief["created_at"][:10],
        kind=belief["type"],
        aliases=tuple(belief["aliases"]),
    )


def _entries(text: str) -> list[Block]:
    """Read the corpus: one line an entry, between bars its id, category, key, content, file, tags, date and more.

    The content may hold bars; the tags are what stands before the last date that has two fields before it.
    """
    blocks = []
    for line in text.splitlines():
        if _ENTRY.match(line):
            _id, category, key, rest = line.strip().split("|", 3)
            dated = ([None, *_DATED.finditer(rest)])[-1]  # one entry's date is lost
            blocks.append(
                Block(
                    name=slug(key),
                    body=rest if dated is None else rest[: dated.start()],
                    description="" if dated is None else dated["tags"].replace(";", ", "),
                    created=_TOON_NOW if dated is None else dated["day"],
                    kind=category,
                )
            )
    return blocks
