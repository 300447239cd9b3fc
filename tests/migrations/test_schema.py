"""The revisions are the only owner of the schema, in one transaction, and nothing drifts from them.

After a change on purpose: ``UPDATE_GOLDEN=1 pytest tests/migrations/test_schema.py`` and read the difference.
"""

from __future__ import annotations

import importlib
import os
import re
import sqlite3
import stat
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, event
from sqlalchemy.exc import DBAPIError

import migrations
from index import creating
from index.creating import create_index
from index.errors import IndexUnusableError
from index.schema import METADATA, include_name
from persist.errors import StoreIOError
from persist.events import EVENT_TYPES

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "schema.sql"
FIRST = importlib.import_module("migrations.versions.0001_first_generation")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("schema") / "new" / "index.sqlite"
    create_index(path)
    return path


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the tables as the metadata has them."""
    path = tmp_path_factory.mktemp("drawn") / "drawn.sqlite"
    METADATA.create_all(create_engine(f"sqlite:///{path}"))
    return path


def schema_text(path: Path) -> str:
    """Return every CREATE statement of the database, sorted, as the golden file has them."""
    connection = sqlite3.connect(path)
    statements = [sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")]
    connection.close()
    return "".join(f"{sql};\n\n" for sql in sorted(statements))


def differences(path: Path) -> list[Any]:
    """Return what Alembic would change to bring the database to ``METADATA``."""
    with create_engine(f"sqlite:///{path}").connect() as connection:
        options = {"include_name": include_name, "compare_type": True, "compare_server_default": True}
        return list(compare_metadata(MigrationContext.configure(connection, opts=options), METADATA))


def shape(connection: sqlite3.Connection, table: str) -> list[object]:
    """Return columns with types, defaults and keys, indexes with columns and conditions, and strictness."""
    columns = connection.execute(f"PRAGMA table_xinfo({table})").fetchall()
    indexes = []
    for _, name, unique, origin, partial in connection.execute(f"PRAGMA index_list({table})").fetchall():
        parts = connection.execute(f"PRAGMA index_xinfo({name})").fetchall()
        (sql,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,)).fetchone()
        condition = re.sub(r"\s+", " ", sql.partition("WHERE")[2]).replace("!=", "<>") if sql else ""
        indexes.append((name if origin == "c" else origin, unique, partial, [part[1:5] for part in parts], condition))
    strict = connection.execute("SELECT strict, wr FROM pragma_table_list WHERE name = ?", (table,)).fetchall()
    return [columns, sorted(indexes), strict]


def test_the_schema_is_the_golden_one(index: Path) -> None:
    text = schema_text(index)
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_autogenerate_proposes_nothing(index: Path) -> None:
    assert differences(index) == []


def test_autogenerate_would_see_a_lost_index(index: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed.sqlite"
    changed.write_bytes(index.read_bytes())
    connection = sqlite3.connect(changed)
    connection.execute("DROP INDEX usage_rows_place")
    connection.close()
    assert [difference[0] for difference in differences(changed)] == ["add_index"]


@pytest.mark.parametrize("table", sorted(METADATA.tables))
def test_a_table_of_the_metadata_is_the_one_that_is_made(index: Path, drawn: Path, table: str) -> None:
    made, other = sqlite3.connect(index), sqlite3.connect(drawn)
    try:
        assert shape(made, table) == shape(other, table)
    finally:
        made.close()
        other.close()


def test_the_metadata_has_every_ordinary_table(index: Path) -> None:
    connection = sqlite3.connect(index)
    found = {name for (name,) in connection.execute("SELECT name FROM pragma_table_list WHERE type = 'table'")}
    connection.close()
    assert found - {"sqlite_schema", "sqlite_temp_schema", "alembic_version"} == set(METADATA.tables)


def test_one_head_and_unbroken_numbers() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)
    numbers = [script.revision for script in reversed(list(scripts.walk_revisions()))]
    assert scripts.get_heads() == [f"{migrations.GENERATION:04d}"]
    assert numbers == [f"{number:04d}" for number in range(1, migrations.GENERATION + 1)]


def test_event_types_are_those_of_the_parsers() -> None:
    assert [name for _, name in FIRST.EVENT_TYPES] == list(EVENT_TYPES)
    assert [code for code, _ in FIRST.EVENT_TYPES] == list(range(1, len(EVENT_TYPES) + 1))


def test_the_file_says_what_it_is(index: Path) -> None:
    header = index.read_bytes()[:100]
    assert int.from_bytes(header[68:72], "big") == migrations.APPLICATION_ID == 0x41735849
    assert int.from_bytes(header[60:64], "big") == migrations.GENERATION
    assert int.from_bytes(header[16:18], "big") == migrations.PAGE_SIZE_BYTES


def test_file_and_folder_are_private_whatever_the_umask(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        create_index(tmp_path / "a" / "b" / "index.sqlite")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "a" / "b" / "index.sqlite").stat().st_mode) == 0o600
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (tmp_path / "a", tmp_path / "a" / "b")] == [0o700, 0o700]
    assert [file.name for file in (tmp_path / "a" / "b").iterdir()] == ["index.sqlite"]


@pytest.mark.parametrize(
    ("name", "statements"),
    [
        ("VIEWS", ("CREATE VIEW ok AS SELECT 1", "CREATE VIEW ok AS SELECT 2")),
        ("FULL_TEXT", ("CREATE VIRTUAL TABLE broken USING fts5(key, tokenize = 'unheard of')",)),
        ("EVENT_TYPES", ((1, "twice"), (2, "twice"))),
    ],
    ids=["a view", "full text", "the last rows"],
)
def test_a_failure_half_way_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, statements: tuple[object, ...]
) -> None:
    # The revision is read anew at each run: the failing statement is put into a copy of the scripts.
    scripts = tmp_path / "scripts"
    (scripts / "versions").mkdir(parents=True)
    for file in ("env.py", "script.py.mako"):
        (scripts / file).write_bytes((Path(migrations.__file__).parent / file).read_bytes())
    source = Path(str(FIRST.__file__)).read_text(encoding="utf-8")
    broken = source.replace("\ndef upgrade()", f"\n{name} = {statements!r}\n\n\ndef upgrade()")
    assert broken != source
    (scripts / "versions" / "0001_first_generation.py").write_text(broken, encoding="utf-8")
    monkeypatch.setattr(migrations, "_SCRIPTS", scripts)
    folder = tmp_path / "index"
    with pytest.raises(DBAPIError, match=r"ok already exists|unheard|UNIQUE"):
        create_index(folder / "index.sqlite")
    assert list(folder.iterdir()) == []


def test_the_transaction_itself_undoes_the_schema_and_both_numbers(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    engine = create_engine("sqlite://", creator=lambda: sqlite3.connect(path))
    event.listen(engine, "connect", creating._take_over_transactions)
    event.listen(engine, "begin", creating._begin)

    def upgrade_and_stop() -> None:
        with engine.begin() as connection:
            migrations.upgrade(connection)
            assert connection.exec_driver_sql("PRAGMA user_version").scalar_one() == migrations.GENERATION
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        upgrade_and_stop()
    engine.dispose()
    after = sqlite3.connect(path)
    assert after.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    assert after.execute("PRAGMA user_version").fetchone() == (0,)
    assert after.execute("PRAGMA application_id").fetchone() == (0,)
    after.close()


def test_what_exists_already_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    path.write_bytes(b"mine")
    with pytest.raises(StoreIOError) as refused:
        create_index(path)
    assert refused.value.path == path
    assert path.read_bytes() == b"mine"


def test_an_old_sqlite_is_named_in_one_line_and_nothing_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 31, 1))
    with pytest.raises(IndexUnusableError) as refused:
        create_index(tmp_path / "new" / "index.sqlite")
    assert "needs SQLite 3.40.0 or newer, found 3.31.1" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_a_sqlite_without_full_text_is_named_too(tmp_path: Path) -> None:
    without = sqlite3.connect(":memory:")
    without.set_authorizer(
        lambda action, *_: sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_CREATE_VTABLE else sqlite3.SQLITE_OK
    )
    with pytest.raises(IndexUnusableError, match="with FTS5 and its trigram tokenizer, found"):
        creating.require_sqlite(tmp_path / "index.sqlite", without)


def test_the_declared_minimum_is_what_runs_here_or_older() -> None:
    assert sqlite3.sqlite_version_info >= creating.MINIMUM_SQLITE
