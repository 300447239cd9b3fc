"""The derived index: one disposable SQLite database over every agent's files.

Imports ``persist`` and ``migrations``, never ``cli``. Import the owning module; nothing is re-exported here.
"""
