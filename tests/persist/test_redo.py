"""A line that a kill cut: noted before it is written, finished by the next writer, and nobody else's is touched."""

from __future__ import annotations

import json
import os
import random
import stat
import time
from functools import partial
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from persist.files import LOCK_NAME, append_lines, locked, write_atomic
from persist.files.lock import locked_soon
from persist.files.redo import REDO_NAME, Noted, decode, encode, finish_left, forget_left, missing_part
from persist.memory.project_writer import append_fact, fact_bullet
from tests.faults.cut_lines import PAGE_BYTES, pad_to_page, run_cut, seen_after_kill
from tests.index.processes import run_and_kill, run_on_small_disk, start

LINE = '{"type":"title","title":"Über uns","ts":"2026-05-04T08:00:00Z"}'.encode()
OTHER = b'{"type":"message","role":"assistant","content":"theirs"}\n'
OLD = b'{"type":"session","id":"s"}\n'
CUTS = range(len(LINE) + 2)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(OLD)
    return path


def noted(data: bytes = LINE + b"\n", offset_bytes: int = len(OLD)) -> Noted:
    return Noted("s.jsonl", 5, 77, offset_bytes, data)


def missing(one: Noted, content: bytes) -> bytes:
    return missing_part(one, content[max(one.offset_bytes - 1, 0) :])


def assert_no_text_left(folder: Path) -> None:
    record = folder / REDO_NAME
    assert record.read_bytes().strip(b"\0") == b""
    assert record.stat().st_size <= 16 * 1024
    assert stat.S_IMODE(record.stat().st_mode) == 0o600


class TestRecord:
    @given(name=st.text(st.characters(exclude_characters="/\0", codec="utf-8"), min_size=1, max_size=80),
           device=st.integers(0, 2**64 - 1), inode=st.integers(0, 2**64 - 1), offset_bytes=st.integers(0, 2**62),
           data=st.binary(max_size=300),
           behind=st.binary(max_size=20))  # fmt: skip
    def test_is_read_as_it_was_written_whatever_stands_behind_it(
        self, name: str, device: int, inode: int, offset_bytes: int, data: bytes, behind: bytes
    ) -> None:
        one = Noted(name, device, inode, offset_bytes, data)
        assert decode(encode(one) + behind) == one

    def test_cut_anywhere_or_written_over_another_in_part_is_none(self) -> None:
        record = encode(noted())
        before = encode(Noted("another.jsonl", 2, 3, 4, b"x" * 200))
        for cut in range(len(record)):
            assert decode(record[:cut]) is None
            assert decode(record[:cut] + b"\0" * 200) is None
            assert decode(record[:cut] + before[cut:]) in (None, decode(before))
        for at in range(len(record)):
            assert decode(record[:at] + bytes([record[at] ^ 1]) + record[at + 1 :]) is None

    @pytest.mark.parametrize("name", ["../s.jsonl", "", "s\0.jsonl"])
    def test_a_name_that_is_none_of_a_file_of_the_folder_is_none(self, name: str) -> None:
        assert decode(encode(noted()._replace(name=name))) is None

    def test_an_offset_that_no_file_has_is_none(self) -> None:
        assert decode(encode(noted(offset_bytes=2**64 - 1))) is None


class TestMissingPart:
    @pytest.mark.parametrize("between", [b"", OTHER, OTHER * 3], ids=["alone", "behind a line", "behind three"])
    def test_is_the_rest_of_a_line_cut_anywhere(self, between: bytes) -> None:
        data = LINE + b"\n"
        assert missing(noted(), OLD + between) == b""
        for cut in range(1, len(data)):
            assert missing(noted(), OLD + between + data[:cut]) == data[cut:]
        assert missing(noted(), OLD + between + data) == b""

    @pytest.mark.parametrize(
        "content",
        [
            OLD[:10],
            OLD + LINE + b"\n" + OTHER,
            OLD + LINE + b"\n" + LINE[:9],
            OLD + OTHER + LINE + b"\n" + OTHER + LINE[:9],
            OLD + LINE[:9] + OTHER,
            OLD + OTHER[:-1],
            OLD + OTHER + b'{"type":"tool"',
            OLD[:-1] + LINE[:9],
            LINE[:9],
            b"",
        ],
        ids=[
            "shorter",
            "whole",
            "whole, then alike",
            "the same later",
            "glued",
            "their line",
            "their beginning",
            "inside a line",
            "before it",
            "empty",
        ],
    )
    def test_is_nothing_where_the_file_ends_otherwise(self, content: bytes) -> None:
        assert missing(noted(), content) == b""

    def test_a_torn_line_before_the_noted_place_is_not_ours(self) -> None:
        torn = OLD + LINE[:9]
        assert missing(noted(offset_bytes=len(torn) + 1), torn) == b""
        assert missing(noted(offset_bytes=len(torn) + 1), torn + b"\n") == b""
        assert missing(noted(offset_bytes=len(torn) + 1), torn + b"\n" + LINE[:9]) == LINE[9:] + b"\n"

    def test_several_lines_whose_end_is_like_their_beginning(self) -> None:
        data = b"- a\n  b\n- a\n"
        content = b"# Project memory\n\n"
        for cut in range(1, len(data)):
            assert missing(noted(data, len(content)), content + data[:cut]) == data[cut:]
        for behind in (b"", b"- a", b"- a\n"):
            assert missing(noted(data, len(content)), content + data + behind) == b""

    @given(old=st.lists(st.binary(max_size=12).filter(lambda one: b"\n" not in one), max_size=4),
           foreign=st.lists(st.binary(max_size=12).filter(lambda one: b"\n" not in one), max_size=4),
           line=st.binary(max_size=12).filter(lambda one: b"\n" not in one), part=st.floats(0, 1))  # fmt: skip
    @example(old=[], foreign=[], line=b"", part=0)
    def test_whatever_the_lines_the_file_then_ends_with_ours(
        self, old: list[bytes], foreign: list[bytes], line: bytes, part: float
    ) -> None:
        before = b"".join(one + b"\n" for one in old)
        assume(line not in foreign)  # it would pass for ours
        data = line + b"\n"
        kept = data[: int(part * len(data))]
        content = before + b"".join(one + b"\n" for one in foreign) + kept
        rest = missing(noted(data, len(before)), content)
        assert rest == (data[len(kept) :] if kept and kept != data else b"")


class TestCutLine:
    @pytest.mark.parametrize("kept_bytes", CUTS)
    def test_is_finished_by_the_next_append(self, path: Path, kept_bytes: int) -> None:
        run_cut(partial(append_lines, path, [LINE, b"not begun"]), path, kept_bytes)
        seen = seen_after_kill(path, OLD)
        append_lines(path, [b"2"])
        assert seen.assert_finished() == [*([LINE] if kept_bytes else []), b"2"]
        assert_no_text_left(path.parent)

    @pytest.mark.parametrize("kept_bytes", CUTS)
    def test_is_finished_by_whoever_takes_the_lock_before_the_file_is_looked_at(
        self, path: Path, kept_bytes: int
    ) -> None:
        run_cut(partial(append_lines, path, [LINE]), path, kept_bytes)
        with locked(path.with_name(LOCK_NAME)):
            assert path.read_bytes() == OLD + (LINE + b"\n" if kept_bytes else b"")
        assert_no_text_left(path.parent)

    def test_is_finished_by_an_append_to_another_file_of_the_folder(self, path: Path) -> None:
        run_cut(partial(append_lines, path, [LINE]), path, 20)
        append_lines(path.with_name("t.jsonl"), [b"other"])
        assert path.read_bytes() == OLD + LINE + b"\n"
        assert path.with_name("t.jsonl").read_bytes() == b"other\n"

    def test_is_finished_by_who_waits_only_shortly_for_the_lock(self, path: Path) -> None:
        run_cut(partial(append_lines, path, [LINE]), path, 20)
        with locked_soon(path.with_name(LOCK_NAME), 0.5):
            append_lines(path, [b"recall"], already_locked=True, durable=False)
        assert path.read_bytes() == OLD + LINE + b"\nrecall\n"

    @pytest.mark.parametrize("kept_bytes", CUTS)
    def test_is_finished_behind_what_another_program_appended_first(self, path: Path, kept_bytes: int) -> None:
        def theirs() -> None:
            with path.open("ab") as file:
                file.write(OTHER)

        run_cut(partial(append_lines, path, [LINE]), path, kept_bytes, theirs)
        append_lines(path, [b"next"])
        assert path.read_bytes() == OLD + OTHER + (LINE + b"\n" if kept_bytes else b"") + b"next\n"

    @pytest.mark.parametrize("kept_bytes", range(len(LINE) + 3))
    def test_behind_another_torn_line_is_finished_and_that_one_is_left_as_it_is(
        self, path: Path, kept_bytes: int
    ) -> None:
        torn = OLD + LINE[:12]
        path.write_bytes(torn)
        run_cut(partial(append_lines, path, [LINE]), path, kept_bytes)
        append_lines(path, [b"next"])
        assert path.read_bytes() == torn + b"\n" + (LINE + b"\n" if kept_bytes > 1 else b"") + b"next\n"

    @pytest.mark.parametrize("theirs", [OTHER, OTHER[:-1]], ids=["a line", "a line without its end"])
    def test_that_another_program_appended_to_is_left_to_the_reader(self, path: Path, theirs: bytes) -> None:
        run_cut(partial(append_lines, path, [LINE]), path, 20)
        with path.open("ab") as file:
            file.write(theirs)
        append_lines(path, [b"next"])
        assert path.read_bytes() == OLD + LINE[:20] + OTHER + b"next\n"
        assert_no_text_left(path.parent)

    @pytest.mark.parametrize("half", [OTHER[:-1], OTHER[:30], LINE[:5] + b"x"], ids=["whole", "half", "like ours"])
    def test_of_another_program_is_neither_finished_nor_cut(self, path: Path, half: bytes) -> None:
        def theirs() -> None:
            with path.open("ab") as file:
                file.write(half)

        run_cut(partial(append_lines, path, [LINE]), path, 0, theirs)
        append_lines(path, [b"next"])
        assert path.read_bytes() == OLD + half + b"\nnext\n"

    def test_with_much_behind_its_place_is_left_to_the_reader(self, path: Path) -> None:
        run_cut(partial(append_lines, path, [LINE]), path, 0)
        content = OLD + OTHER * 20_000 + LINE[:20]
        path.write_bytes(content)
        append_lines(path, [b"next"])
        assert path.read_bytes() == content + b"\nnext\n"

    def test_cut_again_while_it_is_finished_goes_on(self, path: Path) -> None:
        run_cut(partial(append_lines, path, [LINE]), path, 10)
        for kept_bytes in (0, 5, 1, 7):
            run_cut(partial(append_lines, path, [b"next"]), path, kept_bytes)
        assert path.read_bytes() == OLD + LINE[:23]
        append_lines(path, [b"next"])
        assert path.read_bytes() == OLD + LINE + b"\nnext\n"

    def test_of_the_middle_of_many_is_the_only_one_finished(self, path: Path) -> None:
        run_cut(partial(append_lines, path, [b"first", b"second", b"third"]), path, 2, at_write=2)
        assert path.read_bytes() == OLD + b"first\nse"
        append_lines(path, [b"next"])
        assert path.read_bytes() == OLD + b"first\nsecond\nnext\n"

    @pytest.mark.parametrize("kept_bytes", [0, 1, 9000, 9001])
    def test_of_nine_kilobytes_leaves_no_text_in_the_record(self, path: Path, kept_bytes: int) -> None:
        run_cut(partial(append_lines, path, [b"k" * 9000]), path, kept_bytes)
        append_lines(path, [b"next"])
        assert path.read_bytes() == OLD + (b"k" * 9000 + b"\n" if kept_bytes else b"") + b"next\n"
        assert_no_text_left(path.parent)

    @pytest.mark.parametrize("size_bytes", [1, 4096, 9000, 16_384, 100_000])
    def test_of_any_length_leaves_no_text_in_the_record(self, path: Path, size_bytes: int) -> None:
        append_lines(path, [b"k" * size_bytes, b"short"])
        assert_no_text_left(path.parent)


class TestOtherFiles:
    def test_one_that_was_removed_moved_or_replaced_meanwhile_is_left_alone(self, path: Path) -> None:
        moved = path.with_name("moved.jsonl")
        for change in (path.unlink, lambda: path.rename(moved), lambda: write_atomic(path, OLD + LINE[:20])):
            path.write_bytes(OLD)
            run_cut(partial(append_lines, path, [LINE]), path, 20)
            change()
            before = {one: one.read_bytes() for one in path.parent.glob("*.jsonl")}
            append_lines(path.with_name("other.jsonl"), [b"x"])
            after = {one: one.read_bytes() for one in path.parent.glob("*.jsonl") if one.name != "other.jsonl"}
            assert after == {one: data for one, data in before.items() if one.name != "other.jsonl"}
            assert_no_text_left(path.parent)
            moved.unlink(missing_ok=True)

    def test_a_link_is_finished_where_it_leads_and_only_while_it_leads_there(self, path: Path) -> None:
        link = path.with_name("link.jsonl")
        link.symlink_to(path)
        run_cut(partial(append_lines, link, [LINE]), path, 20)
        append_lines(link, [b"next"])
        assert path.read_bytes() == OLD + LINE + b"\nnext\n"
        before = path.read_bytes()
        run_cut(partial(append_lines, link, [LINE]), path, 20)
        elsewhere = path.with_name("elsewhere.jsonl")
        elsewhere.write_bytes(before + LINE[:20])
        link.unlink()
        link.symlink_to(elsewhere)
        append_lines(path.with_name("t.jsonl"), [b"x"])
        assert path.read_bytes() == elsewhere.read_bytes() == before + LINE[:20]

    def test_one_that_may_not_be_written_any_more_hinders_no_other(self, path: Path) -> None:
        run_cut(partial(append_lines, path, [LINE]), path, 20)
        path.unlink()
        path.mkdir()
        append_lines(path.with_name("t.jsonl"), [b"x"])
        assert path.with_name("t.jsonl").read_bytes() == b"x\n"

    def test_a_record_that_was_cut_itself_is_dropped(self, path: Path) -> None:
        record = encode(Noted(path.name, path.stat().st_dev, path.stat().st_ino, len(OLD), LINE + b"\n"))
        path.write_bytes(OLD + LINE[:20])
        for cut in (*range(8, 70), len(record) - 1):
            path.with_name(REDO_NAME).write_bytes(record[:cut])
            finish_left(path.parent)
            assert path.read_bytes() == OLD + LINE[:20]
            assert path.with_name(REDO_NAME).read_bytes() == b""

    def test_a_lock_of_another_name_is_no_leave_to_finish(self, path: Path) -> None:
        run_cut(partial(append_lines, path, [LINE]), path, 20)
        with locked(path.with_name(".import.lock")):
            assert path.read_bytes() == OLD + LINE[:20]

    @pytest.mark.parametrize("kind", ["text", "a", "zeros, then text", "folder", "link", "hard link", "pipe", "device"])
    def test_what_is_not_ours_at_its_name_stays_as_it_is_and_hinders_nothing(self, path: Path, kind: str) -> None:
        record = path.with_name(REDO_NAME)
        victim = path.with_name("victim")
        victim.write_bytes(b"" if kind == "hard link" else b"theirs")
        theirs = {"text": b"theirs", "a": b"a", "zeros, then text": b"\0" * 8 + b"theirs"}
        match kind:
            case "folder":
                record.mkdir()
            case "link":
                record.symlink_to(victim)
            case "hard link":
                record.hardlink_to(victim)
            case "device":
                record.symlink_to("/dev/null")
            case "pipe":
                os.mkfifo(record)
            case _:
                record.write_bytes(theirs[kind])
        before = victim.read_bytes()
        append_lines(path, [LINE])
        with locked(path.with_name(LOCK_NAME)):
            pass
        assert (path.read_bytes(), victim.read_bytes()) == (OLD + LINE + b"\n", before)
        assert kind not in theirs or record.read_bytes() == theirs[kind]

    def test_a_record_whose_clearing_was_cut_is_ours(self, path: Path) -> None:
        record = encode(Noted(path.name, path.stat().st_dev, path.stat().st_ino, len(OLD), LINE + b"\n"))
        for zeros in range(1, 8):
            path.with_name(REDO_NAME).write_bytes(b"\0" * zeros + record[zeros:])
            append_lines(path, [LINE])
            assert_no_text_left(path.parent)

    def test_a_record_that_others_could_read_is_made_private(self, path: Path) -> None:
        path.with_name(REDO_NAME).touch(0o644)
        append_lines(path, [LINE])
        assert_no_text_left(path.parent)

    def test_a_large_record_is_not_read(self, path: Path) -> None:
        with path.with_name(REDO_NAME).open("wb") as file:
            file.write(b"asxredo1" + b"\0" * 500)
            file.truncate(1 << 40)
        append_lines(path, [LINE])
        assert_no_text_left(path.parent)

    def test_one_that_cannot_be_finished_now_hinders_no_other_and_is_finished_later(self, path: Path) -> None:
        path.write_bytes(OLD * 100)
        run_cut(partial(append_lines, path, [LINE]), path, 20)
        cut = path.read_bytes()
        other = path.with_name("t.jsonl")
        assert run_on_small_disk(partial(append_lines, other, [b"x"]), len(cut) + 5) == (0, "")
        assert (path.read_bytes(), other.read_bytes()) == (cut, b"x\n")
        append_lines(other, [b"y"])
        assert path.read_bytes() == OLD * 100 + LINE + b"\n"
        assert other.read_bytes() == b"x\ny\n"

    def test_where_no_record_can_be_made_lines_are_appended_without_it(self, path: Path) -> None:
        path.with_name(LOCK_NAME).touch(0o600)
        path.parent.chmod(0o500)
        try:
            append_lines(path, [LINE])
        finally:
            path.parent.chmod(0o700)
        assert path.read_bytes() == OLD + LINE + b"\n"

    def test_what_is_noted_of_a_file_goes_before_the_file_does(self, path: Path) -> None:
        run_cut(partial(append_lines, path, [LINE]), path, 20)
        forget_left(path.with_name("t.jsonl"))
        assert LINE in path.with_name(REDO_NAME).read_bytes()
        forget_left(path)
        assert_no_text_left(path.parent)
        assert path.read_bytes() == OLD + LINE[:20]


class TestTime:
    def test_a_long_line_behind_much_of_another_programs_is_looked_at_once(self, path: Path) -> None:
        run_cut(partial(append_lines, path, [b"k" * 5_000_000]), path, 0)
        with path.open("ab") as file:
            file.write(b"theirs, thirty bytes in a line\n" * 190_000)
        began_s = time.process_time()
        append_lines(path, [b"next"])
        assert time.process_time() - began_s < 1


class TestFullDisk:
    def test_that_has_no_room_leaves_the_file_as_it_was(self, path: Path) -> None:
        code, told = run_on_small_disk(partial(append_lines, path, [b"x" * 2000]), 1000)
        assert (code, told.partition(": ")[0]) == (1, "StoreIOError")
        assert told.startswith(f"StoreIOError: cannot append to {path}: ")
        assert path.read_bytes() == OLD
        append_lines(path, [b"next"])
        assert path.read_bytes() == OLD + b"next\n"
        assert_no_text_left(path.parent)

    def test_that_cannot_take_the_rest_keeps_it_for_the_next(self, path: Path) -> None:
        path.write_bytes(OLD * 100)
        run_cut(partial(append_lines, path, [LINE]), path, 20)
        cut = path.read_bytes()
        code, told = run_on_small_disk(partial(append_lines, path, [b"next"]), len(cut) + 5)
        assert (code, told.partition(": ")[0]) == (1, "StoreIOError")
        assert path.read_bytes() == cut

        def only_lock() -> None:
            with locked(path.with_name(LOCK_NAME)):
                pass

        assert run_on_small_disk(only_lock, len(cut) + 5) == (0, "")
        assert path.read_bytes() == cut
        append_lines(path, [b"next"])
        assert path.read_bytes() == OLD * 100 + LINE + b"\nnext\n"


class TestFact:
    BULLET = fact_bullet("first\nsecond line\n- first")

    @pytest.mark.parametrize("old", [b"", b"# Project memory\n\n- old\n", b"# Mine"], ids=["new", "more", "no newline"])
    def test_cut_anywhere_is_finished(self, tmp_path: Path, old: bytes) -> None:
        add = partial(append_fact, tmp_path, self.BULLET)
        path = tmp_path / "ASTER.md"
        path.write_bytes(old)
        add()
        whole = path.read_bytes()
        behind = old + b"\n" if old and not old.endswith(b"\n") else old
        for kept_bytes in range(len(whole) - len(old) + 1):
            path.write_bytes(old)
            run_cut(add, path, kept_bytes)
            assert path.read_bytes() == whole[: len(old) + kept_bytes]
            with locked(tmp_path / LOCK_NAME):
                expected = whole if kept_bytes > len(behind) - len(old) else whole[: len(old) + kept_bytes]
                assert path.read_bytes() == expected
        assert_no_text_left(tmp_path)

    def test_interrupted_on_its_way_to_the_disk_it_is_taken_back_and_nothing_is_noted(self, tmp_path: Path) -> None:
        append_fact(tmp_path, "- old")
        path = tmp_path / "ASTER.md"
        before = path.read_bytes()

        def interrupted() -> None:
            def fsync(_: object) -> None:
                assert (tmp_path / REDO_NAME).read_bytes().strip(b"\0") == b""
                raise KeyboardInterrupt

            setattr(os, "fsync", fsync)  # noqa: B010 - in a process of its own
            append_fact(tmp_path, self.BULLET)

        start(interrupted).wait()
        assert path.read_bytes() == before
        assert_no_text_left(tmp_path)

    def test_finished_is_not_told_again_by_the_next(self, tmp_path: Path) -> None:
        path = tmp_path / "ASTER.md"
        run_cut(partial(append_fact, tmp_path, self.BULLET), path, 40)
        append_fact(tmp_path, "- next")
        assert path.read_text() == f"# Project memory\n\n{self.BULLET}\n- next\n"


def title(number: int) -> bytes:
    return json.dumps({"type": "title", "title": f"{number} " + "t" * 40}).encode()


def end_at_page_bounds(folder: Path, times: int) -> None:
    """Kill a writer whose every line crosses a page, at random moments."""
    path = folder / "s.jsonl"
    chance = random.Random(times)  # noqa: S311 - moments, no secrets
    for number in range(times):
        path.write_bytes(b"")
        pad_to_page(path, 1 + number % 60, lambda length: b'"' + b"p" * length + b'"\n')
        old = path.read_bytes()

        def append_again_and_again(size_bytes: int = len(old), number: int = number) -> None:
            while True:
                append_lines(path, [title(number)], durable=False)
                os.truncate(path, size_bytes)

        assert run_and_kill(append_again_and_again, chance.uniform(0.001, 0.01))
        seen = seen_after_kill(path, old)
        assert not seen.cut or path.stat().st_size % PAGE_BYTES == 0
        append_lines(path, [b'"next"'], durable=False)
        assert seen.assert_finished() in ([b'"next"'], [title(number), b'"next"'])


def test_lines_across_a_page_killed_at_any_moment_are_old_or_new_after_the_next_command(tmp_path: Path) -> None:
    end_at_page_bounds(tmp_path, 20)


@pytest.mark.soak
def test_lines_across_a_page_killed_five_hundred_times_are_cut_there_and_nowhere_else(tmp_path: Path) -> None:
    end_at_page_bounds(tmp_path, 500)
