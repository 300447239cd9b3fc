"""Which file name a block's title gives, and when two titles are one; pure.

Rules: the slug of ``spec/aster.md`` 2.4; DESIGN 10 and ``spec/aster.md`` 4.7 for titles that share one. Imports
``persist.ids`` alone.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from persist.ids import slug

MAX_STEM_BYTES: Final = 200
"""Of a file name's 255 bytes the rest is for ``@<ULID>``, a number of its own and ``.md``."""
WITHOUT_SLUG: Final = "note"
"""Stands for the slug of a title that has none, always with a number: Aster writes ``note.md`` for all of them."""
PROJECT_STEM: Final = "aster"
"""Never given to a new block: where case does not count, ``aster.md`` is the project file."""
_ULID: Final = "[0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{26}"
VERSION_STEM = re.compile(rf"(?P<slug>[a-z0-9-]+)@(?P<ulid>{_ULID})\Z")
"""Stem of an older version of a block in ``.archive/`` (DESIGN 10); a slug never holds ``@``."""
_PROJECT_FILE: Final = "ASTER.md"
_BEFORE_LINE: Final = f"{_PROJECT_FILE}:"
_HASH_BYTES: Final = 6
_MAX_LINE_DIGITS: Final = 9


def is_note_file(name: str) -> bool:
    """Tell whether a file of a memory folder is the project file or a block, by its name; whoever reads asks here.

    Hidden files are none (editors and systems put them beside what is edited), and nothing that is called like the
    project file or like a fact of it: ``ASTER.md:3.md`` would be the block ``ASTER.md:3``.
    """
    return name.endswith(".md") and not name.startswith(".") and not is_misnamed(name)


def is_misnamed(name: str) -> bool:
    """Tell whether a file is no block for its name alone: it would be called like the project file or a fact of it."""
    return name.endswith(".md") and is_of_project(name.removesuffix(".md"))


def is_of_project(name: str) -> bool:
    """Tell whether a name is that of the project file or like one of its facts; no block has such a name."""
    return name == _PROJECT_FILE or is_like_fact(name)


def is_like_fact(name: str) -> bool:
    """Tell whether a name is like that of a fact, ``ASTER.md:LINE``; nothing else answers to it, no title either."""
    return name.startswith(_BEFORE_LINE)


def fact_line(name: str) -> int | None:
    """Return the line (from 1) of the fact of ASTER.md that is called so, ``None`` for any other name."""
    line = name.removeprefix(_BEFORE_LINE) if is_like_fact(name) else ""
    return int(line) if line.isdecimal() and line.isascii() and len(line) <= _MAX_LINE_DIGITS else None


def same_title(one: str, other: str) -> bool:
    """Tell whether two typed titles are one: equal but for case, normal form and runs of white space."""
    return folded_title(one) == folded_title(other)


def block_slug(title: str) -> str:
    """Return the slug that a title asks for, cut to ``MAX_STEM_BYTES``; empty when it has no letter or digit.

    One that is cut ends in a hash of the whole, so that two long titles do not meet.
    """
    return _cut(slug(title), slug(title))


def free_stems(title: str) -> Iterator[str]:
    """Yield the stems that a new block of this title may have, the best first: ``slug``, ``slug-2``, ``slug-3`` …

    A title without a slug, and the slug of the project file, begin with a number.
    """
    base = block_slug(title)
    if base and base != PROJECT_STEM:
        yield base
    number = 2
    while True:
        yield f"{base or WITHOUT_SLUG}-{number}"
        number += 1


def is_of_slug(stem: str, base: str) -> bool:
    """Tell whether a stem is one that :func:`free_stems` gives for the slug ``base``."""
    if stem == base:
        return True
    rest = stem.removeprefix(f"{base}-")
    return rest != stem and rest.isascii() and rest.isdecimal()


def version_slug(stem: str) -> str:
    """Return the name under which the versions of the block in ``<stem>.md`` are kept: the stem where it is a slug.

    Other stems (``My note``, very long ones) give their slug and a hash of the stem: two never share their versions.
    """
    plain = slug(stem)
    if plain == stem and len(stem) <= MAX_STEM_BYTES:
        return stem
    if plain == stem:
        return _cut(stem, stem)
    return f"{plain[: MAX_STEM_BYTES - 2 * _HASH_BYTES - 1].rstrip('-') or WITHOUT_SLUG}-{_hash(stem)}"


def archived_stem(stem: str) -> str:
    """Return the stem of a block once it is archived: its own, unless that would pass for an older version."""
    return version_slug(stem) if VERSION_STEM.match(stem) else stem


def _cut(text: str, whole: str) -> str:
    if len(text) <= MAX_STEM_BYTES:
        return text
    return f"{text[: MAX_STEM_BYTES - 2 * _HASH_BYTES - 1].rstrip('-')}-{_hash(whole)}"


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=_HASH_BYTES).hexdigest()


def folded_title(title: str) -> str:
    """Return what all spellings of one title share."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", " ".join(title.split())).casefold())
