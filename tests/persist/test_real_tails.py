"""The real files, where they are there: reading on from any line gives what one pass gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from persist.agents import AGENTS
from tests.persist.real_home import WHERE_IT_IS, sources_of
from tests.persist.tails import assert_a_cut_changes_nothing, line_ends, read

pytestmark = WHERE_IT_IS


@pytest.mark.parametrize("name", ["claude-code", "codex", "pi"])
def test_reading_on_from_any_line_equals_one_pass(name: str, tmp_path: Path) -> None:
    for source in sources_of(AGENTS[name]):
        content = Path(source.path).read_bytes()
        copy = source._replace(path=str(tmp_path / Path(source.path).name))
        Path(copy.path).write_bytes(content)
        whole, _ = read(AGENTS[name], copy)
        ends = line_ends(content)
        for cut in ends[:: max(1, len(ends) // 8)]:
            assert_a_cut_changes_nothing(AGENTS[name], copy, whole, cut)
