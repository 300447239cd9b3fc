"""The store: plain files, no SQL and no terminal.

Imports nothing of ours outside itself. Import the owning module; nothing is re-exported here.
"""
