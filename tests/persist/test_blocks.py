"""Memory blocks: parsing, order, and how a name finds one."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest

from persist.errors import StoreIOError
from persist.memory.archive import list_archived, list_versions
from persist.memory.blocks import (
    MAX_BLOCK_BYTES,
    find_block,
    list_blocks,
    newest_first,
    parse_note,
    read_block,
)


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    folder.mkdir()
    return folder


def put(folder: Path, name: str, *header: str, body: str = "Body.") -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(["---", *header, "---", "", body, ""]), encoding="utf-8")
    return path


def test_the_sample_blocks_newest_first(data: Path) -> None:
    folder = data / "aster" / "memory"
    expected = json.loads((data / "aster" / "expected.json").read_text(encoding="utf-8"))["memory"]
    blocks = newest_first(list_blocks(folder))
    assert [
        {
            "name": block.note.name,
            "description": block.note.description,
            "file": block.path.name,
            "body": block.note.body,
        }
        for block in blocks
    ] == expected["blocks_newest_first"]
    assert [block.problem for block in blocks] == [None] * 6


def test_the_sample_block_in_full(data: Path) -> None:
    block = read_block(data / "aster" / "memory" / "beleg-numbering.md")
    assert block.note.source_session == "01m32j3he024b2zft51ksjccbw"
    assert block.note.created_at == "2026-09-21T18:31:40.118Z"
    assert block.note.updated_at == "2026-09-28T11:20:05.700Z"
    assert block.size_bytes == block.path.stat().st_size


def test_archived_blocks_are_listed_apart(data: Path) -> None:
    folder = data / "aster" / "memory"
    assert [block.note.name for block in list_archived(folder)] == ["old-deploy-host"]
    both = list_blocks(folder, include_archived=True)
    assert [block.note.name for block in both if block.note.archived] == ["old-deploy-host"]
    assert len(both) == 7


def test_b86_every_block_is_listed_once_and_no_byte_changes(data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    shutil.copytree(data / "faults" / "B86" / "memory", folder)
    before = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    blocks = list_blocks(folder)
    words = {"finch", "robin", "wren", "tern", "rail", "crake", "snipe", "knot", "dunlin", "godwit"}
    words |= {"curlew", "avocet", "stilt", "dotterel"}
    assert sorted(block.note.body.split()[-1] for block in blocks) == sorted(words)
    named_otherwise = {block.path.stem: block.note.name for block in blocks if block.note.name != block.path.stem}
    assert named_otherwise == {"dup": "dup-two"}
    assert [block.path.name for block in blocks if block.problem] == ["list.md"]
    assert {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()} == before


@pytest.mark.parametrize("name", ["2026-01-02", "no", "1.10", "0x1F", "null", "12:30"])
def test_b87_names_are_what_was_written_and_find_their_block(memory: Path, name: str) -> None:
    put(memory, "some-file.md", f"name: {name}", "tags: [no, 1.10]", body="this one")
    put(memory, "other.md", "name: other")
    found = find_block(memory, name)
    assert found is not None
    assert (found.note.name, found.note.body) == (name, "this one")
    assert json.loads(json.dumps(found.note.name)) == name


@pytest.mark.parametrize("line", ["name:", "name: ~", 'name: ""', "name: []", "kind: fact"])
def test_b87_without_a_name_the_file_gives_it(line: str) -> None:
    assert parse_note("/m/by-file.md", f"---\n{line}\n---\nBody".encode()).name == "by-file"


def test_24_a_file_without_a_header_is_listed_by_its_stem_without_source_or_dates(memory: Path) -> None:
    (memory / "by-hand.md").write_text("Only words.\n", encoding="utf-8")
    (block,) = list_blocks(memory)
    note = block.note
    assert (note.name, note.body.strip(), note.description, note.title) == ("by-hand", "Only words.", "", None)
    assert (note.source_session, note.created_at, note.updated_at) == (None, None, None)


def test_all_fields() -> None:
    data = b"""---
name: a
description: d
kind: decision
project: /home/ann/app
source_session: s1
created_at: 2026-01-02
updated_at: 2026-01-02T03:04:05+01:00
aliases: [uv, "pip, poetry", uv]
superseded_by: b
pinned: yes
title:  What   was typed
---
Body
"""
    note = parse_note("/m/a.md", data, archived=True)
    assert note._asdict() == {
        "name": "a",
        "body": "Body",
        "description": "d",
        "kind": "decision",
        "project": "/home/ann/app",
        "source_session": "s1",
        "created_at": "2026-01-02T00:00:00.000Z",
        "updated_at": "2026-01-02T02:04:05.000Z",
        "aliases": ("uv", "pip, poetry"),
        "archived": True,
        "superseded_by": "b",
        "pinned": True,
        "title": "What was typed",
    }


@pytest.mark.parametrize("text", ["", "~", "null"])
def test_an_empty_setting_is_none(text: str) -> None:
    note = parse_note("/m/a.md", f"---\nname: a\nsuperseded_by: {text}\npinned: {text}\n---\n".encode())
    assert (note.superseded_by, note.pinned) == (None, False)


def test_bad_dates_are_absent() -> None:
    note = parse_note("/m/a.md", b"---\nname: a\ncreated_at: yesterday\nupdated_at: [2026]\n---\n")
    assert (note.created_at, note.updated_at) == (None, None)


def test_bytes_that_are_not_utf8_hide_nothing_else(memory: Path) -> None:
    (memory / "latin.md").write_bytes(b"---\nname: latin\n---\n\ncaf\xe9 closed\n")
    block = list_blocks(memory)[0]
    assert (block.note.name, block.note.body) == ("latin", "caf\ufffd closed")
    assert block.problem is not None
    assert "byte 24" in block.problem


def test_a_name_on_disk_that_is_not_utf8_can_be_stored(memory: Path) -> None:
    (memory / os.fsdecode(b"caf\xe9.md")).write_text("Body", encoding="utf-8")
    assert list_blocks(memory)[0].note.name == "caf\ufffd"


def test_what_is_not_a_readable_file_is_a_block_with_a_problem(memory: Path) -> None:
    (memory / "folder.md").mkdir()
    (memory / "gone.md").symlink_to(memory / "nowhere")
    os.mkfifo(memory / "pipe.md")
    put(memory, "good.md", "name: good")
    blocks = {block.note.name: block.problem for block in list_blocks(memory)}
    assert blocks["good"] is None
    assert blocks["folder"] == blocks["pipe"] == "is not a file"
    assert blocks["gone"] == "cannot be read: No such file or directory"


def test_a_block_over_the_limit_is_cut_and_says_so(memory: Path) -> None:
    (memory / "big.md").write_bytes(b"x" * (MAX_BLOCK_BYTES + 5))
    block = list_blocks(memory)[0]
    assert (len(block.note.body), block.size_bytes) == (MAX_BLOCK_BYTES, MAX_BLOCK_BYTES + 5)
    assert block.problem is not None


def test_only_markdown_directly_in_the_folder_is_a_block(memory: Path) -> None:
    for name in ("ASTER.md", "journal.jsonl", ".lock", ".md", "notes.txt"):
        (memory / name).write_text("x", encoding="utf-8")
    put(memory / "sub", "deep.md", "name: deep")
    put(memory, "aster.md", "name: lower")
    assert [block.note.name for block in list_blocks(memory)] == ["lower"]


def test_a_missing_folder_has_no_blocks_and_a_file_in_its_place_is_an_error(tmp_path: Path) -> None:
    assert list_blocks(tmp_path / "none") == []
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(StoreIOError):
        list_blocks(tmp_path / "file")


def test_newest_first_counts_nanoseconds_then_names(memory: Path) -> None:
    put(memory, "a.md", "name: a", "updated_at: 2026-09-05T09:00:00.000000001+00:00")
    put(memory, "b.md", "name: b", "updated_at: 2026-09-05T09:00:00.000000002+00:00")
    put(memory, "c.md", "name: c", "created_at: 2026-09-05T11:00:00.000000003+02:00")
    put(memory, "d.md", "name: d", "created_at: 2026-09-05T09:00:00.000000001Z")
    put(memory, "undated.md", "name: B undated")
    put(memory, "undated-2.md", "name: a undated")
    names = [block.note.name for block in newest_first(list_blocks(memory))]
    assert names == ["c", "b", "a", "d", "B undated", "a undated"]


def test_a_later_edit_by_hand_does_not_make_a_block_new(memory: Path) -> None:
    put(memory, "old.md", "name: old", "updated_at: 2020-01-01T00:00:00Z")
    put(memory, "new.md", "name: new", "updated_at: 2026-01-01T00:00:00Z")
    os.utime(memory / "new.md", (0, 0))
    assert [block.note.name for block in newest_first(list_blocks(memory))] == ["new", "old"]


@pytest.mark.parametrize(
    ("asked", "file"),
    [
        ("Deploy window", "deploy-window.md"),
        ("DEPLOY_WINDOW!", "deploy-window.md"),
        ("database NAMING", "by-hand.md"),
        ("Database--naming", "by-hand.md"),
        ("Größe", "sizes.md"),
        ("日本", "japan.md"),
    ],
)
def test_find(memory: Path, asked: str, file: str) -> None:
    put(memory, "deploy-window.md", "name: deploy-window")
    put(memory, "by-hand.md", "name: Database naming")
    put(memory, "sizes.md", "name: größe")
    put(memory, "japan.md", "name: 日本")
    found = find_block(memory, asked)
    assert found is not None
    assert found.path.name == file


@pytest.mark.parametrize("asked", ["???", "!", "", "日", "other", "old"])
def test_find_nothing(memory: Path, asked: str) -> None:
    put(memory, "japan.md", "name: 日本")
    put(memory / ".archive", "old.md", "name: old")
    assert find_block(memory, asked) is None


def test_the_file_of_the_slug_comes_before_a_name_that_fits(memory: Path) -> None:
    put(memory, "build.md", "name: something else", body="file")
    put(memory, "x.md", "name: build", body="name")
    found = find_block(memory, "Build")
    assert found is not None
    assert found.note.body == "file"


def test_the_project_file_is_never_a_block(memory: Path) -> None:
    (memory / "ASTER.md").write_text("# Project memory\n", encoding="utf-8")
    assert find_block(memory, "Aster") is None


def test_a_name_longer_than_a_file_name_is_not_found(memory: Path) -> None:
    assert find_block(memory, "x" * 300) is None


def test_older_versions_newest_first(memory: Path) -> None:
    archive = memory / ".archive"
    put(archive, "a.md", "name: a")
    put(archive, "a@01M32J3HE024B2ZFT51KSJCCBW.md", "name: a", body="older")
    put(archive, "a@01m3gcw7w0bt3de2jg7ptjq2zj.md", "name: a", body="younger")
    put(archive, "b@01m3gcw7w0bt3de2jg7ptjq2zj.md", "name: b")
    put(archive, "a@not-a-version.md", "name: odd")
    versions = list_versions(memory, "a")
    assert [version.ulid for version in versions] == ["01m3gcw7w0bt3de2jg7ptjq2zj", "01M32J3HE024B2ZFT51KSJCCBW"]
    assert [version.made_at for version in versions] == ["2026-09-27T03:00:00.000Z", "2026-09-21T18:02:00.000Z"]
    assert len(list_versions(memory)) == 3
    assert [block.note.name for block in list_archived(memory)] == ["a", "odd"]
    assert [block.note.name for block in list_blocks(memory, include_archived=True)] == ["a", "odd"]
