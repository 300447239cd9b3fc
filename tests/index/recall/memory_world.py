"""Random memory folders with everything that standing and words depend on, and prompts to put to them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from typing import Any, Final

from index.recall.recall import MemoryAnswer, recall_memory, store_corpus
from index.settings import Settings
from persist.memory.note_file import new_note
from persist.recall.answer import Recalled, recall
from persist.recall.scope import Place

AS_OF: Final = "2026-11-30T12:00:00.000Z"
PLACE: Final = Place("/r/kite/src", "/r/kite", "/home/ines")
PROJECTS: Final = ("/r/kite", "/r", "/r/ledger", "kite", "/r/kite/src/deep", "~/r", "/r/kit")
SUBJECTS: Final[list[str]] = str.split(
    "deploy billing friday staging postgres invoice rounding webhook retries stripe export_csv exportCsv date-picker "
    "playwright flaky timeout réseau Übersetzung 数据库连接 データベース мониторинг pnpm lockfile alembic heads "
    "webhooks.py connection refused tenant sidebar redis worker queue cents ledger tailwind tokens canvas charts"
)
COMMON: Final[list[str]] = str.split("run the test file use make error value name when code change add fix please how")


def text(rng: Random, most: int) -> str:
    """Return some words."""
    return " ".join(rng.choice(SUBJECTS if rng.random() < 0.6 else COMMON) for _ in range(rng.randint(1, most)))


def day(rng: Random) -> str:
    """Return a time of 2026 before ``AS_OF``."""
    return f"2026-{rng.randint(1, 11):02d}-{rng.randint(1, 28):02d}T{rng.randint(0, 11):02d}:00:00Z"


class MemoryWorld:
    """A memory folder that random steps change."""

    def __init__(self, home: Path, seed: int) -> None:
        self.folder = home / "memory"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.rng = Random(seed)  # noqa: S311
        self.names = [f"note-{number}" for number in range(12)]

    def write_block(self) -> None:
        """Write a new block, or another one in the place of one that is there."""
        rng = self.rng
        name = rng.choice(self.names)
        fields: dict[str, Any] = {
            "name": rng.choice([name, f"{rng.choice(SUBJECTS)} {name}"]),
            "description": text(rng, 6) if rng.random() < 0.8 else None,
            "title": rng.choice([None, None, f"Note {rng.randint(0, 5)}", rng.choice(self.names).upper()]),
            "created_at": rng.choice([None, day(rng)]),
            "updated_at": rng.choice([None, day(rng)]),
            "aliases": rng.choice([None, None, [text(rng, 2)], [text(rng, 1), text(rng, 3)]]),
            "kind": rng.choice([None, "gotcha", "decision"]),
            "project": rng.choice([None, None, *PROJECTS]),
            "superseded_by": rng.choice([None, None, None, rng.choice(self.names), "Note 3"]),
            "pinned": rng.choice([None, "true"]),
        }
        (self.folder / f"{name}.md").write_bytes(new_note(fields, text(rng, 40)))

    def write_facts(self) -> None:
        """Write the project file anew."""
        bullets = "".join(f"- {text(self.rng, 10)}\n" for _ in range(self.rng.randint(0, 5)))
        (self.folder / "ASTER.md").write_text(f"# Memory\n\n{bullets}", encoding="utf-8")

    def remove(self) -> None:
        """Take a block away."""
        (self.folder / f"{self.rng.choice(self.names)}.md").unlink(missing_ok=True)

    def archive(self) -> None:
        """Put a block aside."""
        path = self.folder / f"{self.rng.choice(self.names)}.md"
        if path.exists():
            (self.folder / ".archive").mkdir(exist_ok=True)
            path.rename(self.folder / ".archive" / path.name)

    def journal(self) -> None:
        """Append an operation, as this store or as Aster writes it."""
        rng = self.rng
        name = rng.choice([rng.choice(self.names), f"Note {rng.randint(0, 5)}", rng.choice(self.names).title()])
        op = rng.choice(["recall", "recall", "remember", "remember", "restore", "helpful", "harmful", "supersede"])
        line: dict[str, Any] = {"ts": day(rng), "op": op, "name": name}
        if op == "remember" and rng.random() < 0.7:
            line |= {"aliases": [text(rng, 2)], "kind": "howto", "pinned": rng.random() < 0.5, "title": "A title"}
            line |= {"project": rng.choice(PROJECTS)} if rng.random() < 0.3 else {}
        if op == "supersede":
            line |= {"by": rng.choice([rng.choice(self.names), "Note 2"])}
            line |= {"version": "01ARZ3NDEKTSV4RRFFQ69G5FAV"} if rng.random() < 0.5 else {}
        with (self.folder / "journal.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def forget_journal_aliases(self) -> None:
        """Take the aliases out of the journal, which the index knows as they are now alone."""
        path = self.folder / "journal.jsonl"
        if path.exists():
            text = re.sub(r', "aliases": \[[^]]*\]', "", path.read_text(encoding="utf-8"))
            path.write_text(text, encoding="utf-8")

    def damage_journal(self) -> None:
        """Append a line that is none."""
        with (self.folder / "journal.jsonl").open("a", encoding="utf-8") as file:
            file.write('{"ts": "2026-01-01T00:00:00Z", "op"\n')

    def lose_journal(self) -> None:
        """Take the journal away."""
        (self.folder / "journal.jsonl").unlink(missing_ok=True)

    def step(self) -> None:
        """Change something."""
        steps = [self.write_block, self.journal, self.write_facts, self.remove, self.archive, self.damage_journal,
                 self.lose_journal]  # fmt: skip
        self.rng.choices(steps, weights=[8, 8, 2, 1, 1, 1, 0.3])[0]()

    def fill(self, steps: int = 40) -> None:
        """Change much."""
        for _ in range(steps):
            self.step()

    def prompt(self) -> str:
        """Return a prompt, with a slip now and then."""
        words = [*text(self.rng, 6).split(), *self.rng.choices(COMMON, k=self.rng.randint(0, 4))]
        self.rng.shuffle(words)
        if self.rng.random() < 0.3:
            word = self.rng.choice(words)
            words[words.index(word)] = word[:3] + word[4:]
        return " ".join(words) + self.rng.choice(["", "?", " — and then?"])


def from_index(settings: Settings, prompt: str, place: Place = PLACE, as_of: str = AS_OF) -> MemoryAnswer:
    """Return the answer that the index gives; it must be the index that gave it."""
    answer = recall_memory(settings, prompt, place, as_of)
    assert answer.from_index, answer.notes
    return answer


def from_files(settings: Settings, prompt: str, place: Place = PLACE, as_of: str = AS_OF) -> Recalled:
    """Return the answer of the files alone."""
    return recall(prompt, store_corpus(settings, as_of), place=place, as_of=as_of)


def assert_equal(found: MemoryAnswer, files: Recalled, case: object) -> None:
    """The same is chosen for the same reasons; what is refused, the files refuse for the same reason too."""
    assert tuple(given.verdict for given in found.given) == files.chosen, case
    assert found.terms == files.terms, case
    assert set(found.refused) <= set(files.refused), case


def names(answer: MemoryAnswer) -> list[str]:
    """Return the names of what was given, in order."""
    return [given.quoted.name for given in answer.given]
