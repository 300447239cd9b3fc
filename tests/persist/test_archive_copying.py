"""One original and its copy: any history of changes leaves every content it had in the archive's hands."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from persist.archive.catalogue import Catalogue, load_catalogue, save_catalogue
from persist.archive.copying import bring_up_to_date, close_gone, make_durable, remove_closed, remove_leftovers
from persist.archive.names import copies_by_name
from persist.compressed import plain
from persist.errors import StoreIOError
from persist.files.lock import LOCK_NAME
from persist.sources import TRANSCRIPT, Source, Stat


def contents(folder: Path) -> list[bytes]:
    """Return what the copies of ``s.jsonl`` hold, the newest last."""
    found = []
    for copy in copies_by_name(os.listdir(folder)).get("s.jsonl", []):  # noqa: PTH208 - names are wanted
        with (folder / copy.file_name).open("rb") as file:
            found.append(plain(copy.file_name, file).read(-1))
    return found


@pytest.mark.parametrize("seed", range(40))
def test_every_content_that_was_copied_is_a_beginning_of_a_copy(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)  # noqa: S311
    path, folder = tmp_path / "s.jsonl", tmp_path / "archive"
    path.write_bytes(b"first\n")
    known: Stat | None = None
    had: list[bytes] = []
    for _ in range(25):
        step = rng.choice(
            ("append", "append", "append", "rewrite", "cut", "equal", "touch", "replace", "delete", "forget")
        )
        before = path.stat()
        if step == "append":
            with path.open("ab") as file:
                file.write(rng.randbytes(rng.choice((1, 10, 9000))))
        elif step == "rewrite":
            path.write_bytes(rng.randbytes(rng.randrange(20_000)))
        elif step == "cut":
            os.truncate(path, rng.randint(0, before.st_size))
        elif step == "equal":
            path.write_bytes(rng.randbytes(before.st_size))
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        elif step == "touch":
            os.utime(path, (1, rng.randrange(10**6)))
        elif step == "replace":
            new = tmp_path / "new"
            new.write_bytes(path.read_bytes() + b"and more\n")
            new.replace(path)
        elif step == "delete":
            path.unlink()
            packed = close_gone(folder, "s.jsonl", folder)
            if packed is not None:
                make_durable([packed])
                remove_closed(folder / "s.jsonl")
            path.write_bytes(rng.choice((b"", b"another\n")))
        else:
            known = None
        if rng.random() < 0.7:
            copied = bring_up_to_date(str(path), folder, known, folder)
            known = copied.stat
            had.append(path.read_bytes())
            assert contents(folder)[-1] == had[-1]
            assert known is not None
            assert (folder / "s.jsonl").stat().st_mtime_ns == path.stat().st_mtime_ns
        kept = contents(folder) if folder.is_dir() else []
        assert all(any(one.startswith(content) for one in kept) for content in had), step


def test_a_grown_original_costs_what_was_added(tmp_path: Path) -> None:
    path, folder = tmp_path / "s.jsonl", tmp_path / "archive"
    path.write_bytes(b"x" * 5_000_000)
    first = bring_up_to_date(str(path), folder, None, folder)
    with path.open("ab") as file:
        file.write(b"y" * 10)
    assert bring_up_to_date(str(path), folder, first.stat, folder).written_bytes == 10


def test_a_copy_is_private_and_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    path, folder, canary = tmp_path / "s.jsonl", tmp_path / "archive" / "codex", tmp_path / "canary"
    path.write_bytes(b"text")
    path.chmod(0o644)
    canary.write_bytes(b"te")
    bring_up_to_date(str(path), folder, None, folder)
    assert stat.S_IMODE((folder / "s.jsonl").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    (folder / "s.jsonl").unlink()
    (folder / "s.jsonl").symlink_to(canary)
    with suppress(StoreIOError):
        bring_up_to_date(str(path), folder, None, folder)
    assert canary.read_bytes() == b"te"


def test_leftovers_go_and_nothing_else(tmp_path: Path) -> None:
    for name in (".tmp-0123", "catalogue.json", "s.jsonl", LOCK_NAME):
        (tmp_path / name).write_bytes(b"")
    remove_leftovers(tmp_path)
    assert sorted(os.listdir(tmp_path)) == [LOCK_NAME, "catalogue.json", "s.jsonl"]  # noqa: PTH208 - names are wanted
    remove_leftovers(tmp_path / "none")


def test_a_catalogue_is_read_as_it_was_written(tmp_path: Path) -> None:
    catalogue = Catalogue()
    stats = [Stat(1, 2, 3, 2**64 - 1), Stat(0, -(2**62), 0, 0), None]
    for number, known in enumerate(stats):
        source = Source("codex", TRANSCRIPT, f"/h/ü\n{number % 2}/s{number}.jsonl", "/h", Stat(0, 0, 0, 0), "parent")
        assert catalogue.note(source, known)
        assert not catalogue.note(source, known)
    catalogue.note_move("/h/ü\n1/s1.jsonl")
    save_catalogue(tmp_path, "codex", catalogue)
    assert load_catalogue(tmp_path, "codex") == catalogue
    assert stat.S_IMODE((tmp_path / "codex" / "catalogue.json").stat().st_mode) == 0o600
    assert catalogue.stats() == {f"/h/ü\n{number % 2}/s{number}.jsonl": known for number, known in enumerate(stats)}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"3",
        b"[]",
        b'{"version":2,"folders":[]}',
        b'{"version":1,"folders":[{}]}',
        b'{"version":1,"folders":[{"folder":1,"root":"/","tells":"","names":["a"],"stats":[],"moved":[]}]}',
    ],
)
def test_a_catalogue_that_is_none_is_none(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "codex").mkdir()
    (tmp_path / "codex" / "catalogue.json").write_bytes(data)
    assert load_catalogue(tmp_path, "codex") is None
