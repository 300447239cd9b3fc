"""The form of a text: what is compared when a query is looked for (DESIGN 9).

Pure. NFC, then case folding of each character when the query ignores case; nothing more when it is exact.
No rule looks at a neighbour: that keeps every hit inside what the search key finds (``index.match.key``).
"""

from __future__ import annotations

from index.match.normal import nfc


def form(text: str, exact: bool) -> str:
    """Return the form of ``text`` for an exact query or for one that ignores case."""
    if text.isascii():
        return text if exact else text.lower()
    normal = nfc(text)
    return normal if exact else fold(normal)


def fold(normal: str) -> str:
    """Fold the case of each character of an NFC text: ẞ and ß give ss, ﬁ gives fi, ς gives σ, İ gives i.

    The result is never shorter than ``normal``, and of equal length only if each character gave one.
    """
    # Unicode's full folding makes İ an i and a combining dot, and then `istanbul` would not find `İstanbul`.
    return normal.replace("İ", "i").casefold()
