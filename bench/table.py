"""The figures of a run as lines for a terminal: aligned tables, each figure beside what it must be. Pure.

Wall time is what must be met; processor time stands beside it, for it tells how far other processes were in the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from bench.whole import AIM_RATIO, MUST_RATIO

MUST_GROWTH: Final = 5
_MIB: Final = 1024 * 1024
_MANY_ROWS: Final = "answers, common, project and date"
_MANY_MUSTS_S: Final = {_MANY_ROWS: 0.300, "answers, rare": 0.050, "answers, words: one rare": 0.050}


def lines_of(told: Mapping[str, Any]) -> list[str]:
    """Return what a run measured on one corpus; the floor and what belongs to it are left out where they were."""
    lines = [f"load average {' to '.join(f'{load:.1f}' for load in told['load'])}, from the beginning to the end", ""]
    if "floor" in told:
        lines += [*_work(told), ""]
    lines += [_corpus(told), *_searches(told["search"]["searches"]), ""]
    lines += [*_scans(told["scan"]), ""]
    if "recall" in told:
        lines += [*_recalls(told["recall"]), ""]
    return [*lines, *_processes(told["process"])]


def _corpus(told: Mapping[str, Any]) -> str:
    rebuild, texts = told["rebuild"], told["search"]["texts"]
    return (
        f"{rebuild['bytes'] / 1e6:.0f} MB in {rebuild['rows']['source_rows']:,} files, "
        f"{rebuild['rows']['event_rows']:,} events, "
        + ", ".join(f"{count:,} {where}" for where, count in texts.items() if count)
    )


def _work(told: Mapping[str, Any]) -> list[str]:
    floor, rebuild = told["floor"], told["rebuild"]
    unchanged, one_line = told["unchanged"], told["one_line"]
    rows = sum(floor["rows"].values())
    return [
        f"floor                     {floor['cpu_s']:.2f} s cpu, {floor['wall_s']:.2f} s wall, {rows} rows",
        f"rebuild                   {rebuild['cpu_s'] / floor['cpu_s']:.2f} x floor (cpu), "
        f"{rebuild['wall_s'] / floor['wall_s']:.2f} x floor (wall), {sum(rebuild['rows'].values())} rows",
        f"peak memory of rebuild    {rebuild['peak_bytes'] / _MIB:.0f} MiB (floor {floor['peak_bytes'] / _MIB:.0f})",
        f"index size                {rebuild['index_bytes'] / rebuild['bytes']:.2f} x transcripts",
        f"ingest, nothing changed   {unchanged['wall_s'] / unchanged['scan_s']:.2f} x scandir and stat of "
        f"{unchanged['files']} files ({unchanged['wall_s'] * 1e3:.1f} ms)",
        f"ingest, one line more     {one_line['wall_s'] * 1e3:.1f} ms, {one_line['bytes']} bytes read of "
        f"{one_line['file_bytes'] / 1e6:.0f} MB",
    ]


def _searches(searches: Mapping[str, Mapping[str, Any]]) -> list[str]:
    rows = []
    for name, one in searches.items():
        must_ms = one["must_s"] and one["must_s"] * 1e3
        verdict = _verdict(one["p95_s"] * 1e3, must_ms, one["cpu_p95_s"] * 1e3)
        times = [_ms(one[key]) for key in ("p50_s", "p95_s", "cpu_p95_s")]
        rows.append([name, str(one["queries"]), f"{one['hits']:,}", *times, *verdict])
    return _aligned(["search in the library", "queries", "hits", "p50 ms", "p95 ms", "p95 cpu", "must", ""], rows)


def _recalls(recalls: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = []
    for one in recalls:
        must_ms = one["must_s"] and one["must_s"] * 1e3
        times = [_ms(one[key]) for key in ("p50_s", "p95_s", "cpu_p50_s", "cpu_p95_s")]
        answered = (str(one["about_a_note"]), str(one["at_random"]))
        rows.append([f"{one['notes']:,} notes", *answered, *times, *_verdict(one["cpu_p95_s"] * 1e3, must_ms)])
    head = ["recall in the library", "answered", "of words at random", "p50 ms", "p95 ms", "p50 cpu", "p95 cpu"]
    return _aligned([*head, "must (cpu)", ""], rows)


def _scans(scans: Mapping[str, Mapping[str, Any]]) -> list[str]:
    rows = []
    for query, one in scans.items():
        for what, spent_s, counted in (
            ("scan of the files", one["files_s"], f"{one['texts']:,} texts"),
            ("scan of the texts in the index", one["texts_s"], f"{one['texts']:,} texts"),
            ("rg -F -i -c", one.get("rg_s"), f"{one.get('rg_lines', 0):,} lines"),
            ("rg -F -c", one.get("rg_case_s"), "case counts"),
        ):
            if spent_s is not None:
                rows.append(
                    [f"{query!r}, {what}", counted, _ms(spent_s), f"{one['page_s'] / spent_s:.4f}",
                     f"{one['counted_s'] / spent_s:.4f}"]
                )  # fmt: skip
        rows.append([f"{query!r}, search", f"{one['listed']} listed", _ms(one["page_s"]), "", ""])
        rows.append([f"{query!r}, search --count", f"{one['total']:,} hits", _ms(one["counted_s"]), "", ""])
    lines = _aligned(["prompts and answers", "counted", "ms", "page / it", "--count / it"], rows)
    if not all("rg_s" in one for one in scans.values()):
        lines.append("rg is not installed here: its figures are left out")
    return lines


def _processes(spent: Mapping[str, float]) -> list[str]:
    python_s = spent["python -c pass"]
    rows = [
        [name, _ms(took_s), f"{took_s / python_s:.1f}", *_verdict(took_s / python_s, MUST_RATIO)]
        for name, took_s in spent.items()
        if took_s is not python_s
    ]
    rows.insert(0, ["python -c pass", _ms(python_s), "", "", ""])
    return _aligned([f"whole process (aim {AIM_RATIO})", "ms", "x python", "must", ""], rows)


def growth_lines(told: Mapping[str, Any]) -> list[str]:
    """Return how the slowest searches on a larger corpus compare with those on the first, question by question."""
    smaller, larger = told["search"]["searches"], told["larger"]["search"]["searches"]
    size_ratio = told["larger"]["rebuild"]["bytes"] / told["rebuild"]["bytes"]
    rows = []
    for name, one in larger.items():
        before = smaller[name]
        ratio, cpu_ratio = one["p95_s"] / before["p95_s"], one["cpu_p95_s"] / before["cpu_p95_s"]
        hits = [f"{each['hits']:,}" for each in (before, one)]
        verdict = _verdict(ratio, MUST_GROWTH, cpu_ratio)
        rows.append(
            [name, *hits, _ms(before["p95_s"]), _ms(one["p95_s"]), f"{cpu_ratio:.1f}", f"{ratio:.1f}", *verdict]
        )
    head = [
        f"the same on {size_ratio:.1f} x as much",
        "hits",
        "hits",
        "p95 ms",
        "p95 ms",
        "cpu ratio",
        "ratio",
        "must",
        "",
    ]
    many = [
        f"{name}: p50 {_ms(larger[name]['p50_s'])} ms of {must_s * 1e3:.0f}: {_word(larger[name]['p50_s'], must_s)}"
        for name, must_s in _MANY_MUSTS_S.items()
        if name in larger
    ]
    load = f"load average {told['larger']['load']:.1f} at the end"
    return [load, _corpus(told["larger"]), *_aligned(head, rows), "", *many]


def _ms(spent_s: float) -> str:
    return f"{spent_s * 1e3:.1f}"


def _verdict(value: float, must: float | None, on_processor: float | None = None) -> tuple[str, str]:
    """Return the must, and whether it is met; if not, whether it would be on a machine with nothing else to do."""
    if must is None:
        return "-", ""
    is_hindered = value > must and on_processor is not None and on_processor <= must
    return f"{must:g}", "met on cpu alone" if is_hindered else _word(value, must)


def _word(value: float, must: float) -> str:
    return "met" if value <= must else f"missed, {value / must:.1f} x"


def _aligned(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table: the first column to the left, the others to the right."""
    table = [list(head), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = []
    for first, *others in table:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return lines
