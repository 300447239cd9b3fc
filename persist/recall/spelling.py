"""One spelling for English words that have two: ``colour`` and ``color``, ``normalise`` and ``normalize``.

Pure; imports the standard library only. Works on words in small letters, before stems are made, and only on endings
that are sure: a word that it does not know stays as it is.
"""

from __future__ import annotations

import re
from typing import Final

_OUR = re.compile(
    r"\A((?:dis|mis|re)?(?:arm|behavi|cand|col|demean|endeav|fav|flav|glam|harb|hon|hum|lab|neighb|od|parl|rum|sav|splend"
    r"|trem|val|vap|vig))our(?=s|ed|ing|al|able|ite|less|ful|hood|\Z)"
)
_ISE = re.compile(r"\A(\w{3,}[bcdeghklmnprtvyz]|\w{3,}al)is(?=e\Z|es\Z|ed\Z|er\Z|ers\Z|ing\Z|ation\Z|ations\Z|able\Z)")
_STAYS: Final = re.compile(
    r"(?:adv|advert|ba|circumc|compr|comprom|conc|dem|desp|dev|disgu|enterpr|exerc|expert|franch|improv|merchand|parad|pra|prec"
    r"|prem|prom|ra|rev|superv|sunr|surpr|telev|treat|no|po|cru|bru|prom)is"
)
_PAIRS: Final = {
    "analyse": "analyze", "analysed": "analyzed", "analyses": "analyzes", "analysing": "analyzing", "centre": "center",
    "centred": "centered", "centres": "centers", "catalogue": "catalog", "catalogues": "catalogs", "dialogue": "dialog",
    "dialogues": "dialogs", "grey": "gray", "greyed": "grayed", "licence": "license", "licences": "licenses",
    "defence": "defense", "cancelled": "canceled", "cancelling": "canceling", "labelled": "labeled",
    "labelling": "labeling", "modelled": "modeled", "modelling": "modeling", "travelled": "traveled",
    "initialiser": "initializer", "programme": "program", "cheque": "check", "artefact": "artifact",
    "artefacts": "artifacts",
}  # fmt: skip


def one_spelling(word: str) -> str:
    """Return the American spelling of a British one, every other word as it is; never raises."""
    if word in _PAIRS:
        return _PAIRS[word]
    if "our" in word:
        return _OUR.sub(r"\1or", word)
    if "is" in word and not _STAYS.match(word):
        return _ISE.sub(r"\1iz", word)
    return word
