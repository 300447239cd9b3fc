"""A consolidation plan as JSON: what it may say, what each fault says and where, and that one plan is known again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from persist.errors import PlanError
from persist.memory.plan import MAX_ENTRIES, MAX_PLAN_BYTES, Plan, checked_plan, parse_plan, plan_schema
from persist.memory.remember import MAX_NOTE_BYTES

WHOLE: dict[str, Any] = {
    "session": "s1",
    "summary": "What was learnt.",
    "new": [
        {"title": "Deploy window", "description": "when", "text": "Tuesday.", "kind": "decision", "project": "/w/tide",
         "aliases": ["release"], "pinned": True, "supersedes": ["Old window"]},
        {"title": "Short", "text": "x"},
    ],
    "merge": [{"from": ["a", "b"], "into": {"title": "AB", "text": "both"}, "then": "supersede"}],
    "archive": [{"name": "c", "reason": "wrong"}],
    "lessons": ["Main is protected."],
}  # fmt: skip


def parsed(value: object) -> Plan:
    return parse_plan(json.dumps(value).encode())


def faults(value: object) -> list[str]:
    with pytest.raises(PlanError) as caught:
        parsed(value)
    return list(caught.value.faults)


def test_a_plan_says_all_that_it_may() -> None:
    plan = parsed(WHOLE)
    note = plan.new[0].note(plan.session)
    assert (note.title, note.text, note.description, note.kind) == ("Deploy window", "Tuesday.", "when", "decision")
    assert (note.project, note.aliases, note.is_pinned, note.source_session) == ("/w/tide", ("release",), True, "s1")
    assert plan.new[0].supersedes == ["Old window"]
    assert (plan.merge[0].sources, plan.merge[0].then, plan.merge[0].into.title) == (["a", "b"], "supersede", "AB")
    assert (plan.archive[0].name, plan.archive[0].reason, plan.lessons) == ("c", "wrong", ["Main is protected."])


def test_what_is_left_out_or_empty_is_nothing() -> None:
    for more in (
        {},
        {"description": None, "kind": None, "project": None},
        {"description": "", "kind": "", "project": ""},
    ):
        note = parsed({"new": [{"title": "t", "text": "x", **more}]}).new[0].note(None)
        assert (note.description, note.kind, note.project, note.source_session) == (None, None, None, None)
    assert parsed({"merge": [{"from": "a", "into": {"title": "t", "text": "x"}}]}).merge[0].then == "archive"
    assert parsed({"new": [{"title": "t", "text": "x", "project": "/w/"}]}).new[0].note(None).project == "/w"
    assert parsed({"new": [{"title": "t", "text": "x", "project": "/"}]}).new[0].note(None).project == "/"


@pytest.mark.parametrize(
    "around",
    [("", ""), ("```json\n", "\n```"), ("```\r\n", "\r\n```\n"), ("\ufeff", ""), ("\n \n", "\n")],
    ids=["plain", "a fence", "a fence with CRLF", "a byte order mark", "blank lines"],
)
def test_json_as_models_write_it_is_read(around: tuple[str, str]) -> None:
    text = f"{around[0]}{json.dumps(WHOLE)}{around[1]}"
    assert parse_plan(text.encode()) == parsed(WHOLE)


NEW = {"title": "t", "text": "x"}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"new": [NEW, {"text": "x"}]}, ["new[1].title: is missing"]),
        ({"new": [{**NEW, "title": " \n"}]}, ["new[0].title: is empty"]),
        ({"new": [{**NEW, "title": "t" * 251}]}, ["new[0].title: is over 250 characters"]),
        ({"new": [{**NEW, "text": ""}]}, ["new[0].text: is empty"]),
        ({"new": [{**NEW, "text": "x" * (MAX_NOTE_BYTES + 1)}]}, [f"new[0].text: is over {MAX_NOTE_BYTES} bytes"]),
        ({"new": [{**NEW, "text": 4}]}, ["new[0].text: must be a text"]),
        ({"new": [{**NEW, "description": "d" * 301}]}, ["new[0].description: is over 300 characters"]),
        ({"new": [{**NEW, "project": "tide"}]}, ["new[0].project: is no absolute path of a folder"]),
        ({"new": [{**NEW, "aliases": ["a", " "]}]}, ["new[0].aliases[1]: is empty"]),
        ({"new": [{**NEW, "aliases": "a"}]}, ["new[0].aliases: must be a list"]),
        ({"new": [{**NEW, "pinned": "yes"}]}, ["new[0].pinned: must be true or false"]),
        ({"new": [{**NEW, "name": "x"}]}, ["new[0].name: is no key of a plan there; see: asx memory apply --schema"]),
        ({"new": [{**NEW, "a b\n": 1}]}, ["new[0].(a key): is no key of a plan there; see: asx memory apply --schema"]),
        ({"new": [NEW] * (MAX_ENTRIES + 1)}, [f"new: has over {MAX_ENTRIES} entries"]),
        ({"new": {}}, ["new: must be a list"]),
        ({"new": ["x"]}, ["new[0]: must be an object"]),
        ({"merge": [{"from": [], "into": NEW}]}, ["merge[0].from: is empty"]),
        ({"merge": [{"into": NEW}]}, ["merge[0].from: is missing"]),
        ({"merge": [{"from": ["a"], "into": "t"}]}, ["merge[0].into: must be an object"]),
        ({"merge": [{"from": ["a"], "into": {**NEW, "supersedes": []}}]},
         ["merge[0].into.supersedes: is no key of a plan there; see: asx memory apply --schema"]),
        ({"merge": [{"from": ["a"], "into": NEW, "then": "drop"}]},
         ["merge[0].then: must be 'archive' or 'supersede'"]),
        ({"archive": [{"name": "a"}]}, ["archive[0].reason: is missing"]),
        ({"lessons": ["x", "y" * 501]}, ["lessons[1]: is over 500 characters"]),
        ({"lessons": [{"text": "x"}]}, ["lessons[0]: must be a text"]),
        ({"remember": []}, ["remember: is no key of a plan there; see: asx memory apply --schema"]),
        ({"session": " "}, ["session: is empty"]),
        ({}, ["the plan: is empty and names no session"]),
        ([], ["the plan: must be an object"]),
        ({"new": [{"title": "", "text": ""}], "lessons": [1]},
         ["new[0].title: is empty", "new[0].text: is empty", "lessons[0]: must be a text"]),
    ],
    ids=lambda value: str(value)[:60],
)  # fmt: skip
def test_each_fault_is_a_sentence_that_names_its_place(value: object, said: list[str]) -> None:
    assert faults(value) == said


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "the plan: not JSON at character 0"),
        (b"{'new': []}", "the plan: not JSON at character 1"),
        (b'{"session": "caf\xe9"}', "the plan: not UTF-8 at byte 16"),
        (b'{"session": "a", "session": "b"}', "the plan: a key comes twice in one object"),
        (b'{"new": ' + b"[" * 500 + b"]" * 500 + b"}", "the plan: nested too deeply"),
        (b" " * (MAX_PLAN_BYTES + 1), f"the plan: is over {MAX_PLAN_BYTES} bytes"),
    ],
    ids=["nothing", "no JSON", "no UTF-8", "a key twice", "deep", "large"],
)
def test_what_is_no_json_says_where(data: bytes, said: str) -> None:
    with pytest.raises(PlanError) as caught:
        parse_plan(data)
    assert str(caught.value).startswith(said)


def test_no_fault_repeats_a_text_of_the_plan() -> None:
    private = "words of a person"
    value = {"new": [{"title": private * 99, "text": 4, "kind": [private], "project": private, private + " ": private}]}
    assert private not in str(faults(value))


def test_one_plan_is_known_again_in_any_order_and_another_is_another() -> None:
    turned = {key: WHOLE[key] for key in reversed(WHOLE)}
    assert parsed(turned).fingerprint() == parsed(WHOLE).fingerprint() == checked_plan(WHOLE).fingerprint()
    others = [parsed({**WHOLE, "session": "s2"}), parsed({**WHOLE, "lessons": []}), parsed({"session": "s1"})]
    assert len({plan.fingerprint() for plan in [parsed(WHOLE), *others]}) == 4


def test_the_schema_names_every_key_and_refuses_all_others() -> None:
    schema = plan_schema()
    parts = {**schema["$defs"], "Plan": schema}
    keys = {
        "Plan": {"session", "summary", "new", "merge", "archive", "lessons"},
        "NewPart": {"title", "description", "text", "kind", "project", "aliases", "pinned", "supersedes"},
        "BlockPart": {"title", "description", "text", "kind", "project", "aliases", "pinned"},
        "MergePart": {"from", "into", "then"},
        "ArchivePart": {"name", "reason"},
    }
    assert {name: set(part["properties"]) for name, part in parts.items()} == keys
    assert all(part["additionalProperties"] is False for part in parts.values())
    assert {name: part.get("required", []) for name, part in parts.items()} == {
        "Plan": [], "NewPart": ["title", "text"], "BlockPart": ["title", "text"], "MergePart": ["from", "into"],
        "ArchivePart": ["name", "reason"],
    }  # fmt: skip
    told = [value for part in parts.values() for key, value in part["properties"].items() if "$ref" not in value]
    assert all(value["description"] for value in told)
