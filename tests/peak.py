"""The peak memory of this process alone.

``ru_maxrss`` of a started program begins with what its parent held when it was started (Linux hands the figure on), so
under a test runner that has grown it says nothing about the program. ``VmHWM`` begins anew.
"""

from __future__ import annotations

import re
import resource
import sys
from pathlib import Path


def peak_bytes() -> int:
    """Return the most memory that this process has had resident so far, in bytes."""
    try:
        told = re.search(r"^VmHWM:\s+(\d+) kB$", Path("/proc/self/status").read_text(encoding="ascii"), re.MULTILINE)
    except OSError:
        told = None
    if told is not None:
        return int(told[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
