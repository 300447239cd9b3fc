"""A review: each thing that is to be seen to, on real files, and none where there is nothing."""

from __future__ import annotations

import time
from collections.abc import Collection
from pathlib import Path

import pytest

from persist.memory import MemoryStore
from persist.memory.review import MAX_BODY_CHARACTERS, Review
from persist.memory.review_facts import MAX_FACT_CHARACTERS, MAX_PROJECT_CHARACTERS

NOW = "2026-11-30T00:00:00.000Z"


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    folder = tmp_path / "memory"
    folder.mkdir()
    return MemoryStore(folder)


def put(store: MemoryStore, name: str, description: str = "", text: str = "text", **fields: str) -> None:
    header = {"name": name, "description": description or name, "created_at": "2026-01-01", **fields}
    lines = "".join(f"{key}: {value}\n" for key, value in header.items())
    (store.folder / f"{name}.md").write_text(f"---\n{lines}---\n\n{text}\n")


def facts(store: MemoryStore, *lines: str) -> None:
    (store.folder / "ASTER.md").write_text("# Project memory\n\n" + "".join(f"{line}\n" for line in lines))


def told(found: Review, *leaving: str) -> list[tuple[str, str]]:
    """Return (name, finding), but for those that every block of these tests has."""
    return [(one.name, one.finding) for one in found.findings if one.finding not in ("never_recalled", *leaving)]


def reason(found: Review, name: str, finding: str) -> str:
    return next(one.reason for one in found.findings if (one.name, one.finding) == (name, finding))


def test_of_nothing_finds_nothing(store: MemoryStore, tmp_path: Path) -> None:
    assert store.review() == Review((), 0, 0)
    assert MemoryStore(tmp_path / "nowhere").review() == Review((), 0, 0)
    assert not (tmp_path / "nowhere").exists()


def test_changes_nothing(store: MemoryStore) -> None:
    put(store, "a")
    facts(store, "- one")
    before = sorted((path.name, path.stat().st_mtime_ns) for path in [store.folder, *store.folder.iterdir()])
    store.review()
    assert sorted((path.name, path.stat().st_mtime_ns) for path in [store.folder, *store.folder.iterdir()]) == before


class TestBlocks:
    def test_near_duplicates_are_told_once_and_superseded_ones_are_none(self, store: MemoryStore) -> None:
        put(store, "formatter-settings", "Formatter and linter settings")
        put(store, "linter-settings", "Settings of the linter", text="other")
        put(store, "unlike", "Where the staging database lives", text="third")
        assert told(store.review()) == [("formatter-settings", "near_duplicate")]
        assert "linter-settings" in reason(store.review(), "formatter-settings", "near_duplicate")
        put(store, "linter-settings", "Settings of the linter", text="other", superseded_by="formatter-settings")
        assert told(store.review()) == []

    def test_the_same_text_under_two_titles_is_a_duplicate(self, store: MemoryStore) -> None:
        put(store, "alpha", "first", "Use uv for everything  here.")
        put(store, "omega", "second", "use UV for everything\nhere.")
        assert told(store.review()) == [("alpha", "near_duplicate")]

    def test_one_that_the_journal_alone_ends_is_no_duplicate(self, store: MemoryStore) -> None:
        for name, description in (("alpha", "first"), ("middle", "second"), ("omega", "third")):
            put(store, name, description, "Use uv for everything here.")
        assert [one.finding for one in store.review().findings].count("near_duplicate") == 2
        line = '{"ts": "2026-02-01T00:00:00Z", "op": "supersede", "name": "alpha", "by": "omega"}'
        (store.folder / "journal.jsonl").write_text(line + "\n")
        found = store.review(as_of=NOW)
        assert told(found) == [("middle", "near_duplicate")]
        assert "omega" in reason(found, "middle", "near_duplicate")

    def test_near_duplicates_are_few_for_each_of_many(self, store: MemoryStore) -> None:
        for number in range(30):
            put(store, f"convention-{number:02d}", "Naming convention", f"text {number}")
        found = [one for one in store.review().findings if one.finding == "near_duplicate"]
        assert len(found) <= 30 * 3

    def test_a_block_is_never_recalled_until_it_is(self, store: MemoryStore) -> None:
        put(store, "a")
        put(store, "b", superseded_by="a")
        found = store.review(as_of=NOW)
        assert [(one.name, one.finding) for one in found.findings] == [("a", "never_recalled")]
        assert reason(found, "a", "never_recalled").startswith("was never recalled, last touched 333 days ago;")
        store.recall("a")
        assert store.review().findings == ()

    def test_a_young_block_is_no_finding_for_that_it_was_never_recalled(self, store: MemoryStore) -> None:
        put(store, "a", created_at="2026-05-01T08:00:00Z", updated_at="2026-05-01T08:00:00Z")
        assert store.review(as_of="2026-05-01T08:00:05.000Z").findings == ()
        assert store.review(as_of="2026-05-15T07:59:59.000Z").findings == ()
        found = store.review(as_of="2026-05-15T08:00:00.000Z")
        assert reason(found, "a", "never_recalled") == (
            "was never recalled, last touched 14 days ago; give it aliases, or archive it"
        )

    def test_an_oversized_block(self, store: MemoryStore) -> None:
        put(store, "fits", text="x" * MAX_BODY_CHARACTERS)
        put(store, "large", text="y" * (MAX_BODY_CHARACTERS + 1))
        assert told(store.review()) == [("large", "oversized")]

    def test_a_block_without_a_date_and_one_that_cannot_be_read(self, store: MemoryStore) -> None:
        (store.folder / "plain.md").write_text("no header\n")
        put(store, "broken-date", created_at="last week")
        (store.folder / "folder.md").mkdir()
        (store.folder / "bytes.md").write_bytes(b"---\nname: bytes\ncreated_at: 2026-01-01\n---\n\n\xff\xfe\n")
        assert told(store.review()) == [
            ("bytes", "unreadable"), ("folder", "unreadable"), ("broken-date", "undated"), ("plain", "undated"),
        ]  # fmt: skip
        assert "never decays" in reason(store.review(), "plain", "undated")
        assert [one.name for one in store.decay(as_of="2099-01-01T00:00:00.000Z").archived] == ["bytes"]

    def test_a_session_that_is_gone(self, store: MemoryStore) -> None:
        put(store, "a", source_session="s1")
        put(store, "b", source_session="s2")
        put(store, "c")
        asked: list[Collection[str]] = []

        def missing(ids: Collection[str]) -> Collection[str]:
            asked.append(ids)
            return {"s2"}

        assert told(store.review(missing)) == [("b", "broken_source")]
        assert asked == [{"s1", "s2"}]
        assert told(store.review()) == []

    def test_successors_that_lead_nowhere(self, store: MemoryStore) -> None:
        put(store, "self", superseded_by="self", description="one")
        put(store, "ring-a", superseded_by="ring-b", description="two")
        put(store, "ring-b", superseded_by="ring-a", description="three")
        put(store, "into-ring", superseded_by="ring-a", description="four")
        put(store, "jenkins", superseded_by="circleci", description="five")
        put(store, "circleci", superseded_by="woodpecker", description="six")
        put(store, "woodpecker", description="seven")
        put(store, "orphan", superseded_by="nowhere", description="eight")
        put(store, "left", superseded_by="gone", description="nine")
        put(store, "gone", description="ten")
        store.archive("gone")
        found = store.review()
        assert told(found) == [
            ("into-ring", "superseded_circle"), ("ring-a", "superseded_circle"), ("ring-b", "superseded_circle"),
            ("self", "superseded_circle"), ("left", "superseded_broken"), ("orphan", "superseded_broken"),
            ("jenkins", "superseded_chain"),
        ]  # fmt: skip
        assert "jenkins > circleci > woodpecker" in reason(found, "jenkins", "superseded_chain")
        assert "gone, which is archived" in reason(found, "left", "superseded_broken")

    @pytest.mark.parametrize(("last", "kind"), [("", "superseded_chain"), ("n3", "superseded_circle")])
    def test_a_long_row_of_successors_is_told_in_short(self, store: MemoryStore, last: str, kind: str) -> None:
        count = 3000
        for number in range(count):
            successor = f"n{number + 1}" if number + 1 < count else last
            put(store, f"n{number}", description="-", **({"superseded_by": successor} if successor else {}))
        begin = time.process_time()
        found = store.review()
        took = time.process_time() - begin
        assert [one.finding for one in found.findings if one.name == "n0" and one.finding.startswith("sup")] == [kind]
        assert "n0 > n1 > n2 > n3 > n4 > n5 > n6 > n7 > \u2026" in reason(found, "n0", kind)
        assert max(len(one.reason) for one in found.findings) < 200
        assert took < 10

    def test_a_secret_is_named_by_its_line_and_never_printed(self, store: MemoryStore) -> None:
        put(store, "staging", text="first\npassword: hunter22x\nwrite to mira@tidewatch.io")
        found = store.review()
        assert told(found) == [("staging", "secret")]
        assert "line 2 of its text looks like a password" in reason(found, "staging", "secret")
        assert "hunter22x" not in str(found)


class TestFacts:
    def test_good_ones_are_left_alone(self, store: MemoryStore) -> None:
        facts(store, "- Deploys leave from main only", "- Use `uv run pytest`, never pip", "", "Some prose.")
        assert store.review() == Review((), 0, 2)

    def test_long_ones_and_code(self, store: MemoryStore) -> None:
        facts(
            store,
            f"- {'x' * MAX_FACT_CHARACTERS}",
            f"- {'y' * (MAX_FACT_CHARACTERS + 1)}",
            "- Run this:",
            "  ```sh",
            "  make db-up",
            "  ```",
        )
        assert told(store.review()) == [("ASTER.md:4", "fact_too_long"), ("ASTER.md:6", "fact_with_code")]

    def test_a_file_that_is_too_long_for_every_prompt(self, store: MemoryStore) -> None:
        facts(store, *(f"- fact {number} about {number * 7919} and nothing" for number in range(300)))
        found = store.review()
        assert ("ASTER.md", "oversized") in told(found)
        assert len((store.folder / "ASTER.md").read_text()) > MAX_PROJECT_CHARACTERS

    def test_duplicates_of_each_other(self, store: MemoryStore) -> None:
        facts(
            store,
            "- Deploys leave from the main branch only",
            "- Tests need Postgres on port 5544",
            "- deploys leave from the **main** branch only.",
            "- Deploys leave only from the main branch, always",
            "- uv!",
            "- UV",
        )
        assert told(store.review()) == [
            ("ASTER.md:5", "fact_duplicate"), ("ASTER.md:6", "fact_duplicate"), ("ASTER.md:6", "fact_duplicate"),
            ("ASTER.md:8", "fact_duplicate"),
        ]  # fmt: skip

    def test_duplicates_of_blocks(self, store: MemoryStore) -> None:
        put(store, "money", "Money amounts are integers in cents, never floats", "Decimal only at the edge.")
        put(
            store,
            "ci",
            "Where CI runs",
            "It moved twice. Pipelines live in .woodpecker.yml now.\nSecrets are per repository.",
        )
        facts(
            store,
            "- Money amounts are integers in cents, never floats",
            "- pipelines live in .woodpecker.yml now",
            "- Secrets live elsewhere",
        )
        found = store.review()
        assert sorted(set(told(found))) == [("ASTER.md:3", "fact_duplicate"), ("ASTER.md:4", "fact_duplicate")]
        assert reason(found, "ASTER.md:4", "fact_duplicate") == "block ci says the same; take it out"

    def test_secret_and_personal_values_are_named_by_line_alone(self, store: MemoryStore) -> None:
        facts(store, "- fine", "- the key is", "  password: hunter22x", "- ask mira@tidewatch.io")
        found = store.review()
        assert told(found) == [("ASTER.md:5", "secret"), ("ASTER.md:6", "personal")]
        assert not any(value in str(found) for value in ("hunter22x", "mira@"))

    def test_bytes_that_are_no_text_are_no_trouble(self, store: MemoryStore) -> None:
        (store.folder / "ASTER.md").write_bytes(b"\xef\xbb\xbf- one\r\n- \xff\xfe two\r\n")
        assert store.review() == Review((), 0, 2)
