"""The real sessions of pi through the index, each figure made a second way from the raw JSON."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from index.ingest import ingest
from index.settings import Settings
from index.verify import verify
from tests.builders import HomeBuilder
from tests.index.conftest import rows

pytestmark = pytest.mark.usefixtures("quick_schema")


@pytest.fixture
def sessions(shared: Path) -> Path:
    folder = shared / "real" / "home" / ".pi"
    if not folder.is_dir():
        pytest.skip("the real files are not here")
    return folder


@pytest.fixture
def places(sessions: Path, home: HomeBuilder, tmp_path: Path) -> Settings:
    shutil.copytree(sessions, home.home / ".pi")
    places = home.settings(tmp_path / "i" / "index.sqlite")
    ingest(places)
    return places


def messages(sessions: Path) -> Iterator[dict[str, Any]]:
    for path in sessions.rglob("*.jsonl"):
        for line in path.read_bytes().splitlines():
            record = json.loads(line)
            if record["type"] == "message":
                yield record["message"]


def test_files_sessions_prompts_tools_tokens_and_cost(sessions: Path, places: Settings) -> None:
    said = list(messages(sessions))
    roles = [message["role"] for message in said]
    answers = [message for message in said if message["role"] == "assistant"]
    calls = sum(block["type"] == "toolCall" for message in answers for block in message["content"])
    errors = sum(message.get("isError") is True for message in said)
    used = [message["usage"] for message in answers if any(message["usage"][key] for key in ("input", "cacheWrite"))]
    assert rows(places, "SELECT status, count(*) FROM sources GROUP BY 1") == [("indexed", 2)]
    assert rows(places, "SELECT count(*), sum(turns) FROM sessions") == [(2, roles.count("user"))]
    assert rows(places, "SELECT count(*) FROM prompts") == [(roles.count("user"),)] == [(143,)]
    assert rows(places, "SELECT kind, count(*) FROM tool_calls GROUP BY 1 ORDER BY 1") == [
        ("agent", calls), ("user", roles.count("bashExecution")),
    ]  # fmt: skip
    assert rows(places, "SELECT count(*) FROM tool_errors") == [(errors,)] == [(31,)]
    ((count, given, output, read, written, cost),) = rows(
        places,
        "SELECT count(*), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), sum(cache_write_tokens), "
        "sum(cost_usd) FROM llm_calls",
    )
    assert count == len(used)
    assert [given, output, read, written] == [
        sum(usage[key] for usage in used) for key in ("input", "output", "cacheRead", "cacheWrite")
    ]
    assert cost == pytest.approx(sum(usage["cost"]["total"] for usage in used))
    assert cost == pytest.approx(72.926105, abs=1e-5)
    assert verify(places).differences == ()
