"""When a session began: its header's time, else the earliest of its records, whatever their order in the file."""

from __future__ import annotations

from index.ingest import ingest
from index.sessions import list_sessions
from tests import builders as make
from tests.builders import HomeBuilder


def test_a_session_began_with_its_earliest_record_even_when_the_file_is_out_of_order(home: HomeBuilder) -> None:
    home.claude("c", make.claude_prompt("later", "c", "u1", 30), make.claude_prompt("earlier", "c", "u2", 10))
    settings = home.settings()
    from_files = list_sessions(settings)[1][0]
    ingest(settings)
    from_index = list_sessions(settings)[1][0]
    assert from_index.created_at == make.at(10)
    assert from_files.created_at == from_index.created_at
    assert from_index.updated_at == make.at(30)
