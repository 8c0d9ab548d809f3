"""Which blocks dominate which. Edits never change the control flow, so it is computed once."""

from collections.abc import Iterator

from gevolve.ir.llvm.model import LlvmFunction


class Dominance:
    """The dominator tree of one function's reachable blocks."""

    def __init__(self, function: LlvmFunction) -> None:
        successors = {block.id: block.body[-1].blocks for block in function.blocks}
        order = _reverse_postorder(function.blocks[0].id, successors)
        self.successors = successors
        self.immediate = _immediate_dominators(order, successors)
        """The immediate dominator of each reachable block but the entry."""
        self.children: dict[str, list[str]] = {block: [] for block in order}
        for block in order[1:]:
            self.children[self.immediate[block]].append(block)
        self._enter: dict[str, int] = {}
        self._leave: dict[str, int] = {}
        self._number(order[0])

    def _number(self, root: str) -> None:
        """Number the tree depth first, so that `dominates` is two comparisons."""
        clock = 0
        stack = [(root, iter(self.children[root]))]
        self._enter[root] = clock
        while stack:
            block, rest = stack[-1]
            child = next(rest, None)
            clock += 1
            if child is None:
                self._leave[block] = clock
                stack.pop()
            else:
                self._enter[child] = clock
                stack.append((child, iter(self.children[child])))

    def reachable(self, block: str) -> bool:
        return block in self._enter

    def dominates(self, upper: str, lower: str) -> bool:
        """Whether every path to `lower` passes `upper`; a block dominates itself."""
        if upper not in self._enter or lower not in self._enter:
            return upper == lower
        return self._enter[upper] <= self._enter[lower] and self._leave[lower] <= self._leave[upper]

    def dominators(self, block: str) -> Iterator[str]:
        """The strict dominators of a block, nearest first."""
        while (upper := self.immediate.get(block)) is not None:
            yield upper
            block = upper

    def dominated(self, block: str) -> Iterator[str]:
        """The blocks strictly dominated by this one, parents before children."""
        stack = list(reversed(self.children.get(block, ())))
        while stack:
            lower = stack.pop()
            yield lower
            stack.extend(reversed(self.children[lower]))


def _reverse_postorder(entry: str, successors: dict[str, tuple[str, ...]]) -> list[str]:
    order: list[str] = []
    seen = {entry}
    stack = [(entry, iter(successors[entry]))]
    while stack:
        block, rest = stack[-1]
        for child in rest:
            if child not in seen:
                seen.add(child)
                stack.append((child, iter(successors[child])))
                break
        else:
            order.append(block)
            stack.pop()
    return order[::-1]


def _immediate_dominators(
    order: list[str], successors: dict[str, tuple[str, ...]]
) -> dict[str, str]:
    """Cooper, Harvey and Kennedy's iteration over the reverse postorder."""
    position = {block: index for index, block in enumerate(order)}
    predecessors: dict[str, list[str]] = {block: [] for block in order}
    for block in order:
        for child in successors[block]:
            predecessors[child].append(block)
    above: dict[str, str] = {order[0]: order[0]}

    def meet(one: str, other: str) -> str:
        while one != other:
            while position[one] > position[other]:
                one = above[one]
            while position[other] > position[one]:
                other = above[other]
        return one

    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            done = [p for p in predecessors[block] if p in above]
            upper = done[0]
            for other in done[1:]:
                upper = meet(upper, other)
            if above.get(block) != upper:
                above[block] = upper
                changed = True
    del above[order[0]]
    return above
