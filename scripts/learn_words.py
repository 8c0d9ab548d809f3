"""Add to the tables of machine words: `python scripts/learn_words.py FOLDER_OF_PTX [sm_80 …]`.

Assembles every PTX file for each architecture, groups the words that its table does not know by what the
disassembler says of them, and learns the shapes of each group. The more PTX, the fewer words must be
asked for when a search runs. To start anew, delete the table.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

from gevolve.device.sim.machine import elf
from gevolve.device.sim.machine.assemble import assemble
from gevolve.device.sim.machine.learn import learn
from gevolve.device.sim.machine.observe import IDLE, Oracle, meaning_of
from gevolve.device.sim.machine.shape import CONTROL, GUARD
from gevolve.device.sim.machine.table import OPCODE, dump, family, load
from gevolve.errors import GevolveError

ARCHS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_120")
TABLES = Path(__file__).parents[1] / "src/gevolve/device/sim/machine/tables"
EACH = 3
"""Words of a group that are looked at."""

_TARGET = re.compile(r"^\.target\s+sm_(\d+)[af]?", re.MULTILINE)


def main() -> None:
    """Learn and write."""
    folder, *archs = sys.argv[1:]
    for arch in archs or ARCHS:
        table, oracle = load(arch), Oracle(arch)
        found = sorted(words_of(sorted(Path(folder).rglob("*.ptx")), arch))
        words = [word for word in found if table.find(word) is None]
        print(f"{arch}: {len(found)} words, {len(words)} of them new", flush=True)
        unknown = learn(chosen(words, oracle), table, oracle)
        left = [word for word in words if table.find(word) is None]
        unknown += learn(left, table, oracle) if left else []
        print(
            f"{arch}: {len(table.layouts)} opcodes, {len(table.shapes)} shapes, "
            f"{len(table.exact)} words as they are, {len(unknown)} unknown",
            [hex(word) for word in unknown[:4]],
            flush=True,
        )
        TABLES.mkdir(exist_ok=True)
        (TABLES / f"{family(arch)}.json").write_text(dump(table))


def words_of(files: list[Path], arch: str) -> set[int]:
    """All words of all files, without scheduling and guard."""
    found: set[int] = set()
    for file in files:
        try:
            data = assemble(retargeted(file.read_text(), arch), arch)
        except GevolveError:
            continue
        for section in elf.read(data).sections:
            if section.name.startswith(".text."):
                code = section.data
                found |= {
                    int.from_bytes(code[at : at + 16], "little") & ~CONTROL & ~GUARD | IDLE
                    for at in range(0, len(code), 16)
                }
    return found


def retargeted(ptx: str, arch: str) -> str:
    """PTX that says it is for no newer GPU than this."""

    def least(found: re.Match[str]) -> str:
        newer = int(found[1]) > int(arch.removeprefix("sm_"))
        return f".target {arch}" if newer else found[0]

    return _TARGET.sub(least, ptx)


def chosen(words: list[int], oracle: Oracle) -> list[int]:
    """A few words of each kind: of one opcode, name, operands and signs."""
    groups: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for word, answer in zip(words, oracle.ask(words), strict=True):
        if answer is not None:
            told = meaning_of(answer, relative=False)
            rest = tuple((k, v) for k, v in told.values.items() if not isinstance(v, int))
            groups[word & OPCODE, told.name, told.kinds, rest].append(word)
    return [
        word for group in groups.values() for word in group[:: max(1, len(group) // EACH)][:EACH]
    ]


if __name__ == "__main__":
    main()
