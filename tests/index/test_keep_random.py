"""Random histories with kept copies: the index equals a rebuild, and nothing that was copied is lost."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from index.ingest import ingest
from index.refresh import refresh
from index.verify import verify
from persist.archive.catalogue import load_catalogue
from tests.index.conftest import dump_of, rebuilt_dump
from tests.index.histories import STEPS, World
from tests.index.keeping import archive_files, copy_of, keeping
from tests.index.test_history_equals_rebuild import assert_same

pytestmark = pytest.mark.usefixtures("quick_schema")

HISTORIES = int(os.environ.get("ASTER_HISTORIES", "10"))
LENGTH = 20
CALM = [name for name in STEPS if name not in ("become_link", "lose_agent")]


class KeptWorld(World):
    """A world whose steps leave the archive alone, as agents do."""

    def files(self) -> list[Path]:
        return [path for path in super().files() if "archive" not in path.parts]


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_any_history_with_copies_equals_a_rebuild(seed: int, tmp_path: Path) -> None:
    world = KeptWorld(tmp_path / "home")
    rng = Random(seed)  # noqa: S311
    settings = keeping(world.build.settings(tmp_path / "cache" / "index.sqlite"))
    steps = [("add_many", rng.randrange(10**6))]
    names = [*CALM, "add", "add", "append", "append", "delete", "delete", "rewrite", "rewrite_equal", "duplicate"]
    steps += [(name, rng.randrange(10**6)) for name in rng.choices(names, k=LENGTH)]
    for at, (name, number) in enumerate(steps):
        world.take(name, number)
        if at and rng.random() < 0.3:
            refresh(settings)
        if at == 0 or rng.random() < 0.5:
            ingest(settings, prune=rng.random() < 0.5)
            for path in world.build.claude_home.rglob("*.jsonl"):
                copy = copy_of(settings, path)
                if copy.exists() and path.name != "history.jsonl" and path.is_file():
                    assert path.read_bytes() == copy.read_bytes(), (name, path)
        if rng.random() < 0.1:
            (settings.places.archive / "claude-code" / "catalogue.json").unlink(missing_ok=True)
            ingest(settings)
    ingest(settings, prune=True)
    assert_same(dump_of(settings.index_path), rebuilt_dump(settings), steps)
    assert verify(settings).ok
    before = [(path, path.stat().st_mtime_ns, path.stat().st_ino) for path in archive_files(settings)]
    assert not ingest(settings, prune=True).wrote
    assert before == [(path, path.stat().st_mtime_ns, path.stat().st_ino) for path in archive_files(settings)]
    catalogue = load_catalogue(settings.places.archive, "claude-code")
    assert catalogue is not None or not archive_files(settings)


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_what_only_grew_and_went_is_in_the_index_for_ever(seed: int, tmp_path: Path) -> None:
    """Whatever is deleted, restored and moved away: the dump is the one that the originals alone gave."""
    world = KeptWorld(tmp_path / "home")
    rng = Random(seed)  # noqa: S311
    settings = keeping(world.build.settings(tmp_path / "cache" / "index.sqlite"))
    for _ in range(3):
        world.take("add_many", rng.randrange(10**6))
    ingest(settings)
    before = dump_of(settings.index_path)
    away = tmp_path / "away"
    away.mkdir()
    gone: dict[Path, Path] = {}
    for number in range(15):
        there = [path for path in world.build.claude_home.rglob("*.jsonl") if path.name != "history.jsonl"]
        if there and rng.random() < 0.6:
            path = rng.choice(there)
            gone[path] = away / str(number)
            path.rename(gone[path])
        elif gone:
            path = rng.choice(sorted(gone))
            gone.pop(path).rename(path)
        if rng.random() < 0.5:
            ingest(settings, prune=rng.random() < 0.5)
        else:
            refresh(settings)
        assert_same(dump_of(settings.index_path), before, [(str(number), seed)])
    assert_same(rebuilt_dump(settings), before, [("rebuild", seed)])
