"""Shapes of machine words, learnt from what their bits do, and tried before they are believed."""

import random
from collections.abc import Iterable, Sequence

from gevolve.device.sim.machine.observe import (
    BITS,
    Attribute,
    Meaning,
    Oracle,
    Sample,
    label,
    meaning_of,
    observe,
)
from gevolve.device.sim.machine.shape import CONTROL, GUARD, Field, Layout, OperandShape, Shape
from gevolve.device.sim.machine.table import OPCODE, Table

_TRIALS = 12


def learn(words: Sequence[int], table: Table, oracle: Oracle) -> list[int]:
    """Adds the shapes of these words to a table; those that are no instructions are the answer.

    Opcodes that the table knows keep their layout. A word that does not fit it, or whose shape fails
    when it is tried, is kept as it is, values and all.
    """
    samples = observe(words, oracle)
    found = {sample.word & OPCODE for sample in samples}
    for opcode in found - table.layouts.keys():
        mine = [sample for sample in samples if sample.word & OPCODE == opcode]
        table.layouts[opcode] = layout(mine, (w for w in words if w & OPCODE == opcode))
    learnt: list[tuple[int, Layout, Shape]] = []
    for sample in samples:
        where = table.layouts[sample.word & OPCODE]
        if not sample.structural & where.values & ~union(where.marked):
            learnt.append((sample.word, where, shape(sample, where)))
    bad = {n for n, _ in wrong(learnt, oracle)}
    for n, (word, where, made) in enumerate(learnt):
        if n not in bad:
            table.shapes.setdefault(where.key(word), made)
    rest = [word for word in words if table.find(word) is None]
    return _keep(rest, table, oracle)


def _keep(words: Sequence[int], table: Table, oracle: Oracle) -> list[int]:
    """Keeps words with their values; those that are no instructions are the answer."""
    answers = oracle.ask([word for each in words for word in (each, each)])
    unknown: list[int] = []
    for n, word in enumerate(words):
        first, second = answers[2 * n : 2 * n + 2]
        if first is None or second is None:
            unknown.append(word)
            continue
        relative = label(first[0]) != label(second[0])
        sample = Sample(word, meaning_of(first, relative=relative), relative)
        table.exact[word & ~CONTROL & ~GUARD] = shape(sample, Layout(0, ()))
    return unknown


def layout(samples: Sequence[Sample], words: Iterable[int] = ()) -> Layout:
    """Which bits are values in all samples of one opcode.

    Bits that no text shows (a register that is not printed) are left out of the key only if they are
    seen to differ in `words`, which are the opcode's.
    """
    structural = values = shown = differing = 0
    marked: set[int] = set()
    for sample in samples:
        marked |= sample.marked
    covered = union(marked)
    for sample in samples:
        structural |= sample.structural & ~covered
        values |= sample.values
        shown |= ~sample.ignored
    first: int | None = None
    for word in words:
        first = word if first is None else first
        differing |= word ^ first
    hidden = differing & ~shown & ~CONTROL
    everything = sum(1 << bit for bit in BITS)
    free = (values | covered | hidden) & ~structural & everything
    return Layout(
        free | CONTROL | GUARD,
        tuple(sorted(mask for mask in marked if mask & free == mask)),
    )


def union(masks: Iterable[int]) -> int:
    joined = 0
    for mask in masks:
        joined |= mask
    return joined


def shape(sample: Sample, where: Layout) -> Shape:
    """The shape of a sample, as far as bits are values in the layout of its opcode."""
    weights: dict[Attribute, list[tuple[int, int]]] = {}
    for bit, effects in sorted(sample.weights.items()):
        if where.values >> bit & 1:
            for at, weight in effects.items():
                weights.setdefault(at, []).append((bit, weight))
    operands: list[OperandShape] = []
    for n, kind in enumerate(sample.meaning.kinds):
        mine = {a: v for (m, a), v in sample.meaning.values.items() if m == n}
        made = tuple(
            Field(
                name,
                mine[name] - sum(w for bit, w in bits if sample.word >> bit & 1),
                _runs(bits),
            )
            for (m, name), bits in weights.items()
            if m == n
        )
        named = {f.name for f in made}
        fixed = tuple((a, v) for a, v in mine.items() if a not in named)
        operands.append(OperandShape(kind, fixed, made))
    meaning = sample.meaning
    return Shape(meaning.name, meaning.uniform, sample.relative, tuple(operands))


def _runs(bits: list[tuple[int, int]]) -> tuple[tuple[int, int, int], ...]:
    """Bits and weights as runs in which each weighs twice the one before."""
    runs: list[list[int]] = []
    for bit, weight in bits:
        if runs:
            low, count, least = runs[-1]
            if bit == low + count and weight == least << count:
                runs[-1][1] += 1
                continue
        runs.append([bit, 1, weight])
    return tuple((low, count, weight) for low, count, weight in runs)


def wrong(
    learnt: Sequence[tuple[int, Layout, Shape]], oracle: Oracle, seed: int = 0
) -> list[tuple[int, int]]:
    """Which shapes say of a word something else than the disassembler: their number and that word.

    Each is given with the word that it was learnt from and tried on words with other values.
    """
    rng = random.Random(seed)  # noqa: S311  (values to try, not secrets)
    probes: list[tuple[int, int]] = []
    for n, (word, where, _) in enumerate(learnt):
        free = where.values & ~CONTROL & ~GUARD
        for mask in where.marked:
            if word & mask == mask:
                free &= ~mask
        for trial in range(_TRIALS):
            other = _other(rng, free, trial)
            probe = word & ~free | other & free
            if where.key(probe) == where.key(word):
                probes.append((n, probe))
    answers = oracle.ask([probe for _, probe in probes])
    bad: list[tuple[int, int]] = []
    for (n, probe), answer in zip(probes, answers, strict=True):
        if answer is None:
            continue
        told = learnt[n][2]
        meaning = meaning_of(answer, relative=told.relative)
        if not _agrees(told, probe, meaning):
            bad.append((n, probe))
    return bad


def _other(rng: random.Random, free: int, trial: int) -> int:
    """Values to try: none set, one in each low place, then random ones."""
    if trial == 0:
        return 0
    if trial == 1:
        return free & ~(free << 1)
    return rng.getrandbits(128)


def _agrees(told: Shape, word: int, meaning: Meaning) -> bool:
    values = {
        (n, name): value
        for n, operand in enumerate(told.operands)
        for name, value in operand.values(word).items()
    }
    kinds = tuple(operand.kind for operand in told.operands)
    return Meaning(told.name, told.uniform, kinds, values) == meaning
