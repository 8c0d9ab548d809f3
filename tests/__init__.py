"""The tests, in packages that mirror `src/gevolve`; run them with `pytest` from the project's folder."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
"""The project's folder, in which a test's own process can import `tests`."""
