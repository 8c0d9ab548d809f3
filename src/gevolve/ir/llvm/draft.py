"""A module while it is edited: a copy-on-write view of the index, with the repair that keeps it valid.

Every choice that repair makes is drawn from the edit's seed (`gevolve.ir.seeded`).
"""

from collections.abc import Callable, Iterator
from itertools import chain, islice

from gevolve.ir.edit_kind import Skipped
from gevolve.ir.llvm.index import LlvmIndex
from gevolve.ir.llvm.model import Instr
from gevolve.ir.seeded import seeded_choice

NEAREST = 48
"""Repair chooses among this many nearest values; farther ones cost time and rarely help."""


class LlvmDraft:
    """A working copy of a module; the index below it is never changed."""

    def __init__(self, index: LlvmIndex) -> None:
        self.index = index
        self._instr: dict[str, Instr | None] = {}
        self._block_of: dict[str, str] = {}
        self._body: dict[str, list[str]] = {}
        self._users: dict[str, dict[str, None]] = {}
        self.touched: set[str] = set()
        """Blocks whose text must be printed again."""
        self._headers: dict[int, str] = {}
        self.additions: list[str] = []
        """Lines for the end of the module: declarations and metadata that edits added."""

    # Reading

    def get(self, id_: str) -> Instr | None:
        """The instruction of this id as it stands now; None if it is gone or never was."""
        if id_ in self._instr:
            return self._instr[id_]
        return self.index.instr.get(id_)

    def find(self, id_: str, allowed: Callable[[Instr], bool]) -> Instr:
        """The instruction of this id; raises `Skipped` if it is gone or not allowed."""
        instr = self.get(id_)
        if instr is None:
            raise Skipped(f"{id_} is gone")
        if not allowed(instr):
            raise Skipped(f"{id_} is a {instr.opcode} that this edit leaves alone")
        return instr

    def block_of(self, id_: str) -> str:
        """The block that an instruction is in now."""
        return self._block_of.get(id_) or self.index.block_of[id_]

    def body(self, block: str) -> list[str] | tuple[str, ...]:
        """The ids of a block's instructions, in order."""
        return self._body.get(block) or self.index.body[block]

    def users(self, value: str) -> list[str]:
        """The instructions that use a value, in a fixed order."""
        if value in self._users:
            return list(self._users[value])
        return list(self.index.users.get(value, ()))

    def type_of(self, value: str) -> str | None:
        """The type of a local value; None if it is gone."""
        if value in self.index.arg_type:
            return self.index.arg_type[value]
        instr = self.get(value)
        return None if instr is None else instr.type

    def position(self, id_: str) -> tuple[str, int]:
        """The block of an instruction, and how many instructions come before it there."""
        block = self.block_of(id_)
        return block, self.body(block).index(id_)

    def use_point(self, user: Instr, operand: int) -> tuple[str, int]:
        """Where an operand must be available: before its user, or at the end of a phi's edge."""
        if user.opcode == "phi":
            block = user.blocks[operand]
            return block, len(self.body(block))
        return self.position(user.id)

    def available(self, value: str, block: str, position: int) -> bool:
        """Whether a local value may be used before this position of this block."""
        function = self.index.function_of[block]
        if value in self.index.arg_type:
            return self.index.function_of[value] == function
        if self.get(value) is None:
            return False
        defined_in = self.block_of(value)
        if defined_in == block:
            return self.body(block).index(value) < position
        if self.index.function_of[defined_in] != function:
            return False
        dominance = self.index.dominance[function]
        return dominance.reachable(defined_in) and dominance.dominates(defined_in, block)

    def values(self, kind: str, block: str, position: int) -> Iterator[str]:
        """Local values of a type that may be used here, nearest first, then the arguments."""
        for id_ in reversed(self.body(block)[:position]):
            instr = self.get(id_)
            if instr is not None and instr.type == kind:
                yield id_
        function = self.index.function_of[block]
        for upper in self.index.dominance[function].dominators(block):
            if upper not in self._body:
                yield from reversed(self.index.values_by_type[upper].get(kind, ()))
                continue
            for id_ in reversed(self._body[upper]):
                instr = self.get(id_)
                if instr is not None and instr.type == kind:
                    yield id_
        yield from self.index.args[function].get(kind, ())

    def header(self, function: int) -> str:
        """The first line of a function, which names its arguments and attributes."""
        return self._headers.get(function) or self.index.functions[function].header

    # Changing

    def set_header(self, function: int, text: str) -> None:
        self._headers[function] = text

    def add_loop_node(self, hint: str) -> str:
        """Add a metadata node for one loop, such as ``!{!"llvm.loop.unroll.full"}``; returns its name."""
        name = f"!{self.index.next_metadata + len(self.additions)}"
        self.additions.append(f"{name} = distinct !{{{name}, {hint}}}")
        return name

    def add_node(self, text: str) -> str:
        """Add a metadata node, such as ``!{!"branch_weights", i32 1, i32 9}``; returns its name."""
        name = f"!{self.index.next_metadata + len(self.additions)}"
        self.additions.append(f"{name} = {text}")
        return name

    def declare(self, name: str, line: str) -> None:
        """Add the declaration of an intrinsic, unless the module has it."""
        if name not in self.index.declared and line not in self.additions:
            self.additions.append(line)

    def put(self, instr: Instr) -> None:
        """Set the instruction of an id, and update who uses what."""
        old = self.get(instr.id)
        if old is not None:
            for operand in old.operands:
                if operand.local is not None:
                    self._edit_users(operand.local).pop(instr.id, None)
        for operand in instr.operands:
            if operand.local is not None:
                self._edit_users(operand.local)[instr.id] = None
        self._instr[instr.id] = instr
        if old is not None:
            self.touched.add(self.block_of(instr.id))

    def insert(self, instr: Instr, block: str, position: int) -> None:
        self._edit_body(block).insert(position, instr.id)
        self._block_of[instr.id] = block
        self.put(instr)

    def remove(self, id_: str) -> None:
        """Take out an instruction that nothing uses."""
        instr = self.get(id_)
        assert instr is not None
        block = self.block_of(id_)
        self._edit_body(block).remove(id_)
        for operand in instr.operands:
            if operand.local is not None:
                self._edit_users(operand.local).pop(id_, None)
        self._instr[id_] = None

    def move_to(self, id_: str, block: str, position: int) -> None:
        """Move an instruction; the position counts after it has been taken out."""
        self._edit_body(self.block_of(id_)).remove(id_)
        self._edit_body(block).insert(position, id_)
        self._block_of[id_] = block

    def exchange(self, one: str, other: str) -> None:
        """Let two instructions change places."""
        (block, at), (other_block, other_at) = self.position(one), self.position(other)
        self._edit_body(block)[at] = other
        self._edit_body(other_block)[other_at] = one
        self._block_of[one], self._block_of[other] = other_block, block

    def _edit_body(self, block: str) -> list[str]:
        self.touched.add(block)
        if block not in self._body:
            self._body[block] = list(self.index.body[block])
        return self._body[block]

    def _edit_users(self, value: str) -> dict[str, None]:
        if value not in self._users:
            self._users[value] = dict.fromkeys(self.index.users.get(value, ()))
        return self._users[value]

    # Repair

    def substitute(self, kind: str, block: str, position: int, seed: int, purpose: str) -> str:
        """A value, argument or constant of a type that may be used here, as operand text."""
        near = [f"%{value}" for value in islice(self.values(kind, block, position), NEAREST)]
        constants = self.index.constants_of(self.index.function_of[block], kind)
        found = seeded_choice(seed, purpose, [*near, *constants])
        if found is not None:
            return found
        return "null" if kind.startswith("ptr") else "zeroinitializer"

    def repair_inputs(self, instr: Instr, block: str, position: int, seed: int) -> Instr:
        """Replace every operand that is not available at a position by one that is."""
        for number, operand in enumerate(instr.operands):
            if operand.local is not None and not self.available(operand.local, block, position):
                purpose = f"in{number}"
                found = self.substitute(operand.type, block, position, seed, purpose)
                instr = instr.with_operand(number, found)
        return instr

    def repair_uses(self, value: str, seed: int) -> int:
        """Replace a moved value in the uses that it no longer dominates; returns how many uses are left."""
        left = 0
        for user_id in self.users(value):
            user = self.get(user_id)
            assert user is not None
            for number in range(len(user.operands)):
                operand = user.operands[number]
                if operand.local != value:
                    continue
                block, position = self.use_point(user, number)
                if self.available(value, block, position):
                    left += 1
                    continue
                purpose = f"out{user_id}.{number}"
                found = self.substitute(operand.type, block, position, seed, purpose)
                user = user.with_operand(number, found)
            self.put(user)
        return left

    def replace_uses(self, value: str, text: str) -> None:
        """Replace a value in all its uses by this operand text."""
        for user_id in self.users(value):
            user = self.get(user_id)
            assert user is not None
            for number, operand in enumerate(user.operands):
                if operand.local == value:
                    user = user.with_operand(number, text)
            self.put(user)

    def connect(self, instr: Instr, seed: int) -> bool:
        """Let one later operand of the same type use the result of an instruction; False if none can."""
        slots = [f"{user} {number}" for user, number in islice(self._slots(instr), NEAREST)]
        chosen = seeded_choice(seed, "connect", slots)
        if chosen is None:
            return False
        user_id, number = chosen.split()
        user = self.get(user_id)
        assert user is not None
        self.put(user.with_operand(int(number), f"%{instr.id}"))
        return True

    def _slots(self, instr: Instr) -> Iterator[tuple[str, int]]:
        """Operands that the result of an instruction could take, nearest first."""
        home, position = self.position(instr.id)
        dominance = self.index.dominance[self.index.function_of[home]]
        below = ((block, 0) for block in dominance.dominated(home))
        for block, start in chain([(home, position + 1)], below):
            for id_ in self.body(block)[start:]:
                user = self.get(id_)
                if user is None or user.opcode == "phi":
                    continue
                for number, operand in enumerate(user.operands):
                    if operand.type == instr.type and not operand.fixed:
                        yield id_, number
            for successor in dict.fromkeys(dominance.successors[block]):
                for id_ in self.body(successor):
                    phi = self.get(id_)
                    if phi is None or phi.opcode != "phi":
                        break
                    for number, incoming in enumerate(phi.blocks):
                        if incoming == block and phi.type == instr.type:
                            yield id_, number
