"""PTX instructions of every family, each as a kernel of one module, for values at the edges of its types."""

import itertools

import numpy as np

from tests.device.sim.kernels import DOUBLES, DTYPES, FLOATS, HEADER, integers, kernel

Form = tuple[str, str, tuple[str, ...]]
"""Code that makes ``%d`` of ``%a``, ``%b`` and ``%c``; the type of the result, and those of the operands."""

_WORDS = ("u32", "s32", "u64", "s64")
_INTEGERS = ("u8", "s8", "u16", "s16", *_WORDS)


def _forms() -> list[Form]:
    found: list[Form] = []

    def add(code: str, result: str, *operands: str) -> None:
        found.append((f"{code};", result, operands))

    for kind in _WORDS:
        for name in ("add", "sub", "mul.lo", "mul.hi", "min", "max"):
            add(f"{name}.{kind} %d, %a, %b", kind, kind, kind)
        add(f"mad.lo.{kind} %d, %a, %b, %b", kind, kind, kind)
        one = f"or.b{kind[1:]} %b, %b, 1"
        add(f"{one}; div.{kind} %d, %a, %b", kind, kind, kind)
        add(f"{one}; rem.{kind} %d, %a, %b", kind, kind, kind)
        for name in ("eq", "ne", "lt", "le", "gt", "ge"):
            add(f"setp.{name}.{kind} %p, %a, %b; selp.b32 %d, 1, 0, %p", "u32", kind, kind)
        add(f"shr.{kind} %d, %a, %b", kind, kind, "u32")
        add(f"bfind.{kind} %d, %a", "u32", kind)
    for bits in (32, 64):
        kind = f"u{bits}"
        for name in ("and", "or", "xor", "shl"):
            add(f"{name}.b{bits} %d, %a, %b", kind, kind, "u32" if name == "shl" else kind)
        for name in ("popc", "clz"):
            add(f"{name}.b{bits} %d, %a", "u32", kind)
        add(f"brev.b{bits} %d, %a", kind, kind)
        add(f"not.b{bits} %d, %a", kind, kind)
    for kind in ("u32", "s32"):
        add(f"mul.wide.{kind} %d, %a, %b", f"{kind[0]}64", kind, kind)
        add(f"mad.hi.{kind} %d, %a, %b, %b", kind, kind, kind)
        add(f"bfe.{kind} %d, %a, %b, %c", kind, kind, "u32", "u32")
        add(f"sad.{kind} %d, %a, %b, 7", kind, kind, kind)
        add(f"dp4a.{kind}.{kind} %d, %a, %b, %b", kind, kind, kind)
    add("bfi.b32 %d, %a, %b, 5, 11", "u32", "u32", "u32")
    add("prmt.b32 %d, %a, %b, %c", "u32", "u32", "u32", "u32")
    for name in ("shf.l.wrap", "shf.r.wrap", "shf.l.clamp", "shf.r.clamp"):
        add(f"{name}.b32 %d, %a, %b, %c", "u32", "u32", "u32", "u32")
    for table in (0xE8, 0x96, 0x1B, 0x40, 0xCA, 0x7F):
        add(f"lop3.b32 %d, %a, %b, %c, {table}", "u32", "u32", "u32", "u32")
    add("abs.s32 %d, %a", "s32", "s32")
    add("abs.s64 %d, %a", "s64", "s64")
    add("slct.u32.s32 %d, %a, %b, %b", "u32", "u32", "s32")
    for kind, to in itertools.product(_INTEGERS, _INTEGERS):
        if kind != to:
            add(f"cvt.{to}.{kind} %d, %a", to, kind)
    for kind in ("f32", "f64"):
        for name, mode in itertools.product(("add", "sub", "mul"), ("rn", "rz", "rm", "rp")):
            add(f"{name}.{mode}.{kind} %d, %a, %b", kind, kind, kind)
        for mode in ("rn", "rz", "rm", "rp"):
            add(f"fma.{mode}.{kind} %d, %a, %b, %b", kind, kind, kind)
            add(f"div.{mode}.{kind} %d, %a, %b", kind, kind, kind)
            add(f"sqrt.{mode}.{kind} %d, %a", kind, kind)
            add(f"rcp.{mode}.{kind} %d, %a", kind, kind)
        for name in ("min", "max"):
            add(f"{name}.{kind} %d, %a, %b", kind, kind, kind)
        for name in ("lt", "equ", "neu", "geu", "num", "nan"):
            add(f"setp.{name}.{kind} %p, %a, %b; selp.b32 %d, 1, 0, %p", "u32", kind, kind)
        for mode, to in itertools.product(
            ("rni", "rzi", "rmi", "rpi"), ("u16", "s32", "u32", "s64")
        ):
            add(f"cvt.{mode}.{to}.{kind} %d, %a", to, kind)
        for mode, of in itertools.product(("rn", "rz", "rm", "rp"), ("s32", "u32", "s64", "u64")):
            add(f"cvt.{mode}.{kind}.{of} %d, %a", kind, of)
        for mode in ("rni", "rzi", "rmi", "rpi"):
            add(f"cvt.{mode}.{kind}.{kind} %d, %a", kind, kind)
        add(f"abs.{kind} %d, %a", kind, kind)
        add(f"neg.{kind} %d, %a", kind, kind)
        add(f"testp.normal.{kind} %p, %a; selp.b32 %d, 1, 0, %p", "u32", kind)
    for name in ("add", "mul"):
        add(f"{name}.ftz.rn.f32 %d, %a, %b", "f32", "f32", "f32")
        add(f"{name}.sat.rn.f32 %d, %a, %b".replace("sat.rn", "rn.sat"), "f32", "f32", "f32")
    add("max.NaN.f32 %d, %a, %b", "f32", "f32", "f32")
    add("copysign.f32 %d, %a, %b", "f32", "f32", "f32")
    add("cvt.f64.f32 %d, %a", "f64", "f32")
    for mode in ("rn", "rz", "rm", "rp"):
        add(f"cvt.{mode}.f32.f64 %d, %a", "f32", "f64")
    for mode in ("rn", "rz"):
        add(f"cvt.{mode}.f16.f32 %d, %a", "f16", "f32")
    add("cvt.f32.f16 %d, %a", "f32", "f16")
    for name in ("add", "mul", "min", "max"):
        mode = ".rn" if name in {"add", "mul"} else ""
        add(f"{name}{mode}.f16x2 %d, %a, %b", "f16x2", "f16x2", "f16x2")
    add("fma.rn.f16x2 %d, %a, %b, %b", "f16x2", "f16x2", "f16x2")
    return found


FORMS = _forms()
_SINCE_80 = ("max.NaN", "max.f16x2", "min.f16x2")


def forms(arch: str) -> list[Form]:
    """The forms that an architecture has."""
    return [f for f in FORMS if arch != "sm_75" or not f[0].startswith(_SINCE_80)]


APPROXIMATE: dict[str, tuple[float, float]] = {
    "rcp.approx.f32": (2e-7, 0),
    "rsqrt.approx.f32": (2e-7, 0),
    "sqrt.approx.f32": (3e-7, 0),
    "ex2.approx.f32": (2e-7, 0),
    "lg2.approx.f32": (2e-7, 2**-22),
    "sin.approx.f32": (0, 6e-7 + 2**-22),
    "cos.approx.f32": (0, 6e-7 + 2**-22),
    "tanh.approx.f32": (2**-11, 0),
}
"""The approximate functions, and how far machine code may be from the true value: (relative, absolute).

Of the last four it is what NVIDIA documents, and for sines and cosines the rounding of turns.
"""


def values(kind: str) -> np.ndarray:
    """Values at the edges of a type."""
    dtype = np.dtype(DTYPES[kind])
    with np.errstate(over="ignore"):
        if kind == "f16x2":
            halves = np.array(FLOATS).astype(np.float16).view(np.uint16).astype(np.uint32)
            return halves | halves[::-1] << 16
        if dtype.kind == "f":
            return np.array(DOUBLES if kind == "f64" else FLOATS).astype(dtype)
    return np.array(integers(kind), dtype)


def operands(kinds: tuple[str, ...]) -> list[np.ndarray]:
    """All pairs of values; a third operand goes through its own in turn."""
    edges = [values(kind) for kind in kinds]
    if len(edges) == 1:
        return edges
    first, second = (grid.ravel() for grid in np.meshgrid(edges[0], edges[1]))
    return [first, second, *(np.resize(third, len(first)) for third in edges[2:])]


def module(chosen: list[Form], arch: str) -> bytes:
    """One module with a kernel ``k0``, ``k1`` … for each form."""
    texts = [kernel(*form).decode().removeprefix(HEADER) for form in chosen]
    named = [text.replace(".entry k(", f".entry k{n}(") for n, text in enumerate(texts)]
    return (HEADER.replace("sm_90", arch) + "\n".join(named)).encode()
