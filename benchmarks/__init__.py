"""Measurements of the project on itself; `python -m benchmarks NAME …` runs some or all of them."""
