"""What each bit of a machine word does, by NVIDIA's disassembler.

Each bit of a sample word is flipped in turn, and the text says what changed: a number of an operand
(then the bit is a value, with a weight), whether an operand is printed at all, or something else.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gevolve.device.sim.machine.disassembler import BYTES, attempt
from gevolve.device.sim.machine.instruction import Label, UPred
from gevolve.device.sim.machine.shape import (
    CONTROL,
    GUARD,
    flat,
)
from gevolve.device.sim.machine.text import Parts, parse
from gevolve.errors import UnsupportedError

IDLE = 0xFC0 << 104
"""No scoreboard: some instructions must not have one."""
BITS = tuple(bit for bit in range(16, 128) if not CONTROL >> bit & 1)
_BATCH = 40_000
_INDICES = frozenset({"index", "register", "uniform", "descriptor", "register.index"})

Attribute = tuple[int, str]
"""Which operand, and which number of it."""


def uniform_zero(arch: str) -> int:
    """The index of ``URZ`` in a word: six bits, and eight from sm_100 on."""
    return 255 if int(arch.rstrip("af").removeprefix("sm_")) >= 100 else 63


@dataclass(slots=True)
class Meaning:
    """A word's parts, taken apart; the label without the word's own address if `relative`."""

    name: str
    uniform: bool
    kinds: tuple[str, ...]
    values: dict[Attribute, Any]


@dataclass(slots=True)
class Sample:
    """What the bits of one word do."""

    word: int
    meaning: Meaning
    relative: bool
    weights: dict[int, dict[Attribute, int]] = field(
        default_factory=dict[int, dict[Attribute, int]]
    )
    """Bits that are values: what each adds to which number when it is set."""
    ignored: int = 0
    structural: int = 0
    marked: set[int] = field(default_factory=set[int])

    @property
    def values(self) -> int:
        return sum(1 << bit for bit in self.weights)


class Oracle:
    """The disassembler's word on words."""

    def __init__(self, arch: str) -> None:
        self.arch = arch
        self.urz = uniform_zero(arch)

    def ask(self, words: Sequence[int]) -> list[tuple[Parts, int] | None]:
        """The parts of each word and the address that it was given; None if it is no instruction."""
        found: list[tuple[Parts, int] | None] = []
        for first in range(0, len(words), _BATCH):
            batch = words[first : first + _BATCH]
            for n, (word, text) in enumerate(zip(batch, attempt(batch, self.arch), strict=True)):
                found.append(self._parsed(text, word, BYTES * n))
        return found

    def _parsed(self, text: str | None, word: int, address: int) -> tuple[Parts, int] | None:
        if text is None:
            return None
        try:
            return parse(text, word, address, self.urz), address
        except UnsupportedError:
            return None


def observe(words: Iterable[int], oracle: Oracle) -> list[Sample]:
    """What the bits of each word do; words that are no instructions are left out.

    A word whose field lacks one bit to be special (``P3``, where ``PT`` is not printed) does not tell
    all about it, so one with that field at 0 is taken instead.
    """
    samples = _observe(words, oracle)
    again = {n: plain for n, s in enumerate(samples) if (plain := _plain(s)) != s.word}
    for n, better in zip(again, _observe(again.values(), oracle), strict=True):
        samples[n] = better
    _find_marked(samples, oracle)
    return samples


def _plain(sample: Sample) -> int:
    cleared = 0
    for (_, name), bits in _fields(sample).items():
        if name in _INDICES and len(bits) in {2, 5, 7}:
            cleared |= sum(1 << bit for bit in bits)
    return sample.word & ~cleared


def _observe(words: Iterable[int], oracle: Oracle) -> list[Sample]:
    bases = [word & ~(CONTROL | GUARD) | IDLE for word in words]
    probes = [probe for base in bases for probe in (base, base, *(base ^ 1 << b for b in BITS))]
    answers = oracle.ask(probes)
    size = 2 + len(BITS)
    samples: list[Sample] = []
    for n, base in enumerate(bases):
        first, second, *flips = answers[size * n : size * (n + 1)]
        if first is None or second is None:
            continue
        relative = label(first[0]) != label(second[0])
        meaning = meaning_of(first, relative=relative)
        if meaning != meaning_of(second, relative=relative):
            continue
        sample = Sample(base, meaning, relative)
        shown: dict[int, Meaning] = {}
        for bit, flip in zip(BITS, flips, strict=True):
            if flip is None:
                sample.structural |= 1 << bit
            else:
                shown[bit] = meaning_of(flip, relative=relative)
                _classify(sample, bit, shown[bit])
        _find_doubled(sample)
        _find_hidden(sample, shown)
        samples.append(sample)
    return samples


def label(parts: Parts) -> int | None:
    return next((o.address for o in parts.operands if isinstance(o, Label)), None)


def meaning_of(answer: tuple[Parts, int], *, relative: bool) -> Meaning:
    parts, address = answer
    values = {(n, name): v for n, o in enumerate(parts.operands) for name, v in flat(o).items()}
    if relative:
        for (n, name), value in values.items():
            if isinstance(parts.operands[n], Label):
                values[n, name] = value - address
    return Meaning(
        ".".join((parts.opcode, *parts.modifiers)),
        isinstance(parts.guard, UPred),
        tuple(type(operand).__name__ for operand in parts.operands),
        values,
    )


def _same_form(one: Meaning, other: Meaning) -> bool:
    return (one.name, one.uniform, one.kinds) == (other.name, other.uniform, other.kinds)


def _classify(sample: Sample, bit: int, shown: Meaning) -> None:
    """A bit is a value if all that it changes is numbers, a part of the key if anything else."""
    base = sample.meaning
    if shown == base:
        sample.ignored |= 1 << bit
        return
    changed = {
        at: (base.values.get(at), value)
        for at, value in shown.values.items()
        if base.values.get(at) != value
    }
    numbers = all(isinstance(v, int) for pair in changed.values() for v in pair)
    if not _same_form(base, shown) or base.values.keys() != shown.values.keys() or not numbers:
        sample.structural |= 1 << bit
        return
    sign = -1 if sample.word >> bit & 1 else 1
    weights = {at: sign * (new - old) for at, (old, new) in changed.items()}
    if any(abs(weight).bit_count() != 1 for weight in weights.values()):
        sample.structural |= 1 << bit
    else:
        sample.weights[bit] = weights


def _find_doubled(sample: Sample) -> None:
    """Two bits of one number cannot weigh the same: the one that has no neighbour says something else."""
    odd: set[int] = set()
    for at, bits in _fields(sample).items():
        weights = {bit: abs(sample.weights[bit][at]) for bit in bits}
        for bit, weight in weights.items():
            twin = list(weights.values()).count(weight) > 1
            joined = weights.get(bit + 1) == 2 * weight or 2 * weights.get(bit - 1, 0) == weight
            if twin and not joined:
                odd.add(bit)
    for bit in odd:
        del sample.weights[bit]
        sample.structural |= 1 << bit


def _find_hidden(sample: Sample, shown: Mapping[int, Meaning]) -> None:
    """Fields that are not printed since all their bits are set: each flip brings the operand up."""
    bits = [b for b in shown if sample.structural >> b & 1 and sample.word >> b & 1]
    for low in bits:
        for width in (8, 6, 3):
            run = range(low, low + width)
            if all(bit in bits for bit in run) and _reveals(sample.meaning, shown, run):
                mask = (1 << width) - 1 << low
                sample.marked.add(mask)
                sample.structural &= ~mask
                break


def _reveals(base: Meaning, shown: Mapping[int, Meaning], run: range) -> bool:
    """Whether flips of a run of bits bring up one and the same number, with that bit missing."""
    ones = (1 << len(run)) - 1
    places: set[Attribute] = set()
    for n, bit in enumerate(run):
        new = shown[bit]
        if new.name != base.name or new.uniform != base.uniform:
            return False
        found = _revealed(base, new, ones ^ 1 << n)
        if found is None:
            return False
        places.add(found)
    return len(places) == 1


def _revealed(base: Meaning, new: Meaning, value: int) -> Attribute | None:
    """The place of a number that only the new meaning has; None if more is new."""
    if new.kinds == base.kinds:
        changed = [at for at, v in new.values.items() if base.values.get(at) != v]
        fresh = [at for at in changed if base.values.get(at) is None and new.values[at] == value]
        return fresh[0] if len(fresh) == 1 and len(changed) == 1 else None
    for n in range(len(new.kinds)):
        if (*new.kinds[:n], *new.kinds[n + 1 :]) != base.kinds:
            continue
        rest = {(m - (m > n), a): v for (m, a), v in new.values.items() if m != n}
        if rest == base.values and new.values.get((n, "index")) == value:
            return n, "index"
    return None


def _fields(sample: Sample) -> dict[Attribute, list[int]]:
    """The bits of each number, lowest first."""
    found: dict[Attribute, list[int]] = {}
    for bit, effects in sample.weights.items():
        for at in effects:
            found.setdefault(at, []).append(bit)
    return found


def _find_marked(samples: list[Sample], oracle: Oracle) -> None:
    """Fields that are printed in another way if all their bits are set."""
    probes: list[tuple[Sample, Attribute, int]] = []
    for sample in samples:
        for at, bits in _fields(sample).items():
            mask = sum(1 << bit for bit in bits)
            if at[1] in _INDICES and len(bits) in {3, 6, 8}:
                probes.append((sample, at, mask))
    answers = oracle.ask([sample.word | mask for sample, _, mask in probes])
    for (sample, _, mask), answer in zip(probes, answers, strict=True):
        told = answer and meaning_of(answer, relative=sample.relative)
        if told != _predicted(sample, sample.word | mask):
            sample.marked.add(mask)


def _predicted(sample: Sample, word: int) -> Meaning:
    """What a word with other values should mean."""
    values = dict(sample.meaning.values)
    for bit, effects in sample.weights.items():
        if (word ^ sample.word) >> bit & 1:
            sign = 1 if word >> bit & 1 else -1
            for at, weight in effects.items():
                values[at] += sign * weight
    base = sample.meaning
    return Meaning(base.name, base.uniform, base.kinds, values)
