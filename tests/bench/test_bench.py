"""The benchmark's corpus is the same everywhere, and its floor does the same work as the index."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path

import pytest

from bench.floor import COUNTED, load_home
from bench.gen import generate, sizes
from bench.measure import percentile
from tests.conftest import Asx

MB = 0.3
CORPUS_SHA256 = "7133758030497b7b059692411e33e6f097dd3e2d52292c66d0b051e0a6d9773e"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data home of one file; making the vocabulary takes a few seconds."""
    home = tmp_path_factory.mktemp("corpus")
    generate(home, MB, jobs=1)
    return home


@pytest.mark.slow
def test_the_generated_home_is_byte_identical_to_what_it_ever_was(corpus: Path) -> None:
    digest = hashlib.sha256()
    for path in sorted(corpus.rglob("*.jsonl")):
        digest.update(path.relative_to(corpus).as_posix().encode() + b"\0" + path.read_bytes())
    assert digest.hexdigest() == CORPUS_SHA256


@pytest.mark.slow
def test_the_floor_inserts_the_rows_that_the_index_has(corpus: Path, tmp_path: Path, asx: Asx) -> None:
    size_bytes, spent, floor_rows = load_home(corpus, tmp_path / "floor.sqlite")
    index = tmp_path / "index.sqlite"
    done = asx("ingest", "--json", "--index", index, env={"ASTER_HOME": str(corpus)})
    assert done.code == 0, done.stderr
    with sqlite3.connect(index) as connection:
        index_rows = {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in COUNTED}
    connection.close()
    assert floor_rows == index_rows
    assert size_bytes == json.loads(done.stdout)["bytes_read"]
    assert spent.cpu_s > 0


def test_sizes_add_up_to_what_was_asked_and_depend_on_the_seed_alone() -> None:
    assert sizes(1, 2_000_000) == sizes(1, 2_000_000)
    assert sizes(1, 2_000_000) != sizes(2, 2_000_000)
    assert 2_000_000 <= sum(sizes(1, 2_000_000)) < 2_010_000


@pytest.mark.parametrize(
    ("share", "value"), [(0.5, 3.0), (0.95, 5.0), (0.2, 1.0), (0.0, 1.0)], ids=["middle", "slow", "fifth", "none"]
)
def test_a_percentile_is_one_of_the_values(share: float, value: float) -> None:
    assert percentile([5.0, 1.0, 4.0, 2.0, 3.0], share) == value
