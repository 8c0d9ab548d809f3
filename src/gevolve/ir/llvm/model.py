"""An editable model of LLVM-IR: an instruction is its text, cut where its operands are.

llvmlite's values are read-only, so edits work on this model. LLVM verifies the text that comes in and
the text that goes out; the model only knows where the operands are and what type they have. Every argument, block and instruction has an id (``a0``, ``b0``, ``i0`` … through the module in
order), which is also its name in the text that is printed back.
"""

from typing import NamedTuple

TERMINATORS = frozenset({"ret", "br", "switch", "unreachable", "indirectbr"})


class Operand(NamedTuple):
    """A use of a value: ``%id`` for a local one, otherwise the text of a constant or global."""

    type: str
    value: str
    fixed: bool = False
    """Whether it must stay the constant that it is (struct indices, immediates, masks)."""

    @property
    def local(self) -> str | None:
        """The id of the local value that is used, if it is one."""
        return self.value[1:] if self.value.startswith("%") else None


class Instr(NamedTuple):
    """One instruction: its operands, and the parts of its text between them."""

    id: str
    opcode: str
    type: str
    """Of the result; ``void`` if there is none."""
    parts: tuple[str, ...]
    operands: tuple[Operand, ...]
    blocks: tuple[str, ...] = ()
    """Of a phi the incoming blocks, in the order of its operands; of a terminator the successors."""

    @property
    def text(self) -> str:
        pieces = [f"  %{self.id} = " if self.type != "void" else "  "]
        for part, operand in zip(self.parts, self.operands, strict=False):
            pieces += (part, operand.value)
        pieces.append(self.parts[-1])
        return "".join(pieces)

    def with_operand(self, index: int, value: str) -> "Instr":
        """A copy that uses another value there.

        A block that reaches a phi by several cases of one switch is listed once for each, and LLVM
        wants the same value every time.
        """
        operands = list(self.operands)
        changed = operands[index]._replace(value=value)
        if self.opcode == "phi":
            for number, block in enumerate(self.blocks):
                if block == self.blocks[index]:
                    operands[number] = changed
        operands[index] = changed
        return self._replace(operands=tuple(operands))


class Block(NamedTuple):
    """A basic block: its instructions in order, the last one a terminator."""

    id: str
    body: tuple[Instr, ...]


class LlvmFunction(NamedTuple):
    """A function definition: the text of its first line, its arguments and blocks."""

    name: str
    header: str
    args: tuple[tuple[str, str], ...]
    """Each argument as (id, type)."""
    blocks: tuple[Block, ...]
    kernel: bool


class LlvmModule(NamedTuple):
    """A module: its functions, and the text between them, which no edit changes."""

    chunks: tuple[str | LlvmFunction, ...]

    @property
    def functions(self) -> tuple[LlvmFunction, ...]:
        return tuple(chunk for chunk in self.chunks if isinstance(chunk, LlvmFunction))
