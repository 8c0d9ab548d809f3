"""`python -m gevolve` is the command `gevolve`."""

from gevolve.cli import main

main()
