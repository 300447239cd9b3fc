"""The memory's evaluations: cases with what must come back, run against the library with real files."""
