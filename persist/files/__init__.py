"""How the store's files are written: whole and at once, or line by line, privately, one writer at a time.

Imports only the standard library and ``persist.errors`` (``filelock`` inside the function that locks). Knows
no format: bytes go in, bytes stand in the file.
"""

from persist.files.append import append_lines
from persist.files.atomic import write_atomic
from persist.files.folders import make_private_folder
from persist.files.lock import LOCK_NAME, locked

__all__ = ["LOCK_NAME", "append_lines", "locked", "make_private_folder", "write_atomic"]
