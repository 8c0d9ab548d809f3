"""Pieces that the scripts have in common."""

from gevo.snippets.launches import Argument

HINT = "Sizes are those of one case of the run, and the arrays are placeholders: put your own in."


def size(argument: Argument) -> str:
    """The shape of an array as Python writes it."""
    return repr(argument.shape)


def scalar(argument: Argument) -> str:
    """What is passed by value, in NumPy's words."""
    if isinstance(argument.value, bytes):
        return f"np.void(bytes.fromhex({argument.value.hex()!r}))"
    if isinstance(argument.value, float):
        return f'np.{argument.dtype}("{argument.value!r}")'
    bits = int(argument.dtype.removeprefix("int"))
    signed = -(1 << (bits - 1)) <= argument.value < 1 << (bits - 1)
    return f"np.{'' if signed else 'u'}{argument.dtype}({argument.value})"
