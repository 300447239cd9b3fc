"""Makes a memory folder of any size for the benchmark of recall, and prompts to put to it; all of it invented.

Words come as often as technical English has them (``persist.recall.background``), with a few of each note's own, so
that some stand in half of the notes and most in a handful. The same seed and size give the same files.
"""

from __future__ import annotations

import json
import random
from itertools import accumulate
from pathlib import Path
from typing import Final, NamedTuple

from persist.recall.background import background

PROJECTS: Final = tuple(f"/home/dev/src/{name}" for name in ("atlas", "borealis", "cinder", "delta", "ember", "fjord"))
_SYLLABLES: Final[list[str]] = str.split(
    "ba de fi go hu ka le mi no pu ra se ti vo zu bri cla dro fle gri ploss quen trax vell"
)
_FRAMES: Final = (
    "how do we handle {} here?",
    "please add {} and make sure that the tests still pass",
    "why does {} fail again, what did we decide about it last time",
    "refactor {}",
    "the customer says that {} is wrong since yesterday; have a look, and then tell me what you would change",
)
_NOTE: Final = """---
name: {name}
description: {description}
created_at: {created}
updated_at: {created}
{project}---

{body}
"""
PROMPTS: Final = 200


class Notes(NamedTuple):
    """Prompts to put to the notes that were made: some about one of them, some of words at random."""

    about_a_note: tuple[str, ...]
    at_random: tuple[str, ...]


class _Words:
    """Draws words."""

    def __init__(self, rng: random.Random) -> None:
        known = background()
        self._known = list(known)
        self._weights = list(accumulate(known.values()))
        self._rng = rng

    def common(self, count: int) -> list[str]:
        return self._rng.choices(self._known, cum_weights=self._weights, k=count)

    def own(self) -> str:
        return "".join(self._rng.choices(_SYLLABLES, k=self._rng.randint(2, 3)))


def make_notes(folder: Path, count: int, seed: int = 1) -> Notes:
    """Write ``count`` notes and a journal with two recalls of each into ``folder``, which must not be there."""
    rng = random.Random(seed)
    words = _Words(rng)
    folder.mkdir(parents=True)
    subjects: list[list[str]] = []
    lines: list[str] = []
    for number in range(count):
        own = [words.own() for _ in range(3)]
        name = "-".join([own[0], *words.common(2), str(number)])
        description = [*words.common(6), own[1]]
        body = [*words.common(40), *own]
        rng.shuffle(body)
        project = f"project: {rng.choice(PROJECTS)}\n" if rng.random() < 0.5 else ""
        created = f"2026-{rng.randint(1, 9):02d}-{rng.randint(1, 28):02d}T08:00:00Z"
        text = _NOTE.format(
            name=name, description=" ".join(description), created=created, project=project, body=" ".join(body)
        )
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
        for month in (10, 11):
            line = {"ts": f"2026-{month}-{rng.randint(1, 28):02d}T09:00:00Z", "op": "recall", "name": name}
            lines.append(json.dumps(line) + "\n")
        subjects.append([own[0], own[1], *rng.sample(description, 2)])
    rng.shuffle(lines)
    (folder / "journal.jsonl").write_text("".join(lines), encoding="utf-8")
    about = [rng.choice(subjects) for _ in range(PROMPTS // 2)]
    return Notes(
        tuple(_prompt(rng, [*subject, *words.common(3)]) for subject in about),
        tuple(_prompt(rng, words.common(rng.randint(3, 12))) for _ in range(PROMPTS // 2)),
    )


def _prompt(rng: random.Random, words: list[str]) -> str:
    rng.shuffle(words)
    return rng.choice(_FRAMES).format(" ".join(words))
