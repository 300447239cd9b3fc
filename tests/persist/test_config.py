"""The configuration file: what is accepted, what is refused and how it says so."""

from __future__ import annotations

import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from persist.config import (
    Configuration,
    Limits,
    check_agents,
    exclusion,
    literal_exclude,
    load,
)
from persist.config_model import check, save
from persist.errors import ConfigError

HOME = Path("/home/ann")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "aster-index"
    folder.mkdir()
    return folder / "config.yaml"


FULL = """\
# mine
agents: [claude-code, codex]
roots:
  claude-code: [~/laptop/.claude, "beside"]
  codex: /mnt/codex
excludes:
  - ~/secret   # the client's
  - "**/scratch/**"
limits: {tool_head_bytes: 100, max_line_bytes: 1048576}
keep: yes
refresh_ms: 0
"""


def test_without_a_file_all_is_default(file: Path) -> None:
    assert load(file, HOME) == Configuration()
    assert Configuration() == Configuration(None, {}, (), Limits(512, 2000, 64 * 1024 * 1024), False)


@pytest.mark.parametrize(
    "text", ["", "# only a comment\n", "---\n", "{}", "agents:\nexcludes:\nlimits:\nkeep:\nroots:\nrefresh_ms:\n"]
)
def test_an_empty_file_is_default(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
    assert load(file, HOME) == Configuration()


@pytest.mark.parametrize("text", [FULL, "\ufeff" + FULL, FULL.replace("\n", "\r\n")], ids=["lf", "bom", "crlf"])
def test_every_key(file: Path, text: str) -> None:
    file.write_bytes(text.encode())
    assert load(file, HOME) == Configuration(
        agents=("claude-code", "codex"),
        roots={
            "claude-code": (HOME / "laptop/.claude", file.parent / "beside"),
            "codex": (Path("/mnt/codex"),),
        },
        excludes=("/home/ann/secret", "**/scratch/**"),
        limits=Limits(tool_head_bytes=100, max_line_bytes=1048576),
        keep=True,
        refresh_ms=0,
    )


def test_no_agents_is_not_all_agents(file: Path) -> None:
    file.write_text("agents: []\n", encoding="utf-8")
    assert load(file, HOME).agents == ()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("exclude: [a]", "unknown key 'exclude' (allowed: agents, roots, excludes, limits, keep, refresh_ms)"),
        ("limits: {tool_head: 5}", "unknown key 'limits.tool_head' (allowed: tool_head_bytes"),
        ("limits: {tool_head_bytes: many}", "'limits.tool_head_bytes' must be a whole number"),
        ("limits: {tool_head_bytes: true}", "'limits.tool_head_bytes' must be a whole number"),
        ("limits: {tool_head_bytes: -1}", "'limits.tool_head_bytes' must be from 0 to"),
        ("limits: {max_line_bytes: 99999999999}", "'limits.max_line_bytes' must be from 1024 to 67108864"),
        ("limits: 5", "'limits' must be names and values, not a number"),
        ("refresh_ms: 60001", "'refresh_ms' must be from 0 to 60000"),
        ("refresh_ms: -1", "'refresh_ms' must be from 0 to 60000"),
        ("refresh_ms: 0.5", "'refresh_ms' must be a whole number of milliseconds, not a number"),
        ("refresh_ms: true", "'refresh_ms' must be a whole number of milliseconds, not a true or false"),
        ("keep: maybe", "'keep' must be true or false, not a text"),
        ("agents: {a: b}", "'agents' must be a list of texts, not a mapping"),
        ("agents: [no]", "'agents' must hold texts only, not a true or false (quote it)"),
        ("roots: [a]", "'roots' must be names and values, not a list"),
        ("roots: {codex: [1]}", "'roots.codex' must hold texts only, not a number"),
        ("excludes: [2026-01-02]", "'excludes' must hold texts only, not a date"),
        ("excludes: ['']", "'excludes' must hold texts only"),
        ("keep: true\nkeep: false", "key 'keep' stands twice"),
        ("- a", "must be keys and values"),
        ("just text", "must be keys and values"),
        ("keep: [", "is not YAML at line 1"),
        ("a: b: c", "is not YAML at line 1, column 5"),
        ("1: x", "unknown key 1"),
        ("keep: !!python/object/apply:os.getcwd []", "is not YAML"),
        ("keep: true\n---\nkeep: false", "is not YAML at line 2"),
        ("[" * 1200, "is not YAML"),
        ("\0" * 100, "is not YAML"),
        ("keep: true # \x1b[5m", "is not YAML"),
        ('roots: {codex: ["/w\\0x"]}', "'roots.codex' holds a character that no path has"),
        ('excludes: ["/w\\ud800"]', "'excludes' holds a character that no path has"),
        ('agents: ["\\0"]', "'agents' holds a character"),
    ],
)
def test_what_is_refused_names_file_and_key(file: Path, text: str, named: str) -> None:
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as raised:
        load(file, HOME)
    assert raised.value.path == file
    assert named in raised.value.reason
    assert str(file) in str(raised.value)


def test_bytes_that_are_not_utf8_and_a_folder_are_refused(file: Path) -> None:
    file.write_bytes(b"keep: \xe9")
    with pytest.raises(ConfigError, match="not UTF-8 at byte 6"):
        load(file, HOME)
    file.unlink()
    file.mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        load(file, HOME)


def test_agents_must_be_known(file: Path) -> None:
    check_agents(file, Configuration(agents=("codex",), roots={"codex": ()}), ["codex", "aster"])
    with pytest.raises(ConfigError, match=r"unknown agent 'claud' \(known: aster, codex\)"):
        check_agents(file, Configuration(agents=("claud",)), ["codex", "aster"])
    with pytest.raises(ConfigError, match="unknown agent 'x'"):
        check_agents(file, Configuration(roots={"x": ()}), ["codex"])


@pytest.mark.parametrize(
    ("exclude", "path", "covered"),
    [
        ("/a/b", "/a/b", True),
        ("/a/b", "/a/b/c/d.jsonl", True),
        ("/a/b", "/a/bc", False),
        ("/a/b/", "/a/b/c", True),
        ("/a/*.jsonl", "/a/x.jsonl", True),
        ("/a/*.jsonl", "/a/b/x.jsonl", False),
        ("/a/**/x", "/a/x", True),
        ("/a/**/x", "/a/b/c/x/y", True),
        ("**/scratch/**", "/a/scratch/b", True),
        ("**/scratch", "/a/scratch/b", True),
        ("scratch-?", "/a/scratch-1/b", True),
        ("scratch-?", "/a/scratch-12", False),
        ("/a/[xy]", "/a/y", True),
        ("/a/[!xy]", "/a/y", False),
        ("/a/[!xy]", "/a/z", True),
        ("/a/*", "/a/with\nnewline", True),
        ("/a/b.c", "/a/bxc", False),
        ("/a/[", "/a/[", True),
    ],
)
def test_excludes(exclude: str, path: str, covered: bool) -> None:
    assert exclusion(["/elsewhere", exclude])(path) == (exclude if covered else None)


@pytest.mark.parametrize("path", ["/a/[x]/b*.jsonl", "/a/what?", "/a/plain", "/a/[[]!]"])
def test_a_literal_exclude_covers_that_path_only(path: str) -> None:
    covers = exclusion([literal_exclude(path)])
    assert covers(path) is not None
    assert (
        covers(path.replace("x", "y").replace("*", "z").replace("?", "z").replace("plain", "plan")[:-1] + "!") is None
    )


def test_reading_imports_neither_pydantic_nor_yaml_without_a_file(file: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from persist.config import load; load(Path(sys.argv[1]));"
        "print(sorted({'pydantic', 'yaml', 'platformdirs'} & set(sys.modules)))"
    )
    run = [sys.executable, "-c", code, str(file)]
    assert subprocess.run(run, capture_output=True, text=True, check=True, encoding="utf-8").stdout == "[]\n"
    file.write_text("keep: true\n", encoding="utf-8")
    assert subprocess.run(run, capture_output=True, text=True, check=True, encoding="utf-8").stdout == "['yaml']\n"


def test_check_names_every_fault_at_once(file: Path) -> None:
    file.write_text(
        "keep: maybe\nlimits: {tool_head_bytes: -1}\nroots: {codex: [1]}\nrefresh_ms: x\n", encoding="utf-8"
    )
    with pytest.raises(ConfigError) as raised:
        check(file, HOME)
    for key in ("'keep'", "'limits.tool_head_bytes'", "'roots.codex.0'", "'refresh_ms'"):
        assert key in raised.value.reason


def test_check_looks_for_the_roots(file: Path) -> None:
    file.write_text(f"roots: {{codex: [{file.parent}, nowhere]}}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"root of codex is not there: .*nowhere"):
        check(file, HOME)
    (file.parent / "nowhere").mkdir()
    assert check(file, HOME) == load(file, HOME)


def test_save_makes_a_private_file_in_a_private_folder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "config.yaml"
    assert save(path, Configuration(keep=True), HOME) is True
    assert path.read_text(encoding="utf-8") == "keep: true\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_saving_what_is_there_touches_nothing(file: Path) -> None:
    file.write_text("keep: yes # for ever", encoding="utf-8")
    before = file.stat()
    assert save(file, Configuration(keep=True), HOME) is False
    assert file.stat() == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "keep: true\n"),
        ("# mine\nagents: [a]", "# mine\nagents: [a]\nkeep: true\n"),
        ("keep: no  # not yet\nagents: [a]\n", "keep: true  # not yet\nagents: [a]\n"),
        ("keep:\n", "keep: true\n"),
        ("agents: [ a,b ]\r\n", "agents: [ a,b ]\r\nkeep: true\r\n"),
        ("\ufeff# ü 🙂\nkeep: false", "\ufeff# ü 🙂\nkeep: true"),
        ("{keep: false, agents: [a]}\n", "{keep: true, agents: [a]}\n"),
    ],
)
def test_keep_changes_only_its_own_line(file: Path, before: str, after: str) -> None:
    file.write_bytes(before.encode())
    assert save(file, replace(load(file, HOME), keep=True), HOME) is True
    assert file.read_bytes().decode() == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("keep: true\n", 'keep: true\nexcludes:\n  - "/x y"\n'),
        ("excludes:\n  - /a # one\nkeep: true\n", 'excludes:\n  - /a # one\n  - "/x y"\nkeep: true\n'),
        ("excludes:\n- /a", 'excludes:\n- /a\n- "/x y"\n'),
        ("excludes: [/a, /b,] # two\n", 'excludes: [/a, /b, "/x y"] # two\n'),
        ("excludes: []\n", 'excludes: ["/x y"]\n'),
        ("excludes:\nkeep: true\n", 'excludes: ["/x y"]\nkeep: true\n'),
        ("excludes: /a # one\n", 'excludes: [/a, "/x y"] # one\n'),
        ("excludes:\r\n  - /a\r\n", 'excludes:\r\n  - /a\r\n  - "/x y"\r\n'),
    ],
)
def test_an_added_exclude_changes_only_its_own_line(file: Path, before: str, after: str) -> None:
    file.write_bytes(before.encode())
    now = load(file, HOME)
    assert save(file, replace(now, excludes=(*now.excludes, "/x y")), HOME) is True
    assert file.read_bytes().decode() == after
    assert load(file, HOME) == replace(now, excludes=(*now.excludes, "/x y"))


@pytest.mark.parametrize("path", ['/a "b" \\ c', "/a: b # c", "/🙂 \u2028 \x85 \x7f", "/no", "/ü", "/t\tb\nn"])
def test_any_path_can_be_excluded_and_is_read_back(file: Path, path: str) -> None:
    save(file, Configuration(excludes=(path,)), HOME)
    assert load(file, HOME).excludes == (path,)


@pytest.mark.parametrize("text", ["{agents: [a]}\n", "agents: [a]\n...\n"])
def test_a_form_that_cannot_be_edited_is_refused_with_what_to_add(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="add to it yourself: keep: true"):
        save(file, replace(load(file, HOME), keep=True), HOME)
    assert file.read_text(encoding="utf-8") == text


def test_other_settings_are_never_written(file: Path) -> None:
    file.write_text("agents: [a]\n", encoding="utf-8")
    with pytest.raises(ConfigError):
        save(file, Configuration(agents=("b",), keep=True), HOME)
    assert file.read_text(encoding="utf-8") == "agents: [a]\n"


def test_a_link_stays_a_link(file: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.yaml"
    real.write_text("# mine\n", encoding="utf-8")
    file.symlink_to(real)
    save(file, Configuration(keep=True), HOME)
    assert file.is_symlink()
    assert real.read_text(encoding="utf-8") == "# mine\nkeep: true\n"
