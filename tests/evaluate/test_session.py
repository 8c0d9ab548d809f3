"""How patches are handed out to actors, with actors of this process in place of Ray's."""

import asyncio
from types import SimpleNamespace

import pytest

from gevolve.evaluate.dispatcher.crew import Hand, Node
from gevolve.evaluate.dispatcher.messages import Answers, Batch, Ready, Status, decode, encode
from gevolve.evaluate.dispatcher.session import Session
from gevolve.evaluate.protocol import Baseline, Job, Judged, NodeStatus
from gevolve.evaluate.verdict import Evaluation, Verdict

OK = Evaluation(verdict=Verdict.OK, time=1.0, error=0.0, artefact="a")
BASELINE = Baseline(
    split="search",
    evaluation=OK,
    profile={},
    cases=("one",),
    tolerance=0.0,
    deadline=5.0,
    device="toy",
    deterministic=True,
    referee="",
    program="p",
    digest="d",
)


class Remote:
    """An actor that answers at once, or never."""

    def __init__(self, *, silent=False):
        self.silent = silent
        self.begin = SimpleNamespace(remote=lambda *order: self._give(Ready()))
        self.prepare = SimpleNamespace(remote=lambda split: self._give(BASELINE))
        self.judge = SimpleNamespace(remote=self._judge)

    def _give(self, message):
        future = asyncio.get_running_loop().create_future()
        future.set_result(encode(message))
        return future

    def _judge(self, work):
        if self.silent:
            return asyncio.get_running_loop().create_future()
        jobs = decode(work, Batch).jobs
        return self._give(Answers([Judged(job.number, OK) for job in jobs], 0.01 * len(jobs)))


class Crew:
    """Two actors on two nodes."""

    errors = RuntimeError

    def __init__(self, *remotes):
        self.hands = [
            Hand(remote, Node(str(n), NodeStatus(name=str(n)), 1), placed=True)
            for n, remote in enumerate(remotes)
        ]

    def counted(self):
        return [hand.node.status for hand in self.hands]

    def dismiss(self, hand):
        hand.gone = True
        self.hands.remove(hand)


def judge(crew, count, meanwhile):
    """The numbers that were judged when nothing happens any more, and the session."""
    sent = []

    async def work():
        async with asyncio.TaskGroup() as group:
            session = Session(crew, group, sent.append, [b""], None)
            session.prepare("search")
            await settle()
            for number in range(count):
                session.add(Job(number, "", "search", []))
            session.hand_out()
            await settle()
            meanwhile(session)
            await settle()
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()

    asyncio.run(work())
    return [message.number for message in sent if isinstance(message, Judged)], sent


async def settle():
    for _ in range(200):
        await asyncio.sleep(0)


def test_all_that_a_slow_actor_has_goes_to_another_one():
    crew = Crew(Remote(), Remote(silent=True))
    slow, held = crew.hands[1], []

    def later(session):
        assert len(slow.batches) == 2  # one in reserve
        held.append(sum(len(given.tasks) for given in slow.batches))
        session.check_late()
        assert slow.node.status.repeated == 0  # it is not late yet
        slow.batches[0].since -= 3.0
        session.check_late()
        session.check_late()

    numbers, sent = judge(crew, 40, later)
    assert sorted(numbers) == list(range(40))
    assert slow.node.status.repeated == held[0] > 1
    assert not slow.gone
    assert [m.nodes for m in sent if isinstance(m, Status)], "the last one comes with the nodes"


def test_an_actor_that_never_answers_is_given_up():
    crew = Crew(Remote(), Remote(silent=True))
    stuck, held = crew.hands[1], []

    def later(session):
        held.append(sum(len(given.tasks) for given in stuck.batches))
        stuck.batches[0].since -= 3600.0
        session.check_late()

    numbers, _ = judge(crew, 40, later)
    assert sorted(numbers) == list(range(40))
    assert stuck.gone
    assert stuck.node.status.lost == held[0] > 1


@pytest.mark.parametrize("count", [1, 2, 7, 500])
def test_every_patch_is_judged_once(count):
    numbers, _ = judge(Crew(Remote(), Remote()), count, lambda session: None)
    assert sorted(numbers) == list(range(count))
