"""What could not be read is never told as done: not by the exit code, not in the journal."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cli import exits
from cli.ingest_text import exit_code
from index.results import IngestReport, Problem
from tests.builders import HomeBuilder
from tests.conftest import Asx


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.mkdir()


def _memory_of_a_process(path: Path) -> None:
    path.symlink_to("/proc/self/mem")  # a file that opens and whose first byte cannot be read


def test_a_folder_that_cannot_be_read_is_partly_done(tmp_path: Path) -> None:
    report = IngestReport(tmp_path)
    assert exit_code(report, strict=False) == exits.DONE
    report.problems.append(Problem("unreadable", "/home/x/sessions/slug", None, None, "the folder cannot be read"))
    assert exit_code(report, strict=False) == exits.PARTLY_DONE


@pytest.mark.parametrize("words", [("recall",), ("memory", "show"), ("show", "--block")], ids=" ".join)
@pytest.mark.parametrize("put", [_pipe, _folder, _memory_of_a_process])
def test_a_block_that_cannot_be_read_is_not_given_out(
    put: object, words: tuple[str, ...], isolated: Path, asx: Asx
) -> None:
    home = HomeBuilder(isolated)
    folder = home.block("other", "a body").parent
    assert callable(put)
    put(folder / "odd.md")
    told = asx(*words, "odd")
    assert (told.code, told.stdout) == (exits.PARTLY_DONE, "")
    assert told.stderr.startswith(f"asx: cannot read {folder / 'odd.md'}: ")
    assert not (folder / "journal.jsonl").exists()
    assert asx(*words, "other").code == exits.DONE
