"""What an instruction is called: in words that someone knows who wrote the source and has never seen LLVM-IR."""

import re
from collections.abc import Callable

from gevolve.ir.llvm.addresses import is_access, roots
from gevolve.ir.llvm.features import feature_of
from gevolve.ir.llvm.model import Instr
from gevolve.ir.llvm.names import demangle

_NOUNS = {
    **dict.fromkeys(("add", "fadd"), "sum"),
    **dict.fromkeys(("sub", "fsub"), "difference"),
    **dict.fromkeys(("mul", "fmul"), "product"),
    **dict.fromkeys(("fdiv", "sdiv", "udiv"), "division"),
    **dict.fromkeys(("frem", "srem", "urem"), "remainder"),
    **dict.fromkeys(("icmp", "fcmp"), "comparison"),
    **dict.fromkeys(("shl", "lshr", "ashr"), "shift of bits"),
    **dict.fromkeys(("and", "or", "xor"), "logical operation"),
    **dict.fromkeys(("sext", "zext", "trunc", "fpext", "fptrunc"), "conversion"),
    **dict.fromkeys(("sitofp", "uitofp", "fptosi", "fptoui", "bitcast"), "conversion"),
    **dict.fromkeys(("atomicrmw", "cmpxchg"), "atomic operation"),
    "getelementptr": "address",
    "select": "choice",
    "phi": "value where paths join",
    "alloca": "variable",
    "fneg": "negation",
    "ret": "return",
    "switch": "branch",
}
_FUNCTIONS = {
    "sqrt": "square root",
    "fabs": "absolute value",
    "fma": "product and sum",
    "fmuladd": "product and sum",
    **dict.fromkeys(("minnum", "smin", "umin"), "minimum"),
    **dict.fromkeys(("maxnum", "smax", "umax"), "maximum"),
}
_VARIABLES = {"tid": "threadIdx", "ctaid": "blockIdx", "ntid": "blockDim", "nctaid": "gridDim"}
_CALLEE = re.compile(r'@([-\w.$]+|"[^"]*")\(')
_READ = re.compile(r"llvm\.nvvm\.read\.ptx\.sreg\.(tid|ctaid|ntid|nctaid)\.([xyz])")
_INTRINSIC = re.compile(r"llvm\.(?:nvvm\.)?(\w+)")
_IN_FUNCTION = re.compile(r"_ZZ.*E\d+([A-Za-z_]\w*?)(?:_\d+)?$")


def noun(
    instr: Instr, get: Callable[[str], Instr | None], name: Callable[[str], str], *, loop: bool
) -> str:
    """What to call an instruction; `name` knows arguments, `loop` says whether it is a jump back."""
    if instr.opcode == "br":
        return "loop" if loop else "branch" if instr.operands else "jump"
    if is_access(instr):
        array = _array(instr, get, name)
        link = "of" if instr.opcode == "load" else "to"
        return f"{instr.opcode} {link} `{array}`" if array else instr.opcode
    if instr.opcode == "call":
        return _call(instr)
    return _NOUNS.get(instr.opcode, f"`{instr.opcode}`")


def _array(
    access: Instr, get: Callable[[str], Instr | None], name: Callable[[str], str]
) -> str | None:
    """The name of the array that a load or store works on, if it is one."""
    found = {_of_root(root, name) for root in roots(get, access.operands[-1].value)}
    return found.pop() if len(found) == 1 else None


def _of_root(root: str, name: Callable[[str], str]) -> str:
    if root.startswith("%"):
        return name(root[1:])
    variable = re.search(r"@([-\w.$]+)", root)
    if variable is None:
        return ""
    local = _IN_FUNCTION.match(variable[1])
    return local[1] if local else demangle(variable[1])


def _call(call: Instr) -> str:
    callee = _CALLEE.search(call.parts[0])
    if callee is None:
        return "call"
    if read := _READ.match(callee[1]):
        return f"`{_VARIABLES[read[1]]}.{read[2]}`"
    feature = feature_of(call)
    if feature in ("barrier", "atomic", "warp exchange"):
        return "atomic operation" if feature == "atomic" else feature
    if intrinsic := _INTRINSIC.match(callee[1]):
        return _FUNCTIONS.get(intrinsic[1], f"`{intrinsic[1]}`")
    return f"call of `{demangle(callee[1])}`"
