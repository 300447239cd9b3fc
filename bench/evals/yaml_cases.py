"""Reads cases from YAML files of the shape that ``tests/evals/memory-evals.yaml`` explains at its head."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from bench.evals.case import Block, Case, Expected

REPOS: Final = "/repos"
"""The folder that a case's repositories lie in; nothing of it is on the disk."""
_OPERATIONS: Final = {
    "recalled": "recall",
    "helpful": "helpful",
    "harmful": "harmful",
    "edited": "remember",
    "created": "remember",
    "superseded": "supersede",
}


def read_cases(path: Path) -> list[Case]:
    """Return the cases of a file in order. Raises ``KeyError`` or ``ValueError`` for a case that cannot be read."""
    told = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return [_case(case, told) for case in told["cases"]]


def _case(case: Mapping[str, Any], told: Mapping[str, Any]) -> Case:
    store = told["stores"].get(case.get("store"), {})
    home = store.get("repo", "any")
    blocks = {block["name"]: block for block in [*store.get("blocks", ()), *case.get("blocks", ())]}
    return Case(
        id=case["id"],
        group=case["group"],
        prompt=case["prompt"],
        cwd=_folder(case.get("cwd") or case.get("repo", home)),
        now=str(case.get("now", told["now"])),
        blocks=tuple(_block(block, home) for block in blocks.values()),
        expected=_expected(case["expect"]),
        journal=tuple(_operation(event) for event in case.get("journal", ())),
        facts=tuple(case.get("facts", store.get("facts", ()))),
    )


def _block(block: Mapping[str, Any], home: str) -> Block:
    scope = block.get("scope", home)
    return Block(
        name=block["name"],
        body=block["body"],
        description=block.get("description", ""),
        created=str(block.get("created", "2026-09-01")),
        kind=block.get("kind", "fact"),
        project=None if scope in ("user", "any") else _folder(scope),
        aliases=tuple(map(str, block.get("aliases", ()))),
        pinned=block.get("pinned", False),
        superseded_by=block.get("superseded_by"),
        title=block.get("title"),
    )


def _expected(expect: Mapping[str, Any]) -> Expected:
    recall = frozenset(expect.get("recall", ()))
    if expect.get("none") and recall:
        raise ValueError("a case expects nothing and something")
    return Expected(
        recall=recall,
        may=frozenset(expect.get("may", ())),
        refused=frozenset(expect.get("not", ())),
        first=expect.get("first"),
        archived=frozenset(expect.get("archived", ())),
        active=frozenset(expect.get("active", ())),
    )


def _operation(event: Mapping[str, Any]) -> dict[str, Any]:
    line = {"ts": f"{event['at']}T12:00:00Z", "op": _OPERATIONS[event["event"]], "name": event["name"]}
    return {**line, "by": event["by"]} if "by" in event else line


def _folder(name: str) -> str:
    return name if name.startswith("/") else f"{REPOS}/{name}"
