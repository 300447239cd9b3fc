"""The command line: parses words, calls one function of ``index`` or ``persist``, prints what it returned."""
