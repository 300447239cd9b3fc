"""After any history of writing, forking, retitling and removing, pi's and omp's rows are those of a rebuild."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from index.ingest import ingest
from tests.builders import HomeBuilder, at, lines
from tests.index.conftest import dump_of, rebuilt_dump, rows

pytestmark = pytest.mark.usefixtures("quick_schema")

WORDS = ("yes", "graft the pear", "water it", "no")
Record = dict[str, Any]


class Orchard:
    """Sessions of both agents in one home, changed as the agents change them."""

    def __init__(self, home: Path, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311
        self.home = home
        self.number = 0

    def files(self) -> list[Path]:
        return sorted(self.home.glob(".*/agent/sessions/**/*.jsonl"))

    def step(self) -> str:
        """Change something; return what was done."""
        files = self.files()
        name = self.random.choice(["add", "append", "append", "fork", "retitle", "grow_retitled", "delete", "convert"])
        if not files or name == "add":
            self.add()
            return "add"
        getattr(self, name)(self.random.choice(files))
        return name

    def add(self) -> None:
        agent = self.random.choice([".pi", ".omp"])
        self.number += 1
        session_id = f"s{self.number}"
        header: Record = {"type": "session", "id": session_id, "timestamp": at(self.number), "cwd": "/w"}
        name = f"2026-05-04T08-00-00-{self.number:03}Z_{session_id}"
        beside = [path for path in self.files() if agent in str(path)]
        folder = self.home / agent / "agent" / "sessions" / self.random.choice(["-a", "-b"])
        if agent == ".omp" and beside and self.random.random() < 0.3:
            folder, name = self.random.choice(beside).with_suffix(""), f"Scout{self.number}"
        folder.mkdir(parents=True, exist_ok=True)
        slot = self.slot() if agent == ".omp" else b""
        (folder / f"{name}.jsonl").write_bytes(slot + lines(header, *self.talk()))

    def slot(self) -> bytes:
        title, by = self.random.choice(["", *WORDS]), self.random.choice(["auto", "user"])
        line = {"type": "title", "title": title, "source": by, "updatedAt": at(self.random.randrange(60)), "pad": ""}
        return json.dumps({**line, "pad": " " * (255 - len(json.dumps(line)))}).encode() + b"\n"

    def talk(self) -> list[Record]:
        made: list[Record] = []
        for _ in range(self.random.randrange(4)):
            self.number += 1
            entry: Record = {"type": "message", "timestamp": at(self.random.randrange(90))}
            if self.random.random() < 0.7:
                entry["id"] = f"e{self.random.randrange(400)}"
            tokens = self.random.randrange(9)
            said = self.random.choice(WORDS)
            entry["message"] = {"role": "user", "content": said} if self.random.random() < 0.5 else {
                "role": "assistant", "content": [{"type": "text", "text": said}], "model": "m",
                "usage": {"input": tokens, "output": tokens}, "responseId": self.random.choice([None, "r1", "r2"]),
            }  # fmt: skip
            made.append(entry)
        if self.random.random() < 0.2:
            made.append({"type": "session_info", "id": f"n{self.number}", "timestamp": at(9), "name": said_twice(made)})
        return made

    def append(self, path: Path) -> None:
        with path.open("ab") as file:
            file.write(lines(*self.talk()))

    def fork(self, path: Path) -> None:
        self.number += 1
        copied = path.read_bytes().splitlines(keepends=True)
        at_header = next((number for number, line in enumerate(copied) if b'"session",' in line), 0)
        header = {"type": "session", "id": f"s{self.number}", "timestamp": at(self.number), "cwd": "/v",
                  "parentSession": self.random.choice([str(path), "s1"])}  # fmt: skip
        kept = [line for line in copied[at_header + 1 :] if self.random.random() < 0.8]
        target = path.with_name(f"2026-05-04T09-00-00-{self.number:03}Z_s{self.number}.jsonl")
        target.write_bytes(b"".join([*copied[:at_header], lines(header), *kept]))

    def retitle(self, path: Path) -> None:
        if path.read_bytes().startswith(b'{"type": "title"'):
            with path.open("r+b") as file:
                file.write(self.slot())

    def grow_retitled(self, path: Path) -> None:
        self.retitle(path)
        self.append(path)

    def delete(self, path: Path) -> None:
        path.unlink()

    def convert(self, path: Path) -> None:
        """Give ids to entries that have none, as a later pi does."""
        records = [json.loads(line) for line in path.read_bytes().splitlines()]
        path.write_bytes(lines(*({"id": f"c{number}", **record} for number, record in enumerate(records))))


def said_twice(made: list[Record]) -> str:
    return f"{len(made)} {WORDS[len(made) % 4]}"


@pytest.mark.parametrize("seed", range(6))
def test_after_each_step_the_dump_is_that_of_a_rebuild(seed: int, home: HomeBuilder, tmp_path: Path) -> None:
    orchard = Orchard(home.home, seed)
    places = home.settings(tmp_path / "i" / "index.sqlite")
    done: list[str] = []
    for _ in range(25):
        done.append(orchard.step())
        ingest(places, prune=True)
        assert dump_of(places.index_path) == rebuilt_dump(places), done
    assert {"add", "append", "fork"} <= set(done)
    assert rows(places, "SELECT count(*) > 0 FROM events")[0][0] == 1
