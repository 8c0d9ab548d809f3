"""The edit kinds of one IR: its own, and those that other packages add.

A package adds a kind by an entry point of the group ``gevolve.edits``, whose name is the IR and the
name of the kind, such as ``llvm.fast-math``. Only kinds of the IR in use are imported.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from functools import cached_property
from importlib.metadata import EntryPoint
from typing import Generic, TypeAlias

from gevolve.errors import PatchError, PluginError
from gevolve.ir import IRS
from gevolve.ir.edit_kind import DraftT, EditKind, SitesT, field_types
from gevolve.patch import Edit
from gevolve.plugins import find_plugins, load_plugin, package_of

GROUP = "gevolve.edits"
_NAME = re.compile(r"[a-z-]+")

Kind: TypeAlias = type[EditKind[SitesT, DraftT]]


class EditKinds(Mapping[str, type[EditKind[SitesT, DraftT]]], Generic[SitesT, DraftT]):
    """Edit kinds by name: those of the IR first, then those of other packages by name."""

    def __init__(
        self,
        ir: str,
        base: Kind[SitesT, DraftT],
        own: Iterable[Kind[SitesT, DraftT]],
    ) -> None:
        self._ir = ir
        self._base = base
        self._own = {kind.name: kind for kind in own}

    def read(self, edit: Edit) -> EditKind[SitesT, DraftT]:
        """The edit as an object of its kind; raises `PatchError` if there is no such edit."""
        if edit.kind not in self:
            raise PatchError(
                f"'{edit}': {IRS[self._ir].subject} have no edit kind {edit.kind!r}; use one of "
                f"{', '.join(self)}, or install the package that adds it"
            )
        try:
            return self[edit.kind].parse(edit.args)
        except PatchError as error:
            raise PatchError(f"'{edit}': {error}") from None

    def __getitem__(self, name: str) -> Kind[SitesT, DraftT]:
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    @cached_property
    def _all(self) -> dict[str, Kind[SitesT, DraftT]]:
        """Looked up when it is first needed: a package that adds a kind imports this IR itself."""
        kinds = dict(self._own)
        for full_name, entry in find_plugins(GROUP).items():
            ir, _, name = full_name.partition(".")
            if ir not in IRS:
                raise PluginError(
                    f"{package_of(entry)}: {full_name!r} of {GROUP} does not begin with an IR; call it "
                    f"{' or '.join(f'{known}.{full_name}' for known in IRS)}"
                )
            if ir == self._ir:
                kinds[name] = self._load(name, entry)
        return kinds

    def _load(self, name: str, entry: EntryPoint) -> Kind[SitesT, DraftT]:
        kind = load_plugin(entry, self._base)
        flaw = self._flaw(name, kind)
        if flaw:
            raise PluginError(
                f"{package_of(entry)}: {entry.value}, which is to be the edit kind {name!r}, "
                f"{flaw}; see docs/how-to/extend.md"
            )
        return kind

    def _flaw(self, name: str, kind: Kind[SitesT, DraftT]) -> str:
        """What is wrong with an edit kind; empty if nothing is."""
        if getattr(kind, "name", "") != name:
            return f"has the name {getattr(kind, 'name', '')!r}"
        if name in self._own:
            return "has the name of one of gevolve's own edit kinds"
        if _NAME.fullmatch(name) is None:
            return "has a name of other characters than lower-case letters and hyphens"
        missing = sorted(kind.__abstractmethods__)
        if missing:
            return f"does not define {', '.join(missing)}"
        if not is_dataclass(kind) or kind.__hash__ is None:
            return "is no frozen dataclass"
        try:
            field_types(kind)
        except (TypeError, NameError) as error:
            return f"has a field that cannot be read: {error}"
        return ""
