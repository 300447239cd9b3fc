"""That nothing in ``expected.json`` of Aster's samples is passed over: each figure has its test or its difference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from persist.aster import Summary, Transcript, to_chat_messages
from persist.memory.journal import read_journal

HOME: Final = Path(__file__).parents[1] / "data" / "aster"
EXPECTED: Final[dict[str, Any]] = json.loads((HOME / "expected.json").read_text("utf-8"))
LOADED: Final = [entry for entry in EXPECTED["transcripts"] if "error" not in entry]
TESTED: Final = {
    "note": "words about the file itself",
    "ids": "names of the samples, used by test_aster_transcript.py",
    "transcripts": "test_aster_transcript.py and below",
    "list_all_newest_created_first": "test_aster_transcript.py::TestListing",
    "what_the_two_summary_session_should_yield": "test_aster_transcript.py::TestSamples",
    "memory": "test_context.py, test_blocks.py and below",
    "import_from_notes_site": "not yet: importing sessions comes with its command",
}
OF_A_TRANSCRIPT: Final = {
    *("file", "id", "error", "title", "display_title", "user_turns", "events_loaded", "messages"),
    *("chat_0_7", "chat_up_to_0_5"),
}


def test_every_figure_is_known() -> None:
    assert EXPECTED.keys() == TESTED.keys()
    assert {key for entry in EXPECTED["transcripts"] for key in entry} == OF_A_TRANSCRIPT
    assert EXPECTED["memory"].keys() == {
        *("load_context", "blocks_newest_first", "journal_valid_lines", "journal_bad_lines"),
    }


@pytest.mark.parametrize("entry", LOADED, ids=lambda entry: str(entry["id"]))
def test_the_chat_of_old_versions_is_ours_but_where_a_summary_folds_it(entry: dict[str, Any]) -> None:
    """The difference: up to 0.5 ``replaces_through`` was ignored (``spec/aster.md`` 3.2); here it is kept to."""
    transcript = Transcript.load(HOME / entry["file"])
    ours = [[message.role, message.content] for message in to_chat_messages(transcript)]
    theirs = entry["chat_up_to_0_5"]
    if not any(isinstance(event, Summary) for event in transcript.events):
        assert ours == theirs
        return
    assert entry["id"] == EXPECTED["ids"]["kassenbuch_two_summaries"]
    assert (ours[0], ours[1:]) == (theirs[0], theirs[-8:])
    assert len(theirs) == 22


def test_the_journals_lines_are_counted_as_aster_does() -> None:
    entries, damaged = read_journal(HOME / "memory" / "journal.jsonl")
    memory = EXPECTED["memory"]
    assert (len(entries), damaged) == (memory["journal_valid_lines"], memory["journal_bad_lines"])
