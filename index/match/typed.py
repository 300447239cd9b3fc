"""What a person typed as a query, before it is read in any mode.

Pure; of ours it imports ``index.errors`` only.
"""

from __future__ import annotations

import re
from typing import Final

from index.errors import EmptyQueryError

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """Return a query with lone surrogates (an argument that was not UTF-8) as U+FFFD, as stored texts have them.

    Raises ``EmptyQueryError`` for a query that is empty or only blanks.
    """
    if not text.strip():
        raise EmptyQueryError
    return _SURROGATE.sub("\ufffd", text)
