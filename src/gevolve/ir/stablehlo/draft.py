"""A module while it is edited: a copy in MLIR's own form, with the repair that keeps it valid.

Operations keep the types of their operands and results whatever is done to them, so that what was
valid stays valid as long as every value is available where it is used. Every choice that repair
makes is drawn from the edit's seed (`gevolve.ir.seeded`).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gevolve.ir.edit_kind import Skipped
from gevolve.ir.seeded import seeded_choice, seeded_hash
from gevolve.ir.stablehlo.index import OpInfo, StablehloIndex, op_info
from gevolve.ir.stablehlo.mlir import Attribute, Op, Value, everything_in, ir, named
from gevolve.ir.stablehlo.resize import resize, splat
from gevolve.ir.stablehlo.tensor import Tensor, tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

NEAREST = 48
"""Repair chooses among this many nearest values; farther ones cost time and rarely help."""
FARTHEST = 3 * NEAREST
"""It looks at this many to find those of the right type."""
CONSTANTS = {"=0": 0, "=1": 1}
"""Values that are always available: tensors of any type, filled with this number."""
HIDDEN = "~"
"""The first character of the names of operations that repair made; no edit can name them."""


class StablehloDraft:
    """A working copy of a module; the index below it is never changed."""

    def __init__(self, index: StablehloIndex) -> None:
        self.index = index
        self.module = index.module.clone().operation
        walked = everything_in(self.module)
        self._op: dict[str, Op] = {id_: walked[at] for at, id_ in index.walk_order}
        self._main = walked[1].regions[0].blocks[0]
        self._facts: dict[str, OpInfo] = {}
        self._values: dict[str, tuple[tuple[str, str], ...]] = {}
        self._block_of: dict[str, str] = {}
        self._body: dict[str, list[str]] = {}
        self._made: list[str] = []
        self.skipped: dict[str, str] = {}
        """What stands for values that were skipped."""
        self.products: dict[str, str] = {}
        """What stands for products that were put into another form."""

    # Reading

    def get(self, id_: str) -> Op | None:
        """The operation of this id as it stands now; None if it is gone or never was."""
        return None if id_.startswith(HIDDEN) else self._op.get(id_)

    def op(self, id_: str) -> Op:
        """The operation of an id that is there."""
        return self._op[id_]

    def info(self, id_: str) -> OpInfo:
        return self._facts.get(id_) or self.index.info[id_]

    def find(self, id_: str, allowed: Callable[[OpInfo], bool]) -> OpInfo:
        """What is known of an operation; raises `Skipped` if it is gone or not allowed."""
        if self.get(id_) is None:
            raise Skipped(f"{id_} is gone")
        info = self.info(id_)
        if not allowed(info):
            raise Skipped(f"{id_} is a {info.name} that this edit leaves alone")
        return info

    def block_of(self, id_: str) -> str:
        return self._block_of.get(id_) or self.index.block_of[id_]

    def body(self, block: str) -> Sequence[str]:
        return self._body.get(block) or self.index.body[block]

    def position(self, id_: str) -> tuple[str, int]:
        block = self.block_of(id_)
        return block, self.body(block).index(id_)

    def value(self, name: str) -> Value | None:
        """The value of this name; None if it is gone or never was."""
        id_, _, number = name.partition(".")
        if not (number or "0").isdecimal():
            return None
        at = int(number or 0)
        if id_.startswith("a") and id_[1:].isdecimal():
            values, at = self._main.arguments, int(id_[1:])
        elif id_.startswith(("b", "c")):
            loop = self._op.get(f"o{id_[1:]}")
            if loop is None or loop.name != "stablehlo.while":
                return None
            values = loop.regions["cb".index(id_[0])].blocks[0].arguments
        else:
            op = self.get(id_)
            if op is None:
                return None
            values = op.results
        return values[at] if at < len(values) else None

    def available(self, value: Value, at: Op) -> bool:
        """Whether a value may be used by an operation at this place."""
        owner = value.owner
        block = owner if isinstance(owner, ir.Block) else owner.operation.block
        above: Op | None = at
        while above is not None and above.name != "func.func":
            if above.block == block:
                return isinstance(owner, ir.Block) or (
                    owner.operation != above and owner.operation.is_before_in_block(above)
                )
            above = outer(above)
        return False

    def values(self, before: str) -> Iterator[tuple[str, str]]:
        """Values that may be used before an operation, nearest first, each with its type."""
        block, position = self.position(before)
        given, added = self.index.values, self._values
        while True:
            for id_ in reversed(self.body(block)[:position]):
                yield from given[id_] if id_ in given else added[id_]
            yield from given[block]
            parent = self.index.parent_of[block]
            if parent is None:
                return
            block, position = self.position(parent[0])

    # Changing

    def insert(self, op: Op, id_: str, info: OpInfo, before: str) -> None:
        """Register an operation that has just been put before another one."""
        block, position = self.position(before)
        self._edit_body(block).insert(position, id_)
        self._block_of[id_] = block
        self._op[id_] = op
        self._facts[id_] = info
        self._values[id_] = () if id_.startswith(HIDDEN) else info.values(id_)

    def clone(self, source: str, id_: str, before: str) -> None:
        """Put a copy of an operation before another one; its operands may not be available there."""
        op = self._op[source].clone(ip=ir.InsertionPoint(self._op[before])).operation
        op.location = named(id_)
        self.insert(op, id_, self.info(source), before)

    def remove(self, id_: str) -> None:
        """Take out an operation that nothing uses, with all that is in it."""
        op = self._op[id_]
        assert not any(has_uses(result) for result in op.results)
        self._forget(id_)
        op.erase()

    def _forget(self, id_: str) -> None:
        self._edit_body(self.block_of(id_)).remove(id_)
        del self._op[id_]
        for block in self.index.blocks_in.get(id_, ()):
            for inner in list(self.body(block)):
                self._forget(inner)

    def move_to(self, id_: str, before: str) -> None:
        """Move an operation before another one."""
        self._op[id_].move_before(self._op[before])
        self._edit_body(self.block_of(id_)).remove(id_)
        block, position = self.position(before)
        self._edit_body(block).insert(position, id_)
        self._block_of[id_] = block

    def after(self, id_: str) -> str:
        """The operation that follows one that is not the last of its block."""
        block, position = self.position(id_)
        return self.body(block)[position + 1]

    def set_operand(self, id_: str, number: int, value: Value) -> None:
        self._op[id_].operands[number] = value

    def carry(self, loop: str, start: Value) -> Value:
        """Let a loop carry another value along; returns that value in its body, where `carried` gives the next."""
        old = self._op[loop]
        where = named(f"b{loop[1:]}.{len(old.results)}")
        new = ir.Operation.create(
            old.name,
            results=[*(result.type for result in old.results), start.type],
            operands=[*old.operands, start],
            regions=2,
            loc=old.location,
            ip=ir.InsertionPoint(old),
        )
        for before, after in zip(list(old.regions), list(new.regions), strict=True):
            block = before.blocks[0]
            block.append_to(after)
            block.add_argument(start.type, where)
        for before, after in zip(old.results, new.results, strict=False):
            before.replace_all_uses_with(after)
        old.erase()
        self._op[loop] = new
        results = tuple(str(result.type) for result in new.results)
        self._facts[loop] = op_info(new.name, self.info(loop).slots, results)
        return new.regions[1].blocks[0].arguments[-1]

    def carried(self, loop: str, value: Value) -> None:
        """The value that a loop carries into its next round, for the last one that it was told to carry."""
        id_ = self.body(self.index.blocks_in[loop][1])[-1]
        old = self._op[id_]
        self._op[id_] = ir.Operation.create(
            old.name,
            operands=[*old.operands, value],
            loc=old.location,
            ip=ir.InsertionPoint(old),
        )
        old.erase()
        self.retype_slots(id_)

    def retype_slots(self, id_: str) -> None:
        """Take note that an operation's operands have other types now, and that it needs them so."""
        op = self._op[id_]
        slots = tuple(str(value.type) for value in op.operands)
        self._facts[id_] = op_info(op.name, slots, self.info(id_).results)

    def _edit_body(self, block: str) -> list[str]:
        if block not in self._body:
            self._body[block] = list(self.index.body[block])
        return self._body[block]

    # Repair

    def emit(
        self,
        before: str,
        name: str,
        want: Tensor,
        operands: Sequence[Value],
        attributes: dict[str, Attribute],
        regions: int = 0,
    ) -> Value:
        """An operation of repair's own before another one, with empty regions if it has any."""
        op = ir.Operation.create(
            f"stablehlo.{name}",
            results=[want.native],
            operands=list(operands),
            attributes=attributes,
            regions=regions,
            loc=named(f"r{len(self._made)}"),
            ip=ir.InsertionPoint(self._op[before]),
        )
        self.hide(op, before)
        return op.results[0]

    def hide(self, op: Op, before: str) -> str:
        """Register an operation of repair's own that has just been put before another one; returns its id."""
        id_ = f"{HIDDEN}{len(self._made)}"
        self._made.append(id_)
        kind = tuple(str(result.type) for result in op.results)
        self.insert(op, id_, op_info(op.name, (), kind), before)
        return id_

    def fit(self, value: Value | str, want: str, before: str) -> Value:
        """A value (or constant) made to have the wanted type, for use at this place."""
        wanted = tensor(want)
        if isinstance(value, str):
            assert wanted is not None
            return splat(wanted, CONSTANTS[value], partial(self.emit, before))
        have = str(value.type)
        if have == want:
            return value
        had = tensor(have)
        assert had is not None
        assert wanted is not None
        return resize(value, had, wanted, partial(self.emit, before))

    def substitute(self, want: str, before: str, seed: int, purpose: str) -> Value:
        """Some value that may be used here, made to have the wanted type."""
        same: list[str] = []
        others: list[str] = []
        for seen, (name, kind) in enumerate(self.values(before)):
            if kind == want:
                same.append(name)
            elif len(others) < NEAREST:
                others.append(name)
            if len(same) == NEAREST or seen == FARTHEST:
                break
        often = 1 if same else 3
        resized = bool(others) and seeded_hash(seed, purpose, "resize") % 4 < often
        name = seeded_choice(seed, purpose, others if resized else [*same, *CONSTANTS])
        assert name is not None
        return self.fit(name if name in CONSTANTS else self._must(name), want, before)

    def _must(self, name: str) -> Value:
        found = self.value(name)
        assert found is not None
        return found

    def repair_inputs(self, id_: str, seed: int) -> None:
        """Replace every operand that is not available where the operation stands by one that is."""
        op = self._op[id_]
        for number, value in enumerate(list(op.operands)):
            if not self.available(value, op):
                found = self.substitute(str(value.type), id_, seed, f"in{number}")
                op.operands[number] = found

    def repair_uses(self, id_: str, seed: int) -> int:
        """Replace results in the uses where they are no longer available; returns how many uses are left."""
        left = 0
        for result in self._op[id_].results:
            for use in list(result.uses):
                user = use.owner.operation
                if self.available(result, user):
                    left += 1
                    continue
                anchor = self._anchor(user)
                purpose = f"out{anchor}.{use.operand_number}"
                found = self.substitute(str(result.type), anchor, seed, purpose)
                user.operands[use.operand_number] = found
        return left

    def _anchor(self, user: Op) -> str:
        """The name of an operation, or of the atom that it is in."""
        above: Op | None = user
        while above is not None:
            # Two Python objects for one operation are equal but differ in hash.
            shown = above.location.name_str if isinstance(above.location, ir.NameLoc) else ""
            for id_ in (shown, HIDDEN + shown[1:]):
                if id_ in self._op and self._op[id_] == above:
                    return id_
            above = outer(above)
        raise AssertionError(f"{user.name} is in no block that has ids")

    def connect(self, id_: str, seed: int) -> bool:
        """Let one operand of a later operation use the first result, resized if need be; False if none can."""
        kind = self.info(id_).results[0]
        same: list[str] = []
        others: list[str] = []
        block, position = self.position(id_)
        for seen, (user, number) in enumerate(self._slots(self.body(block)[position + 1 :])):
            (same if self.info(user).slots[number] == kind else others).append(f"{user} {number}")
            if len(same) == NEAREST or seen == FARTHEST:
                break
        resized = seeded_hash(seed, "connect", "resize") % 4 == 0
        chosen = seeded_choice(
            seed, "connect", others if others and (resized or not same) else same
        )
        if chosen is None:
            return False
        user, number = chosen.split()
        slot = self.info(user).slots[int(number)]
        self.set_operand(user, int(number), self.fit(self._must(id_), slot, user))
        return True

    def _slots(self, users: Iterable[str]) -> Iterator[tuple[str, int]]:
        """The operands of these operations and of what is in them that may be replaced."""
        for user in users:
            if not user.startswith(HIDDEN):
                for number in self.info(user).open_slots:
                    yield user, number
                for block in self.index.blocks_in.get(user, ()):
                    yield from self._slots(self.body(block))

    def finish(self) -> None:
        """Remove what repair made and nothing uses any more."""
        for id_ in reversed(self._made):
            op = self._op.get(id_)
            if op is not None and not any(has_uses(result) for result in op.results):
                self.remove(id_)


def outer(op: Op) -> Op | None:
    """The operation that holds another one."""
    found = op.parent
    return None if found is None else found.operation


def has_uses(value: Value) -> bool:
    return next(iter(value.uses), None) is not None
