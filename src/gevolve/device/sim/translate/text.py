"""Host LLVM-IR as text: what the translators of PTX and of machine code have in common."""

BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "i128": 128, "float": 32, "double": 64}


class Text:
    """Lines of LLVM-IR, with a fresh name for each value."""

    def __init__(self, declared: dict[str, str]) -> None:
        self.lines: list[str] = []
        self.declared = declared
        """The functions that are called, each with its declaration."""
        self.count = 0

    def op(self, text: str) -> str:
        """Append an instruction that gives a value, and return the value's name."""
        self.count += 1
        name = f"%v{self.count}"
        self.lines.append(f"{name} = {text}")
        return name

    def do(self, text: str) -> None:
        """Append an instruction that gives no value."""
        self.lines.append(text)

    def call(self, result: str, name: str, *args: tuple[str, str]) -> str:
        """Call a function of the C runtime or of libm; `args` are (type, value)."""
        # C code takes it for granted that a short argument fills its register with zeros.
        kinds = [f"{kind} zeroext" if kind in {"i8", "i16"} else kind for kind, _ in args]
        self.declared[name] = f"declare {result} @{name}({', '.join(kinds)})"
        given = ", ".join(f"{kind} {value}" for kind, (_, value) in zip(kinds, args, strict=True))
        if result == "void":
            self.do(f"call void @{name}({given})")
            return ""
        return self.op(f"call {result} @{name}({given})")

    def at(self, base: str, offset: int) -> str:
        """A pointer so many bytes after another."""
        return self.op(f"getelementptr i8, ptr {base}, i64 {offset}") if offset else base


def literal(value: int, kind: str) -> str:
    """An integer literal as a constant of an LLVM type."""
    if kind == "i1":
        return "true" if value else "false"
    bits = BITS[kind]
    value &= (1 << bits) - 1
    if kind in {"float", "double"}:
        return f"bitcast (i{bits} {value} to {kind})"
    return str(value - (1 << bits) if value >> (bits - 1) else value)
