"""What makes two events the same one told twice: the identity of an event, and the hashes it is made of (DESIGN 6).

Pure; the standard library and ``persist.events`` only. Which of several equal ones is canonical is settled in
``index.settle``.
"""

from __future__ import annotations

import hashlib

from persist.events import Event


def identity_of(event: Event, agent: str, session_key: str, projected: tuple[int, int, int]) -> int:
    """Return the 64-bit identity of an event: equal identity means copies (DESIGN 6).

    It covers the agent, the record's own id and part, and what was projected: the length and hash of its text and the
    hash of its arguments, where a tool's text counts by its head. A record without an id counts by its time, and one
    without a time only within its session: equal texts of two sessions are not copies. One with an anchor counts by
    that: neither its time nor the model and tool that earlier records named is the same in every copy.
    """
    text_len, text_hash, arguments_hash = projected
    if event.record_id is None and event.anchor is not None:
        return hash_of(
            f"{agent}\x1ea{event.anchor}\x1e{event.part}\x1e{event.event_type}\x1e{event.outcome}\x1e"
            f"{event.tool_call_id}\x1e{event.message_id}\x1e{text_len}\x1e{text_hash}\x1e{arguments_hash}"
        )
    if event.record_id is not None:
        anchor = "r" + event.record_id
    elif event.ts is not None:
        anchor = "t"
    else:
        anchor = "s" + session_key
        if event.measures is not None:  # without a word or a time, what was measured is all that tells two apart
            anchor += f"\x1e{tuple(event.measures)}"
    return hash_of(
        f"{agent}\x1e{anchor}\x1e{event.part}\x1e{event.ts}\x1e{event.event_type}\x1e{event.outcome}\x1e"
        f"{event.tool_call_id}\x1e{event.tool_name}\x1e{event.model_name}\x1e{event.message_id}\x1e"
        f"{text_len}\x1e{text_hash}\x1e{arguments_hash}"
    )


def hash_of(text: str) -> int:
    """Return a 64-bit hash, the same on every machine; where it finds equal texts, the texts themselves decide."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
