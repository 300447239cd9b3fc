"""Smart case: whether a query asks for its exact letters.

Pure.
"""

from __future__ import annotations

from index.match.normal import nfc


def is_exact(query: str) -> bool:
    """Say whether any character of ``query`` in NFC has the Unicode Uppercase property (Lu or Other_Uppercase).

    Roman numerals such as Ⅷ and circled capitals such as Ⓐ count; title-case letters such as ǅ, digits,
    signs and scripts without case do not. In NFC, because ᾼ is title case and its decomposition begins with
    a capital: so the answer is the same for every normal form of the query.
    """
    # str.isupper of a single character is exactly that property (tested over all code points); of a whole
    # string it also asks that no lower-case letter be there, hence one by one.
    return any(map(str.isupper, nfc(query)))
