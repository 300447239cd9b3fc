"""What an import makes of foreign words, results and arguments, so that Aster finds them as it writes its own.

Pure. Records are ``persist.aster.key_order``'s; times lose a fraction of zeros, as Aster writes them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Final

import orjson

from persist.agents.aster.shapes import ERROR_PREFIX, Call
from persist.aster import key_order
from persist.lines import encode
from persist.sources import Record

RESULT_BYTES: Final = 24_000
"""What Aster keeps of a tool's result (``spec/aster.md`` 1.5)."""
_NO_NAME: Final = "unknown"


def message_record(
    role: str,
    ts: str,
    *,
    content: str | None = None,
    calls: Sequence[Call] = (),
    tool_call_id: str | None = None,
    reasoning: str | None = None,
) -> dict[str, Record]:
    """Return a message. The tokens of a thought are estimated as Aster does: four characters are one."""
    return key_order.message_record(
        role,
        wire_time(ts),
        content=content,
        tool_calls=[
            key_order.call_record(call.id, call.name or _NO_NAME, _arguments(call.arguments)) for call in calls
        ],
        tool_call_id=tool_call_id,
        reasoning={"text": reasoning, "tokens": math.ceil(len(reasoning) / 4)} if reasoning else None,
    )


def result_text(text: str | None, *, failed: bool) -> str:
    """Return a tool's result as Aster records it: failures begin ``error: ``, and 24,000 bytes are kept."""
    whole = text or ""
    if failed and not whole.startswith(ERROR_PREFIX):
        whole = f"{ERROR_PREFIX}{whole}"
    if len(whole) * 4 <= RESULT_BYTES:
        return whole
    data = encode(whole)
    if len(data) <= RESULT_BYTES:
        return whole
    return f"{data[:RESULT_BYTES].decode('utf-8', 'ignore')}\n[cut: {RESULT_BYTES} of {len(data)} bytes]"


def wire_time(ts: str) -> str:
    """Return a time of the index's form as Aster writes it."""
    return f"{ts[:-5]}Z" if ts.endswith(".000Z") else ts


def is_visible(record: dict[str, Record]) -> bool:
    """Whether a rebuilt chat shows a message: a person's or the agent's words that are not blank."""
    content = record.get("content")
    return record.get("role") in ("user", "assistant") and isinstance(content, str) and bool(content.strip())


def _arguments(text: str | None) -> str:
    """Return arguments as the text of a JSON object; free text (a patch, a script) becomes its ``input``."""
    if text is None:
        return "{}"
    try:
        is_object = isinstance(orjson.loads(encode(text)), dict)
    except orjson.JSONDecodeError:
        is_object = False
    return text if is_object else json.dumps({"input": text}, ensure_ascii=False, separators=(",", ":"))
