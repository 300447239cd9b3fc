"""What an ingest that keeps does with the archive: copies of foreign transcripts follow their originals (DESIGN 8).

The one part of ``index`` that writes outside the index, and only below ``archive/`` and into the configuration. Works
from a look at the disk and the catalogue alone, never from an index: several indexes share one archive. What cannot be
copied never keeps an index from being brought up to date.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from index.discovery import Look, with_kept
from index.results import IngestReport, Problem
from index.settings import Settings
from persist.archive.catalogue import Catalogue, load_catalogue, save_catalogue
from persist.archive.copying import (
    begins_with,
    bring_up_to_date,
    close_gone,
    make_durable,
    remove_closed,
    remove_leftovers,
)
from persist.archive.lag import lag, without_file
from persist.archive.names import can_be_kept, folder_of_copies
from persist.archive.standing_in import recovered
from persist.errors import BusyError, StoreIOError
from persist.files.folders import make_private_folder
from persist.files.lock import LOCK_NAME, locked
from persist.sources import Agent, Source, Stat

_OF_ONE_FILE: Final = frozenset({
    errno.EFBIG, errno.ENAMETOOLONG, errno.EISDIR, errno.ENOTDIR, errno.ELOOP, errno.EILSEQ, errno.EINVAL,
})  # fmt: skip
"""What can be wrong with one copy alone; anything else (a full disk) is wrong with all that follow."""
_CLOSED_AT_ONCE: Final = 1000
_SAVE_EVERY_BYTES: Final = 256 * 1024 * 1024


@dataclass(slots=True)
class _Work:
    """What is to be done for one agent, and what went wrong: paths that were not copied, and the first reason.

    ``there`` are the paths of its transcripts; ``was_lost``: the catalogue was, and is made anew.
    """

    agent: str
    catalogue: Catalogue
    there: frozenset[str]
    behind: list[Source] = field(default_factory=list)
    gone: list[Source] = field(default_factory=list)
    was_lost: bool = False
    unfit: list[str] = field(default_factory=list)
    moves: list[tuple[Path, Path]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    reason: StoreIOError | None = None

    def note_failure(self, path: str, error: StoreIOError) -> bool:
        """Note what could not be written; tell whether the next copies may fare better."""
        self.failed.append(path)
        self.reason = self.reason or error
        cause = error.__cause__
        return not isinstance(cause, OSError) or cause.errno in _OF_ONE_FILE  # no cause: a file lies in the way


def begin_keeping(settings: Settings, home: Path) -> Settings:
    """Return the settings with keeping on, and make the configuration say so from now on.

    Raises ``ConfigError``, ``BusyError`` and ``StoreIOError`` where the file cannot be edited: nothing is then done.
    """
    from persist.config_model import save

    configuration = replace(settings.configuration, keep=True)
    if not settings.configuration.keep:
        save(settings.places.config, configuration, home)
    return replace(settings, configuration=configuration)


def keep_copies(settings: Settings, seen: Look, report: IngestReport, *, compare_all: bool = False) -> Look:
    """Bring the copies up to date with what was seen, and close those whose originals are gone.

    Returns the look with the copies that are read now. Tells in ``report`` what could not be copied and what is read
    from copies from now on; raises nothing for it. ``compare_all`` compares every copy whole with its original instead
    of trusting fingerprints. Cost: where nothing changed, the catalogue and the names of copies; none is opened.
    """
    if not settings.configuration.keep:
        return seen
    has_written = False
    for agent in settings.agents:
        if not settings.keeps(agent.name):
            continue
        if not compare_all and _is_up_to_date(settings, seen, agent.name):
            continue
        work = _work(settings, seen, agent.name, compare_all)
        if work.unfit:
            report.notes.append(f"{_transcripts(work.unfit, agent)} not copied: the name is too long")
        if not (work.behind or work.gone or work.was_lost):
            continue
        has_written = True
        try:
            make_private_folder(settings.places.archive)
            with locked(settings.places.archive / LOCK_NAME):
                work = _work(settings, seen, agent.name, compare_all)  # another ingest may have done it meanwhile
                _carry_out(settings, work, compare_all)
        except (StoreIOError, BusyError) as error:
            _report_failure(report, settings, [source.path for source in work.behind], error)
            continue
        if work.reason is not None:
            _report_failure(report, settings, work.failed, work.reason)
        if work.gone:
            report.notes.append(f"{_transcripts(work.gone, agent)} gone; kept copies are read instead")
    return with_kept(settings, seen) if has_written else seen


def _transcripts(those: Sequence[object], agent: Agent) -> str:
    return (
        f"1 transcript of {agent.title} is" if len(those) == 1 else f"{len(those):,} transcripts of {agent.title} are"
    )


def _is_up_to_date(settings: Settings, seen: Look, agent: str) -> bool:
    """Tell at once what is nearly always so: every original's copy answers to its fingerprint, and none went."""
    archive = settings.places.archive
    if agent in seen.copied:
        return not without_file(archive, agent, seen.catalogues[agent])
    there, catalogue = seen.stats_of(agent), seen.catalogues.get(agent)
    if catalogue is None:
        return not there and not os.path.isdir(archive / agent)  # noqa: PTH112 - never raises
    if seen.lost.get(agent) or not there.keys().isdisjoint(catalogue.moved()):
        return False
    return not any(lag(archive, agent, catalogue, there))


def _work(settings: Settings, seen: Look, agent: str, compare_all: bool) -> _Work:
    """Compare the catalogue with what was seen."""
    archive = settings.places.archive
    catalogue = load_catalogue(archive, agent)
    was_lost = catalogue is None and os.path.isdir(archive / agent)  # noqa: PTH112 - never raises
    if catalogue is None:
        roots = [str(look.root.path) for look in seen.found if look.root.agent == agent]
        catalogue = recovered(archive, agent, roots) if was_lost else Catalogue()
    there = {source.path: source for source in seen.transcripts_of(agent)}
    lacking = lag(archive, agent, catalogue, seen.stats_of(agent))
    wanted = there.keys() if compare_all else lacking.missing | lacking.older | set(catalogue.moved())
    behind = [source for path, source in there.items() if path in wanted]
    unfit = [source.path for source in behind if not can_be_kept(_name(source))]
    behind = [source for source in behind if source.path not in unfit] if unfit else behind
    gone = [source for source in seen.lost.get(agent, ()) if _is_gone(source.path)]
    behind.sort(key=lambda source: source.path)
    return _Work(agent, catalogue, frozenset(there), behind, gone, was_lost, unfit)


def _is_gone(path: str) -> bool:
    """Tell whether no file is there, and not only that one may not look."""
    try:
        return not stat.S_ISREG(os.lstat(path).st_mode)
    except OSError as error:
        return error.errno in (errno.ENOENT, errno.ENOTDIR)


def _carry_out(settings: Settings, work: _Work, compare_all: bool) -> None:
    archive, catalogue = settings.places.archive, work.catalogue
    known = catalogue.stats()
    scratch = archive / work.agent
    remove_leftovers(scratch)
    _follow_moves(archive, work, known)
    changed = bool(work.moves) or work.was_lost
    for source in work.behind:  # each copy has its entry before it is made, and none that a killed run makes untrue
        before = known.get(source.path)
        grown = before is not None and before.inode == source.stat.inode and before.size_bytes < source.stat.size_bytes
        changed |= catalogue.note(source, before if grown else None)
    for source in work.gone:
        changed |= catalogue.stat_of(source.path) != source.stat
        catalogue.set_stat(source.path, source.stat)
    if changed:
        save_catalogue(archive, work.agent, catalogue)
    for here, there in work.moves:
        with suppress(OSError):
            make_private_folder(there.parent)
            here.rename(there)
    try:
        changed = _copy_all(archive, work, known, compare_all)
    finally:
        if changed:
            save_catalogue(archive, work.agent, catalogue)
    for at in range(0, len(work.gone), _CLOSED_AT_ONCE):
        if not _close(archive, work, work.gone[at : at + _CLOSED_AT_ONCE]):
            break


def _close(archive: Path, work: _Work, gone: Sequence[Source]) -> bool:
    """Close the copies of originals that are gone; tell whether the next ones may fare as well.

    Each is on the disk in its new form before the living one goes.
    """
    scratch = archive / work.agent
    closed: list[tuple[Path, Path]] = []
    goes_on = True
    for source in gone:
        living = _folder(archive, work.agent, source) / _name(source)
        try:
            packed = close_gone(living.parent, living.name, scratch)
        except StoreIOError as error:
            goes_on = work.note_failure(source.path, error)
            if not goes_on:
                break
            continue
        if packed is not None:
            closed.append((living, packed))
    make_durable([packed for _, packed in closed])
    for living, _ in closed:
        remove_closed(living)
    return goes_on


def _copy_all(archive: Path, work: _Work, known: dict[str, Stat | None], compare_all: bool) -> bool:
    """Copy what is behind; tell whether the catalogue says another thing now."""
    written: list[Path] = []
    changed = False
    written_bytes, scratch = 0, archive / work.agent
    for at, source in enumerate(work.behind):
        folder = _folder(archive, work.agent, source)
        try:
            copied = bring_up_to_date(source.path, folder, known.get(source.path), scratch, compare_all=compare_all)
        except OSError:  # the original: whoever indexes it says so
            if source.path in known:
                changed |= work.catalogue.note(source, known[source.path])
            continue
        except StoreIOError as error:
            if work.note_failure(source.path, error):
                continue
            work.failed += [each.path for each in work.behind[at + 1 :]]
            break
        changed |= work.catalogue.note(source, copied.stat)
        if copied.written_bytes:
            written.append(folder / _name(source))
        written_bytes += copied.written_bytes
        if written_bytes > _SAVE_EVERY_BYTES:
            make_durable(written)
            save_catalogue(archive, work.agent, work.catalogue)
            written, written_bytes = [], 0
    make_durable(written)
    return changed


def _follow_moves(archive: Path, work: _Work, known: Mapping[str, Stat | None]) -> None:
    """Let the copy of an original that was moved follow it: the same name in another folder, and the same beginning."""
    new = {_name(source): source for source in work.behind if source.path not in known}
    if not new:
        return
    for path in sorted(known):
        folder, _, name = path.rpartition("/")
        target = new.get(name)
        if target is None or path in work.there:
            continue
        copy = folder_of_copies(archive, work.agent, folder) / name
        with suppress(OSError):
            if begins_with(target.path, copy):
                work.gone = [source for source in work.gone if source.path != path]
                work.catalogue.note_move(path)
                work.moves.append((copy, _folder(archive, work.agent, target) / name))
                del new[name]


def _name(source: Source) -> str:
    return source.path.rpartition("/")[2]


def _folder(archive: Path, agent: str, source: Source) -> Path:
    return folder_of_copies(archive, agent, source.path.rpartition("/")[0])


def _report_failure(
    report: IngestReport, settings: Settings, paths: Sequence[str], error: StoreIOError | BusyError
) -> None:
    others = f"; {len(paths)} transcripts were not copied" if len(paths) > 1 else ""
    path = paths[0] if paths else str(settings.places.archive)
    report.problems.append(Problem("not_kept", path, None, None, f"was not copied to the archive: {error}{others}"))
    report.problems_total += 1
