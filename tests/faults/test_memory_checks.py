"""Public faults of memory at the command line: frontmatter, encodings, names, and files that must not change."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

from tests.conftest import Asx

HAND_MADE: Final = (
    b"---\r\n# kept by hand, do not sort\r\nzeta: 1.10\r\nname:   Database naming\r\ntags: [no, 'x']\r\n"
    b"description: \"tables: singular\"\r\n\r\nreviewed: 2026-01-02 # by Ann\r\n---\r\n\r\nTables are singular."
)  # fmt: skip
ASCII: Final = {
    "LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONWARNDEFAULTENCODING": "1",
}  # fmt: skip
WORDS: Final = (
    *("finch", "robin", "wren", "tern", "rail", "crake", "snipe", "knot", "dunlin", "godwit", "curlew", "avocet"),
    *("stilt", "dotterel"),
)


@pytest.fixture
def memory(isolated: Path) -> Path:
    return isolated / ".local" / "share" / "aster" / "memory"


def hashes(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.md")}


def test_b86_odd_blocks_are_found_and_every_writing_command_works_beside_them(
    data: Path, memory: Path, asx: Asx
) -> None:
    shutil.copytree(data / "faults" / "B86" / "memory", memory)
    before = hashes(memory)
    assert asx("ingest", "--quiet").code == 0
    for word in WORDS:
        assert asx("search", "--in", "memory", "--count", word).stdout.strip().split()[0] == "1", word
    assert asx("memory", "list").code == 0
    listed = asx("memory", "list", "--json").json()["blocks"]
    assert len(listed) == 14
    assert {one["name"]: one["description"] for one in listed}["good-two"] == "quoted: with colon"
    assert asx("remember", "--title", "Birds", "--alias", "x", "A fifteenth.").code == 0
    assert asx("remember", "a fact").code == 0
    assert {name: sha for name, sha in hashes(memory).items() if name in before} == before
    assert not Path("pwned").exists()


def test_b86_an_odd_block_is_superseded_archived_and_comes_back_as_it_was(data: Path, memory: Path, asx: Asx) -> None:
    shutil.copytree(data / "faults" / "B86" / "memory", memory)
    before = hashes(memory)
    for path in sorted(memory.glob("*.md")):
        name = path.stem
        body = asx("memory", "show", name, "--json").json()["body"]
        assert asx("remember", "--title", "Successor", "--supersedes", name, "It is better.").code == 0, name
        told = asx("memory", "show", name, "--json").json()
        assert (told["superseded_by"], told["body"].split()[-1]) == ("successor", body.split()[-1])
        assert asx("memory", "restore", name).code == 0
    assert {name: sha for name, sha in hashes(memory).items() if name in before} == before


@pytest.mark.parametrize("name", ["2026-01-02", "no", "1.10", "0x1F", "null", "12:30", "~", "[a]", "{b}", "*c"])
def test_b87_a_title_is_the_text_that_was_typed(name: str, memory: Path, asx: Asx) -> None:
    assert asx("remember", "--title", name, "--description", name, "the body").code == 0
    listed = asx("memory", "list", "--json").json()["blocks"]
    assert [(one["title"] or one["name"], one["description"]) for one in listed] == [(name, name)]
    assert asx("memory", "show", name).stdout == "the body\n"
    assert asx("forget", name).code == 0
    assert asx("memory", "restore", name).code == 0
    assert asx("memory", "show", name).stdout == "the body\n"


def test_a_block_is_found_by_the_title_that_was_typed(memory: Path, asx: Asx) -> None:
    assert (
        asx("remember", "--title", "Größe der Fächer", "--description", "about shelves", "Forty by thirty.").code == 0
    )
    assert asx("ingest", "--quiet").code == 0
    (path,) = memory.glob("*.md")
    for words in (("Fächer",), ("--words", "größe"), ("--regex", "^Größe .*r$")):
        hit = asx("search", "--in", "memory", "--json", *words).json()["hits"][0]
        assert (hit["name"], hit["source"]["path"], hit["count"]) == (path.stem, str(path), 1)
        start, end = hit["spans"][0]
        assert hit["text"].encode()[start:end].decode() in "Größe der Fächer"
    (row,) = asx("query", "--json", "SELECT name, title, description, body FROM memory_blocks").json()["rows"]
    assert row == [path.stem, "Größe der Fächer", "about shelves", "Forty by thirty."]
    assert asx("remember", "--title", "größe der fächer", "Fifty by thirty.").code == 0
    assert asx("search", "--in", "memory", "--json", "Fächer").json()["total"] == 1
    assert asx("verify").code == 0


READING_AND_WRITING_BESIDE: Final = (
    ["ingest", "--quiet"], ["search", "--in", "memory", "Tables"], ["memory", "list"],
    ["memory", "show", "Database naming"], ["recall", "database-naming"], ["remember", "a fact"],
    ["remember", "--title", "Other", "another block"], ["remember", "--title", "Other", "another text"],
    ["memory", "archive", "other"], ["memory", "restore", "other"], ["forget", "other"], ["memory", "log"],
    ["memory", "context"], ["memory", "tools"], ["rebuild", "--quiet"], ["verify"],
    ["show", "--block", "Database naming"], ["query", "SELECT * FROM memory_blocks"], ["ingest", "--check"],
    ["ingest", "--keep"], ["report", "memory-by-block"], ["status"], ["memory", "list", "--archived"],
    ["memory", "add", "--title", "Third", "--pin", "--alias", "x", "one more"], ["memory", "remove", "third"],
)  # fmt: skip


def test_b89_no_command_changes_a_block_that_it_is_not_about(memory: Path, asx: Asx) -> None:
    memory.mkdir(parents=True)
    path = memory / "by-hand.md"
    path.write_bytes(HAND_MADE)
    for words in READING_AND_WRITING_BESIDE:
        assert asx(*words).code == 0, words
        assert path.read_bytes() == HAND_MADE, words


def test_b89_one_field_is_one_line(memory: Path, asx: Asx) -> None:
    memory.mkdir(parents=True)
    path = memory / "by-hand.md"
    path.write_bytes(HAND_MADE)
    assert asx("remember", "--title", "Schema", "--supersedes", "Database naming", "Plural now.").code == 0
    assert path.read_bytes() == HAND_MADE.replace(b"by Ann\r\n", b"by Ann\r\nsuperseded_by: schema\r\n")
    assert asx("memory", "restore", "Database naming").code == 0
    assert path.read_bytes() == HAND_MADE


def test_b91_a_torn_journal_does_not_swallow_the_next_line(memory: Path, asx: Asx) -> None:
    memory.mkdir(parents=True)
    (memory / "journal.jsonl").write_bytes(b'{"ts":"2026-01-01T00:00:00Z","op":"rec')
    assert asx("remember", "a fact").code == 0
    told = asx("memory", "log", "--json")
    assert [entry["op"] for entry in told.json()["entries"]] == ["append_project"]
    assert "1 line cannot be read" in told.stderr


def test_b40_an_ascii_locale_changes_no_letter(memory: Path, asx: Asx) -> None:
    text = "\u011f \u201cquoted\u201d \u6f22"
    told = asx(
        "memory", "add", "--title", text, "--description", text, "--alias", text, "-", stdin=f"{text}\n", env=ASCII
    )
    assert (told.code, told.stderr) == (0, "")
    assert asx("memory", "add", f"fact {text}", env=ASCII).code == 0
    shown = asx("memory", "show", text, "--json", env=ASCII).json()
    assert (shown["title"], shown["description"], shown["aliases"], shown["body"]) == (text, text, [text], text)
    assert f"- fact {text}\n" in (memory / "ASTER.md").read_text(encoding="utf-8")
    assert asx("ingest", "--quiet", env=ASCII).code == 0
    assert asx("search", "--in", "memory", "--json", "\u6f22", env=ASCII).json()["total"] >= 2
    assert asx("memory", "archive", text, env=ASCII).code == 0
    assert asx("memory", "restore", text, env=ASCII).code == 0


NAMES: Final = (
    "../../canary", "/etc/canary", "..", "\U0001f600", "x" * 900, "CANARY", "Cafe\u0301", "a\nb", "con", "ASTER.md",
    "journal.jsonl", ".archive", "\u202eevil\x1b[31m",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES, ids=[ascii(name)[:20] for name in NAMES])
def test_a_name_is_safe_or_refused(name: str, memory: Path, isolated: Path, asx: Asx) -> None:
    canaries = {path: path.read_bytes() for path in _canaries(isolated, memory)}
    told = asx("remember", "--title", name, "--json", "the body")
    assert told.code == 0
    path = Path(told.json()["path"])
    assert path.parent == memory
    assert path.name not in ("ASTER.md", "aster.md", "note.md")
    for words in (["recall", "--no-journal", name], ["memory", "archive", name], ["memory", "restore", name]):
        shown = asx(*words)
        assert shown.code == 0, (words, shown.stderr)
        assert "\x1b" not in shown.stdout + shown.stderr
    again = asx("forget", name)
    assert (again.code, path.exists()) == (0, False)
    assert asx("memory", "restore", name).code == 0
    assert asx("recall", name).stdout == "the body\n"
    assert {path: path.read_bytes() for path in canaries} == canaries
    outside = [path for path in isolated.rglob("*.md") if not path.is_relative_to(memory) and path not in canaries]
    assert outside == []


def _canaries(isolated: Path, memory: Path) -> list[Path]:
    memory.mkdir(parents=True)
    (memory / "ASTER.md").write_text("# Project memory\n\n- canary\n")
    places = [isolated / "canary.md", memory.parent / "canary.md", memory.parent.parent / "canary.md"]
    for place in places:
        place.write_text("canary")
    return [*places, memory / "ASTER.md"]


@pytest.mark.parametrize("words", [["forget"], ["memory", "archive"], ["memory", "restore"]], ids=" ".join)
@pytest.mark.parametrize("name", ["../../canary", "..", "/etc/hostname", "!", "ASTER", "ASTER.md", "journal", ".lock"])
def test_what_is_no_block_is_never_taken_for_one(
    words: list[str], name: str, memory: Path, isolated: Path, asx: Asx
) -> None:
    canaries = {path: path.read_bytes() for path in _canaries(isolated, memory)}
    (memory / "\u65e5.md").write_text("---\nname: \u65e5\n---\n\nJapanese\n")
    told = asx(*words, name, "--json")
    assert (told.code, told.json()["error"]["kind"]) == (1, "not_found")
    assert {path: path.read_bytes() for path in canaries} == canaries
    assert (memory / "\u65e5.md").exists()


def test_the_journal_s_own_words_cannot_lead_elsewhere(memory: Path, isolated: Path, asx: Asx) -> None:
    canary = isolated / "canary.md"
    canary.write_text("canary")
    assert asx("remember", "--title", "T", "one").code == 0
    assert asx("forget", "T").code == 0
    lines: list[dict[str, Any]] = [json.loads(line) for line in (memory / "journal.jsonl").read_text().splitlines()]
    for line in lines:
        line |= {"name": "../../../../../canary", "path": "../../../../../canary.md"}
    (memory / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert asx("memory", "restore", "T").code == 0
    assert canary.read_text() == "canary"
    assert (memory / "t.md").is_file()
