"""Reads the frontmatter of a memory note: what stands between two lines ``---`` at its head.

Pure: text in, plain values out. yaml is imported only for the rare value that needs it; of ours, ``persist.lines``.

Two kinds of authors write these headers. Aster writes ``key: text`` raw, so its values may be anything,
YAML or not (``spec/aster.md`` 4.2); people and other tools write YAML. So the header is cut into keys with
what belongs to them, and each is read on its own: one odd value never spoils the next. Per value:

1. Plain text on one line is that text, whatever YAML would make of it: ``1.10``, ``no``, ``null``, ``0x1F``,
   dates, ``fix #12`` and ``note: this`` stay as written (``spec/fault-checks.md`` B87).
2. A value in closed quotes is read without them (B86), but in a header with CRLF line ends it keeps them.
   Aster never strips quotes, and Aster's own result for such a file is pinned (``samples/aster``
   ``expected.json``, by-hand.md); its writer and every YAML writer end lines with LF.
3. Lists of plain texts are lists; folded and literal blocks and escapes are read as YAML without types. Two escaped
   halves of a character, as JSON writes an emoji, are that character; a lone half is U+FFFD, as in JSON lines.
4. Anything else (mappings, tags, nested lists, what YAML refuses) is the text as written.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple, TypeAlias

from persist.lines import whole_characters

Value: TypeAlias = str | list[str]

_MARK: Final = "---"
_BOM: Final = "\ufeff"
_MAX_YAML_CHARACTERS: Final = 16_384
_MAX_YAML_BRACKETS: Final = 64
"""A header is short. In a longer one, and in values nested so often, what needs YAML is taken as written: its
reader takes time with the square of the depth (5,000 open brackets: 4 s)."""
_KEY = re.compile(r"""(["']?)([a-z_][\w.-]*)\1\s*:(.*)""", re.ASCII | re.DOTALL)
_OPENING = re.compile(r"---[ \t]*(?:#.*)?\Z")
_SINGLE_QUOTED = re.compile(r"'([^']*)'\Z")
_DOUBLE_QUOTED = re.compile(r'"([^"\\]*)"\Z')
_NOT_PLAIN_IN_LIST = re.compile(r"\A\s*-\s|: |:\s*\Z| #|[][{}]")
_NEEDS_YAML: Final = frozenset("\"'[]{}&*!|>%@`?,")
_SURE_KEYS: Final = frozenset({"name", "description"})
_DEFAULT_TAGS: Final = frozenset(f"tag:yaml.org,2002:{name}" for name in ("str", "seq", "map"))


class Entry(NamedTuple):
    """One key of a header: the rest of its line, the indented or list lines below it, and which lines they are.

    ``numbers`` count the header's lines from 0; comments and stray lines in between belong to no key.
    """

    key: str
    value: str
    below: list[str]
    numbers: list[int]


class Layout(NamedTuple):
    """Where a note's header stands in its text (offsets in characters, end exclusive), and its keys.

    From ``header_start`` to ``header_end`` are the lines between the two rules, from ``body_start`` on is what follows
    the second rule's line.
    """

    header_start: int
    header_end: int
    body_start: int
    entries: list[Entry]


def read_frontmatter(text: str) -> tuple[dict[str, Value], str]:
    """Return a note's frontmatter and its body, both without surrounding white space.

    Without frontmatter the dictionary is empty and the body is the whole text. There is none when the first
    line is not ``---``, when no later line begins with it, or when what lies between names no key: text between
    two rules is text, and nothing of it is lost (Aster drops it). Keys begin with a lower-case letter, as all
    of Aster's do; of a repeated one the last wins. Never raises.
    """
    layout = lay_out(text)
    if layout is None:
        return {}, text.removeprefix(_BOM).strip()
    header = text[layout.header_start : layout.header_end]
    return read_entries(header, layout.entries), text[layout.body_start :].strip()


def read_entries(header: str, entries: list[Entry]) -> dict[str, Value]:
    """Return the values of a header's keys; ``entries`` are those of this header."""
    keeps_quotes = "\r\n" in header
    is_short = len(header) <= _MAX_YAML_CHARACTERS
    values: dict[str, Value] = {}
    for entry in entries:
        value = _plain_value(entry, keeps_quotes)
        if value is None and is_short:
            value = _yaml_value(entry, keeps_quotes)
        if value is not None:
            values[entry.key] = value
        else:
            values.update(_as_written(entry, keeps_quotes))
    return values


def lay_out(text: str) -> Layout | None:
    """Return where the header of a note stands, ``None`` where it has none by the rules of :func:`read_frontmatter`."""
    begin = len(_BOM) if text.startswith(_BOM) else 0
    begin = len(text) - len(text[begin:].lstrip())
    opening_end = text.find("\n", begin)
    if opening_end < 0 or not _OPENING.match(text[begin:opening_end].rstrip("\r")):
        return None
    start = opening_end + 1
    end = start if text.startswith(_MARK, start) else text.find("\n" + _MARK, start) + 1
    if end == 0:
        return None
    header = text[start:end]
    entries, stray = _entries(header)
    if not _is_header(header, entries, stray):
        return None
    mark_end = text.find("\n", end)
    return Layout(start, end, len(text) if mark_end < 0 else mark_end + 1, entries)


def _entries(header: str) -> tuple[list[Entry], bool]:
    """Cut a header into its keys, and tell whether lines were left that belong to none."""
    entries: list[Entry] = []
    stray = False
    for number, line in enumerate(header.replace("\r\n", "\n").split("\n")):
        if not line.strip() or line.startswith("#"):
            if entries and not line.strip():
                entries[-1].below.append("")
            continue
        key = _KEY.match(line)
        if key is not None:
            entries.append(Entry(key[2], key[3].strip(), [], [number]))
        elif entries and (line[0] in " \t" or line.startswith("- ")):
            entries[-1].below.append(line)
            entries[-1].numbers.append(number)
        elif (inner := _KEY.match(line.strip())) is not None:
            entries.append(Entry(inner[2], inner[3].strip(), [], [number]))
        else:
            stray = True
    for entry in entries:
        while entry.below and not entry.below[-1]:
            entry.below.pop()
    return entries, stray


def _is_header(header: str, entries: list[Entry], stray: bool) -> bool:
    if not header.strip():
        return True
    return any(entry.key in _SURE_KEYS for entry in entries) or (bool(entries) and not stray)


def _plain_value(entry: Entry, keeps_quotes: bool) -> Value | None:
    """Read what needs no YAML: one line of text, or a list of plain texts."""
    if not entry.below:
        text = _plain_text(entry.value, keeps_quotes)
        if text is not None:
            return text
        if entry.value.startswith("[") and entry.value.endswith("]"):
            inner = entry.value[1:-1].strip()
            return _plain_list(inner.split(",")) if inner else []
        return None
    if entry.value:
        return None
    lines = [line.strip() for line in entry.below]
    if not all(line.startswith("- ") for line in lines):
        return None
    return _plain_list([line[2:] for line in lines])


def _plain_list(elements: list[str]) -> list[str] | None:
    texts: list[str] = []
    for element in elements:
        if _NOT_PLAIN_IN_LIST.search(element):
            return None
        text = _plain_text(element.strip(), False)
        if not text:
            return None
        texts.append(text)
    return texts


def _plain_text(value: str, keeps_quotes: bool) -> str | None:
    """Return one line's text, without simple closed quotes; ``None`` where only YAML can tell what it is.

    A ``#`` is text: Aster writes notes such as ``fix #12`` unquoted, and cutting them would lose words.
    """
    if not value or value[0] not in _NEEDS_YAML:
        return value
    quoted = _SINGLE_QUOTED.match(value) or _DOUBLE_QUOTED.match(value)
    if quoted is None:
        return None
    return value if keeps_quotes else quoted[1]


def _yaml_value(entry: Entry, keeps_quotes: bool) -> Value | None:
    """Read one value as YAML that knows no types and builds no objects; ``None`` when it is not YAML."""
    text = "\n".join([f"k: {entry.value}", *entry.below]) + "\n"
    if text.count("[") + text.count("{") > _MAX_YAML_BRACKETS:
        return None
    import yaml

    try:
        root = yaml.compose(text, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError):
        return None
    if not isinstance(root, yaml.MappingNode) or len(root.value) != 1:
        return None
    node = root.value[0][1]
    written = " ".join(text[node.start_mark.index : node.end_mark.index].split())
    if node.tag not in _DEFAULT_TAGS:
        return written
    if isinstance(node, yaml.ScalarNode):
        return written if keeps_quotes and node.style in ("'", '"') else _scalar_text(node.value)
    if isinstance(node, yaml.SequenceNode) and all(
        isinstance(element, yaml.ScalarNode) and element.tag in _DEFAULT_TAGS for element in node.value
    ):
        return [_scalar_text(element.value) for element in node.value]
    return written


def _scalar_text(value: object) -> str:
    return whole_characters(str(value)).strip()


def _as_written(entry: Entry, keeps_quotes: bool) -> dict[str, Value]:
    """Aster's own rule for what is not YAML: each line is a key, a colon and the text behind it.

    Lines without a key belong to the text above them (Aster drops them).
    """
    values: dict[str, Value] = {}
    texts = [entry.value]
    for line in entry.below:
        inner = _KEY.match(line.strip())
        if inner is None:
            texts.append(line.strip())
        else:
            text = inner[3].strip()
            values[inner[2]] = _plain_text(text, keeps_quotes) or text
    return {entry.key: " ".join(filter(None, texts)), **values}
