"""Says in plain words how two variants of a model differ.

Both variants, with the edit and without it, are freed of dead and repeated operations, and their
features are counted. The first difference of a list is reported, the most telling first.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from gevolve.ir.sentences import at_lines, list_counts
from gevolve.ir.stablehlo.mlir import Op, Value, everything_in, ir, module_of, run_passes
from gevolve.ir.stablehlo.tensor import tensor
from gevolve.program import Change

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LAYERS = {"convolution": "convolution", "dot_general": "matrix product", "dot": "matrix product"}
_REDUCTIONS = frozenset({"reduce", "reduce_window", "select_and_scatter", "sort", "scatter"})
_ACTIVATIONS = frozenset({"maximum", "tanh", "logistic", "clamp"})
_FUNCTIONS = frozenset(
    {"exponential", "log", "log_plus_one", "exponential_minus_one", "power", "sqrt", "rsqrt"}
    | {"cosine", "sine", "cbrt", "divide", "erf"}
)
_FREE = frozenset({"constant", "return", "iota", "reshape", "broadcast_in_dim"})
_PASSED_ON = frozenset({"broadcast_in_dim", "convert", "reshape"})
"""Operations that hand a single number on as it is."""
_PRECISIONS = ("f64", "f32", "bf16"), ("f32", "f16")


def describe_difference(before: str, after: str, origins: Mapping[str, str]) -> Change | None:
    """What the second variant does that the first does not; None if nothing recognizable."""
    if before == after:
        return None
    old, new = _FeatureCount(before, origins), _FeatureCount(after, origins)
    return next(filter(None, _differences(old, new)), None)


def _differences(old: _FeatureCount, new: _FeatureCount) -> Iterator[Change | None]:
    """Every kind of difference, the most telling first; None where there is none of that kind."""
    yield _rounds(old, new)
    yield _fewer(old, new, "loop", "loop removed", "leaves out")
    yield _fewer(old, new, "convolution", "layer pruned", "leaves out")
    yield _fewer(old, new, "matrix product", "layer pruned", "leaves out")
    yield _rates(old, new)
    yield _lower_precision(old, new)
    yield _fewer(old, new, "activation", "activation removed", "leaves out")
    yield _fewer(old, new, "reduction", "reduction removed", "leaves out")
    for name in sorted(_FUNCTIONS):
        yield _fewer(old, new, _word(name), "function removed", "saves")
    yield _fewer(old, new, "operation", "computation removed", "saves")
    yield _constants(old, new)
    yield _more(old, new)
    if old.order != new.order:
        yield Change("computes with another value", "value replaced")


def _fewer(
    old: _FeatureCount, new: _FeatureCount, word: str, theme: str, verb: str
) -> Change | None:
    less = old.count[word] - new.count[word]
    if less <= 0:
        return None
    lines = tuple(sorted(line for line in old.lines[word] - new.lines[word] if line))
    noun = f"the {word}" if less == 1 else f"{less} {word}s"
    return Change(f"{verb} {noun}{at_lines(lines)}", theme, lines)


def _rounds(old: _FeatureCount, new: _FeatureCount) -> Change | None:
    """A loop that is given another number of rounds."""
    for loop, bound in old.bounds.items():
        now = new.bounds.get(loop)
        if now is not None and now != bound:
            theme = "loop shortened" if now < bound else "loop bound changed"
            sentence = f"lets the loop end at {now:g} and not at {bound:g}"
            return Change(sentence, theme, old.line_of(loop))
    return None


def _rates(old: _FeatureCount, new: _FeatureCount) -> Change | None:
    """A number by which what is subtracted from a carried value is multiplied: a learning rate."""
    for carried, rate in old.rates.items():
        now = new.rates.get(carried)
        if now is not None and now != rate:
            sentence = f"changes the learning rate from {rate:g} to {now:g}"
            return Change(sentence, "learning rate changed", old.line_of(carried[0]))
    return None


def _lower_precision(old: _FeatureCount, new: _FeatureCount) -> Change | None:
    for chain in _PRECISIONS:
        for wide, narrow in pairwise(chain):
            if new.types[narrow] > old.types[narrow] and new.types[wide] < old.types[wide]:
                count = new.types[narrow] - old.types[narrow]
                what = "an operation" if count == 1 else f"{count} operations"
                return Change(f"computes {what} in {narrow}, not {wide}", "precision lowered")
    return None


def _constants(old: _FeatureCount, new: _FeatureCount) -> Change | None:
    gone, come = old.numbers - new.numbers, new.numbers - old.numbers
    if len(gone) != 1 or len(come) != 1:
        return None
    (was,), (is_) = gone, next(iter(come))
    return Change(f"computes with {is_:g} in place of {was:g}", "constant changed")


def _more(old: _FeatureCount, new: _FeatureCount) -> Change | None:
    added = new.count - old.count
    if not added:
        return None
    return Change(f"adds {list_counts(added)}", "work added")


class _FeatureCount:
    """How often each feature occurs in a variant without dead and repeated operations."""

    def __init__(self, text: str, origins: Mapping[str, str]) -> None:
        self._origins = origins
        self.count: Counter[str] = Counter()
        self.lines: defaultdict[str, Counter[str]] = defaultdict(Counter)
        """For each word, how often it comes from each source line."""
        self.types: Counter[str] = Counter()
        """Operations, by the type of the elements of their result."""
        self.numbers: Counter[float] = Counter()
        """Constants that are one number."""
        self.order: list[str] = []
        self.bounds: dict[str, float] = {}
        """The number that decides when a loop ends, by its id."""
        self.rates: dict[tuple[str, int], float] = {}
        """What scales the change of each carried value, by loop and position."""
        module = module_of(text).clone().operation
        run_passes(module, "canonicalize", "cse", "canonicalize")
        for operation in everything_in(module):
            if operation.name.startswith("stablehlo."):
                self._add(operation)

    def line_of(self, id_: str) -> tuple[str, ...]:
        """The source line of an operation, if it is known."""
        return (self._origins[id_],) if id_ in self._origins else ()

    def _add(self, operation: Op) -> None:
        name = operation.name.removeprefix("stablehlo.")
        id_ = _id(operation)
        self.order.append(f"{name} {[str(value.type) for value in operation.operands]}")
        number = _number(operation)
        if number is not None and not math.isnan(number):  # no NaN equals another one
            self.numbers[number] += 1
        if name == "while":
            self._add_loop(operation, id_)
        if name in _FREE:
            return
        word = _word(name)
        self.count[word] += 1
        self.lines[word][self._origins.get(id_, "")] += 1
        kind = tensor(str(operation.results[0].type)) if len(operation.results) else None
        if kind is not None and name != "convert":
            self.types[kind.element] += 1

    def _add_loop(self, loop: Op, id_: str) -> None:
        condition, body = (region.blocks[0] for region in loop.regions)
        test = _owner(condition.operations[len(condition.operations) - 1].operands[0])
        if test is not None and test.name == "stablehlo.compare":
            numbers = [_traced(value) for value in test.operands]
            found = [number for number in numbers if number is not None]
            if len(found) == 1:
                self.bounds[id_] = found[0]
        for position, value in enumerate(body.operations[len(body.operations) - 1].operands):
            rate = _rate(_owner(value))
            if rate is not None:
                self.rates[id_, position] = rate


def _word(name: str) -> str:
    if name in _LAYERS:
        return _LAYERS[name]
    if name == "while":
        return "loop"
    if name in _REDUCTIONS:
        return "reduction"
    if name in _ACTIVATIONS:
        return "activation"
    return name.replace("_", " ") if name in _FUNCTIONS else "operation"


def _rate(update: Op | None) -> float | None:
    """The number in ``carried - number * change``."""
    if update is None or update.name != "stablehlo.subtract":
        return None
    product = _owner(update.operands[1])
    if product is None or product.name != "stablehlo.multiply":
        return None
    numbers = [_traced(value) for value in product.operands]
    return next((number for number in numbers if number is not None), None)


def _traced(value: Value) -> float | None:
    """The single number that a value is, however it was spread."""
    operation = _owner(value)
    while operation is not None and operation.name.removeprefix("stablehlo.") in _PASSED_ON:
        operation = _owner(operation.operands[0])
    return None if operation is None else _number(operation)


def _number(operation: Op) -> float | None:
    if operation.name != "stablehlo.constant":
        return None
    value: Any = operation.attributes["value"]
    if not isinstance(value, ir.DenseElementsAttr) or not value.is_splat:
        return None
    return float(value.get_splat_value().value)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType, reportAttributeAccessIssue]


def _owner(value: Value) -> Op | None:
    """The operation that gives a value; None for arguments."""
    owner: Any = value.owner
    return None if isinstance(owner, ir.Block) else owner.operation


def _id(operation: Op) -> str:
    """The id that an operation has in the program, if it is of the program."""
    location: Any = operation.location
    return str(location.name_str) if isinstance(location, ir.NameLoc) else ""
