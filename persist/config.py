"""Reads ``config.yaml`` into a frozen value, for every command; without the file, yaml is never imported.

Must never import pydantic: this is on the way of each search (``persist.config_model`` checks and writes). The whole
file is refused when one key in it is unknown or of the wrong type: a misspelt ``exclude`` that did
nothing would index what its owner wanted left out. The keys, all optional::

    agents: [claude-code, codex]        # only these; left out: every agent that is found
    roots: {claude-code: [~/laptop/.claude]}
    excludes: [~/secret-client, "**/scratch/**"]
    limits: {tool_head_bytes: 512, failed_head_bytes: 2000, max_line_bytes: 67108864}
    keep: true                          # copies of foreign transcripts go to the archive
    refresh_ms: 200                     # how much work a search does first to be up to date; 0 for none
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from persist.errors import ConfigError
from persist.lines import MAX_LINE_BYTES
from persist.places import expand
from persist.regular import read_regular

KEYS: Final = ("agents", "roots", "excludes", "limits", "keep", "refresh_ms")
LIMITS: Final[Mapping[str, tuple[int, int]]] = {
    "tool_head_bytes": (0, 1024 * 1024),
    "failed_head_bytes": (0, 1024 * 1024),
    "max_line_bytes": (1024, MAX_LINE_BYTES),
}
"""Each limit with the least and the greatest value that is allowed, both inclusive."""
REFRESH_MS: Final = 200
"""How long, by estimate, a search may work first to bring the index up to date, if the file says nothing."""
MAX_REFRESH_MS: Final = 60_000
MAX_CONFIG_BYTES: Final = 1024 * 1024
_NEVER_IN_A_PATH: Final = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a tool's arguments and results is stored, of a failed one's, and the longest line read."""

    tool_head_bytes: int = 512
    failed_head_bytes: int = 2000
    max_line_bytes: int = MAX_LINE_BYTES


@dataclass(frozen=True, slots=True)
class Configuration:
    """What the configuration says. ``agents`` is ``None`` for all of them; paths are absolute.

    ``excludes`` are absolute paths (that file, or all below that folder) and globs, as
    :func:`exclusion` reads them. ``refresh_ms`` is the work, in milliseconds by estimate, that a search does first to
    bring the index up to date; 0 switches that off.
    """

    agents: tuple[str, ...] | None = None
    roots: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    excludes: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    keep: bool = False
    refresh_ms: int = REFRESH_MS


def load(path: Path, home: Path | None = None) -> Configuration:
    """Return what the file at ``path`` says; the defaults where there is none or it is empty.

    ``~`` means ``home`` (this user's when not given); a relative path lies beside the file. Raises
    ``ConfigError`` naming the key when a key is unknown, stands twice or has a value of the wrong type,
    and when the file is not YAML or cannot be read.
    """
    data = read_configuration(path)
    return configuration_of(path, data, Path.home() if home is None else home)


def check_agents(path: Path, configuration: Configuration, known: Iterable[str]) -> None:
    """Raise ``ConfigError`` when the configuration names an agent that is not ``known``."""
    names = sorted(known)
    for name in (*(configuration.agents or ()), *configuration.roots):
        if name not in names:
            raise ConfigError(path, f"unknown agent {name!r} (known: {', '.join(names)})")


def exclusion(excludes: Iterable[str]) -> Callable[[str], str | None]:
    """Return a function that tells which of ``excludes`` covers an absolute path, or ``None``.

    A plain path covers itself and all below it. In a glob ``*`` and ``?`` stay within one name, ``**`` crosses
    folders, ``[abc]`` is one of these; one without a leading ``/`` fits at any depth; what lies below a match
    is covered too. Case counts; links are not resolved. Cost: one regular expression for each glob.
    """
    compiled = [(entry, re.compile(_pattern(entry), re.DOTALL)) for entry in excludes]

    def covering(path: str) -> str | None:
        return next((entry for entry, pattern in compiled if pattern.match(path)), None)

    return covering


def literal_exclude(path: str) -> str:
    """Return the exclude that covers this absolute path and nothing else beside it, whatever characters it has."""
    return re.sub(r"([*?[])", r"[\1]", path)


def read_configuration(path: Path) -> dict[str, Any]:
    """Return the file's keys and values as YAML gives them, keys checked; empty where there is no file.

    Raises ``ConfigError`` as :func:`load` does, but does not look at the values.
    """
    try:
        if path.stat().st_size > MAX_CONFIG_BYTES:
            raise ConfigError(path, f"longer than {MAX_CONFIG_BYTES} bytes")
        text = read_regular(path).decode("utf-8-sig")
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(path, f"cannot be read ({error.strerror or error})") from error
    except UnicodeDecodeError as error:
        raise ConfigError(path, f"is not UTF-8 at byte {error.start}") from error
    return _checked_keys(path, text)


def configuration_of(path: Path, data: Mapping[str, Any], home: Path) -> Configuration:
    """Return the configuration that ``data`` (of the file at ``path``) means. Raises ``ConfigError``."""
    agents = data.get("agents")
    keep = data.get("keep")
    if keep is not None and not isinstance(keep, bool):
        raise ConfigError(path, f"'keep' must be true or false, not a {_type(keep)}")
    roots = _mapping(path, "roots", data.get("roots"))
    return Configuration(
        agents=None if agents is None else _texts(path, "agents", agents),
        roots={
            name: tuple(expand(text, home, path.parent) for text in _texts(path, f"roots.{name}", given))
            for name, given in roots.items()
        },
        excludes=tuple(_exclude(text, home, path) for text in _texts(path, "excludes", data.get("excludes"))),
        limits=_limits(path, _mapping(path, "limits", data.get("limits"))),
        keep=bool(keep),
        refresh_ms=_refresh_ms(path, data.get("refresh_ms")),
    )


def _checked_keys(path: Path, text: str) -> dict[str, Any]:
    import yaml

    loader = None
    try:
        loader = yaml.SafeLoader(text)  # which refuses control characters before it reads anything
        node = loader.get_single_node()
        if node is None or node.tag == "tag:yaml.org,2002:null":
            return {}
        if not isinstance(node, yaml.MappingNode):
            raise ConfigError(path, "must be keys and values")
        _refuse_twice(path, [key.value for key, _ in node.value])
        data: dict[str, Any] = loader.construct_document(node)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ConfigError(path, _yaml_reason(error)) from error
    finally:
        if loader is not None:
            loader.dispose()
    for key in data:
        if key not in KEYS:
            raise ConfigError(path, f"unknown key {key!r} (allowed: {', '.join(KEYS)})")
    return data


def _yaml_reason(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
    reason = getattr(error, "problem", None)
    return f"is not YAML{where}" + (f" ({reason})" if reason else "")


def _refuse_twice(path: Path, keys: list[Any]) -> None:
    for key in keys:
        if keys.count(key) > 1:
            raise ConfigError(path, f"key {key!r} stands twice")


def _mapping(path: Path, key: str, value: object) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        raise ConfigError(path, f"{key!r} must be names and values, not a {_type(value)}")
    return value


def _texts(path: Path, key: str, value: object) -> tuple[str, ...]:
    """Return a list of texts; a single text is a list of one."""
    if value is None:
        return ()
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list):
        raise ConfigError(path, f"{key!r} must be a list of texts, not a {_type(value)}")
    for text in texts:
        if not isinstance(text, str) or not text.strip():
            raise ConfigError(path, f"{key!r} must hold texts only, not a {_type(text)} (quote it)")
        if _NEVER_IN_A_PATH.search(text):
            raise ConfigError(path, f"{key!r} holds a character that no path has: U+0000, or half of one")
    return tuple(texts)


def _limits(path: Path, given: dict[str, Any]) -> Limits:
    for name, value in given.items():
        if name not in LIMITS:
            raise ConfigError(path, f"unknown key 'limits.{name}' (allowed: {', '.join(LIMITS)})")
        least, greatest = LIMITS[name]
        if isinstance(value, bool) or not isinstance(value, int):
            raise ConfigError(path, f"'limits.{name}' must be a whole number of bytes, not a {_type(value)}")
        if not least <= value <= greatest:
            raise ConfigError(path, f"'limits.{name}' must be from {least} to {greatest}")
    return Limits(**given)


def _refresh_ms(path: Path, value: object) -> int:
    if value is None:
        return REFRESH_MS
    if isinstance(value, bool) or not isinstance(value, int):
        raise ConfigError(path, f"'refresh_ms' must be a whole number of milliseconds, not a {_type(value)}")
    if not 0 <= value <= MAX_REFRESH_MS:
        raise ConfigError(path, f"'refresh_ms' must be from 0 to {MAX_REFRESH_MS}")
    return value


def _exclude(text: str, home: Path, path: Path) -> str:
    """Make a plain path absolute; a glob keeps its form, but for ``~``."""
    if _is_glob(text) and not text.startswith("~/"):
        return text
    return str(expand(text, home, path.parent))


def _is_glob(text: str) -> bool:
    return any(character in text for character in "*?[")


def _pattern(entry: str) -> str:
    if not _is_glob(entry):
        return re.escape(entry.rstrip("/")) + r"(?:/|\Z)"
    parts = re.findall(r"\*\*/|\*\*|\*|\?|\[!?\]?[^]/]*\]|.", entry.rstrip("/"), re.DOTALL)
    known = {"**/": r"(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    body = "".join(known.get(part) or (_one_of(part) if len(part) > 1 else re.escape(part)) for part in parts)
    return ("" if entry.startswith("/") else r"(?:.*/)?") + body + r"(?:/|\Z)"


def _one_of(part: str) -> str:
    negated = part[1] == "!"
    inside = re.sub(r"([\\\[\]^&~|])", r"\\\1", part[2 if negated else 1 : -1])
    return f"[{'^/' if negated else ''}{inside}]"


def _type(value: object) -> str:
    known = {dict: "mapping", list: "list", str: "text", bool: "true or false", int: "number", float: "number"}
    return known.get(type(value), "nothing" if value is None else type(value).__name__)
