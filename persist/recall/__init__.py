"""What is worth saying for a prompt, or nothing: words, weights, the gate, the order, the frame.

Pure but for ``from_files.py`` and ``scope.place_of``. Imports the standard library and what of ``persist`` reads
memory; no SQL, no terminal, nothing heavy: a prompt hook starts with this package.
"""

from __future__ import annotations

from typing import Final

WORDS_VERSION: Final = 2
"""Raised whenever the same text gives other words: what an index holds of them is then made anew."""
