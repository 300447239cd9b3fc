"""The house rules that a tool can check: what may import what, and how large and how told a module is."""

from __future__ import annotations

import ast
import statistics
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGES = ("persist", "index", "migrations", "cli")
MODULES = sorted(path for package in PACKAGES for path in (REPOSITORY / package).rglob("*.py"))
DOORS = sorted({".".join(path.relative_to(REPOSITORY).parts[:-1]) for path in MODULES})
NAMES = [path.relative_to(REPOSITORY).as_posix() for path in MODULES]
BROAD_ALLOWED = {"cli/exits.py", "index/load.py"}
MAX_MODULE_LINES = 600
MEDIAN_MODULE_LINES = 200
MAX_FUNCTION_LINES = 60
EMPTY_WORDS = {"utils", "util", "helpers", "helper", "manager", "common", "misc", "base"}


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def test_the_import_contracts_hold() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([program, "--no-cache"], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_folder_with_modules_is_a_listed_package() -> None:
    listed = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    found = {path.parent.relative_to(REPOSITORY).as_posix().replace("/", ".") for path in MODULES}
    assert set(listed) == found
    assert all((REPOSITORY / name.replace(".", "/") / "__init__.py").is_file() for name in found)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_tells_its_types(package: str) -> None:
    assert (REPOSITORY / package / "py.typed").is_file()


@pytest.mark.parametrize("package", DOORS)
def test_the_names_a_package_offers_exist(package: str) -> None:
    door = import_module(package)
    offered = getattr(door, "__all__", ())
    assert [name for name in offered if not hasattr(door, name)] == []
    assert len(offered) == len(set(offered))


def test_no_module_is_long_and_most_are_short() -> None:
    lines = {
        name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in zip(NAMES, MODULES, strict=True)
    }
    assert {name: count for name, count in lines.items() if count > MAX_MODULE_LINES} == {}
    assert statistics.median(lines.values()) < MEDIAN_MODULE_LINES


@pytest.mark.parametrize("path", MODULES, ids=NAMES)
def test_a_module_says_what_it_is_for(path: Path) -> None:
    told = ast.get_docstring(parsed(path))
    assert told, "the first lines of a module say what it is for"
    assert told.splitlines()[0].rstrip().endswith((".", ":", ";", ",")) or "\n" in told


@pytest.mark.parametrize("path", MODULES, ids=NAMES)
def test_no_function_is_long(path: Path) -> None:
    functions = [node for node in ast.walk(parsed(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    long = {
        node.name: span for node in functions if (span := (node.end_lineno or 0) - node.lineno + 1) > MAX_FUNCTION_LINES
    }
    assert long == {}


@pytest.mark.parametrize("path", MODULES, ids=NAMES)
def test_broad_excepts_stand_only_at_the_edge_and_around_one_source(path: Path) -> None:
    name = path.relative_to(REPOSITORY).as_posix()
    broad = [
        node.lineno for node in ast.walk(parsed(path)) if isinstance(node, ast.ExceptHandler) and is_broad(node.type)
    ]
    assert broad == [] or name in BROAD_ALLOWED


def is_broad(caught: ast.expr | None) -> bool:
    if caught is None:
        return True
    names = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(isinstance(name, ast.Name) and name.id == "Exception" for name in names)


def test_no_module_is_named_for_nothing() -> None:
    assert [name for name in NAMES if Path(name).stem in EMPTY_WORDS] == []
