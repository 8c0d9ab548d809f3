"""Times that a tuner measured: Kernel Tuner's cache files and the T4 format, plain or gzipped."""

import gzip
from pathlib import Path
from typing import Any, cast

import msgspec

from gevolve.errors import SourceError

Configuration = dict[str, int | float | str]
_MILLI = {
    **dict.fromkeys(("", "milliseconds", "miliseconds", "ms"), 1.0),
    "seconds": 1e3,
    "s": 1e3,
    "microseconds": 1e-3,
    "us": 1e-3,
    "nanoseconds": 1e-6,
    "ns": 1e-6,
}


class Measured(msgspec.Struct, frozen=True):
    """One configuration and its time on a real GPU."""

    configuration: Configuration
    time: float
    """In milliseconds."""


def read_measured(path: Path) -> tuple[list[Measured], int]:
    """All configurations with a time, in the order of the file, and how many failed on the GPU."""
    try:
        data = path.read_bytes()
        if path.suffix == ".gz":
            data = gzip.decompress(data)
    except (OSError, EOFError) as error:
        raise SourceError(f"{path}: cannot be read: {error}") from None
    try:
        content: Any = msgspec.json.decode(data)
    except msgspec.DecodeError:
        content = _unfinished(path, data)
    if not isinstance(content, dict):
        raise SourceError(f"{path}: neither a Kernel Tuner cache nor a T4 file")
    fields = cast("dict[str, Any]", content)
    if "cache" in fields:
        return _cache(fields)
    if "results" in fields:
        return _t4(fields)
    raise SourceError(f"{path}: neither a Kernel Tuner cache (cache) nor a T4 file (results)")


def _unfinished(path: Path, data: bytes) -> Any:
    """A cache file whose tuning was stopped lacks its last brackets."""
    try:
        return msgspec.json.decode(data.rstrip().rstrip(b",") + b"}}")
    except msgspec.DecodeError as error:
        raise SourceError(f"{path}: not JSON: {error}") from None


def _cache(content: dict[str, Any]) -> tuple[list[Measured], int]:
    keys: list[str] = content.get("tune_params_keys", [])
    objective: str = content.get("objective", "time")
    found: list[Measured] = []
    failed = 0
    rows: dict[str, dict[str, Any]] = content["cache"]
    for row in rows.values():
        time = row.get(objective)
        if not isinstance(time, int | float):  # the name of an error
            failed += 1
            continue
        names = keys or [name for name, value in row.items() if isinstance(value, int)]
        found.append(Measured({name: row[name] for name in names}, float(time)))
    return found, failed


def _t4(content: dict[str, Any]) -> tuple[list[Measured], int]:
    common: str = content.get("metadata", {}).get("timeunit", "")
    found: list[Measured] = []
    failed = 0
    results: list[dict[str, Any]] = content["results"]
    for row in results:
        objectives: list[str] = row.get("objectives") or ["time"]
        measured: list[dict[str, Any]] = row.get("measurements", [])
        one = next((m for m in measured if m.get("name") == objectives[0]), None)
        if row.get("invalidity", "correct") != "correct" or one is None:
            failed += 1
            continue
        if not isinstance(one["value"], int | float):
            failed += 1
            continue
        unit: str = one.get("unit") or common
        if unit not in _MILLI:
            raise SourceError(f"a time in {unit!r}: not a unit that is known")
        found.append(Measured(dict(row["configuration"]), float(one["value"]) * _MILLI[unit]))
    return found, failed
