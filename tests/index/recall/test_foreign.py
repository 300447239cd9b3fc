"""Where another agent's note counts: at its project and below, whatever was asked before."""

from __future__ import annotations

import pytest

from index.recall.foreign import lies_in_notes_of, named_after
from persist.recall.scope import ANYWHERE, Place

NOTE = "/home/ines/.claude/projects/-repos-my-app/memory/deploy.md"


@pytest.mark.parametrize(
    ("place", "counts"),
    [
        (Place("/repos/my-app", "/repos/my-app"), True),
        (Place("/repos/my-app/src/deep", "/repos/my-app"), True),
        (Place("/trees/feature", "/repos/my.app"), True),
        (Place("/repos/my", "/repos/my"), False),
        (Place("/repos", "/repos"), False),
        (Place("/repos/my-app-2", ""), False),
        (Place("", ""), False),
        (ANYWHERE, True),
    ],
)
def test_a_note_counts_at_its_project_and_below(place: Place, counts: bool) -> None:
    assert lies_in_notes_of(NOTE, place) is counts
    other = Place("/elsewhere", "/elsewhere")
    assert not lies_in_notes_of(NOTE, other)
    assert lies_in_notes_of(NOTE.replace("-repos-my-app", named_after("/elsewhere")), other)
    assert lies_in_notes_of(NOTE, place) is counts


@pytest.mark.parametrize("path", ["/home/ines/notes/deploy.md", "/memory.md", "/r/projects/-repos/notes/memory.md"])
def test_a_note_in_no_projects_folder_counts_everywhere(path: str) -> None:
    assert lies_in_notes_of(path, Place("/repos/my-app", "/repos/my-app"))
    assert lies_in_notes_of(path, Place("", ""))
