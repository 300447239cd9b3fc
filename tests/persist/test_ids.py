"""Slugs and session ids (``spec/aster.md`` 2.4, 2.5): every example of the rule, and what is refused."""

from __future__ import annotations

import re
import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persist.errors import RefusedError
from persist.ids import MAX_FOLDER_BYTES, checked_session_id, new_session_id, project_slug, slug

PROJECTS = {
    "/": "default",
    "": "default",
    "/项目": "default",
    "/home/ann/work/blog": "home-ann-work-blog",
    "/home/ann/work-blog": "home-ann-work-blog",
    "/Home/Ann/work.blog": "home-ann-work-blog",
    "/home/ann/cafés/项目": "home-ann-caf-s",
    "/项目/x": "x",
    "/home/ann/İstanbul": "home-ann-stanbul",
    "C:\\Users\\Ann\\repo": "c-users-ann-repo",
    "/a//b--c": "a-b-c",
}


@pytest.mark.parametrize(("root", "expected"), PROJECTS.items(), ids=lambda value: repr(value))
def test_project_slug_follows_every_example_of_the_spec(root: str, expected: str) -> None:
    assert project_slug(root) == expected


def test_kelvin_sign_and_dotless_letters_are_not_folded_into_ascii() -> None:
    assert slug("\u212aelvin-\u0131") == "elvin"


def test_a_path_too_long_for_a_folder_keeps_its_identity() -> None:
    one, other = project_slug("/a" * 200), project_slug("/a" * 201)
    assert len(one) <= MAX_FOLDER_BYTES
    assert one != other
    assert project_slug("/" + "a" * 255) == "a" * 255


@given(st.text())
def test_a_slug_is_a_fixed_point_of_its_alphabet(text: str) -> None:
    name = slug(text)
    assert set(name) <= set(string.ascii_lowercase + string.digits + "-")
    assert "--" not in name
    assert name == name.strip("-") == slug(name)


def test_new_ids_are_lower_case_ulids_of_this_moment_in_order() -> None:
    ids = [new_session_id() for _ in range(2000)]
    assert ids == sorted(set(ids))
    assert all(re.fullmatch(r"[0-9a-hjkmnp-tv-z]{26}", name) for name in ids)
    alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
    made_ms = sum(alphabet.index(letter) * 32**power for power, letter in enumerate(reversed(ids[0][:10])))
    assert abs(made_ms / 1000 - time.time()) < 60


def test_new_ids_stay_in_order_when_the_clock_is_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    before = new_session_id()
    now_ns = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: now_ns - 3_600_000_000_000)
    assert new_session_id() > before


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("conv_1", "conv-1"),
        ("conv-1", "conv-1"),
        ("telegram-48151623", "telegram-48151623"),
        ("01M0CDSRD0M5N6FKF181V7JAJ0", "01m0cdsrd0m5n6fkf181v7jaj0"),
        (" padded ", "padded"),
        ("...a", "a"),
    ],
)
def test_an_id_stands_for_its_slug(typed: str, name: str) -> None:
    assert checked_session_id(typed) == name


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "  ",
        ".",
        "..",
        "../other/x",
        "/etc/passwd",
        "a/b",
        "a\\b",
        "a\0b",
        "a\nb",
        "???",
        "项目",
        "a" * 201,
        "é" * 101,
    ],
)
def test_what_cannot_name_a_session_is_refused(typed: str) -> None:
    with pytest.raises(RefusedError):
        checked_session_id(typed)


@given(st.text())
def test_a_checked_id_never_leaves_its_folder(typed: str) -> None:
    try:
        name = checked_session_id(typed)
    except RefusedError:
        return
    assert name
    assert not set(name) - set(string.ascii_lowercase + string.digits + "-")
