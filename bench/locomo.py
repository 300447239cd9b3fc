"""Retrieval over LoCoMo's conversations: turn R@5 and R@10, session H@1 and H@5, beside the line to beat.

``python -m bench.locomo --data locomo10.json``. The file is Maharana et al., "Evaluating Very Long-Term Conversational
Memory of LLM Agents" (2024), CC BY-NC 4.0: it is never part of this repository, nor fetched by it. Each conversation
becomes a project of Aster transcripts, one for each session; an index is made of all, and each question is put as
``recall --turns`` puts a prompt, without the gate. R@k is the mean share of a question's evidence turns among the first
k; H@k the share of questions with a session of their evidence among the first k.
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from index.ingest import ingest
from index.opening import open_reader
from index.recall.turn_ranking import Message, RankedTurn, rank_sessions, rank_turns, wanted_of
from index.settings import Settings, load_settings
from persist.sources import Environment

LINE: Final = {"R@5": 68.5, "R@10": 75.8, "H@1": 73.8}
"""What the best lexical method that was tried reached, in percent, all questions."""
CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
HALVES: Final = ("first half", "other half")
"""What the ranking's constants were chosen on, and what tells what they are worth."""
_SESSION = re.compile(r"session_(\d+)\Z")
_TURN = re.compile(r"D(\d+):(\d+)")
_DAY: Final = "%I:%M %p on %d %B, %Y"
_FIRST_DAY: Final = datetime(2023, 1, 1)
_SESSIONS: Final = """SELECT n.id, n.session_id FROM session_rows n WHERE n.project = ?"""


class Question(NamedTuple):
    """A question with the turns that answer it, as (session's number, turn's number from 1).

    ``place`` is that of its conversation in the file, from 0: every second one is of the other half.
    """

    conversation: str
    text: str
    category: int
    evidence: frozenset[tuple[int, int]]
    place: int


class Found(NamedTuple):
    """What came for a question: its share of evidence among the first 5 and 10 turns, and the best session's rank."""

    question: Question
    recall_5: float
    recall_10: float
    session_rank: int | None


def questions_of(data: Sequence[Mapping[str, Any]]) -> Iterator[Question]:
    """Yield the questions whose evidence names a turn that is there."""
    for place, conversation in enumerate(data):
        there = {(number, turn) for number, _, turns in sessions_of(conversation) for turn in range(1, len(turns) + 1)}
        for asked in conversation["qa"]:
            told = {(int(a), int(b)) for one in asked.get("evidence", ()) for a, b in _TURN.findall(str(one))}
            if told & there:
                yield Question(
                    conversation["sample_id"], asked["question"], asked["category"], frozenset(told & there), place
                )


def sessions_of(conversation: Mapping[str, Any]) -> Iterator[tuple[int, datetime, list[Mapping[str, Any]]]]:
    """Yield number, time and turns of each session that has turns."""
    talk = conversation["conversation"]
    for key in sorted(talk):
        matched = _SESSION.match(key)
        if matched and talk[key]:
            number = int(matched[1])
            told = talk.get(f"{key}_date_time", "")
            try:
                at = datetime.strptime(told, _DAY)
            except ValueError:
                at = _FIRST_DAY + timedelta(days=number)
            yield number, at, talk[key]


def write_conversations(home: Path, data: Sequence[Mapping[str, Any]]) -> None:
    """Write the conversations as Aster's transcripts: the first speaker types, the other one answers.

    Each is a second later than the one before: the same text at the same time would be a copy.
    """
    for seconds, conversation in enumerate(data):
        name = conversation["sample_id"]
        for number, at, turns in sessions_of(conversation):
            path = home / "sessions" / name / f"{session_id(name, number)}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            header = {
                "type": "session",
                "id": path.stem,
                "v": 1,
                "created_at": _time(at, seconds),
                "cwd": project_of(name),
            }
            records = [header]
            for place, turn in enumerate(turns):
                role = "user" if turn["speaker"] == conversation["conversation"]["speaker_a"] else "assistant"
                records.append(
                    {"type": "message", "role": role, "content": said(turn), "ts": _time(at, seconds, place)}
                )
            path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def said(turn: Mapping[str, Any]) -> str:
    """Return what a turn says, with the speaker and what a shared picture shows."""
    caption = turn.get("blip_caption")
    return f"{turn['speaker']}: {turn['text']}" + (f" [shared {caption}]" if caption else "")


def session_id(conversation: str, number: int) -> str:
    """Return the id of a conversation's session."""
    return f"{conversation}-s{number:03d}"


def project_of(conversation: str) -> str:
    """Return the project of a conversation."""
    return f"/locomo/{conversation}"


def ask(settings: Settings, questions: Sequence[Question]) -> list[Found]:
    """Put every question to the index."""
    found = []
    with closing(open_reader(settings.index_path)) as connection:
        connection.execute("PRAGMA temp_store = memory")
        for question in questions:
            numbers = _numbers(connection, question.conversation)
            ranked = rank_turns(connection, wanted_of(connection, question.text), _OfConversation(numbers), _is_no_echo)
            found.append(_judged(question, ranked, numbers))
    return found


def figures_of(found: Sequence[Found]) -> dict[str, float]:
    """Return the means in percent; of no question, zeros."""
    count = len(found) or 1
    return {
        "R@5": 100 * sum(one.recall_5 for one in found) / count,
        "R@10": 100 * sum(one.recall_10 for one in found) / count,
        "H@1": 100 * sum(one.session_rank == 1 for one in found) / count,
        "H@5": 100 * sum(one.session_rank is not None and one.session_rank <= 5 for one in found) / count,
    }


def lines_of(found: Sequence[Found]) -> list[str]:
    """Return the figures as a table, the line to beat last."""
    names = ("R@5", "R@10", "H@1", "H@5")
    lines = [f"{'questions':<16}{'n':>6}" + "".join(f"{name:>8}" for name in names)]
    groups = [(name, [one for one in found if one.question.category == code]) for code, name in CATEGORIES.items()]
    halves = [[one for one in found if _is_odd(one.question) is odd] for odd in (False, True)]
    for name, group in [*groups, *zip(HALVES, halves, strict=True), ("all", list(found))]:
        told = figures_of(group)
        lines.append(f"{name:<16}{len(group):>6}" + "".join(f"{told[each]:>8.1f}" for each in names))
    lines.append(
        f"{'line to beat':<22}" + "".join(f"{LINE[each]:>8.1f}" if each in LINE else f"{'':>8}" for each in names)
    )
    return lines


def run(data: Sequence[Mapping[str, Any]], folder: Path) -> list[Found]:
    """Write the conversations and their index below ``folder``, and put every question."""
    write_conversations(folder / "aster", data)
    environment = Environment({"ASTER_HOME": str(folder / "aster")}, folder)
    settings = load_settings(environment, folder, str(folder / "index.sqlite"))
    ingest(settings)
    return ask(settings, list(questions_of(data)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(prog="bench.locomo", description="Measure retrieval over LoCoMo's conversations.")
    parser.add_argument("--data", type=Path, required=True, help="the file locomo10.json")
    chosen = parser.parse_args(arguments)
    try:
        data = json.loads(chosen.data.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SystemExit(f"cannot read {chosen.data}: {error}") from None
    with tempfile.TemporaryDirectory() as name:
        found = run(data, Path(name).resolve())
    sys.stdout.write("\n".join(lines_of(found)) + "\n")


def _is_odd(question: Question) -> bool:
    return question.place % 2 == 1


class _OfConversation:
    """The sessions of one conversation, as :class:`index.recall.turn_ranking.Sessions` has them."""

    def __init__(self, rows: Mapping[int, int]) -> None:
        self._rows = rows

    def has(self, row: int) -> bool:
        return row in self._rows

    def count(self, message: Message) -> bool:
        return message.session_row in self._rows


def _is_no_echo(_text: str) -> bool:
    return False


def _numbers(connection: sqlite3.Connection, conversation: str) -> dict[int, int]:
    """Return the number of each session of a conversation, by its row."""
    rows = connection.execute(_SESSIONS, (project_of(conversation),))
    return {row: int(id_.rpartition("-s")[2]) for row, id_ in rows}


def _judged(question: Question, ranked: Sequence[RankedTurn], numbers: Mapping[int, int]) -> Found:
    # The header is line 1.
    turns = [(numbers[one.message.session_row], one.message.line_number - 1) for one in ranked]
    sessions = [numbers[row] for row, _ in rank_sessions(ranked)]
    wanted = {number for number, _ in question.evidence}
    ranks = [rank for rank, number in enumerate(sessions, start=1) if number in wanted]
    shares = [len(question.evidence.intersection(turns[:first])) / len(question.evidence) for first in (5, 10)]
    return Found(question, shares[0], shares[1], ranks[0] if ranks else None)


def _time(at: datetime, seconds: int, minutes: int = 0) -> str:
    return f"{at + timedelta(minutes=minutes, seconds=seconds):%Y-%m-%dT%H:%M:%S}.000Z"


if __name__ == "__main__":
    main()
