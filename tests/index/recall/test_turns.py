"""Past turns: of other sessions, where they help, once each, with what was said around them; else nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from index.errors import NoIndexError
from index.ingest import ingest
from index.recall.turns import TurnsAnswer, recall_turns
from index.settings import Settings
from persist.recall.scope import Place
from tests import builders as make
from tests.builders import HomeBuilder
from tests.conftest import REPOSITORY

AS_OF = "2026-11-30T12:00:00.000Z"
ALPHA = Place("/w/alpha", "/w/alpha")
EVALS = yaml.safe_load((REPOSITORY / "tests" / "evals" / "memory-evals.yaml").read_text(encoding="utf-8"))
CASES = [case for case in EVALS["cases"] if "sessions" in case["expect"]]
TIMEOUT = (
    "the csv export times out for the Hamburg tenant",
    "I changed exportCsv to stream with a cursor and batches.",
)


@pytest.fixture
def settings(home: HomeBuilder, quick_schema: None, tmp_path: Path) -> Settings:
    return home.settings(tmp_path / "cache" / "index.sqlite")


def talk(home: HomeBuilder, name: str, *texts: str, minute: float = 0, **header: Any) -> Path:
    """Write a session in which a person and the agent speak in turn."""
    records = [
        (make.aster_answer if number % 2 else make.aster_prompt)(text, minute + number + 1)
        for number, text in enumerate(texts)
    ]
    return home.aster(name, make.aster_header(name, minute, **header), *records)


def ask(settings: Settings, prompt: str, place: Place = ALPHA, session: str | None = None) -> TurnsAnswer:
    ingest(settings)
    answer = recall_turns(settings, prompt, place, AS_OF, session)
    assert answer == recall_turns(settings, prompt, place, AS_OF, session)
    return answer


def sessions_of(answer: TurnsAnswer) -> list[str]:
    return [hit.session_id for hit in answer.hits]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_evaluation_cases(case: dict[str, Any], home: HomeBuilder, settings: Settings) -> None:
    for session in case["sessions"]:
        texts = [turn.partition(": ")[2] for turn in session["turns"]]
        talk(home, session["id"], *texts, created_at=f"{session['at']}T08:00:00Z", cwd="/repos/kite")
    found = ask(settings, case["prompt"], place=Place("/repos/kite", "/repos/kite"))
    assert sessions_of(found) == case["expect"]["sessions"]


def test_a_hit_comes_with_what_was_said_around_it_and_names_its_place(home: HomeBuilder, settings: Settings) -> None:
    path = talk(home, "01a", "hello there", "Hi.", *TIMEOUT, "good, that fixed it", "Fine.", "bye", "Bye.")
    found = ask(settings, "the CSV export is timing out again, what did we do?")
    (hit,) = found.hits
    assert [said.text for said in hit.texts] == ["hello there", "Hi.", *TIMEOUT, "good, that fixed it"]
    assert hit.texts[hit.at].text == TIMEOUT[0]
    assert [said.role for said in hit.texts] == ["user", "agent", "user", "agent", "user"]
    assert path.read_bytes()[hit.texts[hit.at].offset_bytes :].startswith(b'{"type": "message"')
    assert (hit.texts[0].path, hit.texts[hit.at].line_number) == (str(path), 4)
    assert not hit.is_subagent
    assert {"csv", "export"} <= set(hit.matched)


def test_the_echo_of_the_prompt_is_no_knowledge(home: HomeBuilder, settings: Settings) -> None:
    prompt = "why does the CSV export time out for the Hamburg tenant?"
    talk(home, "01old", *TIMEOUT)
    talk(home, "01echo", prompt, minute=60)
    talk(home, "01running", "hello", "Hi.", f" {prompt.upper()}\n", minute=120)
    found = ask(settings, prompt)
    assert sessions_of(found) == ["01old"]
    assert all(prompt.lower() not in said.text.lower() for hit in found.hits for said in hit.texts)


def test_an_answer_to_the_same_prompt_is(home: HomeBuilder, settings: Settings) -> None:
    prompt = "why does the CSV export time out for the Hamburg tenant?"
    talk(home, "01old", prompt, "The export of that tenant loads every CSV row; a cursor helps.")
    (hit,) = ask(settings, prompt).hits
    assert hit.texts[hit.at].role == "agent"


def test_one_text_in_many_sessions_is_one_hit_and_one_long_session_too(home: HomeBuilder, settings: Settings) -> None:
    for number in range(40):
        talk(home, f"01copy{number:02d}", TIMEOUT[0], minute=number)
    chat = [f"{text} {number}" for number in range(100) for text in ("what about the sidebar", "It is done.")]
    talk(home, "01long", *chat, "does the csv export of the Hamburg tenant stream?", *chat, minute=100)
    talk(home, "01other", "does the Hamburg tenant's csv export keep the header?", "It writes it.", minute=600)
    found = ask(settings, "the csv export times out for the Hamburg tenant again")
    assert len(found.hits) == 3
    assert set(sessions_of(found)) == {"01copy39", "01long", "01other"}
    assert sorted(hit.copies for hit in found.hits) == [0, 0, 39]


def test_the_running_session_and_its_whole_lineage_are_left_out(home: HomeBuilder, settings: Settings) -> None:
    prompt = "the csv export times out, what did we do?"
    for name, keys in (
        ("01top", {}),
        ("01child", {"parent": "01top"}),
        ("01grandchild", {"parent": "01child"}),
        ("01copied", {"imported_from": "aster:01grandchild"}),
        ("01stranger", {}),
    ):
        talk(home, name, f"{TIMEOUT[0]} ({name})", f"{TIMEOUT[1]} ({name})", minute=len(name), **keys)
    ingest(settings)
    assert set(sessions_of(ask(settings, prompt))) >= {"01top", "01stranger"}
    for running in ("01top", "01child", "aster:01grandchild"):
        assert sessions_of(ask(settings, prompt, session=running)) == ["01stranger"]
    everywhere = set(sessions_of(ask(settings, prompt, session="01unknown")))
    assert {"01top", "01child", "01grandchild", "01stranger"} == everywhere


def test_forks_are_lineage_too(home: HomeBuilder, settings: Settings) -> None:
    for name, keys in (("f-1", {}), ("f-2", {"forkedFrom": {"sessionId": "f-1"}})):
        home.claude(
            name,
            make.claude_prompt(f"{TIMEOUT[0]} {name}", name, f"{name}-u", 1, **keys),
            make.claude_answer(f"{TIMEOUT[1]} {name}", name, f"{name}-a", 2),
        )
    place = Place("/w/gamma", "/w/gamma")
    prompt = "the csv export times out, what did we do?"
    assert set(sessions_of(ask(settings, prompt, place=place))) == {"f-1", "f-2"}
    assert sessions_of(ask(settings, prompt, place=place, session="f-1")) == []
    assert sessions_of(ask(settings, prompt, place=place, session="claude-code:f-2")) == []


def test_sub_agents_are_labelled(home: HomeBuilder, settings: Settings) -> None:
    talk(home, "01top", "look into the exports", "I will ask somebody.")
    talk(home, "01sub", "look", TIMEOUT[1] + " The csv export times out no more.", parent="01top")
    found = ask(settings, "the csv export times out, is there a cursor?")
    assert [(hit.session_id, hit.is_subagent) for hit in found.hits] == [("01sub", True)]


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (Place("/a/b", "/a/b"), {"/a/b", "/a/b/sub"}),
        (Place("/a/b/sub", "/a/b/sub"), {"/a/b/sub"}),
        (Place("/a/b%", "/a/b%"), {"/a/b%"}),
        (Place("/a/_", "/a/_"), set()),
        (Place("", ""), set()),
    ],
    ids=["above", "below", "percent", "underscore", "unknown"],
)
def test_only_the_project_and_what_lies_below_it(
    place: Place, expected: set[str], home: HomeBuilder, settings: Settings
) -> None:
    for number, cwd in enumerate(("/a/b", "/a/bc", "/a/b/sub", "/a/b%", "/a/B")):
        talk(home, f"01s{number}", f"a lantern for the export of {cwd}", cwd=cwd)
    found = ask(settings, "where is the lantern for the export?", place=place)
    assert {hit.project for hit in found.hits} == expected


def test_what_was_said_later_than_the_moment_asked_for_is_not_known(home: HomeBuilder, settings: Settings) -> None:
    talk(home, "01a", *TIMEOUT)
    ingest(settings)
    prompt = "the csv export times out"
    assert recall_turns(settings, prompt, ALPHA, AS_OF).hits
    assert not recall_turns(settings, prompt, ALPHA, "2026-05-04T07:00:00.000Z").hits


@pytest.mark.parametrize(
    "prompt", ["thanks, looks good!", "yes", "", "…", "what is the capital of Australia?", '" OR *']
)
def test_nothing_helps(prompt: str, home: HomeBuilder, settings: Settings) -> None:
    talk(home, "01a", *TIMEOUT, "thanks, that looks great!", "Good.")
    assert ask(settings, prompt).hits == ()


def test_a_transcript_that_is_gone_or_another_one_says_nothing(home: HomeBuilder, settings: Settings) -> None:
    path = talk(home, "01a", *TIMEOUT)
    ingest(settings)
    prompt = "the csv export times out for the Hamburg tenant again"
    data = path.read_bytes()
    path.write_bytes(data.replace(b"Hamburg", b"Bamberg"))
    changed = recall_turns(settings, prompt, ALPHA, AS_OF)
    assert changed.is_stale
    assert all("Hamburg" not in said.text for hit in changed.hits for said in hit.texts)
    path.unlink()
    gone = recall_turns(settings, prompt, ALPHA, AS_OF)
    assert (gone.hits, gone.is_stale) == ((), True)


def test_without_an_index_there_are_none(settings: Settings) -> None:
    with pytest.raises(NoIndexError):
        recall_turns(settings, "x", ALPHA, AS_OF)
