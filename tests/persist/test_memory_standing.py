"""What frontmatter and journal together say of a block: use, touch, pin, successor, aliases."""

from __future__ import annotations

import os
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persist.events import JournalEntry, Note
from persist.memory.decay import half_life_days
from persist.memory.journal import Operation
from persist.memory.standing import MAX_USE, Standing, noted, standings

MADE = "2026-01-01T08:00:00.000Z"
NOW = "2026-12-01T00:00:00.000Z"
WEIGHTS = {"recall": 0.5, "remember": 0.5, "helpful": 1.0, "harmful": -1.5, "restore": 0.0}


def on(day: int, second: int = 0) -> str:
    """Return a moment so many days after the block was made."""
    return f"{date(2026, 1, 1) + timedelta(day)}T12:{second // 60:02d}:{second % 60:02d}.000Z"


def op(name: str, ts: str | None, block: str = "a", *, by: str | None = None, **more: Any) -> Operation:
    return Operation(JournalEntry(ts, name, block, by=by), **more)


def one(note: Note, *operations: Operation, as_of: str = NOW) -> Standing:
    return standings([note], operations, as_of)[note.name]


A = Note("a", "text", created_at=MADE)


class TestUse:
    @pytest.mark.parametrize(
        ("told", "use"),
        [
            ([], 0.0),
            ([("recall", 1)], 0.5),
            ([("recall", 1), ("recall", 1), ("recall", 1)], 0.5),
            ([("recall", 1), ("recall", 2)], 1.0),
            ([("recall", 1), ("helpful", 1)], 1.0),
            ([("helpful", 1), ("recall", 1)], 1.0),
            ([("harmful", 1), ("harmful", 1)], -3.0),
            ([("helpful", 1), ("harmful", 1), ("helpful", 1)], -0.5),
            ([("remember", 0)], 0.0),
            ([("remember", 0), ("remember", 3)], 0.5),
            ([("harmful", 1), ("harmful", 2), ("harmful", 3), ("remember", 4)], 0.5),
            ([("harmful", 1), ("harmful", 2), ("restore", 4)], 0.0),
            ([("recall", day) for day in range(40)], MAX_USE),
            ([("recall", day) for day in range(40)] + [("harmful", 50)], MAX_USE - 1.5),
            ([("supersede", 1), ("archive", 2), ("forget", 2), ("consolidated", 2), ("future", 3)], 0.0),
        ],
    )
    def test_is_added_up_by_day(self, told: list[tuple[str, int]], use: float) -> None:
        found = one(A, *(op(name, on(day, number)) for number, (name, day) in enumerate(told)))
        assert found.use == use

    @given(
        st.lists(
            st.tuples(st.sampled_from(sorted(WEIGHTS)), st.integers(1, 300)), max_size=30, unique_by=lambda pair: pair
        ),
        st.randoms(use_true_random=False),
    )
    def test_is_that_of_the_rule_in_any_order(self, told: list[tuple[str, int]], random: object) -> None:
        """Against the rule as it is written: day by day, in order of time."""
        operations = [op(name, on(day, number)) for number, (name, day) in enumerate(told)]
        use, days = 0.0, {day for _name, day in told}
        for day in sorted(days):
            best = 0.0
            for name in (name for name, other in told if other == day):
                if name in ("remember", "restore"):
                    use = max(use, 0.0)
                if name == "harmful":
                    use -= 1.5
                elif WEIGHTS[name] > best:
                    use, best = min(MAX_USE, use + WEIGHTS[name] - best), WEIGHTS[name]
        expected = one(A, *operations)
        assert expected.use == pytest.approx(use)
        random.shuffle(operations)  # type: ignore[attr-defined]
        assert one(A, *operations) == expected

    @given(st.integers(0, 11), st.sampled_from(["preference", "decision", "gotcha", "howto", "fact", "note", "idea"]))
    def test_one_recall_more_lengthens_the_half_life(self, recalls: int, kind: str) -> None:
        def half_life(count: int) -> float:
            return half_life_days(kind, one(A, *(op("recall", on(day + 1)) for day in range(count))).use)

        assert half_life(recalls + 1) > half_life(recalls)

    def test_counts_what_there_was_up_to_the_moment(self) -> None:
        told = [
            op("recall", on(1)),
            op("recall", on(1, 5)),
            op("helpful", on(2)),
            op("harmful", on(3)),
            op("recall", on(9)),
        ]
        found = one(A, *told, as_of=on(3))
        assert (found.recalled, found.helpful, found.harmful, found.last_recalled_at) == (2, 1, 1, on(1, 5))
        assert found.touched_at == on(2)
        assert found.use == 0.5 + 1 - 1.5

    def test_what_was_said_of_an_older_block_of_the_name_does_not_count(self) -> None:
        found = one(A._replace(created_at=on(10)), op("harmful", on(2)), op("recall", on(5)))
        assert (found.use, found.recalled, found.harmful, found.touched_at) == (0.0, 0, 0, on(10))

    def test_an_entry_without_a_time_or_a_name_counts_for_nothing(self) -> None:
        nameless = Operation(JournalEntry(on(1), "recall"))
        assert one(A, op("harmful", None), nameless) == one(A)


class TestTouch:
    def test_is_the_last_of_header_and_journal(self) -> None:
        assert one(A).touched_at == MADE
        assert one(A._replace(updated_at=on(5))).touched_at == on(5)
        assert one(A._replace(updated_at=on(5)), op("recall", on(9))).touched_at == on(9)
        assert one(A, op("restore", on(9)), op("harmful", on(12))).touched_at == on(9)

    def test_a_time_to_come_is_none(self) -> None:
        assert one(A._replace(updated_at="2031-01-01T00:00:00.000Z")).touched_at == MADE
        assert one(A._replace(created_at="2031-01-01T00:00:00.000Z")).touched_at == NOW

    def test_is_unknown_where_nothing_tells(self) -> None:
        undated = A._replace(created_at=None)
        assert one(undated).touched_at is None
        assert one(undated, op("recall", on(4))).touched_at == on(4)


class TestNames:
    @pytest.mark.parametrize(
        "asked", ["deploy-window", "Deploy window", "DEPLOY  WINDOW", "deploy window!", "The window"]
    )
    def test_aster_writes_them_as_they_were_asked_for(self, asked: str) -> None:
        notes = [noted("deploy-window", Note("The window", "x", created_at=MADE)), noted("other", Note("other", "y"))]
        found = standings(notes, [op("recall", on(1), asked)], NOW)
        assert (found["deploy-window"].recalled, found["other"].recalled) == (1, 0)

    def test_two_titles_of_one_slug_are_told_apart(self) -> None:
        notes = [
            noted("build-command", Note("build-command", "x", title="Build command")),
            noted("build-command-2", Note("build-command-2", "x", title="build_command")),
        ]
        told = [
            op("recall", on(1), "Build command"),
            op("recall", on(1), "build_command"),
            op("recall", on(2), "build_command"),
        ]
        found = standings(notes, told, NOW)
        assert [found[name].recalled for name in found] == [1, 2]

    def test_a_file_name_that_is_no_text_is_known_as_the_journal_writes_it(self) -> None:
        stem = os.fsdecode(b"\xff\xfe")
        assert standings([noted(stem, A)], [op("recall", on(1), "\ufffd\ufffd")], NOW)[stem].recalled == 1

    def test_names_that_are_no_block_s_are_passed_over(self) -> None:
        told = [op("recall", on(1), f"gone {number}") for number in range(10_000)]
        assert one(A, *told) == one(A)


class TestWhatARewriteDrops:
    WRITTEN = op("remember", on(1), aliases=("pip",), kind="decision", project="/w/app", pinned=True)

    def test_the_journal_stands_in_for_a_header_written_after_it(self) -> None:
        found = one(A._replace(updated_at=on(5)), self.WRITTEN, op("remember", on(5)))
        assert (found.aliases, found.kind, found.project, found.pinned) == (("pip",), "decision", "/w/app", True)

    def test_a_header_that_is_older_was_changed_by_hand_and_holds(self) -> None:
        found = one(A._replace(updated_at=on(1)), self.WRITTEN)
        assert (found.aliases, found.kind, found.project, found.pinned) == ((), "fact", None, False)

    def test_what_the_header_has_holds(self) -> None:
        found = one(A._replace(updated_at=on(5), aliases=("uv",), kind="note"), self.WRITTEN)
        assert (found.aliases, found.kind, found.pinned) == (("uv",), "note", True)

    def test_the_last_word_of_this_store_counts(self) -> None:
        later = op("remember", on(3), aliases=("poetry",), version="01J")
        found = one(A._replace(updated_at=on(5)), later, self.WRITTEN)
        assert (found.aliases, found.kind, found.pinned) == (("poetry",), "fact", False)


class TestSuccessor:
    BY = op("supersede", on(10), by="b")

    @pytest.mark.parametrize(
        ("note", "told", "successor"),
        [
            (A, [], None),
            (A._replace(superseded_by="c"), [], "c"),
            (A, [BY], "b"),
            (A._replace(superseded_by="c"), [BY], "b"),
            (A._replace(superseded_by="c", updated_at=on(12)), [BY], "c"),
            (A._replace(updated_at=on(12)), [BY], None),
            (A, [BY, op("remember", on(12))], None),
            (A, [BY, op("restore", on(12))], None),
            (A, [op("remember", on(9)), BY], "b"),
            (A, [op("supersede", on(12), by="c"), BY], "c"),
            (A, [BY._replace(version="01J")], None),
            (A._replace(superseded_by="b"), [BY._replace(version="01J")], "b"),
            (A, [op("supersede", on(10))], None),
        ],
        ids=[
            "none", "header", "journal", "later journal", "later header", "written again by Aster", "written again",
            "brought back", "superseded after it was written", "the last of two", "taken out of the header by hand",
            "both", "by nothing",
        ],
    )  # fmt: skip
    def test_the_later_of_journal_and_header_holds(
        self, note: Note, told: list[Operation], successor: str | None
    ) -> None:
        assert one(note, *told).superseded_by == successor

    def test_it_does_not_count_before_it_happened(self) -> None:
        assert one(A, self.BY, as_of=on(9)).superseded_by is None

    def test_it_is_named_by_its_slug(self) -> None:
        notes = [A._replace(superseded_by="The new one"), noted("new", Note("new", "x", title="The new one"))]
        assert standings(notes, [], NOW)["a"].superseded_by == "new"


class TestLastMark:
    @pytest.mark.parametrize(
        ("told", "mark"),
        [
            ([], None),
            ([("recall", 1)], None),
            ([("recall", day) for day in range(40)] + [("harmful", 40)], "harmful"),
            ([("harmful", 1), ("recall", 1)], "harmful"),
            ([("harmful", 1), ("helpful", 2)], "helpful"),
            ([("helpful", 1), ("harmful", 2)], "harmful"),
            ([("harmful", 1), ("remember", 2)], None),
            ([("harmful", 1), ("restore", 2)], None),
            ([("helpful", 1), ("harmful", 2), ("restore", 3)], None),
            ([("remember", 1), ("harmful", 2)], "harmful"),
            ([("helpful", 1), ("remember", 2)], "helpful"),
        ],
    )
    def test_is_the_one_that_holds(self, told: list[tuple[str, int]], mark: str | None) -> None:
        operations = [op(name, on(day)) for name, day in told]
        assert one(A, *operations).last_mark == mark
        assert one(A, *reversed(operations)).last_mark == mark

    @pytest.mark.parametrize(
        ("told", "mark"),
        [
            (["helpful", "harmful"], "harmful"),
            (["harmful", "helpful"], "helpful"),
            (["harmful", "remember"], None),
            (["remember", "harmful"], "harmful"),
        ],
    )
    def test_of_one_time_the_later_line_holds(self, told: list[str], mark: str | None) -> None:
        assert one(A, *(op(name, on(1)) for name in told)).last_mark == mark
