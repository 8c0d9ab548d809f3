"""The state of a search as a store keeps it."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from gevolve.errors import StoreError

StateT = TypeVar("StateT")


def read_state(state: Mapping[str, Any], kind: type[StateT]) -> StateT:
    """What a search wrote down of itself; raises `StoreError` if it is something else."""
    try:
        return msgspec.convert(state, kind)
    except msgspec.ValidationError as error:
        raise StoreError(
            f"the run's last generation cannot be read ({error}); start a new run"
        ) from None
