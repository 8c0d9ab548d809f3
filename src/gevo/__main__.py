"""`python -m gevo` is the command `gevo`."""

from gevo.cli import main

main()
