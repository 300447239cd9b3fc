"""The store side of Aether's sessions: whole logs and listings, read the way Aether reads them, but of every era.

Re-exports nothing; import ``persist.aether.log`` or ``persist.aether.listing``.
"""
