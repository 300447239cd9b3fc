"""Options given as text become values, or a usage error that names the option."""

from datetime import UTC, datetime

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from cli import choices

NOW = datetime(2026, 3, 29, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-29T02:30:00+02:00", "2026-03-29T00:30:00.000Z"),
        ("2026-03-29", "2026-03-29T00:00:00.000Z"),
        ("5h", "2026-03-29T07:00:00.000Z"),
        ("3d", "2026-03-26T12:00:00.000Z"),
        ("2w", "2026-03-15T12:00:00.000Z"),
    ],
    ids=["offset", "day", "hours", "days", "weeks"],
)
def test_times(text: str, moment: str) -> None:
    assert choices.moment(text, "--since", NOW) == moment


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "3x", "-3d", "99999y"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="is not a time") as refused:
        choices.moment(text, "--since", NOW)
    assert refused.value.param_hint == "--since"


@pytest.mark.parametrize(
    ("text", "size"), [("500", 500), ("64k", 65536), ("1.5 MB", 1572864), ("1GiB", 1073741824)], ids=str
)
def test_sizes(text: str, size: int) -> None:
    assert choices.size_bytes(text, "--max") == size


@pytest.mark.parametrize("text", ["", "many", "-1", "1T", "1.k"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="is not a size"):
        choices.size_bytes(text, "--max")


def test_roots_keep_what_follows_the_first_equals_sign() -> None:
    assert choices.roots(["codex=/a=b", "codex=~/c"], ["codex"]) == [("codex", "/a=b"), ("codex", "~/c")]


def test_names_come_once_each_in_the_order_typed() -> None:
    assert choices.names(["b,a", "b"], ["a", "b", "c"], "--in") == ("b", "a")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("01k5p3", ("01k5p3", None)),
        ("01k5p3:17", ("01k5p3", 17)),
        ("codex:01k5p3", ("codex:01k5p3", None)),
        ("codex:01k5p3:17", ("codex:01k5p3", 17)),
        ("codex:4815", ("codex:4815", None)),
        ("a/b:3", ("a/b", 3)),
    ],
    ids=str,
)
def test_event_ids(text: str, found: tuple[str, int | None]) -> None:
    assert choices.event_id(text, ["codex"]) == found


@given(st.text())
def test_typed_text_can_be_stored(text: str) -> None:
    typed = text.encode("utf-8", "replace").decode()
    assert choices.typed_text(typed).encode("utf-8").decode("utf-8") == typed


def test_bytes_that_are_not_utf_8_become_replacement_characters() -> None:
    assert choices.typed_text("caf\udce9") == "caf\ufffd"
