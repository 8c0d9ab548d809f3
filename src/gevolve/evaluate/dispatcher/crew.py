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

_ANSWER = 180.0
"""Seconds within which a node must say what it has; a slow disk may need a minute to start Python."""
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
    facts: dict[str, str] = field(default_factory=dict[str, str])
    """What it has; empty until it has told."""
    fits: bool = False
    """Whether its actors may be used."""
    failures: int = 0
    """Actors in a row that ended before they were ready."""
    shown: int = 0
    """How many evaluations the last status told."""

    @property
    def told(self) -> bool:
        """Whether it has told what it has."""
        return bool(self.facts)


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
        self._listed = False
        """Whether the cluster has said which nodes it has."""
        self._cpu: str | None = None
        """The CPU that all nodes must have, once it is known."""
        self._mine = facts.describe(wanted.packages)
        ray.cloudpickle.register_pickle_by_value(facts)
        self._describe = ray.remote(num_cpus=0, max_retries=1)(facts.describe)
        core, gpus = (0, wanted.gpus) if wanted.gpus else (1, 0)
        self._actor = ray.remote(num_cpus=core, num_gpus=gpus, max_restarts=0)(Actor)

    @property
    def errors(self) -> Any:
        """What a call of an actor may raise."""
        return self._ray.exceptions.RayError

    @property
    def looked(self) -> bool:
        """Whether all nodes have told what they have, or let us wait too long."""
        return self._listed and all(node.told or self._is_out(node) for node in self.nodes.values())

    async def look(self) -> list[Node]:
        """Find out which nodes have come and gone; returns those that are to be asked what they have."""
        listed = await asyncio.wait_for(asyncio.to_thread(self._ray.nodes), _HEAD)
        names = Counter(entry["NodeManagerHostname"] for entry in listed)
        fresh: list[Node] = []
        for entry in sorted(listed, key=lambda entry: entry["NodeID"]):
            node = self.nodes.get(entry["NodeID"])
            if node is None and entry["Alive"]:
                fresh.append(self._enter(entry, alone=names[entry["NodeManagerHostname"]] == 1))
            elif node is not None and not entry["Alive"]:
                self._part(node)
        self._listed = True
        return fresh

    def _part(self, node: Node) -> None:
        """Let go of a node; of one that never told what it has, nothing is told either."""
        node.fits = False
        if node.told:
            node.status.state, node.status.why = "lost", "the node has gone"
        else:
            del self.nodes[node.id]  # Ray lists nodes for a while after they have gone

    def _enter(self, entry: dict[str, Any], *, alone: bool) -> Node:
        name = entry["NodeManagerHostname"]
        status = NodeStatus(name=name if alone else f"{name} {entry['NodeID'][:6]}")
        kind, each = ("GPU", self._wanted.gpus) if self._wanted.gpus else ("CPU", 1)
        slots = int(entry["Resources"].get(kind, 0) // each)
        return self.nodes.setdefault(entry["NodeID"], Node(entry["NodeID"], status, slots))

    async def ask(self, node: Node) -> None:
        """Ask a node what it has; on a cluster of our own there is nothing to ask."""
        if self._wanted.address == "ray":
            node.facts = self._mine
        else:
            call = self._describe.options(scheduling_strategy=self._only(node))
            try:
                answer = call.remote(self._wanted.packages)
                node.facts = await asyncio.wait_for(answer, _ANSWER)
            except (TimeoutError, self.errors):
                self.leave_out(node, "it does not answer")
        self._compare()

    def _compare(self) -> None:
        """Leave out nodes that would judge otherwise.

        Packages must be those that we have ourselves. The CPU need not be ours: if no node has ours,
        the most common is taken, so that a laptop can use a cluster.
        """
        told = [node for node in self.nodes.values() if node.told and not self._is_out(node)]
        alike = [node for node in told if not self._differs(node, None)]
        self._cpu = self._cpu or self._choose_cpu(alike)
        for node in told:
            differs = self._differs(node, self._cpu)
            node.fits = self._cpu is not None and not differs
            if differs:
                self.leave_out(node, f"it has {differs}")

    def _differs(self, node: Node, cpu: str | None) -> str:
        """How a node differs from what is wanted, with this CPU or any."""
        return facts.difference(self._mine | {facts.CPU: cpu or node.facts[facts.CPU]}, node.facts)

    def _choose_cpu(self, nodes: list[Node]) -> str | None:
        """Ours as soon as a node has it; another only when all nodes have told."""
        cpus = Counter(node.facts[facts.CPU] for node in nodes)
        if self._mine[facts.CPU] in cpus:
            return self._mine[facts.CPU]
        if cpus and self.looked:
            return min(cpus, key=lambda name: (-cpus[name], name))
        return None

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
