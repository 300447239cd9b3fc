"""One file per command; each is imported only when it is asked for (``cli.registry`` lists them)."""
