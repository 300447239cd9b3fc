"""Speed of the exact-search centre: key, form and spans over kinds of text, in MB of UTF-8 per second of CPU.

Run: ``python -m bench.match``. Best of several rounds; texts are about 1 MB, made by repeating a sentence, and,
for ``key in messages``, the same cut into messages of 1,000 characters, as ingest meets them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from unicodedata import normalize

from index.match import Verifier, form, read_query, search_key

ROUNDS = 5
TEXT_BYTES = 1_000_000
MESSAGE_CHARACTERS = 1_000

_ENGLISH = "The importer fails on station 0417, why? def load(x): return x + 1\n"
SENTENCES = {
    "ASCII": _ENGLISH,
    "ASCII with dashes": "The importer — fails on “station” 0417, why? def load(x): return x + 1\n",
    "French": "Le système a été déployé à l'été où nous étions prêts, ça va très bien, garçon ? ",
    "French, decomposed": normalize("NFD", "Le système a été déployé à l'été où nous étions prêts, ça va. "),
    "German": "Die Straße führt über den Fluß, und die Ärzte fahren über Köln nach Münster. ",
    "Cyrillic": "Импортёр не работает на станции, почему? Это мой вопрос. ",
    "Greek": "Ο εισαγωγέας αποτυγχάνει στον σταθμό, γιατί; ΟΔΟΣ. ",
    "Chinese, Japanese": "数据库被锁定了，请稍后再试。検索インデックスを再構築する。",
    "Hangul": "데이터베이스 잠금 오류, 검색 색인 재구축. ",
    "Hindi": "नमस्ते दुनिया को मेरा प्रणाम। ",
    "Thai": "ภาษาไทย ที่นี่ ",
}


def text_of(sentence: str) -> str:
    """Return about ``TEXT_BYTES`` of the sentence, over and over."""
    return sentence * (TEXT_BYTES // len(sentence.encode()) + 1)


def megabytes_per_s(work: Callable[[], object], size_bytes: int) -> float:
    """Return the best of ``ROUNDS`` runs."""
    best_s = float("inf")
    for _ in range(ROUNDS):
        began = time.process_time()
        work()
        best_s = min(best_s, time.process_time() - began)
    return size_bytes / 1e6 / best_s


def row(name: str, text: str) -> list[str]:
    """Measure one text and return the cells of its row."""
    size_bytes = len(text.encode())
    cuts = range(0, len(text), MESSAGE_CHARACTERS)
    parts = [text[cut : cut + MESSAGE_CHARACTERS] for cut in cuts]
    missing = read_query("no such words").verifier()
    last = Verifier(form(text[-1 - len(text) // 10_000 :] + "\0", False), False)
    speeds = (
        megabytes_per_s(lambda: search_key(text), size_bytes),
        megabytes_per_s(lambda: [search_key(part) for part in parts], size_bytes),
        megabytes_per_s(lambda: form(text, False), size_bytes),
        megabytes_per_s(lambda: missing.spans(text), size_bytes),
        megabytes_per_s(lambda: last.spans(text + "\0"), size_bytes),
    )
    return [name, *(f"{speed:,.0f}" for speed in speeds)]


def main() -> None:
    """Measure and print one table."""
    texts = {name: text_of(sentence) for name, sentence in SENTENCES.items()}
    texts["ASCII with one emoji"] = texts["ASCII"] + "🚀"
    header = ["text", "key", "key in messages", "form", "spans, no hit", "spans, one hit"]
    print("".join(f"{cell:>22}" for cell in header))
    for name, text in texts.items():
        print("".join(f"{cell:>22}" for cell in row(name, text)))


if __name__ == "__main__":
    main()
