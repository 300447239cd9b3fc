"""What a model passes to a memory tool: a value of another type is refused in a sentence, and nothing is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from persist.errors import RefusedError
from persist.memory import MemoryStore

OTHER_TYPES: list[tuple[str, dict[str, Any], str]] = [
    ("remember", {"note": 5}, "note is no text; give it as a string"),
    ("remember", {"note": None}, "note is no text; give it as a string"),
    ("remember", {"note": "n", "title": ["t"]}, "title is no text; give it as a string"),
    ("remember", {"note": "n", "title": "t", "kind": 5}, "kind is no text; give it as a string"),
    ("remember", {"note": "n", "title": "t", "description": {}}, "description is no text; give it as a string"),
    ("remember", {"note": "n", "title": "t", "supersedes": True}, "supersedes is no text; give it as a string"),
    ("remember", {"note": "n", "title": "t", "aliases": "uv"}, "aliases are no list of texts; give them as a list"),
    (
        "remember",
        {"note": "n", "title": "t", "aliases": ["uv", 5]},
        "aliases are no list of texts; give them as a list",
    ),
    ("remember", {"note": "n", "title": "t", "aliases": 5}, "aliases are no list of texts; give them as a list"),
    ("recall", {"name": None}, "name is no text; give it as a string"),
    ("forget", {"name": 5}, "name is no text; give it as a string"),
]


@pytest.mark.parametrize(("tool", "given", "said"), OTHER_TYPES, ids=[f"{case[0]} {case[1]}" for case in OTHER_TYPES])
def test_a_value_of_another_type_is_refused(tool: str, given: dict[str, Any], said: str, tmp_path: Path) -> None:
    store = MemoryStore(tmp_path / "memory")
    with pytest.raises(RefusedError) as refused:
        getattr(store, tool)(**given)
    assert str(refused.value) == said
    assert not store.folder.exists()


def test_what_may_be_left_out_may_be_null(tmp_path: Path) -> None:
    store = MemoryStore(tmp_path / "memory")
    given: dict[str, Any] = {"description": None, "kind": None, "aliases": None, "supersedes": None}
    store.remember("A fact.", None, **given)
    store.remember("A block.", "Titled", **given)
    note = store.peek("Titled").note
    assert (note.body.strip(), note.aliases, note.kind) == ("A block.", (), None)
