"""Runs a case for real: writes its blocks, facts and journal as files, lets decay run, asks the library."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.evals.case import Block, Case
from persist.memory import JOURNAL_FILE, PROJECT_FILE, list_archived, list_blocks
from persist.memory.decaying import decay
from persist.memory.note_file import new_note
from persist.recall.answer import Recalled, recall
from persist.recall.from_files import FileCorpus, read_corpus
from persist.recall.scope import Place, place_of
from persist.recall.tuning import TUNING, Tuning


@dataclass(frozen=True, slots=True)
class Prepared:
    """A case whose files were read: what is asked again with other constants, without a file."""

    case: Case
    corpus: FileCorpus
    place: Place
    as_of: str
    archived: frozenset[str]
    active: frozenset[str]

    def ask(self, tuning: Tuning = TUNING) -> Recalled:
        """Return the library's answer."""
        return recall(
            self.case.prompt,
            self.corpus,
            place=self.place,
            as_of=self.as_of,
            limit=self.case.limit,
            tuning=tuning,
        )


def prepare(case: Case) -> Prepared:
    """Write the case into a folder of its own, let time pass as it says, and read the folder again."""
    as_of = f"{case.now}T12:00:00.000Z"
    with folder_of(case) as folder:
        if case.expected.has_decay:
            decay(folder, yes=True, as_of=as_of)
        return Prepared(
            case,
            read_corpus([folder], as_of),
            place_of(case.cwd),
            as_of,
            frozenset(version.path.stem for version in list_archived(folder)),
            frozenset(block.path.stem for block in list_blocks(folder)),
        )


def prepare_all(cases: Iterable[Case]) -> list[Prepared]:
    """Return the cases prepared, in order; cases with the same world share one reading of it."""
    known: dict[tuple[object, ...], Prepared] = {}
    prepared = []
    for case in cases:
        world = (case.now, case.blocks, case.facts, json.dumps(case.journal), case.expected.has_decay)
        if world not in known:
            known[world] = prepare(case)
        same = known[world]
        place = place_of(case.cwd)
        prepared.append(Prepared(case, same.corpus, place, same.as_of, same.archived, same.active))
    return prepared


@contextmanager
def folder_of(case: Case) -> Iterator[Path]:
    """Yield a memory folder with the case's blocks, facts and journal."""
    with tempfile.TemporaryDirectory(prefix="aster-evals-") as name:
        folder = Path(name) / "memory"
        folder.mkdir(mode=0o700)
        for block in case.blocks:
            (folder / f"{block.name}.md").write_bytes(_note(block))
        if case.facts:
            (folder / PROJECT_FILE).write_text("".join(f"- {fact}\n" for fact in case.facts), encoding="utf-8")
        lines = [json.dumps(operation) + "\n" for operation in case.journal]
        (folder / JOURNAL_FILE).write_text("".join(lines), encoding="utf-8")
        yield folder


def _note(block: Block) -> bytes:
    return new_note(
        {
            "name": block.name,
            "description": block.description,
            "created_at": f"{block.created}T00:00:00Z",
            "updated_at": f"{block.created}T00:00:00Z",
            "title": block.title,
            "aliases": list(block.aliases) or None,
            "kind": block.kind,
            "project": block.project,
            "superseded_by": block.superseded_by,
            "pinned": "true" if block.pinned else None,
        },
        block.body,
    )
