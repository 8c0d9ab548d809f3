"""The nodes of a cluster and the actors on them: who is there, who fits, who has gone."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from gevolve.evaluate.dispatcher import facts
from gevolve.evaluate.dispatcher.actor import Actor
from gevolve.evaluate.dispatcher.messages import Connect
from gevolve.evaluate.protocol import NodeStatus
from gevolve.workload.base import Split

_ANSWER = 60.0
"""Seconds within which a node must say what it has."""
_HEAD = 20.0
"""Seconds within which the head must answer; else it is gone, and Ray would wait for it too long."""
_FAILURES = 3
"""A node on which so many actors in a row end before they are ready is left out."""


@dataclass(eq=False)
class Node:
    """A machine of the cluster."""

    id: str
    status: NodeStatus
    slots: int
    """How many actors it has room for, if all of it is free."""
    facts: dict[str, str] | None = None
    """What it has; None until it has told."""
    fits: bool = False
    """Whether its actors may be used."""
    failures: int = 0
    """Actors in a row that ended before they were ready."""
    shown: int = 0
    """How many evaluations the last status told."""


@dataclass
class Given:
    """A batch that an actor has not answered."""

    tasks: list[Any]
    since: float = float("inf")
    """When the actor came to it."""
    repeated: bool = False
    """Whether it was given to another actor as well."""


@dataclass(eq=False)
class Hand:
    """An actor, as the dispatcher sees it."""

    actor: Any
    node: Node
    placed: bool = False
    """Whether it runs."""
    called: bool = False
    """Whether it was told what is evaluated, ..."""
    enlisted: bool = False
    """... and has begun."""
    refused: bool = False
    """Whether it has said that it cannot go on."""
    gone: bool = False
    ready: set[Split] = field(default_factory=set[Split])
    """Splits that it has prepared."""
    batches: list[Given] = field(default_factory=list[Given])
    told: int = 0
    """How many known evaluations it was told of."""
    pace: float | None = None
    """Seconds that it takes for an evaluation, lately."""


class Crew:
    """All nodes, and all actors that were hired and not dismissed."""

    def __init__(self, ray: Any, wanted: Connect) -> None:
        self._ray = ray
        self._wanted = wanted
        self.nodes: dict[str, Node] = {}
        self.hands: list[Hand] = []
        self.looked = False
        """Whether all nodes that were there at the beginning have told what they have."""
        self._mine = facts.describe(wanted.packages)
        ray.cloudpickle.register_pickle_by_value(facts)
        self._describe = ray.remote(num_cpus=0, max_retries=1)(facts.describe)
        core, gpus = (0, wanted.gpus) if wanted.gpus else (1, 0)
        self._actor = ray.remote(num_cpus=core, num_gpus=gpus, max_restarts=0)(Actor)

    @property
    def errors(self) -> Any:
        """What a call of an actor may raise."""
        return self._ray.exceptions.RayError

    async def look(self) -> None:
        """Find out which nodes have come and gone."""
        listed = await asyncio.wait_for(asyncio.to_thread(self._ray.nodes), _HEAD)
        names = Counter(entry["NodeManagerHostname"] for entry in listed)
        fresh: list[Node] = []
        for entry in sorted(listed, key=lambda entry: entry["NodeID"]):
            node = self.nodes.get(entry["NodeID"])
            if node is None and entry["Alive"]:
                fresh.append(self._enter(entry, alone=names[entry["NodeManagerHostname"]] == 1))
            elif node is not None and not entry["Alive"] and node.status.state != "lost":
                node.fits = False
                node.status.state, node.status.why = "lost", "the node has gone"
        await asyncio.gather(*map(self._ask, fresh))
        if fresh:
            self._compare()
        self.looked = True

    def _enter(self, entry: dict[str, Any], *, alone: bool) -> Node:
        name = entry["NodeManagerHostname"]
        status = NodeStatus(name=name if alone else f"{name} {entry['NodeID'][:6]}")
        kind, each = ("GPU", self._wanted.gpus) if self._wanted.gpus else ("CPU", 1)
        slots = int(entry["Resources"].get(kind, 0) // each)
        return self.nodes.setdefault(entry["NodeID"], Node(entry["NodeID"], status, slots))

    async def _ask(self, node: Node) -> None:
        """Ask a node what it has; on a cluster of our own there is nothing to ask."""
        if self._wanted.address == "ray":
            node.facts = self._mine
            return
        call = self._describe.options(scheduling_strategy=self._only(node))
        try:
            answer = call.remote(self._wanted.packages)
            node.facts = await asyncio.wait_for(answer, _ANSWER)
        except (TimeoutError, self.errors):
            self.leave_out(node, "it does not answer")

    def _compare(self) -> None:
        """Leave out nodes that would judge otherwise.

        Packages must be those that we have ourselves. Of the CPUs, which need not be ours, the most
        common is taken, so that a laptop can use a cluster.
        """
        told = [node for node in self.nodes.values() if node.facts and not self._is_out(node)]
        cpus = Counter(node.facts[facts.CPU] for node in told if node.facts)
        mine = self._mine
        if cpus and mine[facts.CPU] not in cpus:
            most = min(cpus, key=lambda name: (-cpus[name], name))
            mine = mine | {facts.CPU: most}
        for node in told:
            differs = facts.difference(mine, node.facts or {})
            node.fits = not differs
            if differs:
                self.leave_out(node, f"it has {differs}")

    def leave_out(self, node: Node, why: str) -> None:
        node.fits = False
        node.status.state, node.status.why = "left out", why

    def _is_out(self, node: Node) -> bool:
        return node.status.state in {"left out", "lost"}

    def hire(self) -> Iterator[Hand]:
        """Actors for all room that there is, or as many as are wanted, evenly over the nodes."""
        free = [
            [node] * (node.slots - sum(hand.node is node for hand in self.hands))
            for node in self.nodes.values()
            if node.fits
        ]
        for node in (node for row in zip_longest(*free) for node in row if node):
            if self._wanted.workers is not None and len(self.hands) >= self._wanted.workers:
                return
            actor = self._actor.options(scheduling_strategy=self._only(node)).remote()
            self.hands.append(Hand(actor, node))
            yield self.hands[-1]

    def dismiss(self, hand: Hand) -> None:
        """Let go of an actor, which may have gone by itself."""
        hand.gone = True
        self.hands.remove(hand)
        self._ray.kill(hand.actor)
        if not hand.enlisted:
            hand.node.failures += 1
            if hand.node.failures >= _FAILURES:
                self.leave_out(hand.node, "its actors end before they are ready")

    def no_room(self) -> str:
        """Why there is no actor, and what to do about it."""
        out = [node.status for node in self.nodes.values() if node.status.state == "left out"]
        kind = "GPU" if self._wanted.gpus else "core"
        if out and not any(node.fits for node in self.nodes.values()):
            named = "; ".join(f"{one.name}: {one.why}" for one in out[:3])
            return f"no node of the cluster can be used ({named}); make its nodes like this machine"
        if not any(node.slots for node in self.nodes.values() if node.fits):
            return f"no node of the cluster has a {kind}; use another cluster or --device"
        return (
            f"no {kind} of the cluster was free for {self._wanted.patience:g} s;"
            " end what else runs there, or wait"
        )

    def statuses(self, seconds: float) -> list[NodeStatus]:
        """What live views show, so many seconds after the last time."""
        for node in self.nodes.values():
            status = node.status
            now = (status.evaluations - node.shown) / max(1e-3, seconds)
            node.shown = status.evaluations
            status.rate = 0.8 * status.rate + 0.2 * now if status.rate else now
        return self.counted()

    def counted(self) -> list[NodeStatus]:
        """The nodes, with how many actors of each are at work."""
        for node in self.nodes.values():
            status = node.status
            status.workers = sum(bool(hand.ready) for hand in self.hands if hand.node is node)
            if status.workers and not self._is_out(node):
                status.state = "working"
        return [node.status for node in self.nodes.values()]

    def _only(self, node: Node) -> Any:
        strategies = self._ray.util.scheduling_strategies
        return strategies.NodeAffinitySchedulingStrategy(node.id, soft=False)
