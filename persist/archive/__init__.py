"""Kept copies of foreign transcripts: history that outlives the agents' own clean-up, and a rebuild (DESIGN 8).

Imports nothing itself; its modules import the standard library, orjson and ``persist``, and zstandard only inside the
functions that compress. Knows no SQL. Below ``archive/AGENT/`` a copy lies at the absolute path of its original. While
the original is there the copy is plain and a beginning of it, or all of it; ``NAME~N`` is what the original was before
it was rewritten, ``NAME~N.zst`` what it was when it went. ``catalogue.json`` tells what each copy was made of.
"""
