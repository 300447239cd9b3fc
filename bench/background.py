"""Makes ``persist/recall/background_words.txt``: in how many paragraphs of technical English each word stands.

The paragraphs are the docstrings and comments of the standard library that runs this, which everybody has: counts only,
and any Python gives nearly the same. ``python -m bench.background`` writes the file anew.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import sysconfig
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from persist.recall.background import PATH, PSEUDO_DOCUMENTS
from persist.recall.words import words_of

LEAST: Final = 3
"""Words of fewer paragraphs are left out: they weigh what a word does that was never seen."""
_LEFT_OUT: Final = frozenset({"site-packages", "test", "tests", "idle_test", "lib2to3", "encodings", "__pycache__"})
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_MIN_WORDS: Final = 4


def main() -> None:
    """Count, and write the file."""
    paragraphs = 0
    counts: Counter[str] = Counter()
    for text in _texts(Path(sysconfig.get_path("stdlib"))):
        for paragraph in _BLANK_LINE.split(text):
            words = set(words_of(paragraph))
            if len(words) >= _MIN_WORDS:
                paragraphs += 1
                counts.update(words)
    data = render(counts, paragraphs)
    PATH.write_text(data, encoding="ascii")
    sys.stdout.write(f"{paragraphs} paragraphs, {len(counts)} words, {len(data)} bytes; prior {PSEUDO_DOCUMENTS}\n")


def render(counts: Counter[str], paragraphs: int) -> str:
    """Return the file: the number of paragraphs, then a line for each count, from the highest, with its words."""
    by_count: dict[int, list[str]] = {}
    for word, count in counts.items():
        if count >= LEAST and word.isascii() and not word.isdecimal():
            by_count.setdefault(count, []).append(word)
    lines = [f"{count} {' '.join(sorted(by_count[count]))}" for count in sorted(by_count, reverse=True)]
    return "\n".join([str(paragraphs), *lines, ""])


def _texts(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*.py")):
        if _LEFT_OUT.isdisjoint(path.relative_to(folder).parts):
            source = path.read_text(encoding="utf-8", errors="replace")
            try:
                yield from _docstrings(ast.parse(source))
                yield from _comments(source)
            except (SyntaxError, tokenize.TokenError):
                continue


def _docstrings(tree: ast.Module) -> Iterable[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""
        elif isinstance(node, ast.Dict):  # the language's own manual lies in dictionaries
            yield from (
                value.value
                for value in node.values
                if isinstance(value, ast.Constant) and isinstance(value.value, str) and len(value.value) > 500
            )


def _comments(source: str) -> Iterator[str]:
    """Yield runs of comment lines, each as one text."""
    run: list[str] = []
    before = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            if run and token.start[0] != before + 1:
                yield "\n".join(run)
                run = []
            run.append(token.string.lstrip("# "))
            before = token.start[0]
    if run:
        yield "\n".join(run)


if __name__ == "__main__":
    main()
