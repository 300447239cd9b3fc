"""What a person gets who installs the product: every sub-package, the revisions, two programs that start.

A forgotten sub-package works in an editable install and fails at users; so the wheel is compared with the tree.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGES = ("persist", "index", "migrations", "cli")
PROGRAMS = ("asx", "aster-index")
TIMEOUT_S = 300


def run(*command: str | Path, cwd: Path | None = None, home: Path | None = None) -> str:
    """Run a command without this process's Python settings; return what it printed."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    if home is not None:
        variables["HOME"] = str(home)
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, env=variables, cwd=cwd, timeout=TIMEOUT_S, check=False
    )
    assert done.returncode == 0, f"{command[0]} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def tree_files() -> set[str]:
    """Return every file of the packages in the tree, relative to the repository."""
    return {
        path.relative_to(REPOSITORY).as_posix()
        for package in PACKAGES
        for path in (REPOSITORY / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith(".")
    }


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the tree, so that nothing is left in it."""
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy2(REPOSITORY / name, source / name)
    for package in PACKAGES:
        shutil.copytree(REPOSITORY / package, source / package, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, source)
    (built,) = out.glob("*.whl")
    return built


def empty_environment(folder: Path) -> Path:
    """Make an environment without any package; return its Python."""
    venv.create(folder, symlinks=True)
    return folder / "bin" / "python"


def test_the_wheel_holds_exactly_the_files_of_the_tree(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert packed == tree_files()


def test_the_revisions_and_the_type_markers_are_among_them(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    revisions = {f"migrations/versions/{path.name}" for path in (REPOSITORY / "migrations/versions").glob("0*.py")}
    assert revisions
    assert revisions | {"migrations/env.py", "migrations/script.py.mako"} <= packed
    assert {f"{package}/py.typed" for package in PACKAGES} <= packed


def test_the_metadata_names_the_licence_the_version_and_both_programs(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        told = {
            name.split("/")[-1]: archive.read(name).decode() for name in archive.namelist() if ".dist-info/" in name
        }
    version = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"]
    assert "Name: aster-index\n" in told["METADATA"]
    assert f"Version: {version}\n" in told["METADATA"]
    assert "License-Expression: MIT\n" in told["METADATA"]
    assert "Requires-Python: >=3.11\n" in told["METADATA"]
    assert all(f"{program} = cli.__main__:run\n" in told["entry_points.txt"] for program in PROGRAMS)
    assert "MIT License" in told["LICENSE"]


def test_installed_without_the_repository_both_programs_start(wheel: Path, tmp_path: Path) -> None:
    python = empty_environment(tmp_path / "venv")
    install = ("install", "--quiet", "--no-deps", "--no-compile", wheel)
    run(sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, *install)
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    # The packages that the product needs come from this environment: the wheel's own files are what is proven.
    (site / "needed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    where = run(
        python, "-c", "import cli, index, migrations, persist; print(cli.__file__, index.__file__)", cwd=tmp_path
    )
    assert where.count(str(site)) == 2
    versions = {run(python.with_name(program), "--version", cwd=tmp_path) for program in PROGRAMS}
    assert len(versions) == 1
    use(python.with_name("asx"), tmp_path)


@pytest.mark.network
def test_installed_with_its_dependencies_in_an_empty_environment_it_works(wheel: Path, tmp_path: Path) -> None:
    python = empty_environment(tmp_path / "venv")
    run(sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, "install", "--quiet", wheel)
    use(python.with_name("aster-index"), tmp_path)


def use(program: Path, folder: Path) -> None:
    """Ingest the sample home with an installed program and find a prompt in it."""
    home = folder / "home"
    shutil.copytree(REPOSITORY / "demo" / "home", home)
    run(program, "ingest", cwd=folder, home=home)
    assert "buoy parser" in run(program, "search", "midnight", cwd=folder, home=home)
