"""The standings of a run: how many variants got each verdict, and which are on the Pareto front.

They are updated as evaluations come in, from a search that goes on or from a store.
"""

from collections import Counter
from dataclasses import replace

from gevolve.evaluate.verdict import Evaluation
from gevolve.patch import Patch
from gevolve.run.checks import Checks
from gevolve.run.claim import does_less, is_gain, launches_otherwise
from gevolve.run.findings import Findings, Interval, NvccBuild, Refit
from gevolve.run.store import Store, StoredVariant, format_id, parse_id
from gevolve.run.summary import UnsureTime, VariantSummary
from gevolve.run.unseen import EARLY
from gevolve.search import Individual, Settings, front
from gevolve.search.individual import admit, pareto

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
        self._alive: dict[int, Individual] = {}
        self._front: list[Individual] = []
        self.checks = Checks()
        """How variants did on cases that the search never used."""
        self._intervals: dict[int, Interval] = {}
        self._nvcc_intervals: dict[int, Interval] = {}
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
        mine = {"search": evaluation, **self.checks.get(id_)}
        unedited = {"search": self.baseline.evaluation, **self.checks.get(0)}
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
            individual = self.checks.admit(id_, individual)
        if individual is not None:
            self._alive[id_] = individual
            self._front = front([*self._front, individual])

    def validate(self, id_: int, split: str, evaluation: Evaluation) -> None:
        """Take note of how a variant did on other cases.

        One that failed leaves the front, and with it all others that compile to the same code; if
        that was while the search went on, or it has a single edit, also all that builds on it. One that was
        exact until then, and is not there, stays with that error instead, as do the others.
        """
        self._doubt(id_, evaluation, split)
        if self.checks.add(id_, split, evaluation, self._alive):
            alive = {other: self.checks.corrected(other, one) for other, one in self._alive.items()}
            self._alive = {other: one for other, one in alive.items() if one is not None}
            self._front = front(self._alive.values())

    def untried(self, split: str) -> list[tuple[int, Patch]]:
        """The fastest variant and the fastest exact one, if they were not tried on a split yet."""
        faster = [(id_, one) for id_, one in self.front if one.time < self.baseline.time]
        exact = [(id_, one) for id_, one in faster if one.error <= self.baseline.error]
        best = dict([*faster[:1], *exact[:1]])
        return [(id_, one.patch) for id_, one in best.items() if split not in self.checks.get(id_)]

    def alone(self, patch: Patch, split: str) -> list[int]:
        """The variants of one edit of a patch each that do something, if they were not tried on a split yet."""
        found: list[int] = []
        for edit in patch:
            id_ = self.checks.ids.get(Patch((edit,)), 0)
            one = self._alive.get(id_)
            if one is None or split in self.checks.get(id_):
                continue
            if (
                not one.evaluation.identity
                or one.evaluation.identity != self.baseline.evaluation.identity
            ):
                found.append(id_)
        return found

    def suspects(self, split: str) -> list[tuple[int, Patch]]:
        """What those that are faulty build on and may have the fault from, if it was not tried on a split yet."""
        return self.checks.suspects(split, self._alive)

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
            unedited = self.checks.get(0).get(split) or self.baseline.evaluation
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
        return [(self.checks.ids[one.patch], one) for one in self._front]

    def unchecked(self, split: str) -> list[tuple[int, Patch]]:
        """What is left to try on a split: the whole front, or on ``large`` the best of it."""
        members = [(id_, one) for id_, one in self.front if one.patch.edits]
        if split == "large":
            exact = [(id_, one) for id_, one in members if one.error <= self.baseline.error]
            members = list(dict([*members[:1], *exact[:1]]).items())
        return [(id_, one.patch) for id_, one in members if split not in self.checks.get(id_)]

    def variants(self) -> list[VariantSummary]:
        """The front as summaries show it: without what a re-fit has not brought within the tolerance.

        What may be claimed is hidden only by what may be too: a candidate that looks better may turn out not to be.
        """
        claims = (one for one in self.measured() if self._claimable(one))
        shown = {
            parse_id(one.id): self._alive[parse_id(one.id)] for one in pareto(claims, _claimed_time)
        }
        shown |= {id_: one for id_, one in self.front if self.within(id_, one.evaluation)}
        by_time = sorted(shown.items(), key=lambda item: (item[1].time, item[1].error))
        return [self._describe(id_, one) for id_, one in by_time]

    def measured(self) -> list[VariantSummary]:
        """All that passed on cases that the search never used and was measured there: what claims are made from, fastest first."""
        found = (
            self._describe(id_, one)
            for id_, one in self._alive.items()
            if id_ in self._intervals and one.patch.edits and self.within(id_, one.evaluation)
        )
        return sorted((one for one in found if one.interval is not None), key=_claimed_time)

    def _claimable(self, one: VariantSummary) -> bool:
        """Whether a variant that was measured is faster there for sure, or else more accurate."""
        faster = one.interval is not None and max(one.interval.high, one.ratio) < 1
        return faster or one.error < self.baseline.error

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
        interval = None if self.checks.failed(id_) else self._intervals.get(id_)
        nvcc_interval = self._nvcc_intervals.get(id_) if interval else None
        ratio = one.time / self.baseline.time if self.baseline.time else 1.0
        nvcc = ratio / self.nvcc.ratio if self.nvcc.ratio else None
        within = self.within(id_, one.evaluation)
        error, elsewhere = one.evaluation.error or 0.0, self.checks.error_elsewhere(id_, one.patch)
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
            held_out=self.checks.ratio(id_, "held-out"),
            held_out_error=self.checks.error(id_, "held-out"),
            large=self.checks.ratio(id_, "large"),
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


def _claimed_time(one: VariantSummary) -> tuple[float, float, int]:
    """What variants that were measured are sorted by; of a clock's intervals the upper end, which takes least luck."""
    clock = one.interval is not None and one.interval.runs > 1
    return one.interval.high if one.interval and clock else one.ratio, one.error, one.edits


def _gain(interval: Interval) -> float:
    return 1 / interval.value - 1
