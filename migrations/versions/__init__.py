"""The revisions, in order: frozen SQL only."""
