"""Numbers of the host code that a variant may choose, such as the size of blocks.

An artefact names what it chose in a comment, which the back end of the compiler writes
(`gevolve.ir.llvm.codegen`); what it does not name is the first of the values that are offered.
"""

import re
from collections.abc import Mapping, Sequence

from gevolve.errors import LaunchError

_CHOSEN = re.compile(rb"^// gevolve\.parameter (\w+)=(-?\d+)$", re.MULTILINE)


def chosen(artefact: bytes) -> dict[str, int]:
    """What an artefact chose."""
    if not artefact.startswith(b"// gevolve.parameter "):
        return {}
    return {name.decode(): int(value) for name, value in _CHOSEN.findall(artefact)}


def parameter(choice: Mapping[str, int], name: str, values: Sequence[int]) -> int:
    """The value of a parameter; raises `LaunchError` if it is not offered, or none is."""
    if not name.isidentifier() or not values:
        raise LaunchError(
            f"gpu.parameter({name!r}, …) needs a name of letters and digits, and at least one value"
        )
    value = choice.get(name, values[0])
    if value not in values:
        raise LaunchError(f"{name} is {value}, which is none of {', '.join(map(str, values))}")
    return value
