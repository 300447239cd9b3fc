"""The benchmark of search asks what it says, and ends where an answer is not what lies there."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from bench.gen import generate
from bench.plain import lying, read_heads, read_prose, read_texts, read_whole
from bench.questions import Question, questions_of
from bench.run import Bench
from bench.scan import compare
from bench.searches import check, measure_searches
from bench.whole import measure_processes
from index.rebuild import rebuild
from index.search import search
from index.settings import Settings, load_settings
from persist.sources import Environment

pytestmark = pytest.mark.slow

MB = 3
NOTE = "---\nname: kestrel\ndescription: How the kestrel project is built\n---\n\nBuild kestrel with one job.\n"
REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class World:
    """A generated data home with a memory note in it, its index, and what can be asked of them."""

    home: Path
    settings: Settings
    questions: tuple[Question, ...]

    def named(self, name: str) -> Question:
        """Return one class, with few of its queries."""
        found = next(question for question in self.questions if question.name == name)
        return replace(found, queries=found.queries[:3], times=1)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Made once: the vocabulary takes a few seconds."""
    folder = tmp_path_factory.mktemp("searches")
    home = folder / "aster"
    generate(home, MB, jobs=1)
    (home / "memory").mkdir()
    (home / "memory" / "kestrel.md").write_text(NOTE, encoding="utf-8")
    settings = load_settings(Environment({"ASTER_HOME": str(home)}, folder), folder, str(folder / "index.sqlite"))
    rebuild(settings)
    texts = read_texts(settings.index_path)
    whole = [text for text in read_whole(home) if len(text) > 4000]
    questions = questions_of(texts, list(read_heads(settings.index_path)), whole[:12])
    return World(home, settings, tuple(questions))


def copy_of(world: World, folder: Path) -> Settings:
    """Return settings with an index of its own, which the test may spoil."""
    path = folder / "index.sqlite"
    shutil.copyfile(world.settings.index_path, path)
    return load_settings(Environment({"ASTER_HOME": str(world.home)}, folder), folder, str(path))


def execute(settings: Settings, statement: str, *values: object) -> None:
    with sqlite3.connect(settings.index_path) as connection:
        assert connection.execute(statement, values).rowcount > 0
    connection.close()


def test_every_class_has_queries_and_finds_what_lies_there(world: World) -> None:
    few = [replace(question, queries=question.queries[:2], times=1) for question in world.questions]
    told = measure_searches(world.settings, few)["searches"]
    assert list(told) == [question.name for question in few]
    assert len(told) == 2 * 24 + 6
    for name, figures in told.items():
        assert figures["queries"] > 0, name
        assert (figures["hits"] == 0) == ("nothing found" in name), name
        assert 0 < figures["p50_s"] <= figures["p95_s"], name


def test_questions_survive_the_way_through_json(world: World) -> None:
    for question in world.questions:
        again = Question.from_json(json.loads(json.dumps(question.to_json())))
        assert again == question
        assert again.request(question.queries[0]) == question.request(question.queries[0])


def test_a_class_that_the_corpus_cannot_be_asked_is_left_out(world: World) -> None:
    texts = {**read_texts(world.settings.index_path), "memory": []}
    names = {question.name for question in questions_of(texts, [], [])}
    assert names == {question.name for question in world.questions} - {"memory, a word", "deep, rare"}


@pytest.mark.parametrize("name", ["prompts, rare", "answers, common", "answers, regex with a literal"])
def test_an_index_that_lost_a_text_ends_the_run(world: World, tmp_path: Path, name: str) -> None:
    question = world.named(name)
    settings = copy_of(world, tmp_path)
    texts = read_texts(settings.index_path)[question.where]
    newest = lying(question.where, texts, question.queries[0], question.options).times[0]
    execute(settings, "UPDATE prose SET text = '' WHERE sort_ts = ?", newest)
    query = question.queries[0]
    request = question.request(query)
    with pytest.raises(SystemExit, match="measured something else"):
        check(question.name, request, search(settings, request), lying(question.where, texts, query, question.options))


def test_full_text_that_misses_a_hit_ends_the_run(world: World, tmp_path: Path) -> None:
    question = world.named("answers, rare")
    settings = copy_of(world, tmp_path)
    execute(settings, "UPDATE prose_keys SET key = 'lost' WHERE instr(key, ?) > 0", question.queries[0])
    with pytest.raises(SystemExit, match=r"answers, rare: 0 found and 1 there"):
        measure_searches(settings, [question])


def test_a_deep_search_that_misses_what_stands_in_a_file_ends_the_run(world: World, tmp_path: Path) -> None:
    question = world.named("deep, rare")
    settings = copy_of(world, tmp_path)
    execute(settings, "UPDATE event_rows SET hidden = 1 WHERE head IS NOT NULL OR arguments_head IS NOT NULL")
    with pytest.raises(SystemExit, match=r"deep, rare: 0 found and \d+ there"):
        measure_searches(settings, [question])


def test_a_class_that_finds_nothing_where_it_must_ends_the_run(world: World) -> None:
    question = replace(world.named("prompts, nothing found"), finds=True)
    with pytest.raises(SystemExit, match="0 hits"):
        measure_searches(world.settings, [question])


def test_comparators_count_the_same_texts_in_files_and_index(world: World) -> None:
    told = compare(world.settings, ["the", "zqxjv"])
    prose = [text.casefold() for text in read_prose(world.home)]
    assert told["the"]["texts"] == sum("the" in text for text in prose) > 100
    assert told["the"]["listed"] == 20
    assert told["zqxjv"]["texts"] == told["zqxjv"]["total"] == 0
    if shutil.which("rg"):
        lines = [line for path in world.home.rglob("*.jsonl") for line in path.read_bytes().split(b"\n")]
        assert told["the"]["rg_lines"] == sum(b"the" in line.lower() for line in lines)


def test_a_run_without_rg_leaves_its_figures_out(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    told = compare(world.settings, ["zqxjv"])
    assert "rg_s" not in told["zqxjv"]


def test_the_measured_module_runs_on_its_own_and_puts_the_questions_it_is_given(world: World, tmp_path: Path) -> None:
    questions = tmp_path / "questions.json"
    questions.write_text(json.dumps([world.named("titles, a word").to_json()]), encoding="utf-8")
    places = {"ASTER_HOME": str(world.home), "ASTER_INDEX": str(world.settings.index_path)}
    done = subprocess.run(
        [sys.executable, "-m", "bench.searches", "--questions", questions],
        env={"HOME": str(tmp_path), "PYTHONPATH": str(REPOSITORY), **places},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list(json.loads(done.stdout)["searches"]) == ["titles, a word"]


def test_whole_processes_are_timed_one_after_the_other_and_must_end_as_expected(world: World, tmp_path: Path) -> None:
    bench = Bench(world.home, tmp_path / "run")
    (tmp_path / "run" / "index").mkdir(mode=0o700)
    shutil.copyfile(world.settings.index_path, tmp_path / "run" / "index" / "index.sqlite")
    told = measure_processes(bench.process_s, {"prompts": ["the"], "nothing found": ["zqxjv"]}, times=1)
    assert set(told) == {
        "python -c pass",
        "asx --help",
        "search, prompts",
        "search, prompts, --no-refresh",
        "search, nothing found",
        "search, nothing found, --no-refresh",
    }
    assert all(took_s > told["python -c pass"] for name, took_s in told.items() if name.startswith("search"))
    with pytest.raises(SystemExit, match="ended with 1"):
        measure_processes(bench.process_s, {"prompts": ["zqxjv"]}, times=1)
