"""The words in Codex's contents and tool outputs, and what their structure tells of them.

Pure; imports orjson and ``persist`` values. A content may be a string, a list of strings and parts, or anything else
(``spec/fault-checks.md`` B17): what has no words gives no text, never an exception.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

import orjson

from persist.agents.values import as_list

_WORD_KEYS: Final = ("text", "content", "message")
_ATTACHED: Final = ("input_image", "image", "input_audio", "local_image")
_ELEMENT = re.compile(r"\s*(?:#[^\n]*\n\s*)?<([A-Za-z][\w-]*)(?:\s[^<>]*)?>")
"""The program wraps what it adds in one element, which may stand below one heading (``# AGENTS.md instructions …``)."""
_AROUND_IMAGE = re.compile(r"\s*(?:<image(?:\s[^<>]*)?>|</image>)\s*\Z")
"""What the program puts before and behind a picture, as parts of their own."""
_HEAD = re.compile(r"(?:[^\n]{1,200}\n){1,8}?Output:(?:\n|\Z)")
"""What Codex writes above a command's output: a few lines, the last of which is ``Output:``."""
_EXIT_CODE = re.compile(r"^(?:Exit code: |Process exited with code )(-?\d{1,10})$", re.MULTILINE | re.ASCII)
_SCRIPT_FAILED = re.compile(r"Script (?:failed|error)\b")
_REFUSED: Final = frozenset({"exec command rejected by user", "patch rejected by user", "rejected by user"})
_ABORTED = re.compile(
    r"(?:Wall time: [\d.]+ seconds\n)?aborted(?: by user)?(?: after [\d.]+ ?s(?:econds)?)?\s*\Z", re.ASCII
)


class Output(NamedTuple):
    """A tool's output: its words, and the type and outcome of the event it is."""

    text: str | None
    event_type: str = "tool_result"
    outcome: str | None = None


def words(content: object) -> str | None:
    """Return the words of a content, its parts joined by one newline; ``None`` if it has none."""
    if isinstance(content, str):
        return content
    texts = [text for part in as_list(content) if (text := _part_words(part)) is not None]
    return "\n".join(texts) if texts else None


def has_attachment(content: object) -> bool:
    """Whether a content holds a picture or a sound."""
    return any(isinstance(part, dict) and part.get("type") in _ATTACHED for part in as_list(content))


def sort_typed(content: object) -> tuple[str | None, str | None]:
    """Return what the program wrote and what was typed in a user's content, each ``None`` if there is none of it.

    The program's are parts that are one element from beginning to end; what it puts around pictures is neither's.
    """
    machine: list[str] = []
    typed: list[str] = []
    for part in as_list(content):
        text = _part_words(part)
        if text is not None and _AROUND_IMAGE.match(text) is None:
            (machine if is_element(text) else typed).append(text)
    return ("\n".join(machine) if machine else None), ("\n".join(typed) if typed else None)


def is_element(text: str) -> bool:
    """Whether a text is one element from beginning to end. Cost: its two ends."""
    opening = _ELEMENT.match(text)
    return opening is not None and text.rstrip().endswith(f"</{opening[1]}>")


def read_output(output: object) -> Output:
    """Return what a tool's output comes to: from its exit code, its flag, or the lines that Codex writes above it."""
    if isinstance(output, dict):
        inner = output.get("content", output.get("content_items", output.get("output")))
        read = read_output(inner) if isinstance(inner, str | list) else Output(None)
        return _failed(read.text) if output.get("success") is False else read
    if not isinstance(output, str):
        read = Output(words(output))
        first = next((text for part in as_list(output) if (text := _part_words(part)) is not None), None)
        return _failed(read.text) if first is not None and _tells_failure(first) else _stopped(read)
    if output.startswith("{"):
        packed = _packed(output)
        if packed is not None:
            return packed
    return _failed(output) if _tells_failure(output) else _stopped(Output(output))


def _part_words(part: object) -> str | None:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        return next((value for key in _WORD_KEYS if isinstance(value := part.get(key), str)), None)
    return None


def _packed(output: str) -> Output | None:
    """Read ``{"output": …, "metadata": {"exit_code": …}}``; ``None`` for any other object: those are a tool's words."""
    try:
        value = orjson.loads(output)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(value, dict) or not isinstance(value.get("output"), str):
        return None
    metadata = value.get("metadata")
    if not isinstance(metadata, dict):
        return None
    exit_code = metadata.get("exit_code")
    text: str = value["output"]
    return _failed(text) if type(exit_code) is int and exit_code != 0 else _stopped(Output(text))


def _tells_failure(text: str) -> bool:
    head = _HEAD.match(text)
    if head is None:
        return False
    if _SCRIPT_FAILED.match(text):
        return True
    exit_code = _EXIT_CODE.search(text, 0, head.end())
    return exit_code is not None and int(exit_code[1]) != 0


def _failed(text: str | None) -> Output:
    return Output(text, "tool_error", "failed")


def _stopped(read: Output) -> Output:
    """Tell an output that is nothing but Codex's own sentence on a call that was refused or broken off."""
    if read.text is None or len(read.text) > 200:
        return read
    if read.text.strip() in _REFUSED:
        return Output(read.text, "tool_refused", "refused")
    if _ABORTED.match(read.text):
        return Output(read.text, "tool_refused", "cancelled")
    return read
