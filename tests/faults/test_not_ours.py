"""What lies at the index's path and is not ours stays as it is, alone in its folder."""

from __future__ import annotations

import os
import socket
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from index.errors import IndexUnusableError
from index.ingest import ingest
from index.rebuild import rebuild
from index.settings import load_settings
from persist.sources import Environment

Put = Callable[[Path], object]


def _database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE theirs (x)")


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(path))


def _link_to_a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _text(path: Path) -> None:
    path.write_text("theirs", encoding="utf-8")


OTHERS: dict[str, Put] = {
    "folder": Path.mkdir, "pipe": os.mkfifo, "socket": _socket, "link to a device": _link_to_a_device,
    "another program's database": _database,
}  # fmt: skip


@pytest.mark.parametrize("write", [ingest, rebuild], ids=lambda write: write.__name__)
@pytest.mark.parametrize("put", OTHERS.values(), ids=OTHERS)
def test_it_is_refused_and_nothing_appears_beside_it(
    put: Put, write: Callable[..., object], isolated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's path is short
    put(Path("it"))
    before = os.lstat("it")
    with pytest.raises(IndexUnusableError):
        write(load_settings(Environment({}, isolated), tmp_path, "it"))
    assert os.listdir() == ["it"]  # noqa: PTH208 - names alone
    assert os.lstat("it") == before


def test_an_ingest_puts_no_lock_beside_a_text(isolated: Path, tmp_path: Path) -> None:
    _text(tmp_path / "it")
    with pytest.raises(IndexUnusableError, match="rebuild"):
        ingest(load_settings(Environment({}, isolated), tmp_path, "it"))
    assert [path.name for path in tmp_path.iterdir()] == ["it"]
