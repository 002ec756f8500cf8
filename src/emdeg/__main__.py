"""`python -m emdeg`: the command line."""

from emdeg.cli import main

main()
