"""`python -P -m _bench`: the warm bench, for a program that drives it over pipes."""

from .serve import main

main()
