"""Which loop a block is in."""

from typing import NamedTuple

from gevolve.ir.llvm.dominance import Dominance


class Loop(NamedTuple):
    """A natural loop."""

    head: str
    """The block that it is entered by."""
    above: str
    """The nearest block that every path into the loop passes before."""
    blocks: frozenset[str]


def innermost(dominance: Dominance, block: str) -> Loop | None:
    """The smallest loop with this block in it; None if it is in none, or in one that starts a function."""
    before: dict[str, list[str]] = {}
    for one, after in dominance.successors.items():
        for other in after:
            before.setdefault(other, []).append(one)
    for head in (block, *dominance.dominators(block)):
        blocks = {head}
        front = [one for one in before.get(head, ()) if dominance.dominates(head, one)]
        if not front:
            continue
        while front:
            one = front.pop()
            if one not in blocks:
                blocks.add(one)
                front += [up for up in before.get(one, ()) if dominance.dominates(head, up)]
        if block in blocks:
            above = dominance.immediate.get(head)
            return Loop(head, above, frozenset(blocks)) if above is not None else None
    return None
