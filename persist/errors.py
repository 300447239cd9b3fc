"""The store's own error tree: one sentence each (what, where, what to do), with what is known as fields.

Imports nothing of ours. Texts of transcripts never enter a message (DESIGN law 7).
"""

from __future__ import annotations

from pathlib import Path


class StoreError(Exception):
    """Base of every error that reading or writing the store raises on purpose."""


class StoreIOError(StoreError):
    """A file of the store could not be read or written; the operating system's reason is kept."""

    def __init__(self, path: Path | str, doing: str, reason: str) -> None:
        self.path = Path(path)
        self.doing = doing
        self.reason = reason
        super().__init__(f"cannot {doing} {path}: {reason}")


class NotFoundError(StoreError):
    """Nothing in the store answers to that name or id."""

    def __init__(self, what: str, name: str, hint: str = "") -> None:
        self.what = what
        self.name = name
        self.hint = hint
        super().__init__(f"no {what} {name!r}" + (f"; {hint}" if hint else ""))


class AmbiguousError(StoreError):
    """A prefix fits several things; ``candidates`` lists them in order."""

    def __init__(self, what: str, name: str, candidates: tuple[str, ...]) -> None:
        self.what = what
        self.name = name
        self.candidates = candidates
        shown = ", ".join(candidates[:5]) + (" …" if len(candidates) > 5 else "")
        super().__init__(f"{name!r} fits {len(candidates)} {what}s: {shown}; give more of the id")


class RefusedError(StoreError):
    """The request is understood and not done; ``hint`` names what to do instead."""

    def __init__(self, message: str, hint: str = "") -> None:
        self.hint = hint
        super().__init__(f"{message}; {hint}" if hint else message)


class PlanError(StoreError):
    """A plan for the memory cannot be done; each of ``faults`` is a sentence that begins with its place in the plan."""

    def __init__(self, faults: tuple[str, ...]) -> None:
        self.faults = faults
        many = f"the plan has {len(faults)} faults, and nothing was changed:\n" if len(faults) > 1 else ""
        super().__init__(many + "\n".join(faults))


class BusyError(StoreError):
    """Another process holds the lock and did not let go within ``timeout_s`` seconds."""

    def __init__(self, path: Path | str, timeout_s: float) -> None:
        self.path = Path(path)
        self.timeout_s = timeout_s
        super().__init__(f"another program holds {path} (waited {timeout_s:g} s); try again shortly")


class ConfigError(StoreError):
    """The configuration file cannot be used; ``path`` and the reason tell where to look."""

    def __init__(self, path: Path | str, reason: str) -> None:
        self.path = Path(path)
        self.reason = reason
        super().__init__(f"configuration {path}: {reason}; correct it or remove the file")


class ShapeError(StoreError):
    """One record is JSON but not of its kind's shape: its line is damaged, nothing else is.

    Raised by agent parsers only, with a reason that names keys and types but never values.
    """
