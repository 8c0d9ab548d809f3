"""What is tried alone before anything is joined: in which order, and what of it paid."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from gevolve.patch import Edit, Patch
from gevolve.search.elsewhere import FAILS
from gevolve.search.individual import Individual
from gevolve.search.joining import form_of

ENOUGH = 32
"""Where evaluations are dear, no more are tried alone once so many have paid."""
ON_TOP = 4
"""For so many patches that may be exact one approximation is tried on top."""
HOPELESS = 16
"""A kind is given up when so many of it were tried and none paid."""


class Singles:
    """Patches in turns of their kinds, the more of a kind the more it paid."""

    def __init__(
        self,
        patches: Sequence[Patch],
        unedited: Individual,
        size: int,
        most: int,
        luck: float,
        *,
        loose: Collection[str] = (),
    ) -> None:
        """Kinds that are `loose`, approximations, come on top of the others and delay none of them."""
        self._patches: dict[str, list[Patch]] = {}
        known: set[frozenset[Edit]] = {frozenset()}
        for patch in patches:
            if frozenset(patch) not in known:
                known.add(frozenset(patch))
                self._patches.setdefault(form_of(patch), []).append(patch)
        self._loose = {form for form, ones in self._patches.items() if ones[0][0].kind in loose}
        self._unedited = unedited
        self._size = size
        self._most = most
        self._luck = luck
        self.tried = 0
        """How many patches were tried, without approximations."""
        self.record: dict[str, tuple[int, int]] = {}
        """How many patches of each kind were tried, and how many of them paid."""
        self.winners: list[tuple[float, float, Patch]] = []
        """What was faster than the unedited program, or had less error: time, error and patch."""

    def next(self, seen: Collection[frozenset[Edit]]) -> Iterator[Patch]:
        """The next patches to try, of those that were not seen."""
        left = {
            kind: [patch for patch in patches if frozenset(patch) not in seen]
            for kind, patches in self._patches.items()
            if self.record.get(kind, (0, 0)) < (HOPELESS, 0) or self.record[kind][1]
        }
        if self._unedited.error and len(self.winners) >= ENOUGH:
            return
        count = min(self._size, self._most - self.tried)
        exact = list(self._in_turns(left.keys() - self._loose, left, count))
        more = self._size // ON_TOP if exact else self._size
        yield from exact
        yield from self._in_turns(left.keys() & self._loose, left, more)

    def _in_turns(
        self, kinds: Collection[str], left: Mapping[str, Sequence[Patch]], count: int
    ) -> Iterator[Patch]:
        """So many patches of some kinds, the more of a kind the more it paid."""
        chosen = [kind for kind in left if kind in kinds]
        drawn = dict.fromkeys(chosen, 0)
        for _ in range(count):
            open_ = [kind for kind in chosen if drawn[kind] < len(left[kind])]
            if not open_:
                return
            kind = max(open_, key=lambda kind: self.promise(kind, drawn[kind]))
            yield left[kind][drawn[kind]]
            drawn[kind] += 1

    @property
    def edits(self) -> list[Edit]:
        """The edits of all winners, each once."""
        return list(dict.fromkeys(edit for *_, patch in self.winners for edit in patch))

    @property
    def done(self) -> set[frozenset[Edit]]:
        """What was tried, if nothing was left out for being seen."""
        tried = (
            patches[: self.record.get(kind, (0, 0))[0]] for kind, patches in self._patches.items()
        )
        return {frozenset(patch) for patches in tried for patch in patches}

    @property
    def over(self) -> bool:
        """Whether nothing is left to try, if nothing was left out for being seen."""
        return next(self.next(self.done), None) is None

    def strike(self, edits: frozenset[Edit], error: float) -> None:
        """Forget winners that have all of these edits, or give them this error."""
        winners: list[tuple[float, float, Patch]] = []
        for time, own, patch in self.winners:
            if not edits <= frozenset(patch):
                winners.append((time, own, patch))
            elif error != FAILS:
                winners.append((time, max(own, error), patch))
        self.winners = winners

    def resume(
        self, record: Mapping[str, tuple[int, int]], winners: Iterable[tuple[float, float, str]]
    ) -> None:
        """Go on after so much was tried."""
        self.record = dict(record)
        self.tried = sum(count for form, (count, _) in record.items() if form not in self._loose)
        self.winners = [(time, error, Patch.parse(text)) for time, error, text in winners]

    def tell(self, patches: Sequence[Patch], good: Iterable[Individual]) -> list[Individual]:
        """Take what became of patches, without those that are not good enough; returns what has not paid."""
        paid: set[Patch] = set()
        others: list[Individual] = []
        for one in good:
            if one.time < self._unedited.time or self.better(one.error):
                self.winners.append((one.time, one.error, one.patch))
                paid.add(one.patch)
            else:
                others.append(one)
        self.tried += sum(form_of(patch) not in self._loose for patch in patches)
        for patch in patches:
            count, wins = self.record.get(form_of(patch), (0, 0))
            self.record[form_of(patch)] = count + 1, wins + (patch in paid)
        return others

    def better(self, error: float) -> bool:
        """Whether an error is less than the unedited program's by more than luck."""
        return error < self._unedited.error - self._luck

    def promise(self, kind: str, drawn: int = 0) -> float:
        """How often a kind paid, less the more of it are being tried; the first of equals is taken.

        Where evaluations are dear, what saves less than the best of all counts less.
        """
        count, wins = self.record.get(kind, (0, 0))
        paid = self._paid(kind) if self._unedited.error else wins
        return (paid + 1) / (count + 2) / (drawn + 1)

    def _paid(self, kind: str) -> float:
        """What the winners of a kind save, each as a part of what the best of all saves; a gain in error counts whole."""
        whole = self._unedited.time
        most = max((whole - time for time, *_ in self.winners), default=0.0)
        return sum(
            1.0 if self.better(error) or most <= 0 else max(0.0, whole - time) / most
            for time, error, patch in self.winners
            if form_of(patch) == kind
        )
