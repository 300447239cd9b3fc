"""Every place, computed from an environment alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

import pytest

from persist.places import Places, current_environment, current_places, places_of
from persist.sources import Environment

HOME = Path("/home/ann")
CWD = Path("/work/here")


def places(variables: Mapping[str, str] | None = None, platform: str = "linux", index: str | None = None) -> Places:
    return places_of(Environment(variables or {}, HOME, platform), CWD, index)


def test_the_defaults_on_linux() -> None:
    assert places() == Places(
        data=HOME / ".local/share/aster",
        old_homes=(HOME / ".aster", HOME / ".config/aster"),
        sessions=HOME / ".local/share/aster/sessions",
        prompt_history=HOME / ".local/share/aster/sessions/prompt-history.jsonl",
        memory=HOME / ".local/share/aster/memory",
        archive=HOME / ".local/share/aster/archive",
        aether=HOME / ".aether",
        index=HOME / ".cache/aster-index/index.sqlite",
        config_folder=HOME / ".config/aster-index",
        config=HOME / ".config/aster-index/config.yaml",
        reports=HOME / ".config/aster-index/reports",
    )


def test_macos_has_its_own_folders_but_the_same_data_home() -> None:
    found = places(platform="darwin")
    assert found.data == HOME / ".local/share/aster"
    assert found.index == HOME / "Library/Caches/aster-index/index.sqlite"
    assert found.config == HOME / "Library/Application Support/aster-index/config.yaml"
    assert found.old_homes == (HOME / ".aster", HOME / "Library/Application Support/aster")


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_xdg_variables_count_on_every_platform(platform: str) -> None:
    found = places({"XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": "/c", "XDG_CACHE_HOME": "~/k"}, platform)
    assert (found.data, found.config_folder) == (Path("/d/aster"), Path("/c/aster-index"))
    assert found.index == HOME / "k/aster-index/index.sqlite"


@pytest.mark.parametrize("value", ["", "relative/data"])
def test_an_empty_or_relative_xdg_variable_is_not_set(value: str) -> None:
    assert places({"XDG_DATA_HOME": value, "XDG_CONFIG_HOME": value, "XDG_CACHE_HOME": value}) == places()


def test_own_variables_come_first_and_may_be_relative() -> None:
    found = places({"ASTER_HOME": "~/store", "AETHER_HOME": "ae", "ASTER_INDEX": "i.sqlite", "XDG_DATA_HOME": "/d"})
    assert (found.data, found.aether, found.index) == (HOME / "store", CWD / "ae", CWD / "i.sqlite")
    assert found.memory == HOME / "store/memory"


def test_the_option_comes_before_the_variable() -> None:
    assert places({"ASTER_INDEX": "/v.sqlite"}, index="o.sqlite").index == CWD / "o.sqlite"
    assert places({"ASTER_INDEX": "/v.sqlite"}, index="~/o.sqlite").index == HOME / "o.sqlite"
    assert places({"ASTER_INDEX": "/v.sqlite"}, index="").index == Path("/v.sqlite")


@pytest.mark.parametrize("home", ["~/.aster", "/home/ann/.aster/", "/home/ann/x/../.aster"])
def test_an_old_home_that_is_the_data_home_is_not_old(home: str) -> None:
    assert places({"ASTER_HOME": home}).old_homes == (HOME / ".config/aster",)


def test_every_place_is_absolute() -> None:
    found = places({"ASTER_HOME": "a", "AETHER_HOME": "b", "ASTER_INDEX": "c"})
    every = [value for field in fields(found) if isinstance(value := getattr(found, field.name), Path)]
    assert len(every) == 10
    assert all(path.is_absolute() for path in every)


def test_the_platform_folders_are_those_of_platformdirs(monkeypatch: pytest.MonkeyPatch) -> None:
    import platformdirs

    for variables in ({}, {"XDG_CONFIG_HOME": "/c", "XDG_CACHE_HOME": "/k"}, {"XDG_CONFIG_HOME": "rel"}):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        found = current_places()
        assert found.config_folder == Path(platformdirs.user_config_dir("aster-index"))
        assert found.index.parent == Path(platformdirs.user_cache_dir("aster-index"))


def test_the_current_environment_is_this_process(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASTER_INDEX", "here.sqlite")
    environment = current_environment()
    assert (environment.home, environment.platform) == (isolated, sys.platform)
    assert environment.variables["ASTER_INDEX"] == "here.sqlite"
    assert current_places().index == Path.cwd() / "here.sqlite"


def test_a_deleted_current_folder_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolated: Path
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    try:
        assert current_places().data == isolated / ".local/share/aster"
    finally:
        os.chdir(tmp_path)
