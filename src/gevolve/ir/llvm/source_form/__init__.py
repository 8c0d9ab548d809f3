"""A patch as a change of the user's own source, as far as its edits have such a form."""

from dataclasses import dataclass

from gevolve.ir.llvm.source_form.draft import SourceDraft

__all__ = ["SourceDraft", "SourceForm"]


@dataclass(frozen=True, slots=True)
class SourceForm:
    """The user's source with a patch written into it."""

    source: str
    """As it was."""
    file: str
    text: str
    """As it is with the patch."""
    diff: str
    words: tuple[str, ...]
    """What each edit is in the source, such as ``declare `w` as `__restrict__` (kernel.cu:12)``."""
    left: tuple[str, ...]
    """The edits that cannot be written there, and why."""
