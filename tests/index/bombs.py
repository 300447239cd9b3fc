"""Statements that would fill the memory or never end, each met in other programs or tried here.

Run as a program it runs one of them as ``asx query`` does, and prints how it ended; with ``command`` as its first
argument it runs the command itself, and only adds a line about its peak memory to stderr.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Final

from index.errors import AsterIndexError
from index.query.run import run_query
from tests.peak import peak_bytes

_COUNTING: Final = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
_LONG: Final = (
    "(WITH RECURSIVE r(s) AS (SELECT 'xxxxxxxxxxxxxxxx' UNION ALL SELECT s || s FROM r WHERE length(s) < 4000000) "
    "SELECT s FROM r ORDER BY length(s) DESC LIMIT 1)"
)
_TYPES: Final = ", ".join(f"event_types e{at}" for at in range(8))
_ARRAYS: Final = ", ".join(f"json_each('[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]') j{at}" for at in range(8))

BOMBS: Final = {
    "endless recursion": _COUNTING + "SELECT count(*) FROM r",
    "endless recursion in a subquery": f"SELECT * FROM ({_COUNTING} SELECT n FROM r WHERE n < 0)",
    "endless recursion, sorted": _COUNTING + "SELECT n FROM r ORDER BY n DESC",
    "cross join without rows": f"SELECT 1 FROM {_TYPES} WHERE e0.code + e7.code < 0",
    "cross join, sorted": f"SELECT e0.name FROM {_TYPES} ORDER BY e0.name || e7.name",
    "cross join, distinct": f"SELECT count(DISTINCT e0.name || e1.name || e2.name || e3.name || e4.name) FROM {_TYPES}",
    "cross join, concatenated": f"SELECT group_concat(e0.name || e7.name) FROM {_TYPES}",
    "json arrays multiplied": f"SELECT count(*) FROM {_ARRAYS}",
    "json array without end": f"SELECT json_group_array(n) FROM ({_COUNTING} SELECT n FROM r)",
    "a text doubled": "WITH RECURSIVE r(s) AS (SELECT 'xxxx' UNION ALL SELECT s || s FROM r) SELECT max(s) FROM r",
    "long rows without end": "WITH RECURSIVE r(s) AS (SELECT 'xxxx' UNION ALL SELECT substr(s || s, 1, 2000000) "
    "FROM r) SELECT s, s, s, s FROM r",
    "long blobs without end": "WITH RECURSIVE r(s) AS (SELECT 'xxxx' UNION ALL SELECT substr(s || s, 1, 2000000) "
    "FROM r) SELECT CAST(s AS BLOB), CAST(s AS BLOB) FROM r",
    "long texts kept for a sort": "WITH RECURSIVE r(s, n) AS (SELECT 'xxxx', 0 UNION ALL SELECT "
    "substr(s || s, 1, 2000000), n + 1 FROM r) SELECT s FROM r ORDER BY n DESC",
    "one row of many long blobs": f"SELECT {', '.join(['b'] * 199)} FROM (SELECT CAST(s AS BLOB) AS b FROM {_LONG})",
    "one row of some long blobs": f"SELECT {', '.join(['b'] * 20)} FROM (SELECT CAST(s AS BLOB) AS b FROM {_LONG})",
    "one long instr": f"SELECT instr(s, substr(s, 1, 2000000) || 'y') FROM {_LONG}",
    "one long replace": f"SELECT length(replace(s, substr(s, 1, 2000000) || 'y', '')) FROM {_LONG}",
    "a growing replace": f"SELECT length(replace(s, 'x', 'xyxyxyxy')) FROM {_LONG}",
    "one long trim": f"SELECT length(trim(s, substr(s, 1, 2000000) || 'y')) FROM {_LONG}",
    "one long LIKE": f"SELECT s LIKE '{'%x_' * 160}y' FROM {_LONG}",
    "one very long LIKE pattern": f"SELECT s LIKE '%' || substr(s, 1, 40000) || 'y' FROM {_LONG}",
    "hex of a long text": f"SELECT hex(s) FROM {_LONG}",
    "a window over everything": "SELECT sum(n) OVER (ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED "
    f"FOLLOWING) FROM ({_COUNTING} SELECT n FROM r)",
    "a union of 400": " UNION ".join(["SELECT 1"] * 400),
    "900 brackets": "SELECT " + "(" * 900 + "1" + ")" * 900,
    "a long full-text question": f"SELECT count(*) FROM prompt_keys WHERE key MATCH '{' OR '.join(['abc'] * 3000)}'",
    "a recursion that doubles": "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + k.value FROM r, "
    "json_each('[1, 2]') k) SELECT max(n) FROM r",
    "a recursion without equals": "WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n + 1 FROM r) SELECT max(n) FROM r",
    "a recursion by size": "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + k.value FROM r, "
    "json_each('[1, 2]') k ORDER BY 1 DESC) SELECT n FROM r WHERE n < 0",
    "a lookup per row": f"{_COUNTING} SELECT max((SELECT count(*) FROM {_TYPES} WHERE e0.code < n)) FROM r",
    "a set without end": f"SELECT count(*) FROM ({_COUNTING} SELECT n || 'xxxxxxxxxxxxxxxx' FROM r EXCEPT SELECT 'a')",
    "a table kept aside": f"{_COUNTING}, k AS MATERIALIZED (SELECT n, n || 'xxxxxxxx' AS s FROM r) "
    "SELECT 1 FROM k, k AS l",
    "a window of texts": f"SELECT group_concat(n) OVER (ORDER BY n) FROM ({_COUNTING} SELECT n FROM r)",
    "sorted at random": f"{_COUNTING} SELECT n FROM r ORDER BY random() LIMIT 1",
    "one long GLOB": f"SELECT s GLOB '{'*x?' * 160}y' FROM {_LONG}",
    "GLOB with a set": f"SELECT s GLOB '{'*[xyz]' * 80}a' FROM {_LONG}",
    "LIKE on every pair": f"{_COUNTING} SELECT count(*) FROM r WHERE {_LONG} LIKE '%y' || n || '%'",
    "concatenated with itself": f"SELECT group_concat(s || s) FROM {_LONG}, {_TYPES}",
    "json in json": "WITH RECURSIVE r(j) AS (SELECT '[1]' UNION ALL SELECT json_array(json(j), json(j)) FROM r) "
    "SELECT max(length(j)) FROM r",
    "json nested deep": f"SELECT json(replace(s, 'x', '[')) FROM {_LONG}",
    "json walked again and again": "SELECT count(*) FROM (SELECT '[' || replace(s, 'x', '1,') || '1]' AS j FROM "
    f"{_LONG.replace('4000000', '2000000')}) a, json_tree(a.j) b, json_tree(a.j) c",
    "json object without end": f"SELECT json_group_object(n, 'xxxxxxxxxxxxxxxx') FROM ({_COUNTING} SELECT n FROM r)",
    "json set again and again": "WITH RECURSIVE r(j, n) AS (SELECT '[]', 0 UNION ALL SELECT "
    "json_insert(j, '$[#]', 'xxxxxxxxxxxxxxxx'), n + 1 FROM r) SELECT max(length(j)) FROM r",
    "quoted again and again": "WITH RECURSIVE r(s) AS (SELECT '''' UNION ALL SELECT quote(s) FROM r) "
    "SELECT max(s) FROM r",
    "a date of a long form": f"SELECT length(strftime(replace(s, 'x', '%Y%j'), 'now')) FROM {_LONG}",
    "wide rows of control characters": "WITH RECURSIVE r(s) AS (SELECT char(1) UNION ALL SELECT "
    f"substr(s || s, 1, 1000) FROM r) SELECT {', '.join(['s'] * 199)} FROM r",
    "wide rows of wide characters": "WITH RECURSIVE r(s) AS (SELECT '\U0001f600' UNION ALL SELECT "
    f"substr(s || s, 1, 1000) FROM r) SELECT {', '.join(['s'] * 199)} FROM r",
    "printf with a width": "SELECT printf('%.*c', 2147483647, 'x')",
    "zeros": "SELECT hex(zeroblob(400000000))",
    "random bytes": "SELECT length(randomblob(900000000))",
}


def main(index: Path, name: str, timeout_s: float) -> None:
    """Run one statement and print a JSON object: how it ended, the seconds it took, the peak memory in MB."""
    began = time.monotonic()

    def tell(how: str) -> None:
        peak_mb = peak_bytes() // 1024**2
        print(json.dumps({"how": how, "took_s": time.monotonic() - began, "peak_mb": peak_mb}), flush=True)

    def end() -> None:
        tell("ended by the watchdog")
        os._exit(7)

    try:
        run_query(index, BOMBS[name], timeout_s=timeout_s, on_overrun=end)
    except AsterIndexError as error:
        tell(type(error).__name__)
    else:
        tell("answered")


def command(index: Path, name: str, timeout_s: float, form: str) -> None:
    """Run ``asx query`` with one statement; when the process ends, write its peak memory in MB to stderr."""
    from cli.app import main as asx

    leave = os._exit

    def end(code: int) -> None:
        os.write(2, f"\n{peak_bytes() // 1024**2}\n".encode())
        leave(code)

    setattr(os, "_exit", end)  # noqa: B010 - the watchdog's way out
    end(asx(["query", "--index", str(index), "--timeout", str(timeout_s), "--format", form, BOMBS[name]]))


if __name__ == "__main__":
    if sys.argv[1] == "command":
        command(Path(sys.argv[2]), sys.argv[3], float(sys.argv[4]), sys.argv[5])
    else:
        main(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]))
