"""PTX with the text of its blocks moved about: the same program, written in another order."""

import itertools
import random
import re

_LABEL = re.compile(r"^(\$?[\w$]+):(?!:)")
_ENDS = re.compile(r"^\s*(bra|brx|ret|exit|trap)\b")
_FUNCTION = re.compile(r"^(?:\.visible |\.weak |\.extern )*\.(?:entry|func)\b")


def moved(ptx: str, seed: int) -> str:
    """Shuffle the blocks of every function but its first; where control fell through, it jumps."""
    rng = random.Random(seed)
    out: list[str] = []
    body: list[str] | None = None
    waiting = False
    for line in ptx.splitlines():
        if body is None:
            out.append(line)
            waiting = waiting or bool(_FUNCTION.match(line))
            if waiting and line.strip() == "{":
                body, waiting = [], False
            elif waiting and line.rstrip().endswith(";"):
                waiting = False
        elif line == "}":
            out += _shuffled(body, rng)
            out.append(line)
            body = None
        else:
            body.append(line)
    return "\n".join(out) + "\n"


def _shuffled(body: list[str], rng: random.Random) -> list[str]:
    blocks: list[list[str]] = [[]]
    depth = 0
    for number, line in enumerate(body):
        after = body[number + 1] if number + 1 < len(body) else ""
        if _LABEL.match(line) and not depth and ".branchtargets" not in line + after:
            blocks.append([])
        depth += line.count("{") - line.count("}")
        blocks[-1].append(line)
    for block, after in itertools.pairwise(blocks):
        last = [c for x in block if (c := x.split("//")[0].strip()) and not c.startswith(".")]
        if not last or not _ENDS.match(last[-1]):
            block.append(f"\tbra.uni {_LABEL.match(after[0])[1]};")
    if not _ENDS.match(blocks[-1][-1].strip() or "?"):
        blocks[-1].append("\tret;")
    first, *rest = blocks
    rng.shuffle(rest)
    return [line for block in (first, *rest) for line in block]
