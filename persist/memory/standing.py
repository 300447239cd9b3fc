"""What is known of each block at a moment: its use, its marks, its last touch, its pin, its successor, its aliases.

Pure: notes and journal operations in, values out; rules of ``spec/recall.md`` 4 and DESIGN 10. Imports ``persist``'s
contracts and the names of blocks; never a file, SQL or a terminal.

A file and the journal may differ, because an agent that rewrites a block drops the keys that are not its own. The later
of the two holds: a key that is missing in a header which was written *after* the journal told of it was dropped, and
the journal stands in; one that is missing in an older header was taken out by hand, and the header holds. Who writes a
superseded block again, or brings it back, means it: then it holds again.
"""

from __future__ import annotations

import unicodedata
from array import array
from collections.abc import Iterable
from datetime import date
from functools import lru_cache
from typing import Final, NamedTuple

from persist.events import JournalEntry, Note
from persist.ids import slug
from persist.lines import whole_characters
from persist.memory.journal import Operation
from persist.memory.names import block_slug

MAX_USE: Final = 6.0
"""Use never counts for more, so that harmful marks tell on a block that was used for years."""
RECALL_WEIGHT: Final = 0.5
EDIT_WEIGHT: Final = 0.5
HELPFUL_WEIGHT: Final = 1.0
HARMFUL_WEIGHT: Final = -1.5
DEFAULT_KIND: Final = "fact"

_RECALL, _EDIT, _RESTORE, _HELPFUL, _HARMFUL = range(5)
_CODES: Final = {
    "recall": _RECALL,
    "remember": _EDIT,
    "restore": _RESTORE,
    "helpful": _HELPFUL,
    "harmful": _HARMFUL,
}
_WEIGHTS: Final = (RECALL_WEIGHT, EDIT_WEIGHT, 0.0, HELPFUL_WEIGHT, HARMFUL_WEIGHT)
_CODE_BITS: Final = 3
_A_DAY: Final = 10**9
"""More than the digits of a clock, ``235959999``, so that a day and a clock are one number."""
_MAX_REMEMBERED: Final = 4096


class Standing(NamedTuple):
    """What is known of one block. Times are in the index's form.

    ``touched_at`` is when it was last created, edited, restored, recalled or marked helpful, never later than the
    moment asked about; ``None`` when nothing tells. ``use`` is at most ``MAX_USE`` and may be negative. The counts are
    of journal lines. ``superseded_by`` is a slug, or what was written where no block answers to it. ``kind`` is
    ``fact`` when none is known, ``project`` ``None`` when it holds everywhere. ``last_mark`` is what the last mark
    said, ``helpful`` or ``harmful``; ``None`` without one, and when harm was forgiven since. ``latest_at`` is the
    latest time that any of it rests on, empty without one: told for that moment or any later one, all is the same but
    for the name of a successor, which hangs on what other notes there are.
    """

    touched_at: str | None
    use: float
    recalled: int
    helpful: int
    harmful: int
    last_recalled_at: str | None
    superseded_by: str | None
    pinned: bool
    aliases: tuple[str, ...]
    kind: str
    project: str | None = None
    last_mark: str | None = None
    latest_at: str = ""


def noted(stem: str, note: Note) -> Note:
    """Return a note as :func:`standings` takes it: its name is its file's stem, and a name of its own is its title."""
    title = note.title or (note.name if note.name != stem else None)
    return note._replace(name=stem, title=title)


def standings(notes: Iterable[Note], operations: Iterable[Operation], as_of: str) -> dict[str, Standing]:
    """Return what is known of each note at ``as_of``, by slug, in the notes' order.

    A note's ``name`` must be its slug, which is its file's stem (:func:`noted`). Operations may come in any order, but
    those of one time in the file's (of two of them the later line holds), and are read once; those after ``as_of`` (a
    time in the index's form), those without a time and those from before the block was made (of a block of that name
    that is gone) do not count. Each operation needs what the journal has beside Aster's keys: ``version``, ``aliases``,
    ``kind``, ``project``, ``pinned``. An operation names a block by its slug or, as Aster writes it, as it was asked
    for. Memory: 8 bytes for each use, at most a few uses for a block and day when they come in order; nothing for names
    that are no note's.
    """
    tallies = {note.name: _Tally(note) for note in notes}
    names = _Names(tally.note for tally in tallies.values())
    for operation in operations:
        entry = operation.entry
        if entry.name is None or entry.ts is None or entry.ts > as_of:
            continue
        stem = names.stem(entry.name)
        if stem is not None:
            tallies[stem].add(operation, entry, entry.ts)
    return {stem: tally.standing(as_of, names) for stem, tally in tallies.items()}


def with_standing(note: Note, standing: Standing) -> Note:
    """Return a note with what holds of it at the moment of ``standing``: the later of its header and the journal."""
    return note._replace(
        aliases=standing.aliases,
        kind=note.kind if standing.kind == DEFAULT_KIND else standing.kind,
        project=standing.project,
        superseded_by=standing.superseded_by,
        pinned=standing.pinned,
    )


class _Names:
    """Which note a name in the journal means: its slug, its title, or what gives its slug."""

    def __init__(self, notes: Iterable[Note]) -> None:
        self._stems: dict[str, str] = {}
        self._titles: dict[str, str] = {}
        self._title_slugs: dict[str, str] = {}
        self._known: dict[str, str | None] = {}
        for note in notes:
            self._stems[note.name] = note.name
            self._stems.setdefault(whole_characters(note.name), note.name)
            if note.title:
                self._titles.setdefault(_folded(note.title), note.name)
                self._title_slugs.setdefault(slug(note.title), note.name)

    def stem(self, name: str) -> str | None:
        """Return the slug of the note that is meant, ``None`` when it is none of them."""
        found = self._stems.get(name)
        if found is not None:
            return found
        if name not in self._known:
            if len(self._known) >= _MAX_REMEMBERED:
                self._known.clear()
            self._known[name] = self._search(name)
        return self._known[name]

    def _search(self, name: str) -> str | None:
        wanted = slug(name)
        return (
            self._titles.get(_folded(name))
            or (self._stems.get(wanted) or self._stems.get(block_slug(name)) if wanted else None)
            or (self._title_slugs.get(wanted) if wanted else None)
        )


class _Tally:
    """What the journal tells of one note, gathered in any order."""

    __slots__ = ("_added", "_counts", "_events", "_last", "_latest_at", "_told", "_touched_at", "note")

    def __init__(self, note: Note) -> None:
        self.note = note
        self._touched_at = ""
        self._latest_at = max(note.created_at or "", note.updated_at or "")
        self._added = 0
        self._counts = [0, 0, 0, 0, 0]
        self._events = array("q")
        self._last: dict[str, tuple[str, int, Operation]] = {}
        self._told: tuple[str, Operation] | None = None

    def add(self, operation: Operation, entry: JournalEntry, ts: str) -> None:
        if self.note.created_at is not None and ts < self.note.created_at:
            return
        code = _CODES.get(entry.op)
        if code is None:
            if entry.op == "supersede" and entry.by:
                self._keep_last(operation, entry.op, ts)
            return
        self._counts[code] += 1
        if code != _HARMFUL and ts > self._touched_at:
            self._touched_at = ts
        self._keep_last(operation, entry.op, ts)
        if code == _EDIT and _is_full(operation) and (self._told is None or ts >= self._told[0]):
            self._told = (ts, operation)
        self._add_event(_moment(ts), code)

    def standing(self, as_of: str, names: _Names) -> Standing:
        note = self.note
        told = self._dropped()
        return Standing(
            touched_at=self._touch(as_of),
            use=self._use(),
            recalled=self._counts[_RECALL],
            helpful=self._counts[_HELPFUL],
            harmful=self._counts[_HARMFUL],
            last_recalled_at=self._last_at("recall") or None,
            superseded_by=self._successor(names),
            pinned=note.pinned or (told is not None and told.pinned),
            aliases=note.aliases or (() if told is None else told.aliases),
            kind=note.kind or (None if told is None else told.kind) or DEFAULT_KIND,
            project=note.project or (None if told is None else told.project),
            last_mark=self._last_mark(),
            latest_at=self._latest_at,
        )

    def _keep_last(self, operation: Operation, op: str, ts: str) -> None:
        self._added += 1
        self._latest_at = max(self._latest_at, ts)
        last = self._last.get(op)
        if last is None or ts >= last[0]:
            self._last[op] = (ts, self._added, operation)

    def _last_at(self, op: str) -> str:
        return self._last[op][0] if op in self._last else ""

    def _last_mark(self) -> str | None:
        """Return the last mark; harm is forgiven by a later edit or restore, as it is in the use."""
        if "helpful" not in self._last and "harmful" not in self._last:
            return None
        helpful, harmful, edit, restore = (
            self._last[op][:2] if op in self._last else ("", 0) for op in ("helpful", "harmful", "remember", "restore")
        )
        if helpful >= harmful:
            return "helpful" if helpful[0] else None
        return "harmful" if harmful > max(edit, restore) else None

    def _add_event(self, moment: int, code: int) -> None:
        """Note a use; what a use of the same day, noted right before it, counts for already is left out."""
        if code in (_RECALL, _HELPFUL) and self._events:
            before_moment, before = divmod(self._events[-1], 1 << _CODE_BITS)
            same_day = before_moment // _A_DAY == moment // _A_DAY
            if same_day and before in (_RECALL, _HELPFUL) and _WEIGHTS[before] >= _WEIGHTS[code]:
                return
        self._events.append(moment << _CODE_BITS | code)

    def _use(self) -> float:
        """Add up in order of time: of a day's positive events the best counts, and edits and restores forgive."""
        use, day, credited = 0.0, -1, 0.0
        is_made = self.note.created_at is not None
        made_on = _day(self.note.created_at[:10]) if self.note.created_at is not None else -1
        for event in sorted(self._events):
            moment, code = divmod(event, 1 << _CODE_BITS)
            if moment // _A_DAY != day:
                day, credited = moment // _A_DAY, 0.0
            weight = _WEIGHTS[code]
            if code in (_EDIT, _RESTORE):
                use = max(use, 0.0)
            if code == _EDIT and (not is_made or day == made_on):
                is_made, weight = True, 0.0
            if weight < 0:
                use += weight
            elif weight > credited:
                use = min(MAX_USE, use + weight - credited)
                credited = weight
        return use

    def _touch(self, as_of: str) -> str | None:
        """Return the last touch up to a moment; a block that has none but a time to come was touched just now."""
        header = [ts for ts in (self.note.created_at, self.note.updated_at) if ts is not None]
        past = [ts for ts in (*header, self._touched_at) if ts and ts <= as_of]
        return max(past) if past else (as_of if header else None)

    def _dropped(self) -> Operation | None:
        """Return the journal's last full word where the header was written anew after it, else ``None``."""
        if self._told is None:
            return None
        ts, operation = self._told
        return operation if self.note.updated_at is None or self.note.updated_at > ts else None

    def _successor(self, names: _Names) -> str | None:
        header = self.note.superseded_by
        successor = header
        if "supersede" in self._last:
            ts, _, operation = self._last["supersede"]
            is_later = ts > max(self.note.updated_at or "", self._last_at("remember"), self._last_at("restore"))
            was_in_header = operation.version is not None
            if is_later and (header is not None or not was_in_header):
                successor = operation.entry.by
        return None if successor is None else names.stem(successor) or successor


def _is_full(operation: Operation) -> bool:
    """Tell whether a line is of this store, which notes all that a header has; Aster's has its own keys alone."""
    return bool(
        operation.title
        or operation.version
        or operation.aliases
        or operation.kind
        or operation.project
        or operation.pinned
    )


def _folded(title: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", " ".join(title.split())).casefold())


def _moment(ts: str) -> int:
    """Return a time as one number: its day times ``_A_DAY``, and the digits of its clock."""
    return _day(ts[:10]) * _A_DAY + int(ts[11:13] + ts[14:16] + ts[17:19] + ts[20:23])


@lru_cache(maxsize=_MAX_REMEMBERED)
def _day(text: str) -> int:
    return date.fromisoformat(text).toordinal()
