"""A consolidation plan: what a model, or a person, wants changed in the memory, as one JSON object (DESIGN 10, 15).

Pure: bytes in, a checked :class:`Plan` out. What can be told without the store is told here; the rest is
``persist.memory.plan_check``'s. Pydantic is imported here, so never import this where something is only read. Every
fault names its place in the plan (``merge[2].into.title``) and never repeats a text of it.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictStr,
    ValidationError,
)
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import ErrorDetails

from persist.errors import PlanError, ShapeError
from persist.lines import encode
from persist.memory.describe import one_line
from persist.memory.remember import MAX_NOTE_BYTES, NewNote
from persist.strict_json import decode_strictly

MAX_PLAN_BYTES: Final = 16 * 1024 * 1024
MAX_ENTRIES: Final = 200
"""Of one list of a plan: more than that is no consolidation of one session."""
MAX_TITLE_CHARACTERS: Final = 250
MAX_DESCRIPTION_CHARACTERS: Final = 300
MAX_LESSON_CHARACTERS: Final = 500
"""A fact stands in every prompt; the agent's own tool cuts it there (``spec/aster.md`` 4.1)."""
MAX_NAME_CHARACTERS: Final = 1000
MAX_REASON_CHARACTERS: Final = 1000
_MAX_ALIASES: Final = 30
_MAX_WORD_CHARACTERS: Final = 100
_SHOWN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,40}\Z", re.ASCII)
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_FENCE: Final = re.compile(rb"\s*```[A-Za-z]*[ \t]*\r?\n(.*?)\r?\n?```\s*\Z", re.DOTALL)


def _filled(text: str) -> str:
    if not one_line(text):
        raise ValueError("is empty")
    return text


def _not_too_long(text: str) -> str:
    if len(encode(text.strip())) > MAX_NOTE_BYTES:
        raise ValueError(f"is over {MAX_NOTE_BYTES} bytes")
    return text


def _absolute(path: str) -> str:
    if path and not path.startswith("/"):
        raise ValueError("is no absolute path of a folder")
    return path


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


_Title: TypeAlias = Annotated[StrictStr, Field(min_length=1, max_length=MAX_TITLE_CHARACTERS), AfterValidator(_filled)]
_Name: TypeAlias = Annotated[StrictStr, Field(min_length=1, max_length=MAX_NAME_CHARACTERS), AfterValidator(_filled)]
_Word: TypeAlias = Annotated[StrictStr, Field(min_length=1, max_length=_MAX_WORD_CHARACTERS), AfterValidator(_filled)]
_Lesson: TypeAlias = Annotated[
    StrictStr, Field(min_length=1, max_length=MAX_LESSON_CHARACTERS), AfterValidator(_filled)
]
_Reason: TypeAlias = Annotated[
    StrictStr, Field(min_length=1, max_length=MAX_REASON_CHARACTERS), AfterValidator(_filled)
]
_Names: TypeAlias = Annotated[list[_Name], BeforeValidator(_listed), Field(max_length=MAX_ENTRIES)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class BlockPart(_Part):
    """A block to be written."""

    title: _Title = Field(
        description="A short title, by which the block is found again. The title of a block that is there writes over "
        "it, so repeat in the text what still holds."
    )
    description: Annotated[StrictStr, Field(max_length=MAX_DESCRIPTION_CHARACTERS)] | None = Field(
        None, description="When the block is of use, in one line; left out, the first sentence of its text."
    )
    text: Annotated[StrictStr, Field(min_length=1), AfterValidator(_filled), AfterValidator(_not_too_long)] = Field(
        description="The note, self-contained: who, what, why, and the exact names and commands."
    )
    kind: Annotated[StrictStr, Field(max_length=_MAX_WORD_CHARACTERS)] | None = Field(
        None, description="What sort it is: preference, decision, gotcha, howto, fact or note."
    )
    project: Annotated[StrictStr, AfterValidator(_absolute)] | None = Field(
        None,
        description="The absolute path of the project that it is about; left out, it holds everywhere. The digest of a "
        "session names the session's project.",
    )
    aliases: Annotated[list[_Word], Field(max_length=_MAX_ALIASES)] = Field(
        default_factory=list, description="Other words that a person may use for what it is about."
    )
    pinned: StrictBool = Field(False, description="True only where a person asked that it never fades.")

    def note(self, session: str | None) -> NewNote:
        """Return what is to be remembered, without what it supersedes."""
        return NewNote(
            self.text,
            self.title,
            description=self.description or None,
            source_session=session,
            kind=self.kind or None,
            project=(self.project or "").rstrip("/") or self.project or None,
            aliases=tuple(self.aliases),
            is_pinned=self.pinned,
        )


class NewPart(BlockPart):
    """A block to be written, and the blocks that no longer hold because of it."""

    supersedes: _Names = Field(
        default_factory=list,
        description="Titles or names of blocks that no longer hold because of this one. They are kept and marked.",
    )


class MergePart(_Part):
    """Several blocks that become one."""

    sources: Annotated[_Names, Field(min_length=1)] = Field(
        alias="from",
        description="Titles or names of the blocks whose content is in the new one; it may be one of them itself.",
    )
    into: BlockPart
    then: Literal["archive", "supersede"] = Field(
        "archive",
        description="What becomes of the sources: archived (they say the same), or superseded (they no longer hold).",
    )


class ArchivePart(_Part):
    """A block that is of no use any more."""

    name: _Name = Field(description="The block's title or name.")
    reason: _Reason = Field(description="Why, in one sentence; the journal keeps it.")


class Plan(_Part):
    """What one session taught: changes of the memory that are done together or not at all."""

    session: _Name | None = Field(None, description="The id of the session that it comes from, as its digest names it.")
    summary: Annotated[StrictStr, Field(max_length=MAX_REASON_CHARACTERS)] | None = Field(
        None, description="What was learnt, in one sentence; the journal keeps it."
    )
    new: Annotated[list[NewPart], Field(max_length=MAX_ENTRIES)] = Field(
        default_factory=list, description="Blocks to write. Only what is of use in later sessions and not in the code."
    )
    merge: Annotated[list[MergePart], Field(max_length=MAX_ENTRIES)] = Field(
        default_factory=list, description="Blocks that say nearly the same and become one."
    )
    archive: Annotated[list[ArchivePart], Field(max_length=MAX_ENTRIES)] = Field(
        default_factory=list, description="Blocks that the session proved useless. Archived, never deleted."
    )
    lessons: Annotated[list[_Lesson], Field(max_length=MAX_ENTRIES)] = Field(
        default_factory=list,
        description="Facts that must stand in every prompt: one sentence each, and few. Everything else is a block.",
    )

    def block_part(self, entry: str) -> BlockPart:
        """Return the block that an entry (``new[0]``, ``merge[1]``) writes. Raises ``KeyError`` for any other."""
        list_name, _, number = entry.rstrip("]").partition("[")
        if list_name == "new":
            return self.new[int(number)]
        if list_name == "merge":
            return self.merge[int(number)].into
        raise KeyError(entry)

    def fingerprint(self) -> str:
        """Return the hash by which the same plan is known again, whatever order its keys were written in."""
        values = self.model_dump(mode="json", by_alias=True)
        return hashlib.sha256(encode(json.dumps(values, sort_keys=True, ensure_ascii=False))).hexdigest()


class _Untitled(GenerateJsonSchema):
    """A schema without the titles that Pydantic makes of the keys' own names."""

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002 - the name is Pydantic's
        """Leave every title out."""
        return False


def plan_schema() -> dict[str, Any]:
    """Return the JSON Schema of a plan, for a model that writes one."""
    return {"$schema": _DIALECT, **Plan.model_json_schema(by_alias=True, schema_generator=_Untitled)}


def parse_plan(data: bytes) -> Plan:
    """Return the plan in ``data``: JSON, also in a fence as models like to put it. Raises ``PlanError``."""
    if len(data) > MAX_PLAN_BYTES:
        raise PlanError((f"the plan: is over {MAX_PLAN_BYTES} bytes",))
    fenced = _FENCE.match(data)
    text = (fenced[1] if fenced else data).removeprefix(b"\xef\xbb\xbf").strip()
    try:
        value = decode_strictly(text)
    except ShapeError as error:
        raise PlanError((f"the plan: {error}",)) from None
    return checked_plan(value)


def checked_plan(value: object) -> Plan:
    """Return a plan made of plain values. Raises ``PlanError`` with every fault that can be told without the store."""
    try:
        plan = value if isinstance(value, Plan) else Plan.model_validate(value)
    except ValidationError as error:
        faults = error.errors(include_input=False, include_url=False, include_context=True)
        raise PlanError(
            tuple(dict.fromkeys(f"{_place(fault['loc'])}: {_sentence(fault)}" for fault in faults))
        ) from None
    if not (plan.new or plan.merge or plan.archive or plan.lessons or plan.session):
        raise PlanError(("the plan: is empty and names no session",))
    return plan


def _place(loc: tuple[int | str, ...]) -> str:
    """Return ``merge[2].into.title``; a key of somebody's own is named only where it looks like one."""
    place = ""
    for part in loc:
        if isinstance(part, int):
            place += f"[{part}]"
        elif _SHOWN_KEY.match(part):
            place += f".{part}" if place else part
        else:
            place += ".(a key)" if place else "(a key)"
    return place or "the plan"


def _sentence(fault: ErrorDetails) -> str:
    limits = fault.get("ctx") or {}
    sentences = {
        "missing": "is missing",
        "extra_forbidden": "is no key of a plan there; see: asx memory apply --schema",
        "string_type": "must be a text",
        "string_too_short": "is empty",
        "string_too_long": f"is over {limits.get('max_length')} characters",
        "list_type": "must be a list",
        "too_short": "is empty",
        "too_long": f"has over {limits.get('max_length')} entries",
        "bool_type": "must be true or false",
        "literal_error": f"must be {limits.get('expected')}",
        "model_type": "must be an object",
        "value_error": str(limits.get("error")),
    }
    return sentences.get(fault["type"], str(fault["msg"]).lower())
