"""Where pi's and omp's files are looked for, and what lies in the way."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from persist.agents.pi import agent as pi
from persist.agents.pi import omp
from persist.sources import Agent, Environment, Found, Root

SESSION = "2026-05-04T08-00-00-000Z_44444444-aaaa-4aaa-8aaa-000000000004"
BOTH = pytest.mark.parametrize("agent", [pi.AGENT, omp.AGENT], ids=lambda agent: agent.name)


def put(path: Path, text: str = "{}\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def look(root: Path, agent: Agent = pi.AGENT) -> Found:
    return agent.discover(Root(agent.name, root))


def sources(found: Found) -> list[tuple[str, str]]:
    return [(os.path.relpath(s.path, found.root.path), s.path_tells) for s in found.sources]


def troubles(found: Found) -> list[tuple[str, str]]:
    return [(os.path.relpath(t.path, found.root.path), t.kind) for t in found.troubles]


def located(home: Path, agent: Agent = pi.AGENT, **variables: str) -> list[str]:
    return [str(root.path) for root in agent.locate(Environment(variables, home))]


class TestLocatePi:
    def test_the_default_is_there_even_if_it_is_missing(self, tmp_path: Path) -> None:
        assert located(tmp_path) == [f"{tmp_path}/.pi/agent/sessions"]

    def test_b02_a_variable_alone_counts_if_it_is_set(self, tmp_path: Path) -> None:
        assert located(tmp_path, PI_CODING_AGENT_DIR=f"{tmp_path}/x/../a/") == [f"{tmp_path}/a/sessions"]
        assert located(tmp_path, PI_CODING_AGENT_DIR="~/a") == [f"{tmp_path}/a/sessions"]
        assert located(tmp_path, PI_CODING_AGENT_DIR="/a", PI_CODING_AGENT_SESSION_DIR="/b") == ["/b"]

    @pytest.mark.parametrize("value", ["", "  "])
    def test_an_empty_variable_is_not_set(self, tmp_path: Path, value: str) -> None:
        found = located(tmp_path, PI_CODING_AGENT_DIR=value, PI_CODING_AGENT_SESSION_DIR=value)
        assert found == [f"{tmp_path}/.pi/agent/sessions"]


class TestLocateOmp:
    def test_the_default_is_there_even_if_it_is_missing(self, tmp_path: Path) -> None:
        assert located(tmp_path, omp.AGENT) == [f"{tmp_path}/.omp/agent/sessions"]
        assert located(tmp_path, omp.AGENT, PI_CONFIG_DIR=".mine") == [f"{tmp_path}/.mine/agent/sessions"]

    def test_profiles_and_xdg_places_count_where_they_exist(self, tmp_path: Path) -> None:
        for name in (".omp/profiles/work/agent/sessions", ".omp/profiles/empty", "data/omp/sessions",
                     "data/omp/profiles/play/sessions", ".local/share/omp/sessions"):  # fmt: skip
            (tmp_path / name).mkdir(parents=True)
        here = f"{tmp_path}/.omp/agent/sessions"
        work = f"{tmp_path}/.omp/profiles/work/agent/sessions"
        assert located(tmp_path, omp.AGENT) == [here, work, f"{tmp_path}/.local/share/omp/sessions"]
        assert located(tmp_path, omp.AGENT, XDG_DATA_HOME=f"{tmp_path}/data") == [
            here, work, f"{tmp_path}/data/omp/sessions", f"{tmp_path}/data/omp/profiles/play/sessions",
        ]  # fmt: skip

    def test_one_folder_in_two_spellings_counts_once(self, tmp_path: Path) -> None:
        (tmp_path / ".omp" / "agent" / "sessions").mkdir(parents=True)
        (tmp_path / ".local" / "share").mkdir(parents=True)
        (tmp_path / ".local" / "share" / "omp").symlink_to(tmp_path / ".omp" / "agent")
        assert located(tmp_path, omp.AGENT) == [f"{tmp_path}/.omp/agent/sessions"]

    def test_the_shared_variable_belongs_to_one_of_the_two(self, tmp_path: Path) -> None:
        profile = f"{tmp_path}/.omp/profiles/work/agent"
        Path(f"{profile}/sessions").mkdir(parents=True)
        assert located(tmp_path, pi.AGENT, PI_CODING_AGENT_DIR=profile) == [f"{tmp_path}/.pi/agent/sessions"]
        assert f"{profile}/sessions" in located(tmp_path, omp.AGENT, PI_CODING_AGENT_DIR=profile)
        other = tmp_path / "elsewhere"
        (other / "sessions").mkdir(parents=True)
        assert located(tmp_path, pi.AGENT, PI_CODING_AGENT_DIR=str(other)) == [f"{other}/sessions"]
        assert f"{other}/sessions" not in located(tmp_path, omp.AGENT, PI_CODING_AGENT_DIR=str(other))


class TestDiscover:
    @BOTH
    def test_transcripts_of_projects_in_path_order(self, tmp_path: Path, agent: Agent) -> None:
        for name in ("sessions/--w-b--/2_b.jsonl", "sessions/--w-a--/1_a.jsonl", "sessions/0_flat.jsonl",
                     "sessions/--w-é--/3_c.jsonl", "settings.json", "run-history.jsonl"):  # fmt: skip
            put(tmp_path / name)
        expected = [
            ("--w-a--/1_a.jsonl", ""),
            ("--w-b--/2_b.jsonl", ""),
            ("--w-é--/3_c.jsonl", ""),
            ("0_flat.jsonl", ""),
        ]
        assert sources(look(tmp_path / "sessions", agent)) == expected
        found = look(tmp_path, agent)
        assert [(name.removeprefix("sessions/"), parent) for name, parent in sources(found)] == expected
        assert found.troubles == ()
        assert found.sources[0].stat.size_bytes == 3

    @BOTH
    def test_what_is_not_there_is_said(self, tmp_path: Path, agent: Agent) -> None:
        assert not look(tmp_path / "sessions", agent).exists
        assert not look(put(tmp_path / "file"), agent).exists

    def test_sub_agents_of_omp_lie_in_the_folder_of_their_session(self, tmp_path: Path) -> None:
        for name in (f"{SESSION}.jsonl", f"{SESSION}/Scout.jsonl", f"{SESSION}/Scout.md", f"{SESSION}/0.bash.log",
                     f"{SESSION}/Scout/deep/Helper.jsonl"):  # fmt: skip
            put(tmp_path / "-w" / name)
        put(tmp_path / SESSION / "Lone.jsonl")  # beside a transcript in a folder that --session-dir named
        own = SESSION.partition("_")[2]
        assert sources(look(tmp_path, omp.AGENT)) == [
            (f"-w/{SESSION}.jsonl", ""),
            (f"-w/{SESSION}/Scout.jsonl", own),
            (f"-w/{SESSION}/Scout/deep/Helper.jsonl", own),
            (f"{SESSION}/Lone.jsonl", own),
        ]

    def test_b10_other_files_of_that_kind_are_named(self, tmp_path: Path) -> None:
        put(tmp_path / "--w--" / "subagent-artifacts" / "1_worker.jsonl")
        put(tmp_path / "--w--" / SESSION / "run-0" / "session.jsonl")
        found = look(tmp_path)
        assert sources(found) == []
        assert troubles(found) == [
            (f"--w--/{SESSION}/run-0/session.jsonl", "misplaced"),
            ("--w--/subagent-artifacts/1_worker.jsonl", "misplaced"),
        ]

    @BOTH
    def test_b07_compressed_transcripts_are_named(self, tmp_path: Path, agent: Agent) -> None:
        put(tmp_path / "--w--" / "a.jsonl.zst")
        put(tmp_path / "--w--" / "b.jsonl.gz")
        put(tmp_path / "--w--" / "c.jsonl")
        (tmp_path / "--w--" / "d.jsonl").mkdir()
        os.mkfifo(tmp_path / "--w--" / "e.jsonl")
        found = look(tmp_path, agent)
        assert sources(found) == [("--w--/c.jsonl", "")]
        assert troubles(found) == [("--w--/a.jsonl.zst", "compressed"), ("--w--/b.jsonl.gz", "compressed"),
                                   ("--w--/d.jsonl", "not_a_file"), ("--w--/e.jsonl", "not_a_file")]  # fmt: skip

    @BOTH
    def test_b05_links(self, tmp_path: Path, agent: Agent) -> None:
        root = tmp_path / "sessions"
        real = put(root / "--w--" / "1_a.jsonl").parent
        put(tmp_path / "outside" / "2_b.jsonl")
        (root / "again").symlink_to(real)
        (root / "far").symlink_to(tmp_path / "outside")
        (root / "gone").symlink_to(tmp_path / "nowhere")
        (root / "--w--" / "up").symlink_to(root)
        (root / "--w--" / "self.jsonl").symlink_to(root / "--w--" / "self.jsonl")
        (root / "--w--" / "3_c.jsonl").symlink_to(tmp_path / "outside" / "2_b.jsonl")
        began = time.monotonic()
        found = look(root, agent)
        assert time.monotonic() - began < 2
        assert sources(found) == [("--w--/1_a.jsonl", ""), ("far/2_b.jsonl", "")]
        assert troubles(found) == [("--w--/self.jsonl", "loop"), ("--w--/up", "loop"), ("gone", "dangling")]

    def test_depth_is_bounded(self, tmp_path: Path) -> None:
        deep = tmp_path / "-w" / SESSION / Path(*"abcdefghij")
        put(deep / "Late.jsonl")
        put(tmp_path / "-w" / SESSION / "a" / "Early.jsonl")
        assert [name for name, _ in sources(look(tmp_path, omp.AGENT))] == [f"-w/{SESSION}/a/Early.jsonl"]
