"""What looks secret or personal is found by its line; what only looks a little like it is not."""

from __future__ import annotations

import time

import pytest

from persist.memory.private_values import private_values

KEY = "A" + "KIA" + "IOSFODNN7EXAMPLE"


@pytest.mark.parametrize(
    ("text", "sort", "looks_like"),
    [
        (f"the key is {KEY}", "secret", "an access key"),
        ("gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4", "secret", "a token"),
        ("sk-" + "proj-1234567890abcdefghij", "secret", "a token"),
        ("-----BEGIN OPENSSH " + "PRIVATE KEY-----", "secret", "a private key"),
        ("postgres://app:hunter22@db.internal/app", "secret", "a password in an address"),
        ("password: hunter22", "secret", "a password"),
        ('API_KEY = "abc123def"', "secret", "a password"),
        ("The staging password is Tr0ub4dor", "secret", "a password"),
        ("qL8Zt1Vx0Rb7Nw3Kj5Hd9Gf2Sa4Pc6Ym", "secret", "a random key"),
        ("write to mira.holm@tidewatch.io", "personal", "a mail address"),
        ("-" * 80 + "mira.holm@tidewatch.io", "personal", "a mail address"),
        ("Bearer eyJ" + "hbGciOiJIUzI1-iJ9.eyJ" + "zdWIiOiIxMjM0.SflKxwRJ-SMeKKF2", "secret", "a token"),
        ("call +49 30 1234567", "personal", "a telephone number"),
        ("DE89 3704 0044 0532 0130 00", "personal", "an account number"),
        ("4111 1111 1111 1111", "personal", "a card number"),
    ],
)
def test_is_found_on_its_line(text: str, sort: str, looks_like: str) -> None:
    assert (2, sort, looks_like) in private_values(f"first line\n{text}\nlast line")


@pytest.mark.parametrize(
    "text",
    [
        "Deploys leave from the main branch only",
        "password: see the vault",
        "the token is read from $GITHUB_TOKEN2",
        "api_key = os.environ['KEY_1']",
        "secret: <your-secret-1>",
        "git clone git@github.com:mira/tidewatch.git",
        "postgres://localhost:5432/app",
        "postgres://app:$PASSWORD@db/app",
        "see ledger/webhooks/handlers/stripe/RefundCompletedHandlerV2.py",
        "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        "session 01m3y9fha0vhf161j4dztyjypy, run 2026-10-07T09:12:11.402118377",
        "noreply@tidewatch.io and mira@mail.example",
        "port 5544, version 3.11.7, 20260930123456",
        "test_the_quick_brown_fox_jumps_over_the_lazy_dog",
        "1234 5678 9012 3456",
    ],
)
def test_is_not_suspected(text: str) -> None:
    assert private_values(text) == []


def test_a_long_text_of_one_letter_takes_no_time() -> None:
    texts = [
        "a" * 200_000,
        "a." * 100_000,
        "1 " * 100_000,
        "eyJ" * 60_000,
        "token " * 30_000,
        "a://a:" * 30_000,
        "a@" * 90_000,
        "eyJ-" * 50_000,
        "mira@tidewatch.io\n" * 50_000,
        "a.b-" * 50_000,
    ]
    begin = time.process_time()
    for text in texts:
        private_values(text)
    assert time.process_time() - begin < 3
