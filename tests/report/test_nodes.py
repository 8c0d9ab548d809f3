"""The machines of a cluster, in the terminal."""

import io

from rich.console import Console

from gevolve.evaluate.protocol import NodeStatus
from gevolve.report.live import node_table


def shown(nodes, limit=8):
    console = Console(file=io.StringIO(), width=120)
    console.print(node_table(nodes, limit=limit))
    return console.file.getvalue().splitlines()


def test_every_machine_has_a_line():
    lines = shown(
        [
            NodeStatus(name="idle"),
            NodeStatus(name="dead", state="lost", why="the node has gone", lost=17),
            NodeStatus(name="odd", state="left out", why="it has numpy 1.0 instead of 2.3"),
            NodeStatus(
                name="busy", state="working", workers=4, evaluations=1200, rate=31.25, repeated=3
            ),
        ]
    )
    head, *rows = (line.split() for line in lines if line.strip() and "─" not in line)
    assert head == ["node", "workers", "judged", "rate", "lost", "repeated"]
    assert rows[0] == ["busy", "4", "1200", "31.2/s", "0", "3"]
    assert rows[1] == [
        "dead",
        "0",
        "0",
        "0.0/s",
        "17",
        "0",
        *["lost:", "the", "node", "has", "gone"],
    ]
    assert rows[2] == ["idle", "0", "0", "0.0/s", "0", "0", "starting"]
    assert rows[3][6:] == ["left", "out:", "it", "has", "numpy", "1.0", "instead", "of", "2.3"]


def test_of_many_machines_the_fastest_are_shown():
    nodes = [NodeStatus(name=f"n{n}", state="working", rate=float(n)) for n in range(20)]
    lines = shown(nodes, limit=3)
    assert [line.split()[0] for line in lines[-4:-1]] == ["n19", "n18", "n17"]
    assert "17 more" in lines[-1]
