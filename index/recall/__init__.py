"""Recall from the index: the words of memory as they are scored, what the journal tells of it, and past turns.

Plain ``sqlite3`` on the reading side, never SQLAlchemy, pydantic or ulid. What is worth saying is decided by
``persist.recall``; here stands what it is decided about.
"""
