"""The decoder against NVIDIA's disassembler, word by word."""

from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from gevolve.device.sim import Sim
from gevolve.device.sim.machine import assemble, elf, learnt
from gevolve.device.sim.machine import decode as decoding
from gevolve.device.sim.machine.decode import Decoder, decode
from gevolve.device.sim.machine.disassembler import disassemble
from gevolve.device.sim.machine.instruction import Control, Imm, Label, Pred, Reg
from gevolve.device.sim.machine.table import dump, load
from gevolve.device.sim.machine.table import parse as parse_table
from gevolve.device.sim.machine.text import parse
from gevolve.errors import CompileError, UnsupportedError
from gevolve.ir.llvm.codegen import to_ptx
from gevolve.patch import Patch
from gevolve.workload.locate import locate

TESTS = Path(__file__).parents[3]
PTX = [*sorted(TESTS.glob("device/fixtures/*.ptx")), TESTS / "device/sim/ptx/programs.ptx"]
SUITE = ("hotspot", "pathfinder", "gemm", "reduction", "histogram", "bfs")
NOP = 0x000FC000000000000000000000007918


def words_of(ptx, arch):
    sections = elf.read(assemble(ptx, arch)).sections
    code = b"".join(s.data for s in sections if s.name.startswith(".text."))
    return [int.from_bytes(code[n : n + 16], "little") for n in range(0, len(code), 16)]


@cache
def suite():
    return {name: locate(f"tuned/{name}").load() for name in SUITE}


def fixtures(arch):
    words = []
    for path in PTX:
        try:
            words += words_of(path.read_text(), arch)
        except CompileError:
            assert path.name == "programs.ptx"  # it has bfloat16, from sm_80 on
    return words


def check(words, arch):
    """Every word, at the address that it has here, is what the disassembler says."""
    code = b"".join(word.to_bytes(16, "little") for word in words)
    texts = disassemble(words, arch)
    for got, text, word in zip(decode(code, arch), texts, words, strict=True):
        told = parse(text, word, got.address)
        assert (got.guard, got.opcode, got.modifiers, got.operands) == (
            told.guard,
            told.opcode,
            told.modifiers,
            told.operands,
        ), text


def no_questions(monkeypatch):
    def learn(words, table, oracle):
        raise AssertionError([hex(word) for word in words])

    monkeypatch.setattr(decoding, "learn", learn)


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90"])
def test_all_fixtures(arch, monkeypatch):
    no_questions(monkeypatch)
    check(fixtures(arch), arch)


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_120"])
def test_the_suite(arch):
    for program in suite().values():
        check(words_of(to_ptx(program.text), arch), arch)


@pytest.mark.slow
@pytest.mark.parametrize("name", SUITE)
def test_random_variants(name):
    """Edits give endless variety of registers and schedules."""
    program = suite()[name]
    rng = np.random.default_rng(7)
    words = set()
    for _ in range(12):
        kinds = [program.kinds[int(n)] for n in rng.integers(len(program.kinds), size=3)]
        edits = tuple(e for kind in kinds if (e := program.propose(kind, rng, None)))
        text = program.apply(Patch(edits)).text
        if program.verify(text) is None:
            words |= set(words_of(to_ptx(text), "sm_80"))
    check(sorted(words), "sm_80")


def test_a_word_that_is_no_instruction_is_named():
    with pytest.raises(UnsupportedError, match="no instruction of sm_80") as failure:
        decode((NOP | 0xFFF).to_bytes(16, "little"), "sm_80")
    assert "\n" not in str(failure.value)


def test_shapes_that_are_missing_are_learnt(monkeypatch):
    """Without a table the disassembler is asked, and the answers are the same."""
    words = words_of(PTX[0].read_text(), "sm_80")[:48]
    told = Decoder("sm_80").decode(words, 0, ())
    monkeypatch.setattr(decoding, "load", lambda arch: parse_table(EMPTY))
    learner = Decoder("sm_80")
    assert learner.decode(words, 0, ()) == told
    no_questions(monkeypatch)
    assert learner.decode(words, 0x40, ())[0].address == 0x40


EMPTY = '{"layouts":{},"shapes":{},"exact":{},"operands":[]}'


@pytest.fixture
def incomplete(monkeypatch, tmp_path):
    """Words of a program, and a shipped table that lacks the shapes of some of them."""
    words = words_of(PTX[0].read_text(), "sm_80")[:24]
    table = load("sm_80")
    for word in words[:4]:
        table.shapes.pop(table.layouts[word & 0xFFF].key(word), None)
    text = dump(table)
    monkeypatch.setattr(decoding, "load", lambda arch: parse_table(text))
    monkeypatch.setattr(learnt, "shipped", lambda arch: text)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return words


def test_what_was_learnt_is_known_to_other_processes(monkeypatch, incomplete, tmp_path):
    told = Decoder("sm_80").decode(incomplete, 0, ())
    (file,) = tmp_path.rglob("*.json")
    no_questions(monkeypatch)
    assert Decoder("sm_80").decode(incomplete, 0, ()) == told
    monkeypatch.undo()
    assert Decoder("sm_80").decode(incomplete, 0, ()) == told  # as the whole table says
    assert file.stat().st_size < 10_000


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: text.replace("IMAD", "IADD").replace("MOV", "NOP"),
        lambda text: f"{sha256(b'[]').hexdigest()}\n[]",
        lambda text: f"{sha256(b'{}').hexdigest()}\n{{}}",
    ],
)
def test_a_damaged_file_is_as_good_as_none(incomplete, tmp_path, damage):
    told = Decoder("sm_80").decode(incomplete, 0, ())
    (file,) = tmp_path.rglob("*.json")
    whole = file.read_text()
    file.write_text(damage(whole))
    assert Decoder("sm_80").decode(incomplete, 0, ()) == told
    assert file.read_text() == whole


def test_no_place_to_keep_it_is_no_fault(monkeypatch, incomplete, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert Decoder("sm_80").decode(incomplete, 0, ())


def test_a_table_is_its_text():
    table = load("sm_80")
    assert parse_table(dump(table)) == table


def test_what_the_bits_of_scheduling_mean():
    (nop,) = decode(NOP.to_bytes(16, "little"), "sm_80")
    assert nop.control == Control(0, yields=True, write=None, read=None, wait=0, reuse=0)
    busy = NOP & ~(0x1FFFFF << 105) | 0b0001_000011_111_010_1_0101 << 105
    (nop,) = decode(busy.to_bytes(16, "little"), "sm_80")
    assert nop.control == Control(5, yields=False, write=2, read=None, wait=3, reuse=1)


def test_guards_labels_and_numbers():
    # @!P2 BRA to itself, and IADD3 R4, R5, -0x30, RZ
    jump = 0x000FC0000383FFFFFFFFFFF00000A947
    add = 0x000FE20007FFE0FFFFFFFFD005047810
    code = b"".join(word.to_bytes(16, "little") for word in (add, jump))
    first, second = decode(code, "sm_80", 0x100)
    assert second.guard == Pred(2, negate=True)
    assert second.operands == (Label(0x110),)
    assert first.operands == (Reg(4), Reg(5), Imm(0xFFFFFFD0), Reg(255))


def test_numbers_in_bfloat16():
    # HFMA2.BF16_V2 R2, R8, 1.5, -1, R4: in half precision these bits are other numbers
    (fma,) = decode(0x000FC000002000043FC0BF8008027831.to_bytes(16, "little"), "sm_80")
    assert (fma.opcode, fma.modifiers) == ("HFMA2", ("BF16_V2",))
    assert fma.operands == (Reg(2), Reg(8), Imm(0x3FC0, "f16"), Imm(0xBF80, "f16"), Reg(4))


def test_a_process_that_may_write_no_file_says_what_it_asked(monkeypatch, incomplete, tmp_path):
    """Another one then asks for it, and keeps the answers."""
    child, worker = Decoder("sm_80"), Decoder("sm_80")
    with monkeypatch.context() as confined:
        confined.setattr(learnt, "keep", lambda arch, table: None)
        told = child.decode(incomplete, 0, ())
    assert not [*tmp_path.rglob("*.json")]
    asked = child.asked()
    assert asked
    assert not child.asked()
    worker.learn(asked)
    assert not worker.asked()  # which its own forks would say again
    no_questions(monkeypatch)
    assert worker.decode(incomplete, 0, ()) == told
    assert Decoder("sm_80").decode(incomplete, 0, ()) == told
    assert not worker.asked()


@pytest.mark.parametrize("said", ["", "no number", "-1", f"{1 << 200:x}", f"{NOP | 0xFFF:x}"])
def test_what_a_child_says_that_it_asked_may_be_nonsense(said):
    Sim("t4").learn([said])
