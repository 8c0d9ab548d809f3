"""What a compiler refuses of a program's host code, taken out declaration by declaration.

Functions of the host are found by reading the text; what is left of the host's part, such as variables, types
with a ``std::string`` in them or declarations of functions, is found by asking: what NVRTC complains of
is blanked out unless it is for the device, and it is asked again. If kernels needed it after all,
it complains of the kernels, and the source is refused as before.
"""

import re
from collections.abc import Callable, Mapping

from gevolve.ir.llvm.hostcode import without_line

MISSING = "cannot open source file"
_MOST = 24
"""Times that the compiler is asked; it tells of up to a hundred errors at once."""
_ERROR = re.compile(r"^(.+?)\((\d+)\): (?:catastrophic )?error: (.*)$", re.MULTILINE)
_HEADER = re.compile(MISSING + r' "([^"]+)"')


def compile_without_refused(
    texts: Mapping[str, str],
    log: str,
    compile_texts: Callable[[Mapping[str, str]], tuple[str, bytes | None]],
) -> bytes | None:
    """PTX of a source without what is refused of its host code; None if kernels are refused, too.

    `texts` are the source and the headers beside it by the names that the log has for them, `log` is what was
    said of them as they are. A header that is nowhere is taken to be empty.
    """
    left = dict(texts)
    for _ in range(_MOST):
        before = dict(left)
        for file, line, complaint in _ERROR.findall(log):
            missing = _HEADER.match(complaint)
            if missing:
                left.setdefault(missing[1], "")
            elif file in left:
                shorter = without_line(left[file], int(line))
                if shorter is None and before[file] == left[file]:
                    return None
                left[file] = shorter or left[file]
        if left == before:
            return None
        log, ptx = compile_texts(left)
        if ptx is not None:
            return ptx
    return None
