"""A plan applied as one step: what it changes, what it refuses before anything is written, and how it is taken back."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persist.errors import AmbiguousError, NotFoundError, PlanError, RefusedError, StoreIOError
from persist.files.rewrite import InUseError
from persist.memory import MemoryStore
from tests.persist.plan_world import CRLF, PLAN, blocks, everything, facts, fill, lines, take_back


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "memory"


def faults(store: MemoryStore, plan: dict[str, Any]) -> list[str]:
    """Return the faults of a plan, which must change nothing, also when it is only looked at."""
    before = everything(store.folder)
    for dry_run in (True, False):
        with pytest.raises(PlanError) as caught:
            store.apply(plan, dry_run=dry_run)
    assert {name: file for name, file in everything(store.folder).items() if name != ".lock"} == {
        name: file for name, file in before.items() if name != ".lock"
    }
    return list(caught.value.faults)


def new(title: str, text: str = "text", **more: object) -> dict[str, Any]:
    return {"title": title, "text": text, **more}


def test_two_spellings_of_one_title_are_one_block(folder: Path) -> None:
    store = fill(folder)
    twins = [new("Caf\u00e9 rules"), new("Cafe\u0301  RULES")]
    told = ["new[1].title: is the same title as new[0].title; one entry for each block"]
    assert faults(store, {"new": twins}) == told
    into = {"from": ["One"], "into": twins[1]}
    (fault,) = faults(store, {"new": twins[:1], "merge": [into]})
    assert fault.startswith("merge[0].into.title: is the same title as new[0].title")


def test_a_plan_of_many_names_reads_each_block_once(tmp_path: Path) -> None:
    """Blocks that are called by a title which no file's name tells, and names that are nobody's."""
    folder = tmp_path / "memory"
    folder.mkdir()
    for number in range(1000):
        text = f"---\nname: n{number}\ntitle: Of its own {number}\ndescription: d\n---\n\ntext\n"
        (folder / f"n{number}.md").write_text(text)
    store = MemoryStore(folder)
    begin = time.process_time()
    known = [{"name": f"Of its own {number}", "reason": "r"} for number in range(100)]
    assert len(store.apply({"archive": known}, dry_run=True).done) == 100
    unknown = [{"name": f"nowhere {number} {'own ' * 200}", "reason": "r"} for number in range(100)]
    with pytest.raises(PlanError) as caught:
        store.apply({"archive": unknown}, dry_run=True)
    assert len(caught.value.faults) == 100
    assert time.process_time() - begin < 6


class TestApply:
    def test_everything_that_a_plan_says_is_done(self, folder: Path) -> None:
        store = fill(folder)
        before = blocks(folder)
        done = store.apply(PLAN)
        after = blocks(folder)
        assert [(one.op, one.name, one.entry, one.is_new) for one in done.done] == [
            ("remember", "rates", "new[0]", True),
            ("remember", "over", "new[1]", False),
            ("supersede", "old-host", "new[1]", False),
            ("remember", "both", "merge[0]", True),
            ("archive", "one", "merge[0]", False),
            ("archive", "two", "merge[0]", False),
            ("remember", "three", "merge[1]", False),
            ("supersede", "four", "merge[1]", False),
            ("archive", "useless", "archive[0]", False),
            ("append_project", None, "lessons", False),
            ("append_project", None, "lessons", False),
        ]
        assert set(after) == {
            "rates.md", "over.md", "old-host.md", "both.md", "three.md", "four.md", "beside.md",
            ".archive/one.md", ".archive/two.md", ".archive/useless.md",
        }  # fmt: skip
        assert after["beside.md"] == before["beside.md"]
        assert after[".archive/one.md"] == before["one.md"]
        rates, over = store.peek("Rates").note, store.peek("Over").note
        assert (rates.body, rates.aliases, rates.kind) == ("In rates.csv.\n\nWeekly.", ("VAT",), "fact")
        assert rates.source_session == over.source_session == PLAN["session"]
        assert (over.body, over.pinned, over.title) == ("New words.", True, "Over")
        assert store.peek("Old host").note.superseded_by == "over"
        assert store.peek("Four").note.superseded_by == "three"
        assert after["four.md"] == CRLF.replace(b"odd:  'x'\r\n", b"odd:  'x'\r\nsuperseded_by: three\r\n")
        assert store.peek("Three").note.superseded_by is None
        assert facts(folder).endswith(b"- Known already.\n- Main is protected.\n- Two lines\n  of one fact.\n")
        assert done.left == ("- Known already.",)

    def test_the_journal_tells_all_of_it_as_one_step(self, folder: Path) -> None:
        store = fill(folder)
        known = len(lines(folder))
        before = blocks(folder)
        done = store.apply(PLAN)
        told = lines(folder)[known:]
        assert [line["op"] for line in told] == [
            "apply", "remember", "remember", "supersede", "remember", "archive", "archive", "remember", "supersede",
            "archive", "append_project", "append_project", "consolidated",
        ]  # fmt: skip
        assert {line["step"] for line in told} == {done.step}
        assert {line["source_session"] for line in told} == {PLAN["session"]}
        assert [line["detail"] for line in told if line["op"] == "archive"] == [
            "merged into both", "merged into both", "It was never true."
        ]  # fmt: skip
        assert told[0]["detail"] == "9 blocks, 2 facts"
        assert (told[-1]["detail"], "name" in told[-1]) == ("Two blocks are one.", False)
        assert told[2]["title"] == "Over"
        assert told[2]["pinned"] is True
        for line in told:
            if "version" in line:
                data = (folder / line["path"]).read_bytes()
                assert line["version"] == done.step
                assert data == before[f"{line['name']}.md"]
                assert hashlib.sha256(data).hexdigest() == line["sha256"]

    def test_a_look_tells_the_same_and_leaves_no_trace(self, folder: Path) -> None:
        store = fill(folder)
        before = everything(folder)
        looked = store.apply(PLAN, dry_run=True)
        assert everything(folder) == before
        done = store.apply(PLAN)
        assert [(one.op, one.name, one.detail) for one in looked.done] == [
            (one.op, one.name, one.detail) for one in done.done
        ]
        assert (looked.step, looked.is_dry_run, done.is_dry_run) == (None, True, False)

    def test_a_look_at_a_memory_that_is_not_there_makes_none(self, folder: Path) -> None:
        looked = MemoryStore(folder).apply({"new": [new("First")], "lessons": ["x"]}, dry_run=True)
        assert [one.op for one in looked.done] == ["remember", "append_project"]
        assert not folder.exists()
        MemoryStore(folder).apply({"new": [new("First")], "lessons": ["x"]})
        assert facts(folder) == b"# Project memory\n\n- x\n"

    def test_a_plan_with_faults_makes_no_memory(self, folder: Path) -> None:
        with pytest.raises(PlanError):
            MemoryStore(folder).apply({"archive": [{"name": "x", "reason": "r"}]})
        assert not folder.exists()

    def test_the_same_plan_again_does_nothing(self, folder: Path) -> None:
        store = fill(folder)
        first = store.apply(PLAN)
        before = everything(folder)
        for dry_run in (True, False):
            again = store.apply(json.dumps(PLAN).encode(), dry_run=dry_run)
            assert (again.was_done, again.done, again.step) == (True, (), first.step)
        assert everything(folder) == before

    def test_a_session_that_taught_nothing_is_marked_all_the_same(self, folder: Path) -> None:
        done = MemoryStore(folder).apply({"session": "s1"})
        assert done.done == ()
        assert [(line["op"], line["source_session"]) for line in lines(folder)] == [
            ("apply", "s1"), ("consolidated", "s1")
        ]  # fmt: skip

    def test_a_title_that_shares_a_slug_with_another_block_is_one_of_its_own(self, folder: Path) -> None:
        store = MemoryStore(folder)
        store.remember("make", "Build command")
        done = store.apply({"new": [new("build_command"), new("\u65e5\u672c")]})
        assert [one.name for one in done.done] == ["build-command-2", "note-2"]

    def test_a_pin_that_another_program_s_rewrite_dropped_still_holds(self, folder: Path) -> None:
        store = MemoryStore(folder)
        for title in ("A", "B"):
            store.remember("x", title, pin=True)
            rewritten = (
                f"---\nname: {title.lower()}\ncreated_at: 2025-01-01\nupdated_at: 2090-01-01\n---\n\nby the agent\n"
            )
            (folder / f"{title.lower()}.md").write_text(rewritten)
        plan = {"new": [new("N", supersedes=["A"])], "archive": [{"name": "B", "reason": "r"}]}
        assert faults(store, plan) == [
            "new[0].supersedes[0]: block 'a' is pinned; so must be the one in its place",
            "archive[0].name: block 'b' is pinned; asx memory archive takes it out",
        ]
        store.apply({"merge": [{"from": ["A", "B"], "into": new("B")}]})
        assert "pinned: true" in (folder / "b.md").read_text()

    def test_pinned_blocks_give_way_only_to_pinned_ones(self, folder: Path) -> None:
        store = MemoryStore(folder)
        for title in ("A", "B", "C"):
            store.remember("x", title, pin=True)
        assert faults(
            store,
            {
                "new": [new("N", supersedes=["A"])],
                "merge": [{"from": ["B"], "into": new("M")}],
                "archive": [{"name": "C", "reason": "r"}],
            },
        ) == [
            "new[0].supersedes[0]: block 'a' is pinned; so must be the one in its place",
            "merge[0].from[0]: block 'b' is pinned; so must be the one in its place",
            "archive[0].name: block 'c' is pinned; asx memory archive takes it out",
        ]
        store.apply(
            {"new": [new("N", supersedes=["A"], pinned=True)], "merge": [{"from": ["B", "C"], "into": new("C")}]}
        )
        assert store.peek("A").note.superseded_by == "n"
        assert store.peek("C").note.pinned


class TestRefused:
    @pytest.mark.parametrize(
        ("plan", "said"),
        [
            ({"archive": [{"name": "nothing like it", "reason": "r"}]},
             "archive[0].name: there is no block 'nothing like it'; see: asx memory list"),
            ({"archive": [{"name": "useles", "reason": "r"}]},
             "archive[0].name: there is no block 'useles'; did you mean 'useless'?"),
            ({"merge": [{"from": ["One", "Gone"], "into": new("X")}]},
             "merge[0].from[1]: there is no block 'Gone'"),
            ({"new": [new("X", supersedes=["Gone"])]}, "new[0].supersedes[0]: there is no block 'Gone'"),
            ({"new": [new("X", supersedes=["One", "one"])]},
             "new[0].supersedes[1]: is about block 'one', as new[0].supersedes[0] is; one entry for each block"),
            ({"new": [new("One", supersedes=["ONE"])]}, "new[0].supersedes[0]: is the block itself"),
            ({"new": [new("X"), new(" x ")]},
             "new[1].title: is about block 'x', as new[0].title is; one entry for each block"),
            ({"new": [new("Build it"), new("build_it")]},
             "new[1].title: is about block 'build-it', as new[0].title is; one entry for each block"),
            ({"new": [new("One")], "archive": [{"name": "one", "reason": "r"}]},
             "archive[0].name: is about block 'one', as new[0].title is; one entry for each block"),
            ({"merge": [{"from": ["One", "Two"], "into": new("X")}, {"from": ["Two", "Three"], "into": new("Y")}]},
             "merge[1].from[0]: is about block 'two', as merge[0].from[1] is; one entry for each block"),
            ({"merge": [{"from": ["One"], "into": new("Two")}], "archive": [{"name": "Two", "reason": "r"}]},
             "archive[0].name: is about block 'two', as merge[0].into.title is; one entry for each block"),
            ({"archive": [{"name": "One", "reason": "r"}, {"name": "one", "reason": "r"}]},
             "archive[1].name: is about block 'one', as archive[0].name is; one entry for each block"),
            ({"lessons": ["The same.", " The same. "]}, "lessons[1]: says the same as lessons[0]"),
        ],
        ids=lambda value: str(value)[:50],
    )  # fmt: skip
    def test_what_does_not_fit_the_memory_is_told_before_anything_is_written(
        self, plan: dict[str, Any], said: str, folder: Path
    ) -> None:
        (fault,) = faults(fill(folder), plan)
        assert fault.startswith(said)

    def test_all_faults_are_told_at_once(self, folder: Path) -> None:
        plan = {"new": [new("X"), new("X")], "archive": [{"name": "Gone", "reason": "r"}], "lessons": ["a", "a"]}
        assert [fault.partition(":")[0] for fault in faults(fill(folder), plan)] == [
            "new[1].title", "archive[0].name", "lessons[1]"
        ]  # fmt: skip

    def test_a_block_that_is_a_link_or_cannot_be_read_is_left_alone(self, folder: Path, tmp_path: Path) -> None:
        store = fill(folder)
        (tmp_path / "outside.md").write_text("---\nname: linked\n---\n\nx\n")
        (folder / "linked.md").symlink_to(tmp_path / "outside.md")
        (folder / "folder.md").mkdir()
        assert faults(
            store,
            {"new": [new("linked")], "archive": [{"name": "folder", "reason": "r"}]},
        ) == [
            "new[0].title: block 'linked' is a link; put a file in its place",
            "archive[0].name: block 'folder' cannot be read: it is not a file",
        ]

    def test_a_journal_that_cannot_be_written_lets_nothing_begin(self, folder: Path) -> None:
        store = fill(folder)
        before = blocks(folder)
        (folder / "journal.jsonl").unlink()
        (folder / "journal.jsonl").mkdir()
        with pytest.raises(StoreIOError):
            store.apply(PLAN)
        assert blocks(folder) == before

    @pytest.mark.parametrize("name", ["journal.jsonl", "ASTER.md"])
    def test_a_link_out_of_the_store_lets_nothing_begin(self, name: str, folder: Path, tmp_path: Path) -> None:
        store = MemoryStore(folder)
        store.remember("x", "A")
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(tmp_path / "outside")
        with pytest.raises(RefusedError):
            store.apply({"archive": [{"name": "A", "reason": "r"}], "lessons": ["A fact."]})
        assert (folder / "a.md").is_file()
        assert not (tmp_path / "outside").exists()


class TestRevert:
    def test_every_block_is_byte_for_byte_what_it_was(self, folder: Path) -> None:
        store = fill(folder)
        before, known = blocks(folder), facts(folder)
        done = store.apply(PLAN)
        made = blocks(folder)
        assert done.step is not None
        looked = store.revert(done.step, dry_run=True)
        assert blocks(folder) == made
        back = take_back(store, (done.step or "")[:12].lower())
        assert blocks(folder) == before
        assert facts(folder) == known
        assert [(one.op, one.name) for one in back.done] == [(one.op, one.name) for one in looked.done]
        assert not any(one.changed_since for one in back.done)
        told = [line for line in lines(folder) if line["op"] in ("forget", "restore")][-12:]
        assert {line["step"] for line in told} == {done.step}
        assert (told[-1]["op"], told[-1]["restored"], "name" in told[-1]) == ("restore", done.step, False)
        assert {line["name"] for line in told if line["op"] == "forget" and "name" in line} == {"rates", "both"}
        for line in told:
            if "path" in line:
                assert (folder / line["path"]).read_bytes() == made[f"{line['name']}.md"]

    def test_taking_back_again_does_nothing_and_the_plan_can_be_applied_anew(self, folder: Path) -> None:
        store = fill(folder)
        first = store.apply(PLAN)
        made = blocks(folder)
        assert first.step is not None
        take_back(store, first.step)
        before = everything(folder)
        again = store.revert(first.step)
        assert (again.was_done, again.done) == (True, ())
        assert {**everything(folder), ".lock": b""} == {**before, ".lock": b""}
        second = store.apply(PLAN)
        assert second.step not in (None, first.step)
        assert set(blocks(folder)) == set(made)
        take_back(store, second.step)
        assert facts(folder) == b"# Project memory\n\n- Known already.\n"

    def test_what_was_changed_since_is_kept(self, folder: Path) -> None:
        store = fill(folder)
        before = blocks(folder)
        done = store.apply(PLAN)
        assert done.step is not None
        store.remember("By a person, since.", "Over")
        store.remember("One again.", "One")
        store.forget("Three")
        rates = store.remember("By a person too.", "Rates")
        assert rates.path is not None
        since = {name: (folder / name).read_bytes() for name in ("over.md", "one.md", "rates.md")}
        back = take_back(store, done.step)
        assert blocks(folder) == before
        changed = {one.name: one.version for one in back.done if one.changed_since}
        assert set(changed) == {"over", "one", "three", "rates"}
        for name, data in since.items():
            stem = name.removesuffix(".md")
            assert (folder / ".archive" / f"{stem}@{changed[stem]}.md").read_bytes() == data

    def test_a_fact_that_somebody_edited_stays_and_is_told(self, folder: Path) -> None:
        store = fill(folder)
        done = store.apply({"lessons": ["First lesson.", "Second lesson.", "Third lesson."]})
        assert done.step is not None
        edited = facts(folder).replace(b"Second lesson.", b"Second lesson, but for Fridays.")
        edited = edited.replace(b"- Third lesson.\n", b"- Third lesson.\n  And more.\n")
        (folder / "ASTER.md").write_bytes(edited + b"- By hand, without a newline")
        back = take_back(store, done.step)
        assert facts(folder) == edited.replace(b"- First lesson.\n", b"") + b"- By hand, without a newline"
        assert back.left == ("- Second lesson.", "- Third lesson.")

    def test_a_fact_that_another_program_is_writing_beside_is_left_and_nothing_is_taken_back(
        self, folder: Path
    ) -> None:
        store = fill(folder)
        done = store.apply(PLAN)
        made, known = blocks(folder), facts(folder)
        assert done.step is not None
        with (folder / "ASTER.md").open("ab"), pytest.raises(InUseError):
            store.revert(done.step)
        assert (blocks(folder), facts(folder)) == (made, known)
        take_back(store, done.step)
        assert b"Main is protected" not in facts(folder)

    def test_a_version_that_is_gone_refuses_the_whole(self, folder: Path) -> None:
        store = fill(folder)
        done = store.apply(PLAN)
        made = blocks(folder)
        (folder / ".archive" / f"over@{done.step}.md").unlink()
        for dry_run in (True, False):
            with pytest.raises(RefusedError, match="what block 'over' was before"):
                store.revert(done.step or "", dry_run=dry_run)
        assert blocks(folder) == made

    def test_a_step_is_named_by_its_beginning(self, folder: Path) -> None:
        store = MemoryStore(folder)
        with pytest.raises(NotFoundError, match="there is none"):
            store.revert("01KB")
        steps = [store.apply({"lessons": [text]}).step or "" for text in ("a", "b")]
        with pytest.raises(NotFoundError, match=f"the newest are {steps[1]}, {steps[0]}"):
            store.revert("01K")
        with pytest.raises(AmbiguousError):
            store.revert(steps[0][:6])

    def test_a_line_that_somebody_made_up_leads_nowhere(self, folder: Path, tmp_path: Path) -> None:
        store = MemoryStore(folder)
        store.remember("x", "A")
        (tmp_path / "victim.md").write_text("mine")
        change = {"entry": "new[0]", "op": "remember", "name": "../victim", "after": "0" * 64}
        line = {"ts": "2026-01-01T00:00:00Z", "op": "apply", "step": "01KBVGBANK", "plan": "p", "changes": [change],
                "facts": []}  # fmt: skip
        with (folder / "journal.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")
        with pytest.raises(NotFoundError):
            store.revert("01KBVGBANK")
        assert (tmp_path / "victim.md").read_text() == "mine"


TITLES = ("A", "B", "C", "D", "E")
PLANS = st.permutations(TITLES).flatmap(
    lambda titles: st.tuples(
        st.lists(st.sampled_from(["fresh", "over", "supersede", "merge", "mark", "into", "archive"]), max_size=6),
        st.lists(st.sampled_from(["one", "two", "three"]), unique=True),
        st.just(titles),
    )
)


def plan_of(kinds: list[str], lessons: list[str], titles: list[str]) -> dict[str, Any]:
    """Return a plan that uses each block once, as far as they reach."""
    left = list(titles)
    plan: dict[str, Any] = {"session": "s", "new": [], "merge": [], "archive": [], "lessons": lessons}
    for number, kind in enumerate(kinds):
        if kind == "fresh" or not left:
            plan["new"].append(new(f"Fresh {number}"))
        elif kind == "over":
            plan["new"].append(new(left.pop(), "over"))
        elif kind == "supersede":
            plan["new"].append(new(f"Next {number}", supersedes=[left.pop()]))
        elif kind == "archive":
            plan["archive"].append({"name": left.pop(), "reason": "r"})
        else:
            sources = [left.pop() for _ in range(min(2, len(left)))]
            title = sources[0] if kind == "into" else f"Merged {number}"
            then = "supersede" if kind == "mark" else "archive"
            plan["merge"].append({"from": sources, "into": new(title, "merged"), "then": then})
    return plan


@settings(deadline=None, max_examples=20)
@given(PLANS)
def test_any_plan_can_be_taken_back_whole(
    tmp_path_factory: pytest.TempPathFactory, planned: tuple[list[str], list[str], list[str]]
) -> None:
    folder = tmp_path_factory.mktemp("any") / "memory"
    store = MemoryStore(folder)
    for title in TITLES:
        store.remember(f"{title} is here.", title)
    store.append_project("one")
    before, known = blocks(folder), facts(folder)
    plan = plan_of(*planned)
    done = store.apply(plan)
    assert store.apply(plan).was_done
    assert done.step is not None
    take_back(store, done.step)
    assert (blocks(folder), facts(folder)) == (before, known)
