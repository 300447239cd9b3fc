"""Checks the configuration whole, and writes the two settings that this product writes (DESIGN law 1).

For writing commands and ``doctor`` only: pydantic is imported here, never on the read path. ``ingest --keep`` sets
``keep``, ``purge`` adds to ``excludes``; nothing else is ever changed. The file is its owner's: only the lines
concerned are touched, so comments, order and quotes of the rest stay (YAML's own dump would lose them), and the
result is read again before it is put in place.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StrictInt, StrictStr, ValidationError

from persist.config import LIMITS, MAX_REFRESH_MS, Configuration, configuration_of, load, read_configuration
from persist.errors import ConfigError
from persist.files import LOCK_NAME, locked, write_atomic


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


_Texts: TypeAlias = Annotated[list[StrictStr], BeforeValidator(_listed)]
"""A list of texts; a single text is a list of one."""


class _LimitsModel(BaseModel):
    model_config = ConfigDict(extra="forbid")

    tool_head_bytes: StrictInt = Field(512, ge=LIMITS["tool_head_bytes"][0], le=LIMITS["tool_head_bytes"][1])
    failed_head_bytes: StrictInt = Field(2000, ge=LIMITS["failed_head_bytes"][0], le=LIMITS["failed_head_bytes"][1])
    max_line_bytes: StrictInt = Field(
        LIMITS["max_line_bytes"][1], ge=LIMITS["max_line_bytes"][0], le=LIMITS["max_line_bytes"][1]
    )


class ConfigurationModel(BaseModel):
    """The file as its owner writes it, for a check that names every fault at once."""

    model_config = ConfigDict(extra="forbid")

    agents: _Texts | None = None
    roots: dict[StrictStr, _Texts | None] | None = None
    excludes: _Texts | None = None
    limits: _LimitsModel | None = None
    keep: StrictBool | None = None
    refresh_ms: StrictInt | None = Field(None, ge=0, le=MAX_REFRESH_MS)


def check(path: Path, home: Path | None = None) -> Configuration:
    """Return what the file says, after checking all of it and that each root is there.

    Raises ``ConfigError`` with every fault in one sentence, keys and reasons only.
    """
    data = read_configuration(path)
    faults = []
    try:
        ConfigurationModel.model_validate(data)
    except ValidationError as error:
        for fault in error.errors(include_input=False, include_url=False):
            key = ".".join(str(part) for part in fault["loc"])
            faults.append(f"'{key}': {fault['msg'].lower()}")
        raise ConfigError(path, "; ".join(faults)) from error
    configuration = configuration_of(path, data, Path.home() if home is None else home)
    for agent, roots in configuration.roots.items():
        faults += [f"root of {agent} is not there: {root}" for root in roots if not root.exists()]
    if faults:
        raise ConfigError(path, "; ".join(faults))
    return configuration


def save(path: Path, configuration: Configuration, home: Path | None = None) -> bool:
    """Make the file say what ``configuration`` says of ``keep`` and ``excludes``; tell whether it changed.

    Only those two may differ from what the file says now, and excludes may only be added. A missing file is
    made, 0600; a link stays a link. Raises ``ConfigError`` when the file cannot be used, when another setting
    differs, and when it is written in a form that cannot be edited in place (the sentence says what to add);
    ``BusyError`` and ``StoreIOError`` from writing. The file is untouched in each case.
    """
    home = Path.home() if home is None else home
    with locked(path.with_name(LOCK_NAME)):
        now = load(path, home)
        if now == configuration:
            return False
        added = [entry for entry in configuration.excludes if entry not in now.excludes]
        text = _read(path)
        if configuration.keep != now.keep:
            text = _with_keep(text, configuration.keep)
        if added:
            text = _with_excludes(text, added)
        _verify(path, text, configuration, added, home)
        write_atomic(path, text.encode("utf-8"))
    return True


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8") if path.exists() else ""


def _verify(path: Path, text: str, wanted: Configuration, added: list[str], home: Path) -> None:
    """Refuse an edit whose result does not say what was wanted, before anything is written."""
    try:
        data = yaml.safe_load(text.removeprefix("\ufeff"))
        got = configuration_of(path, data if isinstance(data, dict) else {}, home)
    except yaml.YAMLError:
        got = None
    if got is not None and set(got.excludes) == set(wanted.excludes) and _rest(got) == _rest(wanted):
        return
    lines = [f"keep: {str(wanted.keep).lower()}", *(f"excludes: {_quoted(entry)}" for entry in added)]
    raise ConfigError(path, f"cannot be edited in place, add to it yourself: {'; '.join(lines)}")


def _rest(configuration: Configuration) -> tuple[Any, ...]:
    return (
        configuration.agents,
        configuration.roots,
        configuration.limits,
        configuration.keep,
        configuration.refresh_ms,
    )


def _with_keep(text: str, keep: bool) -> str:
    node = _node(text, "keep")
    value = str(keep).lower()
    if node is None:
        return _appended(text, f"keep: {value}")
    start, end = node.start_mark.index, node.end_mark.index
    return f"{text[:start]}{'' if start < end else ' '}{value}{text[end:]}"


def _with_excludes(text: str, added: list[str]) -> str:
    quoted = [_quoted(entry) for entry in added]
    node = _node(text, "excludes")
    if node is None:
        return _appended(text, "\n".join(["excludes:", *(f"  - {entry}" for entry in quoted)]))
    start, end = node.start_mark.index, node.end_mark.index
    if isinstance(node, yaml.SequenceNode) and node.value and not node.flow_style:
        return _below_last(text, node, quoted)
    if isinstance(node, yaml.SequenceNode):
        inner = text[start + 1 : end - 1].rstrip().removesuffix(",")
        return f"{text[:start]}[{', '.join([inner, *quoted] if inner.strip() else quoted)}]{text[end:]}"
    first = text[start:end]
    is_null = node.tag == "tag:yaml.org,2002:null"
    known = [] if is_null else [first]
    return f"{text[:start]}{'' if start < end else ' '}[{', '.join([*known, *quoted])}]{text[end:]}"


def _below_last(text: str, node: yaml.SequenceNode, quoted: list[str]) -> str:
    """Add lines below the last entry of a block list, indented as it is, with its line ends."""
    indentation = " " * node.start_mark.column
    line_end = "\r\n" if "\r\n" in text else "\n"
    last = text.find("\n", node.value[-1].end_mark.index)
    lines = "".join(f"{indentation}- {entry}{line_end}" for entry in quoted)
    if last == -1:
        return f"{text}{line_end}{lines}"
    return f"{text[: last + 1]}{lines}{text[last + 1 :]}"


def _appended(text: str, lines: str) -> str:
    line_end = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text or text.endswith("\n") else line_end
    return f"{text}{gap}{lines.replace(chr(10), line_end)}{line_end}"


def _node(text: str, key: str) -> yaml.Node | None:
    """Return the value's node of a top-level key; its marks are character positions in ``text``."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode):
        return None
    return next((value for name, value in root.value if name.value == key), None)


def _quoted(text: str) -> str:
    """Return a YAML text in double quotes on one line."""
    dumped = str(yaml.safe_dump(text, default_style='"', allow_unicode=True, width=2**31))
    return re.sub(r"\n\Z", "", dumped)
