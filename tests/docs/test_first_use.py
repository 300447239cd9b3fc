"""What a newcomer types first, from the README and the pages that it links to, runs and does what its comments say."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests import builders as make
from tests.builders import HomeBuilder
from tests.conftest import REPOSITORY
from tests.docs.with_asx import blocks, run_sh, variables

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
FIRST_SCREEN_LINES = 30


def inline(page: str, ending: str) -> str:
    """Return the shell line in back quotes that ends so."""
    (line,) = re.findall(rf"`(echo [^`]*{re.escape(ending)})`", page)
    return str(line)


def test_the_first_screen_has_a_session_that_runs(tmp_path: Path, isolated: Path) -> None:
    kind, session = blocks("../README.md")[0]
    assert kind == "sh"
    assert README.partition(session)[0].count("\n") + session.count("\n") < FIRST_SCREEN_LINES
    HomeBuilder(isolated).claude("c-1", make.claude_prompt("why is the Connection refused?", "c-1", "u1", 1))
    shown = run_sh(session, tmp_path, variables(tmp_path)).stdout
    assert "why is the Connection refused?" in shown
    assert "\n> Tuesday to Thursday before 15:00 UTC.\n" in shown.partition("<aster-memory>")[2]


def test_the_hook_can_be_tried_by_hand(tmp_path: Path, isolated: Path) -> None:
    env = variables(tmp_path)
    run_sh("asx remember --title 'Deploy window' 'Tuesday to Thursday.'", tmp_path, env)
    told = json.loads(run_sh(inline(README, "asx recall --hook"), tmp_path, env).stdout)
    assert "> Tuesday to Thursday.\n" in told["hookSpecificOutput"]["additionalContext"]


def test_an_alias_ends_a_silence(tmp_path: Path, isolated: Path) -> None:
    (cure,) = [text for kind, text in blocks("recall.md") if kind == "sh"]
    remember, recall = cure.splitlines()
    env = variables(tmp_path)
    run_sh(re.sub(r"--alias \w+ ", "", remember), tmp_path, env)
    assert run_sh(f"{recall} || true", tmp_path, env).stdout == ""
    by_hand = isolated / ".local" / "share" / "aster" / "memory" / "deploy-window.md"
    without = by_hand.read_text(encoding="utf-8")
    by_hand.write_text(without.replace("\ntitle:", "\naliases: [ship]\ntitle:"), encoding="utf-8")
    assert "> Tuesday to Thursday before 15:00 UTC." in run_sh(recall, tmp_path, env).stdout
    by_hand.write_text(without, encoding="utf-8")
    assert "> Tuesday to Thursday before 15:00 UTC." in run_sh(cure, tmp_path, env).stdout


def test_the_least_plan_is_applied(tmp_path: Path, isolated: Path) -> None:
    page = (REPOSITORY / "docs" / "memory.md").read_text(encoding="utf-8")
    told = run_sh(inline(page, "asx memory apply - --yes"), tmp_path, variables(tmp_path))
    assert told.stderr.startswith("applied as ")
    facts = isolated / ".local" / "share" / "aster" / "memory" / "ASTER.md"
    assert "- Deploys leave from the main branch only." in facts.read_text(encoding="utf-8")
