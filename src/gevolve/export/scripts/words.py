"""Pieces that the scripts have in common."""

from gevolve.export.scripts.launches import Argument, Launch

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


def filled(template: str, launch: Launch, zeros: str, suffix: str = "") -> str:
    """One launch, where `zeros` makes an array and `suffix` makes of it what a kernel takes."""
    passed = (
        one.name + suffix if one.shape is not None else scalar(one) for one in launch.arguments
    )
    return template.format(
        name=launch.name,
        kernel=launch.kernel,
        title=launch.title,
        arrays="\n".join(
            f"{one.name} = {zeros}({size(one)}, np.{one.dtype})" for one in launch.arrays
        ),
        grid=launch.grid,
        block=launch.block,
        arguments="\n".join(f"    {one}," for one in passed),
        shared=launch.shared,
    )
