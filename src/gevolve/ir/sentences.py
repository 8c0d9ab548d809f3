"""Words that descriptions of changes have in common in every IR."""

NAMED_LINES = 3
"""A sentence names at most this many source lines."""


def at_lines(lines: tuple[str, ...]) -> str:
    """Where something is, to follow a noun: `` at stencil.cu:3, stencil.cu:7``."""
    if not lines:
        return ""
    more = f" and {len(lines) - NAMED_LINES} more lines" if len(lines) > NAMED_LINES else ""
    return f" at {', '.join(lines[:NAMED_LINES])}{more}"


def list_counts(counts: dict[str, int]) -> str:
    """How many there are of each thing: ``2 loads, 1 branch``."""
    return ", ".join(f"{count} {word}{'s' if count > 1 else ''}" for word, count in counts.items())
