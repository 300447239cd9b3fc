"""Where a text seems to hold a secret or something personal: the line and the kind, never the value. Pure.

Patterns are of public formats and of how people write a password down. They miss some and suspect some wrongly: what is
found is for a person to look at. Time grows with the text's length: every repetition is bounded, and a long one begins
only where no other of its kind could have begun before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

_SECRETS: Final = (
    ("a private key", re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY-----")),
    ("an access key", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    (
        "a token",
        re.compile(
            r"\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_\w{20,255}|glpat-[\w-]{16,255}|npm_[A-Za-z0-9]{30,64}"
            r"|xox[abeprs]-[\w-]{10,255}|sk-[\w-]{20,255}|AIza[\w-]{35}"
            r"|(?<!-)eyJ[\w-]{8,4000}+\.eyJ[\w-]{8,4000}+\.[\w-]{8,4000})"
        ),
    ),
    ("a password in an address", re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,100}:[^\s/@$<{]{3,200}@")),
)
_NAMED = re.compile(
    r"(?i)(?:password|passwd|passphrase|passcode|passwort|pwd|secret|token|api[_ -]?key|access[_ -]?key)"
    r"[\"'`]?\s{0,4}(?:[:=]|\bis\b)\s{0,4}[\"'`]?([^\s\"'`,;]{6,200})"
)
_PLACEHOLDER = re.compile(r"[<$%{\[*]|\.{3}|(?i:x{4}|example|changeme|environ|getenv|process\.env)")
_RANDOM = re.compile(r"(?<![\w+-])[A-Za-z0-9+_-]{32,512}={0,2}(?![\w+-])")
_MANY_KINDS: Final = (re.compile(r"[a-z]"), re.compile(r"[A-Z]"), re.compile(r"[0-9]"))
_MIN_DIFFERENT: Final = 18
_MAIL = re.compile(r"(?<![\w.+-])[.+-]*+\w[\w.+-]{0,63}+@(?:[\w-]{1,63}\.){1,5}[A-Za-z]{2,24}\b")
_NO_PERSON = re.compile(r"(?i)\A(?:no-?reply|git|root|admin|info|support)@|[@.](?:example|test|invalid|localhost)\b")
_PHONE = re.compile(r"(?<![\w+])\+[1-9][0-9 ()/.-]{7,18}[0-9](?!\w)")
_IBAN = re.compile(r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b")
_CARD = re.compile(r"(?<![\w.-])[3-6](?:[ -]?[0-9]){12,18}(?![\w.-])")


class Private(NamedTuple):
    """A suspicion: the 1-based line within the text, which sort it is, and what it looks like."""

    line: int
    sort: Literal["secret", "personal"]
    looks_like: str


def private_values(text: str) -> list[Private]:
    """Return what a text seems to hold, by line, each once."""
    secrets = {Private(line, "secret", what) for line, what in _by_line(text, _secrets(text))}
    personal = {Private(line, "personal", what) for line, what in _by_line(text, _personal(text))}
    return sorted(secrets | personal)


def _by_line(text: str, found: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield what was found at places in a text with its line instead; each line end is counted once."""
    line, counted = 1, 0
    for at, what in sorted(found):
        line, counted = line + text.count("\n", counted, at), at
        yield line, what


def _secrets(text: str) -> Iterator[tuple[int, str]]:
    for what, pattern in _SECRETS:
        yield from ((match.start(), what) for match in pattern.finditer(text))
    for match in _NAMED.finditer(text):
        value = match[1]
        if re.search(r"[0-9]", value) and not _PLACEHOLDER.search(value):
            yield match.start(), "a password"
    for match in _RANDOM.finditer(text):
        if all(kind.search(match[0]) for kind in _MANY_KINDS) and len(set(match[0])) >= _MIN_DIFFERENT:
            yield match.start(), "a random key"


def _personal(text: str) -> Iterator[tuple[int, str]]:
    for match in _MAIL.finditer(text):
        if not _NO_PERSON.search(match[0]):
            yield match.start(), "a mail address"
    yield from ((match.start(), "a telephone number") for match in _PHONE.finditer(text))
    yield from ((match.start(), "an account number") for match in _IBAN.finditer(text) if _is_iban(match[0]))
    yield from ((match.start(), "a card number") for match in _CARD.finditer(text) if _is_card(match[0]))


def _is_iban(text: str) -> bool:
    """Check the number modulo 97 (ISO 13616)."""
    plain = text.replace(" ", "")
    digits = "".join(str(int(character, 36)) for character in plain[4:] + plain[:4])
    return int(digits) % 97 == 1


def _is_card(text: str) -> bool:
    """Check the sum of Luhn (ISO/IEC 7812-1)."""
    digits = [int(character) for character in reversed(text) if character.isdigit()]
    return sum(digit if place % 2 == 0 else sum(divmod(2 * digit, 10)) for place, digit in enumerate(digits)) % 10 == 0
