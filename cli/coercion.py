"""Turns the words of the command line into str, int, float and bool without Pydantic.

Typer builds a Pydantic adapter for every parameter of every call, absent ones too, which costs more than the rest
of the start together. Only plain types are taken over here; anything else goes to Typer as before. The
name replaced is a private one: where it is gone, everything works, more slowly, and a test of ``sys.modules`` says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import typer
import typer.core

if TYPE_CHECKING:
    from typer._click import Context
    from typer.core import TyperArgument, TyperOption

_REPLACED: Final = "build_runtime_param"
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,18}\Z", re.ASCII)
_NUMBER: Final = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?\Z", re.ASCII)
_TRUTH: Final = {
    "1": True,
    "true": True,
    "yes": True,
    "on": True,
    "0": False,
    "false": False,
    "no": False,
    "off": False,
}


class PlainParameter:
    """Coerces one parameter of a plain type; ``coerce`` is what Typer calls."""

    def __init__(self, plain: type, info: object) -> None:
        self._plain = plain
        self._low: float | None = getattr(info, "min", None)
        self._high: float | None = getattr(info, "max", None)

    def coerce(self, value: object, param: TyperArgument | TyperOption, ctx: Context) -> object:
        """Return ``value`` as the parameter's type; several values give a list. Raises ``typer.BadParameter``."""
        several = getattr(param, "multiple", False) or param.nargs == -1
        if value is None:
            return () if several else None
        try:
            if several and isinstance(value, list | tuple):
                return [self._one(part) for part in value]
            return self._one(value)
        except ValueError as error:
            raise typer.BadParameter(str(error), ctx=ctx, param=param) from None

    def _one(self, value: object) -> object:
        plain = _as_plain(value, self._plain)
        if isinstance(plain, int | float) and not isinstance(plain, bool):
            if self._low is not None and plain < self._low:
                raise ValueError(f"{plain} is less than {self._low:g}")
            if self._high is not None and plain > self._high:
                raise ValueError(f"{plain} is more than {self._high:g}")
        return plain


def _as_plain(value: object, plain: type) -> object:
    if type(value) is plain:
        return value
    text = str(value)
    if plain is str:
        return text
    if plain is bool and text.lower() in _TRUTH:
        return _TRUTH[text.lower()]
    if plain is int and _INTEGER.match(text):
        return int(text)
    if plain is float and _NUMBER.match(text):
        return float(text)
    raise ValueError(f"{text!r} is not {_TITLES[plain]}")


_TITLES: Final[dict[type, str]] = {bool: "true or false", int: "a whole number", float: "a number"}
_PLAIN_OF: Final[dict[object, type]] = {
    str: str, int: int, float: float, bool: bool, list[str]: str, list[int]: int, list[float]: float,
}  # fmt: skip


def install() -> None:
    """Put the plain coercion in Typer's place, once per process."""
    original: Callable[[Any], Any] | None = getattr(typer.core, _REPLACED, None)
    if original is None or getattr(original, "is_plain", False):
        return

    def build(descriptor: object) -> object:
        plain = _plain_type(getattr(descriptor, "annotation", None))
        info = getattr(descriptor, "parameter_info", None)
        if plain is None or getattr(info, "parser", None) is not None or getattr(info, "clamp", False):
            return original(descriptor)
        return PlainParameter(plain, info)

    build.is_plain = True  # type: ignore[attr-defined]
    setattr(typer.core, _REPLACED, build)


def _plain_type(annotation: object) -> type | None:
    return next((plain for known, plain in _PLAIN_OF.items() if known == annotation), None)
