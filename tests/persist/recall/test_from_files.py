"""The candidates of a memory folder, and what a block says at the moment it is given out: real files, no index."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest

from persist.memory import MemoryStore
from persist.recall.answer import Recalled, recall
from persist.recall.from_files import FileCorpus, given_out, read_corpus, read_text
from persist.recall.scope import place_of
from tests.builders import make_unreadable
from tests.conftest import REPOSITORY

LATER = "2099-01-01T00:00:00.000Z"


def ask(prompt: str, *folders: Path, cwd: str = "/") -> Recalled:
    return recall(prompt, read_corpus(folders, LATER), place=place_of(cwd), as_of=LATER)


def names(recalled: Recalled) -> list[str]:
    return [verdict.candidate.name for verdict in recalled.chosen]


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return tmp_path / "memory"


@pytest.fixture
def store(memory: Path) -> MemoryStore:
    return MemoryStore(memory)


def test_what_was_remembered_is_recalled(store: MemoryStore, memory: Path) -> None:
    store.remember("Deploys leave from the main branch only")
    store.remember("Tuesday to Thursday, never before a holiday.", "Deploy window")
    assert names(ask("when is the deploy window?", memory)) == ["deploy-window"]
    assert names(ask("from which branch do deploys leave?", memory))[0] == "ASTER.md:3"
    assert names(ask("what is the weather like?", memory)) == []


def test_the_natural_first_try_works(store: MemoryStore, memory: Path) -> None:
    store.remember("We deploy with make ship")
    assert names(ask("how do we deploy?", memory)) == ["ASTER.md:3"]
    assert names(ask("thanks, that was all for today", memory)) == []


def test_a_title_of_any_script_is_found(store: MemoryStore, memory: Path) -> None:
    store.remember("本番の移行は夜間に行う", "データベース移行")
    assert names(ask("データベースの移行はいつ？", memory)) == ["note-2"]


def test_removed_and_archived_blocks_are_gone_at_once(store: MemoryStore, memory: Path) -> None:
    for title in ("Lantern oil", "Lantern wick"):
        store.remember(f"{title} is kept in the shed", title)
    asked = ask("where is the lantern oil and the lantern wick kept?", memory)
    assert sorted(names(asked)) == ["lantern-oil", "lantern-wick"]
    store.forget("Lantern oil")
    store.archive("Lantern wick")
    assert given_out(asked).text == ""
    assert names(ask("where is the lantern oil and the lantern wick kept?", memory)) == []
    store.restore("Lantern wick")
    assert names(ask("where is the lantern wick kept?", memory)) == ["lantern-wick"]


def test_the_file_speaks_not_what_was_found(store: MemoryStore, memory: Path) -> None:
    store.remember("Lantern oil is kept in the shed", "Lantern oil")
    asked = ask("where is the lantern oil?", memory)
    store.remember("Lantern oil moved to the cellar", "Lantern oil")
    assert "cellar" in given_out(asked).text
    assert "shed" not in given_out(asked).text


def test_a_superseded_block_makes_way_for_its_successor(store: MemoryStore, memory: Path) -> None:
    store.remember("pip and a requirements file", "Package manager pip", description="Package manager")
    store.remember(
        "uv with its lock", "Package manager uv", description="Package manager", supersedes="Package manager pip"
    )
    assert names(ask("which package manager?", memory)) == ["package-manager-uv"]


def test_aliases_pins_and_use_come_from_header_and_journal(store: MemoryStore, memory: Path) -> None:
    store.remember("uv with its lock", "Installing", aliases=["poetry"], pin=True, project="/repos/ferry")
    store.recall("Installing")
    (one,) = read_corpus([memory], LATER).candidates
    assert (one.aliases, one.pinned, one.project, one.use) == ((("poetri",),), True, "/repos/ferry", 0.5)
    assert names(ask("can I use poetry?", memory, cwd="/repos/ferry/web")) == ["installing"]
    assert names(ask("can I use poetry?", memory, cwd="/repos/ferryman")) == []


def test_of_two_homes_the_higher_ranks(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    for folder, place in ((new, "cellar"), (old, "shed")):
        MemoryStore(folder).remember(f"Lantern oil is in the {place}", "Lantern oil")
    MemoryStore(old).remember("Lantern wicks are in the attic", "Lantern wick")
    asked = ask("where are lantern oil and lantern wicks?", new, old)
    assert sorted(names(asked)) == ["lantern-oil", "lantern-wick"]
    assert "cellar" in given_out(asked).text
    assert "shed" not in given_out(asked).text


def test_the_journal_of_the_higher_home_hides_the_other_ones(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    MemoryStore(old).remember("Lantern wicks are in the attic", "Lantern wick")
    MemoryStore(old).recall("Lantern wick")
    MemoryStore(new).remember("Lantern oil is in the cellar", "Lantern oil")
    assert {one.name: one.use for one in read_corpus([new, old], LATER).candidates} == {
        "lantern-oil": 0,
        "lantern-wick": 0,
    }
    (new / "journal.jsonl").unlink()
    assert {one.name: one.use for one in read_corpus([new, old], LATER).candidates}["lantern-wick"] == 0.5


def test_a_file_that_cannot_be_read_hides_its_namesake_and_a_folder_does_not(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    for folder in (new, old):
        MemoryStore(folder).remember("Lantern oil is kept here", "Lantern oil")
    make_unreadable(new / "lantern-oil.md")
    assert read_corpus([new, old], LATER).candidates == []
    (new / "lantern-oil.md").unlink()
    (new / "lantern-oil.md").mkdir()
    assert [one.path for one in read_corpus([new, old], LATER).candidates] == [str(old / "lantern-oil.md")]


def test_homes_of_one_rank_hide_nothing_of_each_other(tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        MemoryStore(folder).remember("Lantern oil is kept here", "Lantern oil")
        MemoryStore(folder).recall("Lantern oil")
    told = read_corpus(folders, LATER, [0, 0]).candidates
    assert [(Path(one.path).parent, one.use) for one in told] == [(folder, 0.5) for folder in folders]


def test_a_fact_is_found_again_where_it_moved_to(store: MemoryStore, memory: Path) -> None:
    store.remember("Deploys leave from the main branch only")
    (verdict,) = ask("from which branch do deploys leave?", memory).chosen
    project = memory / "ASTER.md"
    project.write_text("# Facts\n\n- Another one\n" + project.read_text())
    said = read_text(verdict.candidate)
    assert said is not None
    assert (said.name, said.text) == ("ASTER.md:6", "Deploys leave from the main branch only")
    project.write_text("- Something else\n")
    assert read_text(verdict.candidate) is None
    project.unlink()
    assert read_text(verdict.candidate) is None


def test_damaged_files_hide_no_other(store: MemoryStore, memory: Path) -> None:
    store.remember("Lantern oil is kept in the shed", "Lantern oil")
    (memory / "folder.md").mkdir()
    (memory / "bytes.md").write_bytes(b"---\nname: bytes\n---\n\xff\xfe lantern oil \x00")
    (memory / "empty.md").write_bytes(b"")
    (memory / "journal.jsonl").write_bytes(b'{"torn": \n[]\n\xff\n')
    assert "lantern-oil" in names(ask("where is the lantern oil kept?", memory))


def test_a_missing_folder_has_nothing_to_say(tmp_path: Path) -> None:
    assert ask("where is the lantern oil kept?", tmp_path / "none") == Recalled((), (), ())


def test_statistics_count_every_candidate_once_for_each_word(store: MemoryStore, memory: Path) -> None:
    store.remember("lantern lantern lantern", "Lantern")
    store.remember("harbour light", "Light")
    statistics = read_corpus([memory], LATER).statistics(["lantern", "light", "zephyr"])
    assert (statistics.count, statistics.frequencies) == (2, {"lantern": 1, "light": 1})
    assert statistics.mean_name == 1.0


def test_an_empty_corpus_answers() -> None:
    assert recall("anything", FileCorpus([]), place=place_of("/"), as_of=LATER) == Recalled((), (), ())


def test_nothing_heavy_is_imported() -> None:
    program = "import sys, persist.recall.from_files; print([m for m in sys.argv[1:] if m in sys.modules])"
    heavy = ["pydantic", "yaml", "sqlite3", "sqlalchemy", "ulid", "filelock", "typer", "rich", "index", "cli"]
    done = subprocess.run(
        [sys.executable, "-c", program, *heavy], capture_output=True, text=True, check=True, cwd=REPOSITORY
    )
    assert done.stdout.strip() == "[]"


class TestWithinATime:
    def test_the_files_that_changed_last_are_read_first(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for number in range(10):
            path = tmp_path / f"lantern-{number}.md"
            path.write_text("The lantern needs oil\n")
            os.utime(path, (number * 7 % 10, number * 7 % 10))
        (tmp_path / "ASTER.md").write_text("- A fact about lanterns\n")
        ticks = itertools.count()
        monkeypatch.setattr("persist.recall.from_files.time.monotonic", lambda: float(next(ticks)))
        found = read_corpus([tmp_path], LATER, time_s=4)
        read = [int(one.name.removeprefix("lantern-")) for one in found.candidates[:-1]]
        assert sorted(number * 7 % 10 for number in read) == [6, 7, 8, 9]
        assert found.left_out == 6
        assert found.candidates[-1].name == "ASTER.md:1"

    def test_with_time_enough_it_is_the_answer_without_a_limit(self, tmp_path: Path) -> None:
        for number in range(10):
            path = tmp_path / f"lantern-{number}.md"
            path.write_text(f"---\nname: {chr(106 - number)}\n---\n\nThe lantern needs oil\n")
            os.utime(path, (number * 7 % 10, number * 7 % 10))
        assert read_corpus([tmp_path], LATER, time_s=600) == read_corpus([tmp_path], LATER)
