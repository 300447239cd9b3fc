"""The version as a constant, because ``importlib.metadata`` costs 15 ms at every start; a test compares the copies."""

from typing import Final

VERSION: Final = "0.1.0"
