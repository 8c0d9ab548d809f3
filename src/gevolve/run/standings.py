"""The standings of a run: how many variants got each verdict, and which are on the Pareto front.

They are updated as evaluations come in, from a search that goes on or from a store.
"""

from collections import Counter
from dataclasses import replace

from gevolve.evaluate.verdict import Evaluation
from gevolve.patch import Edit, Patch
from gevolve.run.claim import does_less, is_gain, launches_otherwise
from gevolve.run.findings import Findings, Interval, NvccBuild, Refit
from gevolve.run.store import Store, StoredVariant, format_id, parse_id
from gevolve.run.summary import Struck, UnsureTime, VariantSummary
from gevolve.run.unseen import EARLY
from gevolve.search import Individual, Settings, front
from gevolve.search.elsewhere import FAILS, Elsewhere
from gevolve.search.individual import admit, essence

UNSURE = 3
"""At most so many variants are shown whose time cannot be known."""
_NO_LESS = "it executes no fewer instructions, memory operations, barriers or stall cycles"
ROUNDING = 1e-9
"""Two errors that differ by less are the same."""
KEPT = 0.9
"""The share of the gain that a minimal patch must keep on cases that the search never used."""


class Standings:
    """What the evaluations so far amount to."""

    def __init__(self, settings: Settings, strict: float | None = None) -> None:
        """`strict` is the tolerance of what is shown, where the search goes by a looser one."""
        self._settings = settings
        self._strict = strict
        self.verdicts: Counter[str] = Counter()
        """How many variants got each verdict, without the unedited program."""
        self._admitted: dict[int, Patch] = {}
        self._alive: dict[int, Individual] = {}
        self._ids: dict[str, int] = {}
        self._front: list[Individual] = []
        self._checks: dict[int, dict[str, Evaluation]] = {}
        self._intervals: dict[int, Interval] = {}
        self._nvcc_intervals: dict[int, Interval] = {}
        self._elsewhere = Elsewhere()
        self._errors: dict[int, float] = {}
        """What variants have shown there, or others that compile to the same code."""
        self._exact: set[int] = set()
        """Variants that are exact on the search's cases."""
        self._fallen: set[int] = set()
        """Variants that build on one that was struck."""
        self._unsure: dict[int, tuple[Evaluation, str]] = {}
        """Variants whose time cannot be known, with the split on which that was seen."""
        self.refits: dict[int, Refit] = {}
        """What became of variants when their weights were re-fit."""
        self.nvcc = NvccBuild()
        """nvcc's build of the unedited program."""

    @classmethod
    def read(cls, store: Store, settings: Settings, *, searched: bool = False) -> "Standings":
        """The standings of all that a store holds, or of what the search knew: no analysis counts then."""
        config = store.config
        standings = cls(settings, config["tolerance"] if config.get("refit") else None)
        for row in store.evaluations():
            standings.add(row.id, row.patch, row.evaluation)
        for id_, splits in store.all_validations().items():
            for split, evaluation in splits.items():
                if split in EARLY or not searched:
                    standings.validate(id_, split, evaluation)
        if searched:
            return standings
        findings = Findings(store)
        for name, interval in findings.intervals.items():
            standings.measure(parse_id(name), interval)
        standings.compare(findings)
        return standings

    def refit(self, refit: Refit) -> None:
        """Take note of what became of a variant's weights when they were re-fit."""
        self.refits[parse_id(refit.id)] = refit

    def within(self, id_: int, evaluation: Evaluation) -> bool:
        """Whether a variant's error is within the tolerance, if need be with re-fit weights."""
        if self._strict is None:
            return True
        return self.passes(id_, evaluation) or (id_ in self.refits and self.refits[id_].within)

    def passes(self, id_: int, evaluation: Evaluation) -> bool:
        """Whether its error is within the tolerance as it is, on all cases that it was tried on."""
        if self._strict is None:
            return True
        mine = {"search": evaluation, **self._checks.get(id_, {})}
        unedited = {"search": self.baseline.evaluation, **self._checks.get(0, {})}
        return all(
            (mine[split].error or 0.0) <= (unedited[split].error or 0.0) + self._strict + ROUNDING
            for split in ("search", "held-out")
            if split in mine and split in unedited
        )

    def compare(self, findings: Findings) -> None:
        """Take note of how nvcc's build of the unedited program did, of variants beside it, and of re-fits."""
        self.nvcc = findings.nvcc
        measured = findings.nvcc_intervals
        self._nvcc_intervals = {parse_id(name): one for name, one in measured.items()}
        self.refits = {parse_id(name): one for name, one in findings.refits.items()}

    def add(self, id_: int, patch: Patch, evaluation: Evaluation) -> None:
        """Count one evaluation; the unedited program's must come first."""
        if patch.edits:
            self.verdicts[evaluation.verdict.value] += 1
        self._doubt(id_, evaluation, "search")
        individual = admit(patch, evaluation, self._settings)
        if individual is not None:
            if self._does_no_less(individual):
                # No gain, so it must not hide one that is.
                individual = replace(individual, time=max(individual.time, self.baseline.time))
            self._ids[str(patch)] = id_
            self._admitted[id_] = patch
            if not individual.error:
                self._exact.add(id_)
            individual = self._elsewhere.corrected(individual)
            if individual is None:
                self._fallen.add(id_)
                return
            self._alive[id_] = individual
            self._front = front([*self._front, individual])

    def validate(self, id_: int, split: str, evaluation: Evaluation) -> None:
        """Take note of how a variant did on other cases.

        One that failed leaves the front, and with it all others that compile to the same code; if
        that was while the search went on, or it has a single edit, also all that builds on it. One that was
        exact until then, and is not there, stays with that error instead, as do the others.
        """
        self._checks.setdefault(id_, {})[split] = evaluation
        self._doubt(id_, evaluation, split)
        exact = id_ not in self._exact or not evaluation.inexact
        if evaluation.ok and exact:
            return
        error = evaluation.error if evaluation.ok and evaluation.error else FAILS
        if split in EARLY or len(self._admitted.get(id_, ())) == 1:
            self._elsewhere.add(self._admitted[id_], error)
        one = self._alive.get(id_)
        same = "" if one is None else one.evaluation.identity
        for other, its in self._alive.items():
            if other == id_ or (same and its.patch.edits and its.evaluation.identity == same):
                self._errors[other] = max(error, self._errors.get(other, 0.0))
        self._correct()

    def _correct(self) -> None:
        """Bring all that lives in line with what was seen on other cases."""
        alive: dict[int, Individual] = {}
        for id_, one in self._alive.items():
            error = self._errors.get(id_, 0.0)
            left = self._elsewhere.corrected(replace(one, error=max(one.error, error)))
            if left is None:
                self._fallen.add(id_)
            elif error != FAILS:
                alive[id_] = left
        self._alive = alive
        self._front = front(alive.values())

    @property
    def elsewhere(self) -> list[tuple[Patch, float]]:
        """The patches that failed on other cases while the search went on, or were not exact there, with their errors."""
        return list(self._elsewhere)

    @property
    def failures(self) -> Struck:
        """What became of the best variants on cases that the search never used."""
        failed = {
            id_: next((split, one) for split, one in checks.items() if not one.ok)
            for id_, checks in sorted(self._checks.items())
            if id_ and any(not one.ok for one in checks.values())
        }
        why = Counter(f"{one.verdict} on {split} cases" for split, one in failed.values())
        first = next(((id_, one) for id_, (_, one) in failed.items()), None)
        return Struck(
            tried=sum(1 for id_, checks in self._checks.items() if id_ and checks),
            failed=len(failed),
            descendants=len(self._fallen - failed.keys()),
            why=dict(sorted(why.items())),
            example=f"{format_id(first[0])}: {first[1].detail}" if first else "",
        )

    def untried(self, split: str) -> list[tuple[int, Patch]]:
        """The fastest variant and the fastest exact one, if they were not tried on a split yet."""
        faster = [(id_, one) for id_, one in self.front if one.time < self.baseline.time]
        exact = [(id_, one) for id_, one in faster if one.error <= self.baseline.error]
        best = dict([*faster[:1], *exact[:1]])
        return [
            (id_, one.patch) for id_, one in best.items() if split not in self._checks.get(id_, ())
        ]

    def alone(self, patch: Patch, split: str) -> list[int]:
        """The variants of one edit of a patch each that do something, if they were not tried on a split yet."""
        found: list[int] = []
        for edit in patch:
            id_ = self._ids.get(str(Patch((edit,))), 0)
            one = self._alive.get(id_)
            if one is None or split in self._checks.get(id_, ()):
                continue
            if (
                not one.evaluation.identity
                or one.evaluation.identity != self.baseline.evaluation.identity
            ):
                found.append(id_)
        return found

    def inexact_on(self, id_: int) -> str:
        """Where a variant that is exact on the search's cases is not; "" if it is wherever it was tried."""
        checks = self._checks.get(id_, {}).items() if id_ in self._exact else ()
        return next((split for split, one in checks if one.inexact), "")

    def suspects(self, split: str) -> list[tuple[int, Patch]]:
        """Of the variants that each faulty one builds on the likeliest to blame, if it was not tried on a split yet.

        That is the one with the fewest edits that are in none of those that passed there. None of one that is
        known to fail for what a smaller one has. Only older ones are looked at, so that it is the same ones
        whenever it is asked.
        """
        found: dict[int, Patch] = {}
        faulty = [(patch, essence(patch), error) for patch, error in self._elsewhere]
        for patch, edits, error in faulty:
            if any(other < edits and its >= error for _, other, its in faulty):
                continue
            older = self._ids[str(patch)]
            smaller = {
                id_: frozenset(one.patch)
                for id_, one in self._alive.items()
                if 0 < id_ < older
                and len(one.patch) < len(edits)
                and edits.issuperset(one.patch)
                and (error == FAILS or not one.error)
            }
            passed = frozenset[Edit]().union(
                *(smaller[id_] for id_ in smaller if split in self._checks.get(id_, ()))
            )
            doubts = {id_: own - passed for id_, own in smaller.items() if own - passed}
            if doubts:
                id_ = min(doubts, key=lambda id_: (len(doubts[id_]), len(smaller[id_]), id_))
                found[id_] = self._admitted[id_]
        return list(found.items())

    @property
    def best_ratio(self) -> float:
        """The time of the fastest variant over the unedited program's."""
        fastest = min((one.time for one in self._front), default=self.baseline.time)
        return min(1.0, fastest / self.baseline.time) if self.baseline.time else 1.0

    def _doubt(self, id_: int, evaluation: Evaluation, split: str) -> None:
        """Take note of a time that cannot be known: on no cases is it then a gain."""
        if not evaluation.unsure:
            return
        self._unsure.setdefault(id_, (evaluation, split))
        one = self._alive.get(id_)
        if one is not None and one.time < self.baseline.time:
            self._alive[id_] = replace(one, time=self.baseline.time)
            self._front = front(self._alive.values())

    def _does_no_less(self, one: Individual) -> bool:
        """Whether a variant can be faster by the order of what it does alone."""
        if not one.patch.edits or launches_otherwise(one.patch):
            return False
        return not does_less(one.evaluation.work, self.baseline.evaluation.work)

    def unsure(self) -> list[UnsureTime]:
        """What would be a gain if its time could be relied on: the fastest few, each code once."""
        found: dict[str, UnsureTime] = {}
        for id_, (evaluation, split) in self._unsure.items():
            unedited = self._checks.get(0, {}).get(split) or self.baseline.evaluation
            ratio = evaluation.traced / (unedited.time or 1.0)
            if 0 < ratio < 1:
                one = UnsureTime(id=format_id(id_), ratio=ratio, why=evaluation.unsure)
                found.setdefault(evaluation.identity or one.id, one)
        no_less = [
            (one.evaluation.time / (self.baseline.time or 1.0), id_)
            for id_, one in self._alive.items()
            if one.evaluation.time and id_ not in self._unsure and self._does_no_less(one)
        ]
        ratio, id_ = min(no_less, default=(1.0, 0))
        if ratio < self.best_ratio:
            found[""] = UnsureTime(id=format_id(id_), ratio=ratio, why=_NO_LESS)
        return sorted(found.values(), key=lambda one: one.ratio)[:UNSURE]

    def measure(self, id_: int, interval: Interval) -> None:
        """Take note of the ratio that a variant has on cases that the search never used.

        Where times vary, a search picks what was lucky, so the longer measurement replaces the
        search's. It also does for a variant that is fast on the search cases only, which must not
        hide one that is fast elsewhere. A modelled time of what gains is not made longer by it: beside a clock's, others
        of the model that nobody has measured would hide the gain.
        """
        self._intervals[id_] = interval
        one = self._alive.get(id_)
        if one is None:
            return
        ratio = one.time / self.baseline.time
        trusted = self._by_clock or interval.high >= 1 or interval.value < ratio
        if (interval.runs > 1 and trusted) or interval.value >= 1 > ratio:
            self._alive[id_] = replace(one, time=interval.value * self.baseline.time)
            self._front = front(self._alive.values())

    @property
    def _by_clock(self) -> bool:
        """Whether a clock told the search's times: they are then ratios to the unedited program's, which is 1."""
        return self.baseline.evaluation.time == 1.0

    @property
    def started(self) -> bool:
        """Whether the unedited program was judged, without which nothing can be said."""
        return 0 in self._alive

    @property
    def baseline(self) -> Individual:
        """The unedited program."""
        return self._alive[0]

    @property
    def front(self) -> list[tuple[int, Individual]]:
        """The front with ids, fastest first."""
        return [(self._ids[str(one.patch)], one) for one in self._front]

    def unchecked(self, split: str) -> list[tuple[int, Patch]]:
        """What is left to try on a split: the whole front, or on ``large`` the best of it."""
        members = [(id_, one) for id_, one in self.front if one.patch.edits]
        if split == "large":
            exact = [(id_, one) for id_, one in members if one.error <= self.baseline.error]
            members = list(dict([*members[:1], *exact[:1]]).items())
        return [(id_, one.patch) for id_, one in members if split not in self._checks.get(id_, ())]

    def error(self, id_: int, split: str) -> float | None:
        """A variant's error on another split, if it was tried there."""
        mine = self._checks.get(id_, {}).get(split)
        return None if mine is None else mine.error

    def variants(self) -> list[VariantSummary]:
        """The front as summaries show it: without what a re-fit has not brought within the tolerance."""
        return [
            self._describe(id_, one) for id_, one in self.front if self.within(id_, one.evaluation)
        ]

    def minimal(self, variant: VariantSummary, store: Store) -> VariantSummary:
        """The minimal patch of a variant; the variant itself if no minimal patch is as good.

        It must have passed all checks, and kept the gain on cases that neither was found with.
        """
        found = Findings(store).minimized.get(variant.id)
        if found is None:
            return variant
        smaller = self.describe(store.variant(parse_id(found.id)))
        if smaller is None or smaller.interval is None or not smaller.within:
            return variant
        if variant.does_less > smaller.does_less or variant.exact > smaller.exact:
            return variant
        if variant.interval and _gain(smaller.interval) < KEPT * _gain(variant.interval):
            return variant
        return smaller

    def describe(self, row: StoredVariant) -> VariantSummary | None:
        """A variant on the front or not, as summaries show it; None if it is not `ok`."""
        one = self._alive.get(row.id) or admit(row.patch, row.evaluation, self._settings)
        return one and self._describe(row.id, one)

    def _describe(self, id_: int, one: Individual) -> VariantSummary:
        failed = any(not evaluation.ok for evaluation in self._checks.get(id_, {}).values())
        interval = None if failed else self._intervals.get(id_)
        nvcc_interval = self._nvcc_intervals.get(id_) if interval else None
        ratio = one.time / self.baseline.time if self.baseline.time else 1.0
        nvcc = ratio / self.nvcc.ratio if self.nvcc.ratio else None
        within = self.within(id_, one.evaluation)
        error, elsewhere = one.evaluation.error or 0.0, self._error_elsewhere(id_, one.patch)
        exact = max(one.error, elsewhere) <= self.baseline.error
        return VariantSummary(
            id=format_id(id_),
            time=one.time,
            gaps=one.evaluation.gaps,
            ratio=ratio,
            error=error if exact else max(error, elsewhere),
            exact=exact,
            unedited_error=self.baseline.error,
            off=one.evaluation.off,
            edits=len(one.patch),
            validated=interval is not None or not one.patch.edits,
            interval=interval,
            held_out=self._ratio(id_, "held-out"),
            held_out_error=self.error(id_, "held-out"),
            large=self._ratio(id_, "large"),
            nvcc=nvcc,
            nvcc_interval=nvcc_interval,
            does_less=not self._does_no_less(one),
            refit=self.refits.get(id_),
            within=within,
            gain=within
            and not self._does_no_less(one)
            and is_gain(ratio, interval, nvcc, nvcc_interval),
            patch=str(one.patch),
        )

    def _error_elsewhere(self, id_: int, patch: Patch) -> float:
        """The largest error above rounding that a variant has shown on other cases, or what it builds on has."""
        checks = self._checks.get(id_, {}).values()
        own = max((one.error or 0.0 for one in checks if one.inexact), default=0.0)
        built_on = self._elsewhere.error(essence(patch))
        return own if built_on == FAILS else max(own, built_on)

    def _ratio(self, id_: int, split: str) -> float | None:
        mine, unedited = (self._checks.get(n, {}).get(split) for n in (id_, 0))
        if mine is None or unedited is None or not mine.time or not unedited.time:
            return None
        return mine.time / unedited.time


def _gain(interval: Interval) -> float:
    return 1 / interval.value - 1
