"""Looks for what keeps this product from doing its work, and says what cures it. Changes nothing.

For ``asx doctor`` alone: pydantic is imported when the configuration is checked.
"""

from __future__ import annotations

import os
import shlex
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Literal, NamedTuple

from index.errors import AsterIndexError, IndexBusyError, IndexNewerError, IndexUnusableError, NoIndexError
from index.opening import open_reader
from index.recall_lines import is_behind_by_recalls_alone
from index.results import Status, Unkept
from index.settings import Settings, load_settings
from index.sqlite_errors import SEARCH_BUSY_TIMEOUT_MS
from index.status import status, unkept
from persist import times
from persist.archive.names import can_be_kept
from persist.errors import ConfigError
from persist.hook_log import read_troubles
from persist.places import APPLICATION, Places, places_of
from persist.sources import Environment

HOOK_DAYS: Final = 7
"""Troubles of prompt hooks are told for so long."""
RESTED_DAYS: Final = 1
"""A transcript without an up-to-date copy is a finding once it has not changed for so long: until then its agent may be
at work, and what cleans up takes what has rested for weeks."""
_DAY_NS: Final = 86_400_000_000_000
_PRIVATE_FOLDER: Final = 0o700
_PRIVATE_FILE: Final = 0o600
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_HOOK_CURES: Final = {
    "usage": "correct the hook in the agent's settings; asx recall --help has the options",
    "timeout": "asx ingest, where there is no index; else run asx recall --prompt TEXT by hand to see it",
}
_HOOK_CURE: Final = "run asx recall --prompt TEXT by hand to see it"


class Finding(NamedTuple):
    """One thing that is wrong, in a sentence, and what to do about it."""

    kind: Literal["config", "index", "archive", "permissions", "hook"]
    message: str
    cure: str


class Examination(NamedTuple):
    """What is wrong, and sentences about what is not, and yet not as somebody may think it is."""

    findings: tuple[Finding, ...]
    notes: tuple[str, ...]


def examine(environment: Environment, cwd: Path, index: str | None = None) -> Examination:
    """Return all that is found; ``index`` is what ``--index`` was given. Cost: that of ``status``."""
    places = places_of(environment, cwd, index)
    findings = list(_of_configuration(places, environment))
    notes: tuple[str, ...] = ()
    with suppress(ConfigError):  # told already; what the index should hold is not known
        settings = load_settings(environment, cwd, index)
        found = status(settings)
        of_archive = _of_archive(settings, found)
        findings += [*_of_index(settings, found), *of_archive.findings]
        notes = of_archive.notes
    return Examination((*findings, *_of_permissions(places), *_of_hooks(places.hook_log)), notes)


def _of_configuration(places: Places, environment: Environment) -> Iterator[Finding]:
    from persist.config_model import check

    try:
        check(places.config, environment.home)
    except ConfigError as error:
        yield Finding("config", f"{places.config}: {error.reason}", "correct it or remove the file")


def _of_index(settings: Settings, found: Status) -> Iterator[Finding]:
    if not found.exists:
        yield Finding("index", f"there is no index at {found.path}", "asx ingest")
    elif not found.usable:
        yield Finding("index", found.why or f"{found.path} cannot be used", _cure_of(found.path))
    else:
        if found.stale and not _is_behind_by_recalls(settings):
            yield Finding("index", found.why or "the files are newer than the index", "asx ingest")
        for agent in found.agents.values():
            for path, why in agent.held:
                yield Finding("index", f"{path} cannot be read: {why}", "see to the file, then run asx ingest")


def _is_behind_by_recalls(settings: Settings) -> bool:
    try:
        return is_behind_by_recalls_alone(settings)
    except AsterIndexError:  # another program's writing came in between
        return False


def _cure_of(path: Path) -> str:
    """Return what helps with an index that cannot answer: what opening it says."""
    try:
        open_reader(path, SEARCH_BUSY_TIMEOUT_MS).close()
    except IndexBusyError:
        return "try again when the other program is done"
    except IndexNewerError:
        return "update aster-index, or move the file away and run asx rebuild"
    except IndexUnusableError as error:
        return error.cure.removeprefix("run: ")
    except NoIndexError:
        return "asx ingest"
    return "asx rebuild"


def _of_archive(settings: Settings, found: Status) -> Examination:
    """Tell of each agent whose transcripts are not in the archive as they are: what rests is found, the others noted.

    Where keeping was switched off it is noted only. What cannot be read is told with the index.
    """
    findings: list[Finding] = []
    notes: list[str] = []
    for name, agent in found.agents.items():
        if agent.copies is None:
            continue
        held = {path for path, _ in agent.held}
        behind = [one for one in (*agent.copies.missing, *agent.copies.older) if one.path not in held]
        rested = list(_of_rested(settings.agent(name).title, behind)) if agent.kept else []
        findings += rested
        told = unkept(settings, name, agent.copies) if behind and not rested else None
        notes += [told] if told is not None else []
    return Examination(tuple(findings), tuple(notes))


def _of_rested(title: str, behind: Sequence[Unkept]) -> Iterator[Finding]:
    since_ns = time.time_ns() - RESTED_DAYS * _DAY_NS
    curable: list[str] = []
    for path in sorted(one.path for one in behind if one.mtime_ns < since_ns):
        if can_be_kept(path.rpartition("/")[2]):
            curable.append(path)
        else:
            message = f"{path} has no copy: its name is too long for the archive"
            yield Finding("archive", message, "copy it to another place yourself")
    if curable:
        many = f"{len(curable):,} transcripts of {title} have" if len(curable) > 1 else f"1 transcript of {title} has"
        which = f", as {curable[0]}" if len(curable) > 1 else f": {curable[0]}"
        yield Finding("archive", f"{many} rested for a day without an up-to-date copy{which}", "asx ingest")


def _of_permissions(places: Places) -> Iterator[Finding]:
    folders = [places.data, places.sessions, places.memory, places.archive, places.config_folder]
    if places.index.parent.name == APPLICATION:  # any other folder is its owner's
        folders.append(places.index.parent)
    names = ("", "-wal", "-shm")
    files = [places.index.with_name(places.index.name + name) for name in names]
    for path in (*folders, *files, places.hook_log, places.config):
        try:
            found = path.stat().st_mode
        except FileNotFoundError:
            continue
        except OSError as error:
            yield Finding("permissions", f"{path} cannot be looked at: {error.strerror}", "see to the folders above it")
            continue
        if path in folders and not stat.S_ISDIR(found):
            yield Finding("permissions", f"{path} is no folder", "move it away; asx paths tells what lies where")
            continue
        if path not in folders and not stat.S_ISREG(found):
            if path == places.hook_log:  # of the others it is told above
                yield Finding("permissions", f"{path} is no file", "move it away")
            continue
        mode = stat.S_IMODE(found)
        private = _PRIVATE_FOLDER if path in folders else _PRIVATE_FILE
        cure = f"chmod {private:o} {shlex.quote(str(path))}"
        if mode & _OTHERS:
            yield Finding("permissions", f"{path} is open to others ({mode:04o})", cure)
        elif path in folders and not os.access(path, os.R_OK | os.W_OK | os.X_OK):
            yield Finding("permissions", f"{path} cannot be read and written ({mode:04o})", cure)


def _of_hooks(log: Path) -> Iterator[Finding]:
    since = times.from_epoch_ms((datetime.now(UTC) - timedelta(days=HOOK_DAYS)).timestamp() * 1000) or ""
    counted: dict[tuple[str, str], tuple[int, str]] = {}
    for trouble in read_troubles(log, since):
        count, _ = counted.get(trouble[1:], (0, ""))
        counted[trouble[1:]] = (count + 1, trouble.ts)
    for (kind, message), (count, last) in counted.items():
        often = f"{count} times, last" if count > 1 else "once,"
        told = f"prompt hook, {often} at {last}: {message}"
        yield Finding("hook", told, _HOOK_CURES.get(kind, _HOOK_CURE))
