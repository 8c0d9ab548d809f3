"""One evaluator's work on a cluster: patches go out in batches, and what is lost or late goes again.

The first answer to a patch counts. Which actor gives it, and when, changes nothing but the time that
it takes: on a deterministic device all give the same.
"""

import time
from asyncio import TaskGroup
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from gevolve.errors import GevolveError
from gevolve.evaluate.dispatcher.crew import Crew, Given, Hand
from gevolve.evaluate.dispatcher.messages import (
    Answers,
    Batch,
    FromActor,
    FromDispatcher,
    Status,
    decode_answer,
    encode,
    refusal,
)
from gevolve.evaluate.pool import check_agreement
from gevolve.evaluate.protocol import Baseline, Job, Judged, Refused
from gevolve.evaluate.verdict import Evaluation, Verdict
from gevolve.workload.base import Split

_BATCH = 0.25
"""Seconds of work that a batch should hold: a call of an actor costs a hundredth of that."""
_MOST = 256
"""No batch has more patches."""
_NEWS = 20_000
"""At most so many known evaluations go along with a batch."""
_TRIES = 4
"""A patch that ends so many actors is judged for it; after the first it goes out alone."""
_LATE = (2.0, 4.0)
"""A batch is late after so many seconds, and after so many times what it should take."""
_STUCK = 60.0
"""Seconds after all deadlines of a batch when its actor counts as dead."""
_LOCAL = ("EvaluationError", "DeviceError", "MachineError")
"""Errors that another node may not have."""


@dataclass(eq=False)
class Task:
    """A patch that is not judged yet."""

    job: Job
    tries: int = 0
    """How many actors were lost with it."""
    holders: set[Hand] = field(default_factory=set[Hand])


class Session:
    """Hands out patches to the actors of a crew, and sends what becomes of them."""

    def __init__(
        self,
        crew: Crew,
        group: TaskGroup,
        send: Callable[[FromDispatcher], None],
        order: list[Any],
        most: int | None,
    ) -> None:
        """Begin, with at most so many actors; `order` are the arguments of `Actor.begin`."""
        self._crew = crew
        self._group = group
        self._send = send
        self._order = order
        self._most = most
        self._asked: list[Split] = []
        self._baselines: dict[Split, Baseline] = {}
        self._waiting: deque[Task] = deque()
        self._open: dict[int, Task] = {}
        self._known: set[tuple[Split, str]] = set()
        self._learnt: list[msgspec.Raw] = []
        self._pace: float | None = None
        self.closed = False
        for hand in crew.hands:
            hand.called = hand.enlisted = hand.refused = False
            hand.ready, hand.batches, hand.told = set(), [], 0
        self.recruit()

    # --- what the main process asks for ----------------------------------------------------------

    def prepare(self, split: Split) -> None:
        """Have every actor run the unedited program on a split."""
        if split in self._baselines:
            self._send(self._baselines[split])
        if split not in self._asked:
            self._asked.append(split)
            for hand in self._crew.hands:
                if hand.enlisted:
                    self._group.create_task(self._prepare(hand, split))

    def add(self, job: Job) -> None:
        """Queue a patch; `hand_out` does the rest."""
        task = Task(job)
        self._open[job.number] = task
        self._waiting.append(task)

    def hand_out(self) -> None:
        """Give every idle actor a batch and, while there are plenty, a second one in reserve."""
        hands = [hand for hand in self._crew.hands if hand.ready]
        for depth in range(2):
            for hand in hands:
                if len(hand.batches) == depth and len(self._waiting) > depth * len(hands):
                    tasks = self._take(hand, len(hands))
                    if tasks:
                        self._give(hand, tasks)

    @property
    def ahead(self) -> int:
        """How many patches should be outstanding."""
        ready = [hand for hand in self._crew.hands if hand.ready]
        return sum(max(3, 2 * self._limit(hand)) for hand in ready) or 3

    # --- actors ----------------------------------------------------------------------------------

    @property
    def _hands(self) -> list[Hand]:
        """The actors that may work on this."""
        return self._crew.hands[: self._most]

    def recruit(self) -> None:
        """Tell actors that have come what is evaluated."""
        for hand in self._hands:
            if hand.placed and not hand.called:
                hand.called = True
                self._group.create_task(self._enlist(hand))

    async def _enlist(self, hand: Hand) -> None:
        answer = await self._answer(hand, hand.actor.begin.remote(*self._order))
        if isinstance(answer, Refused):
            self._refuse(hand, answer)
        elif answer is not None:
            hand.enlisted, hand.node.failures = True, 0
            for split in self._asked:
                self._group.create_task(self._prepare(hand, split))

    async def _prepare(self, hand: Hand, split: Split) -> None:
        answer = await self._answer(hand, hand.actor.prepare.remote(split))
        if isinstance(answer, Refused):
            self._refuse(hand, answer)
        elif isinstance(answer, Baseline):
            try:
                check_agreement(self._baselines.get(split, answer), answer)
            except GevolveError as error:
                self._send(refusal(error))
                return
            hand.ready.add(split)
            if split not in self._baselines:
                self._baselines[split] = answer
                self._send(answer)
            self.hand_out()

    def _give(self, hand: Hand, tasks: list[Task]) -> None:
        """Send an actor a batch, which it has from now on."""
        given = Given(tasks)
        hand.batches.append(given)
        hand.batches[0].since = min(hand.batches[0].since, time.monotonic())
        for task in tasks:
            task.holders.add(hand)
        news = self._learnt[hand.told : hand.told + _NEWS]
        hand.told += len(news)
        batch = Batch([task.job for task in tasks], news)
        call = hand.actor.judge.remote(encode(batch))
        self._group.create_task(self._judge(hand, given, call))

    async def _judge(self, hand: Hand, given: Given, call: Any) -> None:
        answer = await self._answer(hand, call)
        if answer is None:
            return
        hand.batches.remove(given)
        for late in hand.batches[:1]:
            late.since = time.monotonic()
        if isinstance(answer, Answers):
            self._take_answers(hand, answer)
        else:
            self._give_back(given.tasks, hand)
            if isinstance(answer, Refused):
                self._refuse(hand, answer)
        self.hand_out()

    async def _answer(self, hand: Hand, call: Any) -> FromActor | None:
        """The answer to a call; None if the actor was lost, or if nobody wants it any more."""
        try:
            body = await call
        except self._crew.errors:
            if not hand.gone:
                self.lose(hand)
            return None
        return None if self.closed or hand.gone else decode_answer(body)

    def _refuse(self, hand: Hand, refused: Refused) -> None:
        """Do without an actor that cannot go on; if all of them cannot, the evaluator cannot."""
        hand.refused, hand.ready = True, set()
        hand.node.status.why = refused.message.partition("\n")[0]
        if refused.kind not in _LOCAL or all(one.refused for one in self._hands):
            self._send(refused)

    def lose(self, hand: Hand) -> None:
        """Go on without an actor: others judge what it had."""
        self._crew.dismiss(hand)
        for given in hand.batches[:1]:
            for task in given.tasks:
                task.tries += 1
        tasks = [task for given in hand.batches for task in given.tasks]
        hand.node.status.lost += sum(task.job.number in self._open for task in tasks)
        self._give_back(tasks, hand)
        self.hand_out()

    def _give_back(self, tasks: list[Task], hand: Hand) -> None:
        for task in reversed(tasks):
            task.holders.discard(hand)
            if task.tries >= _TRIES:
                crash = Evaluation(verdict=Verdict.CRASH, detail=f"its actor ended {_TRIES} times")
                self._finish(task, crash)
            elif not task.holders and task.job.number in self._open:
                self._waiting.appendleft(task)

    # --- patches ---------------------------------------------------------------------------------

    def _limit(self, hand: Hand) -> int:
        """The most patches of a batch for this actor."""
        pace = hand.pace or self._pace
        return 1 if pace is None else max(1, min(_MOST, int(_BATCH / max(pace, 1e-6))))

    def _take(self, hand: Hand, hands: int) -> list[Task]:
        """A batch for an actor: small enough to leave some for the others."""
        while self._waiting and self._waiting[0].job.number not in self._open:
            self._waiting.popleft()  # another actor was faster
        if not self._waiting:
            return []
        first = self._waiting[0]
        split, alone = first.job.split, first.tries > 0
        if split not in hand.ready or hand in first.holders or (alone and hand.batches):
            return []
        size = 1 if alone else min(self._limit(hand), len(self._waiting) // (2 * hands))
        tasks = [self._waiting.popleft()]
        while self._waiting and len(tasks) < size:
            task = self._waiting[0]
            if task.job.split != split or task.tries or hand in task.holders:
                break
            self._waiting.popleft()
            if task.job.number in self._open:
                tasks.append(task)
        return tasks

    def _take_answers(self, hand: Hand, answers: Answers) -> None:
        each = answers.seconds / max(1, len(answers.judged))
        hand.pace = each if hand.pace is None else 0.7 * hand.pace + 0.3 * each
        self._pace = each if self._pace is None else 0.7 * self._pace + 0.3 * each
        for judged in answers.judged:
            task = self._open.get(judged.number)
            if task is not None:
                hand.node.status.evaluations += 1
                self._learn(task.job.split, judged.evaluation)
                self._finish(task, judged.evaluation)

    def _finish(self, task: Task, evaluation: Evaluation) -> None:
        if self._open.pop(task.job.number, None) is not None:
            if not self._open:  # before the last one, so that who has it knows who did what
                self._send(Status(self._crew.counted(), self.ahead))
            self._send(Judged(task.job.number, evaluation))

    def _learn(self, split: Split, evaluation: Evaluation) -> None:
        if evaluation.reusable and (split, evaluation.artefact) not in self._known:
            self._known.add((split, evaluation.artefact))
            plain = msgspec.structs.replace(evaluation, skipped=0, seconds={})
            self._learnt.append(msgspec.Raw(encode((split, plain))))

    def check_late(self) -> None:
        """Give what an actor is late with to another one, and give up an actor that is stuck."""
        now = time.monotonic()
        for hand in self._crew.hands.copy():
            for given in hand.batches[:1]:
                age = now - given.since
                split = given.tasks[0].job.split
                deadline = self._baselines[split].deadline
                if age > len(given.tasks) * (2 * deadline + 1) + _STUCK:
                    self.lose(hand)
                elif age > self._should_take(given, deadline):
                    self._repeat(hand)

    def _should_take(self, given: Given, deadline: float) -> float:
        least, factor = _LATE
        pace = deadline if self._pace is None else self._pace
        return max(least, factor * pace * len(given.tasks))

    def _repeat(self, hand: Hand) -> None:
        """Hand out all that a late actor has once more, if another one has nothing else to do."""
        if self._waiting or not any(one.ready and not one.batches for one in self._crew.hands):
            return
        for given in hand.batches:
            if not given.repeated:
                given.repeated = True
                late = [task for task in given.tasks if task.job.number in self._open]
                hand.node.status.repeated += len(late)
                self._waiting.extend(late)
        self.hand_out()
