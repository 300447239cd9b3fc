"""Makes a data home of any size for the benchmarks: ``OUT/sessions/<slug>/<id>.jsonl``, all of it invented.

Standard library only; imports nothing of ours. The same seed, size and ``VERSION`` give a byte-identical tree
whatever ``--jobs`` is: file ``i`` is drawn from ``Random(seed, i)`` alone, and every draw below happens in a fixed
order, which a test guards by a hash. Sizes are log-normal (median about 35 kB, mean about 105 kB, cap 24 MB). About
a tenth of the bytes is prose (English with code blocks, CJK, Cyrillic, emoji); the rest is arguments and results of
tools (log-normal, up to 200 kB). One session in ten is written with ``\\uXXXX`` escapes, as ``json.dumps`` does
unasked.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, NamedTuple

VERSION: Final = 1
CROCKFORD: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
TOOL_CHARS: Final = 24_000_000
COMMON: Final = """
the of to and a in is it you that he was for on are with as I his they be at one have this from or had by hot
but some what there we can out other were all your when up use word how said an each she which do their time if
will way about many then them would write like so these her long make thing see him two has look more day could
go come did my sound no most number who over know water than call first people may down side been now find any
new work part take get place made live where after back little only round man year came show every good me give
our under name very through just form much great think say help low line before turn cause same mean differ move
right boy old too does tell sentence set three want air well also play small end put home read hand port large
spell add even land here must big high such follow act why ask men change went light kind off need house picture
try us again animal point mother world near build self earth father error test function return value file import
class import module config server client request response thread queue index table column query parse token
buffer stream commit branch merge review deploy build docker cache retry timeout exception traceback assert
fixture schema migration
""".split()
SYLLABLES: Final = """
ba be bi bo bu ca ce co cu da de di do du fa fe fi fo ga ge gi go ha he hi ho ja jo ka ke ki ko la le li lo lu
ma me mi mo mu na ne ni no nu pa pe pi po pu qua ra re ri ro ru sa se si so su ta te ti to tu va ve vi vo wa we
wi xa xe ya yo za ze zo tion ing ment ness able ate ize ous ive er ist ance
""".split()
CYRILLIC: Final = """
ба ве га де жи за ко ла ми но по ра си то ук фа хо це чи ша ще эн ют яр ость ение ться ного ать ский при про рас
пере
""".split()
EMOJI: Final = "😀 🚀 🔥 ✅ ❌ 🎉 🐛 ⚠️ 📦 🧪 👀 💡 🛠️ 📝 👩‍💻 🇪🇺".split()
TOOLS: Final = ("bash", "read_file", "edit_file", "grep", "glob", "web_fetch", "write_file", "apply_patch")
EDITING: Final = ("edit_file", "write_file", "apply_patch")
MODELS: Final = ("m-large-1", "m-large-2", "m-small-1")
SUFFIXES: Final = ("py", "ts", "rs", "go", "md", "json", "yaml")
LEVELS: Final = ("INFO", "INFO", "DEBUG", "WARN", "ERROR")
PROJECTS: Final = "atlas borealis cinder delta ember fjord granite harbor iris juniper kestrel lumen".split()
ROOTS: Final = [f"/home/dev/src/{name}" for name in PROJECTS]


class Words(NamedTuple):
    """A vocabulary and its cumulative weights: few words are frequent, most are rare."""

    words: list[str]
    weights: list[float]

    @classmethod
    def weighted(cls, words: list[str], flatness: int) -> Words:
        """Weigh the words by 1 / (rank + ``flatness``)."""
        return cls(words, list(itertools.accumulate(1.0 / (rank + flatness) for rank in range(len(words)))))

    def draw(self, rng: random.Random, count: int) -> list[str]:
        """Return ``count`` words, drawn with their weights."""
        return rng.choices(self.words, cum_weights=self.weights, k=count)


class Pools:
    """The vocabulary of one seed, and 24 MB of text as tools give it, to cut slices from."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(f"pools/{seed}/{VERSION}")
        self.latin = Words.weighted(_latin_words(rng), 3)
        cyrillic = sorted({_join(rng, CYRILLIC, rng.choice((2, 3, 3, 4))) for _ in range(5000)})
        rng.shuffle(cyrillic)
        self.cyrillic = Words.weighted(cyrillic, 3)
        han = [chr(0x4E00 + step) for step in range(0, 6000, 2)]
        rng.shuffle(han)
        self.han = Words.weighted([chr(0x3042 + step) for step in range(80)] + han, 20)
        words = self.latin.words
        self.paths = [
            f"src/{rng.choice(words[300:3000]).lower()}/{rng.choice(words[300:6000]).lower()}.{rng.choice(SUFFIXES)}"
            for _ in range(3000)
        ]
        self.tool_text = self._tool_text(rng)

    def phrase(self, rng: random.Random, count: int) -> str:
        """Return ``count`` words with spaces between."""
        return " ".join(self.latin.draw(rng, count))

    def code_line(self, rng: random.Random) -> str:
        """Return a line that looks like a program's."""
        a, b, c = self.latin.draw(rng, 3)
        return ("    " * rng.randint(0, 3)) + rng.choice(
            (
                f"def {a}_{b}({c}, self):",
                f"{a} = {b}.{c}({rng.randint(0, 999)})",
                f"if {a} is not None and {b} > {rng.randint(0, 99)}:",
                f"return {a}[{b!r}] + {c}",
                f"# {a} {b} {c}",
                f"import {a}.{b} as {c}",
                f'raise ValueError(f"{a} {{{b}}} {c}")',
            )
        )

    def prose(self, rng: random.Random, about_chars: int, language: str) -> str:
        """Return sentences of about ``about_chars`` characters in ``en``, ``ru`` or ``zh``."""
        parts: list[str] = []
        start = 0
        if language == "zh":
            signs = self.han.draw(rng, max(4, about_chars))
            while start < len(signs):
                length = rng.randint(6, 24)
                parts.append("".join(signs[start : start + length]))
                start += length
            text = "，".join(parts) + "。"
            return text + " " + self.phrase(rng, 3) if rng.random() < 0.5 else text
        vocabulary, word_chars = (self.cyrillic, 8) if language == "ru" else (self.latin, 5.6)
        drawn = vocabulary.draw(rng, max(2, int(about_chars / word_chars)))
        while start < len(drawn):
            length = rng.randint(5, 18)
            sentence = " ".join(drawn[start : start + length])
            start += length
            parts.append(sentence[:1].upper() + sentence[1:] + rng.choice((".", ".", ".", "?", "!", ":")))
        return " ".join(parts)

    def _tool_text(self, rng: random.Random) -> str:
        parts: list[str] = []
        chars = 0
        while chars < TOOL_CHARS:
            sort = rng.random()
            if sort < 0.45:
                lines = [f"==> {rng.choice(self.paths)} <=="]
                lines += [f"{number + 1:6d}\t" + self.code_line(rng) for number in range(rng.randint(20, 200))]
            elif sort < 0.65:
                lines = [
                    f"{rng.choice(self.paths)}:{rng.randint(1, 2000)}:{self.code_line(rng)}"
                    for _ in range(rng.randint(10, 120))
                ]
            elif sort < 0.85:
                lines = self._log(rng)
            else:
                lines = [json.dumps(self._entry(rng)) for _ in range(rng.randint(5, 60))]
            part = "\n".join(lines) + "\n"
            parts.append(part)
            chars += len(part)
        return "".join(parts)

    def _log(self, rng: random.Random) -> list[str]:
        moment = 1.7e9 + rng.random() * 5e7
        lines = []
        for _ in range(rng.randint(10, 150)):
            moment += rng.expovariate(2)
            stamp = f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%dT%H:%M:%S.%f}Z"
            level, part = rng.choice(LEVELS), rng.choice(self.latin.words[200:900])
            lines.append(
                f"{stamp} {level} [{part}] {self.phrase(rng, rng.randint(4, 14))} id={rng.getrandbits(64):016x}"
            )
        return lines

    def _entry(self, rng: random.Random) -> dict[str, Any]:
        return {
            "id": rng.getrandbits(53),
            "name": self.phrase(rng, 2),
            "path": rng.choice(self.paths),
            "sha": f"{rng.getrandbits(160):040x}",
            "ok": rng.random() < 0.9,
            "ms": round(rng.random() * 900, 3),
        }


class Written(NamedTuple):
    """What one file came to."""

    size_bytes: int
    lines: int
    prose_bytes: int


class Session:
    """Draws one session; ``lines`` are its records without newlines, ``relative`` its path in the home."""

    def __init__(self, pools: Pools, seed: int, number: int) -> None:
        self._pools = pools
        self._rng = rng = random.Random(f"s/{seed}/{number}/{VERSION}")
        self._moment = 1.70e9 + rng.random() * 6.0e7
        self._id = _ulid(rng, self._moment * 1000).lower()
        self._root = rng.choice(ROOTS)
        self._model = rng.choice(MODELS)
        self.relative = f"sessions/{self._root.strip('/').replace('/', '-')}/{self._id}.jsonl"
        escapes = rng.random() < 0.10
        self._encode = json.JSONEncoder(ensure_ascii=escapes, separators=(",", ":")).encode
        self._language = rng.choices(("en", "zh", "ru"), (88, 7, 5))[0]
        self._size_bytes = 0
        self.lines: list[bytes] = []
        self.prose_bytes = 0

    def write(self, target_bytes: int) -> None:
        """Draw whole turns until the session has ``target_bytes`` or more."""
        root = self._root
        head = {"id": self._id, "v": 1, "created_at": self._now(), "cwd": root, "repo_root": root}
        self._put({"type": "session", **head, "model": self._model})
        turn = 0
        while self._size_bytes < target_bytes:
            self._turn(turn, target_bytes)
            turn += 1
            if turn % 25 == 0:
                summary = {"content": self._text(1500), "replaces_through": 2 * turn}
                self._put({"type": "summary", **summary, "ts": self._now()})
                eviction = {"reason": "tool_result_over_budget", "role": "tool", "index": 4, "chars": 1684}
                self._put({"type": "eviction", **eviction, "ts": self._now()})

    def _turn(self, turn: int, target_bytes: int) -> None:
        rng = self._rng
        self._pass(120.0)
        self._message("user", content=self._text(int(min(20000, rng.lognormvariate(5.6, 1.0)))))
        if turn == 0:
            self._put({"type": "title", "title": self._pools.phrase(rng, 5), "ts": self._now()})
        tokens = 3000 + int(self._size_bytes / 4) % 180000
        for _ in range(min(60, int(rng.lognormvariate(1.6, 0.8)) + 1)):
            calls = [self._call() for _ in range(1 if rng.random() < 0.85 else rng.randint(2, 4))]
            self._pass(9.0)
            tokens += rng.randint(50, 900)
            talks = rng.random() < 0.75
            content = self._text(int(min(6000, rng.lognormvariate(5.3, 0.9)))) if talks else ""
            self._reply(content, calls, tokens, rng.randint(20, 1500))
            for call in calls:
                result = self._slice(int(min(200_000, rng.lognormvariate(6.6, 1.55))) + 1)
                self._pass(3.0)
                self._message("tool", tool_call_id=call["id"], content=result)
            if self._size_bytes > target_bytes:
                break
        self._pass(9.0)
        answer = self._text(int(min(20000, rng.lognormvariate(6.3, 0.9))))
        self._reply(answer, [], tokens, rng.randint(50, 2500))

    def _call(self) -> dict[str, Any]:
        rng, pools = self._rng, self._pools
        name = rng.choice(TOOLS)
        arguments: dict[str, Any]
        if name in EDITING:
            length = int(min(30000, rng.lognormvariate(6.2, 1.1)))
            start = rng.randrange(len(pools.tool_text) - length)
            old = pools.tool_text[start : start + length // 2]
            new = pools.tool_text[start + length // 3 : start + length]
            arguments = {"path": rng.choice(pools.paths), "old": old, "new": new}
        elif name == "bash":
            command = f"rg -n '{pools.phrase(rng, 1)}' {rng.choice(pools.paths)} | head -{rng.randint(5, 200)}"
            arguments = {"command": command, "timeout": 120}
        else:
            arguments = {"path": rng.choice(pools.paths), "query": pools.phrase(rng, 2), "limit": rng.randint(1, 500)}
        function = {"name": name, "arguments": json.dumps(arguments)}
        return {"id": f"call_{rng.getrandbits(96):024x}", "type": "function", "function": function}

    def _reply(self, content: str, calls: list[dict[str, Any]], tokens_in: int, tokens_out: int) -> None:
        usage = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out}
        message = {"type": "message", "role": "assistant", "content": content, "tool_calls": calls}
        self._put({**message, "ts": self._now(), "usage": usage})

    def _message(self, role: str, **fields: Any) -> None:  # noqa: ANN401 - the values of a JSON object
        self._put({"type": "message", "role": role, **fields, "ts": self._now()})

    def _put(self, record: dict[str, Any]) -> None:
        line = self._encode(record).encode()
        self.lines.append(line)
        self._size_bytes += len(line) + 1

    def _text(self, about_chars: int) -> str:
        rng, pools = self._rng, self._pools
        language = self._language if rng.random() < 0.85 else "en"
        text = pools.prose(rng, about_chars, language)
        if rng.random() < 0.12:
            text += " " + rng.choice(EMOJI)
        if about_chars > 250 and rng.random() < 0.35:
            code = "\n".join(pools.code_line(rng) for _ in range(rng.randint(3, 18)))
            text += "\n\n```python\n" + code + "\n```\n" + pools.prose(rng, 80, language)
        self.prose_bytes += len(text.encode())
        return text

    def _slice(self, chars: int) -> str:
        start = self._rng.randrange(len(self._pools.tool_text) - chars)
        return self._pools.tool_text[start : start + chars]

    def _pass(self, mean_s: float) -> None:
        self._moment += self._rng.expovariate(1 / mean_s)

    def _now(self) -> str:
        return datetime.fromtimestamp(self._moment, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def sizes(seed: int, total_bytes: int) -> list[int]:
    """Return the sizes to aim at, in file order, that add up to ``total_bytes`` or a little more."""
    rng = random.Random(f"sizes/{seed}/{VERSION}")
    drawn: list[int] = []
    sum_bytes = 0
    while sum_bytes < total_bytes:
        size = int(min(24e6, max(700, rng.lognormvariate(10.46, 1.45))))
        size = min(size, total_bytes - sum_bytes + 700)
        drawn.append(size)
        sum_bytes += size
    return drawn


class Job(NamedTuple):
    """One file to write."""

    out: Path
    seed: int
    number: int
    target_bytes: int


_pools: dict[int, Pools] = {}


def write_session(job: Job) -> Written:
    """Write one file; the pools of its seed are made once in each process (about 5 s)."""
    if job.seed not in _pools:
        _pools[job.seed] = Pools(job.seed)
    session = Session(_pools[job.seed], job.seed, job.number)
    session.write(job.target_bytes)
    path = job.out / session.relative
    path.parent.mkdir(parents=True, exist_ok=True)
    data = b"\n".join(session.lines) + b"\n"
    path.write_bytes(data)
    return Written(len(data), len(session.lines), session.prose_bytes)


def generate(out: Path, mb: float, seed: int = 1, jobs: int = 2) -> list[Written]:
    """Write a data home of about ``mb`` million bytes below ``out``; one job stays in this process."""
    work = [Job(out, seed, number, size) for number, size in enumerate(sizes(seed, int(mb * 1e6)))]
    if jobs == 1:
        return [write_session(job) for job in work]
    with get_context("spawn").Pool(jobs) as pool:
        return list(pool.imap_unordered(write_session, work, chunksize=8))


def main(arguments: Sequence[str] | None = None) -> None:
    """Write a data home and print what it holds as one line of JSON."""
    parser = argparse.ArgumentParser(description="Make a data home for the benchmarks.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--mb", type=float, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args(arguments)
    started = time.monotonic()
    written = generate(chosen.out, chosen.mb, chosen.seed, chosen.jobs)
    size_bytes = sum(file.size_bytes for file in written)
    prose_bytes = sum(file.prose_bytes for file in written)
    summary = {
        "files": len(written),
        "bytes": size_bytes,
        "lines": sum(file.lines for file in written),
        "prose_bytes": prose_bytes,
        "prose_pct": round(100 * prose_bytes / size_bytes, 2),
        "max_file": max(file.size_bytes for file in written),
        "median_file": sorted(file.size_bytes for file in written)[len(written) // 2],
        "seconds": round(time.monotonic() - started, 1),
    }
    sys.stdout.write(json.dumps(summary) + "\n")


def _latin_words(rng: random.Random) -> list[str]:
    words = list(dict.fromkeys(COMMON))
    seen = set(words)
    while len(words) < 24000:
        word = _join(rng, SYLLABLES, rng.choice((2, 2, 3, 3, 4)))
        sort = rng.random()
        if sort < 0.06:
            word = word + "_" + _join(rng, SYLLABLES, 2)
        elif sort < 0.10:
            word = word.capitalize() + _join(rng, SYLLABLES, 2).capitalize()
        elif sort < 0.14:
            word = word.capitalize()
        if word not in seen:
            seen.add(word)
            words.append(word)
    return words


def _join(rng: random.Random, parts: Sequence[str], count: int) -> str:
    return "".join(rng.choice(parts) for _ in range(count))


def _ulid(rng: random.Random, ms: float) -> str:
    value = (int(ms) << 80) | rng.getrandbits(80)
    return "".join(CROCKFORD[(value >> (5 * digit)) & 31] for digit in range(25, -1, -1))


if __name__ == "__main__":
    main()
