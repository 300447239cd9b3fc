"""The public schema is a contract: changing it takes a change of the golden file and a line in the CHANGELOG.

After a change on purpose: ``UPDATE_GOLDEN=1 pytest tests/packaging/test_public_schema.py``, read the difference, and
write into the newest entry of the CHANGELOG what changed for people, with the digest that the failure names.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from index.creating import create_index
from index.describe import describe
from tests.conftest import REPOSITORY

GOLDEN = REPOSITORY / "tests" / "golden" / "public_schema.json"
CHANGELOG = REPOSITORY / "CHANGELOG.md"


def public_schema(index: Path) -> dict[str, list[str]]:
    """Return the public names as a new index has them: each view with its columns in order, ``name TYPE`` each.

    A column that SQLite has no declared type for has the one that ``asx schema`` tells (another test proves those).
    """
    described = {table.name: {column.name: column.type for column in table.columns} for table in describe().tables}
    with closing(sqlite3.connect(f"file:{index}?mode=ro", uri=True)) as connection:
        views = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'view'")]
        full_text = [table.name for table in describe().tables if table.kind == "fulltext"]
        return {
            name: [
                f"{column} {declared or described.get(name, {}).get(column, '?')}"
                for _, column, declared, *_ in connection.execute(f"PRAGMA table_info({name})")
            ]
            for name in sorted({*views, *full_text})
        }


def digest(text: str) -> str:
    """Return the short number by which the CHANGELOG names a public schema."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def newest_entry() -> str:
    """Return the CHANGELOG's text of the newest version."""
    return re.split(r"^## ", CHANGELOG.read_text(encoding="utf-8"), flags=re.MULTILINE)[1]


def test_the_public_schema_is_the_golden_one(tmp_path: Path) -> None:
    create_index(tmp_path / "index.sqlite")
    text = json.dumps(public_schema(tmp_path / "index.sqlite"), indent=2) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(text, encoding="utf-8")
    golden = GOLDEN.read_text(encoding="utf-8")
    changed = sorted({line.strip() for line in {*text.splitlines()} ^ {*golden.splitlines()}})
    assert text == golden, (
        f"the public schema is another one now ({', '.join(changed) or 'the order'}): write it anew with "
        f"UPDATE_GOLDEN=1, and tell people in the CHANGELOG's newest entry: public schema `{digest(text)}`"
    )


def test_the_changelog_names_the_public_schema() -> None:
    now = digest(GOLDEN.read_text(encoding="utf-8"))
    named = re.findall(r"public schema `([0-9a-f]{12})`", newest_entry())
    assert named == [now], (
        f"the CHANGELOG's newest entry has to name the public schema `{now}` once, and what changed in it for people"
    )


@pytest.mark.parametrize("change", ["order", "type", "name", "view"])
def test_any_change_has_another_digest(change: str) -> None:
    text = GOLDEN.read_text(encoding="utf-8")
    schema = json.loads(text)
    columns = schema["prompts"]
    if change == "order":
        columns[0], columns[1] = columns[1], columns[0]
    elif change == "view":
        schema["renamed"] = schema.pop("prompts")
    else:
        name, _, kind = columns[0].partition(" ")
        columns[0] = f"{name} INTEGER" if change == "type" else f"{name}_ {kind}"
    assert digest(json.dumps(schema, indent=2) + "\n") != digest(text)
