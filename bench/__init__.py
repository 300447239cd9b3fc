"""Measurements: a corpus of any size, the floor it is compared with, and one run that prints the ratios."""
