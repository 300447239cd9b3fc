"""The runner over LoCoMo's conversations, on an invented file of the same shape."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench import locomo

TURNS = {
    "session_1": ["I adopted a grey kitten named Pixel.", "How lovely! Does it sleep well?", "All day long."],
    "session_2": ["We drove to the lighthouse at Cape Wrath.", "Was it windy?", "The kitten stayed at home."],
    "session_3": ["My marathon is in October.", "Good luck with the training."],
}
MARATHON = {"question": "When is the marathon?", "evidence": ["D3:1"], "category": 2}
QUESTIONS: list[dict[str, Any]] = [
    {"question": "What is the name of the kitten?", "evidence": ["D1:1"], "category": 4},
    {"question": "Was it windy at the lighthouse?", "evidence": ["D2:1; D2:2"], "category": 1},
    MARATHON,
    {"question": "What colour is the submarine?", "evidence": ["D9:9"], "category": 5},
    {"question": "Is there a zeppelin?", "evidence": ["D1:2"], "category": 5},
]


def conversation(name: str, questions: list[dict[str, Any]]) -> dict[str, Any]:
    talk: dict[str, Any] = {"speaker_a": "Ada", "speaker_b": "Ben"}
    for number, (key, texts) in enumerate(TURNS.items(), start=1):
        talk[key] = [
            {"speaker": ("Ada", "Ben")[place % 2], "dia_id": f"D{number}:{place + 1}", "text": text}
            for place, text in enumerate(texts)
        ]
        talk[f"{key}_date_time"] = f"1:56 pm on {number + 7} May, 2023"
    talk["session_1"][0]["blip_caption"] = "a photo of a kitten on a keyboard"
    talk["session_4"] = []
    return {"sample_id": name, "conversation": talk, "qa": questions}


@pytest.fixture
def data() -> list[dict[str, Any]]:
    return [conversation("conv-1", QUESTIONS), conversation("conv-2", [MARATHON])]


def test_questions_are_judged_by_the_turns_that_answer_them(data: list[dict[str, Any]], tmp_path: Path) -> None:
    found = locomo.run(data, tmp_path)
    assert [(one.question.text, one.recall_5, one.session_rank) for one in found] == [
        ("What is the name of the kitten?", 1.0, 1),
        ("Was it windy at the lighthouse?", 1.0, 1),
        ("When is the marathon?", 1.0, 1),
        ("Is there a zeppelin?", 0.0, None),
        ("When is the marathon?", 1.0, 1),
    ]
    assert locomo.figures_of(found) == {"R@5": 80.0, "R@10": 80.0, "H@1": 80.0, "H@5": 80.0}


def test_a_turn_is_what_was_said_with_the_picture_that_was_shown(data: list[dict[str, Any]], tmp_path: Path) -> None:
    locomo.write_conversations(tmp_path, data)
    lines = (tmp_path / "sessions" / "conv-1" / "conv-1-s001.jsonl").read_text(encoding="utf-8").splitlines()
    header, first, second, *_ = map(json.loads, lines)
    assert header["cwd"] == "/locomo/conv-1"
    assert first["content"].endswith("named Pixel. [shared a photo of a kitten on a keyboard]")
    assert (first["role"], second["role"], second["ts"]) == ("user", "assistant", "2023-05-08T13:57:00.000Z")


def test_the_table_ends_with_the_line_to_beat(
    data: list[dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "locomo10.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    locomo.main(["--data", str(path)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["questions", "n", "R@5", "R@10", "H@1", "H@5"]
    assert lines[-2].split() == ["all", "5", "80.0", "80.0", "80.0", "80.0"]
    assert lines[-1].split() == ["line", "to", "beat", "68.5", "75.8", "73.8"]
