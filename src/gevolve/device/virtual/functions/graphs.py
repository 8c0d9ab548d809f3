"""Functions about graphs: work that is described once and launched many times."""

import struct
from graphlib import CycleError, TopologicalSorter

from gevolve.device.virtual.calls import call
from gevolve.device.virtual.codes import Code, Fault
from gevolve.device.virtual.functions.copies import box_3d, copy_box, fill_rows
from gevolve.device.virtual.functions.work import HOST, KERNEL, RECORD, note, ready
from gevolve.device.virtual.gpu import VirtualGpu
from gevolve.device.virtual.objects import (
    Action,
    Context,
    Event,
    Function,
    Graph,
    GraphExec,
    Node,
    Stream,
)
from gevolve.device.virtual.wire import HostCall

_COPY, _FILL, _CHILD, _EMPTY, _WAIT = 1, 2, 4, 5, 6
"""Kinds of nodes: `CUgraphNodeType`."""
_TOPOLOGY_CHANGED = 2
"""Of `CUgraphExecUpdateResult`."""


@call("cuGraphCreate", "Hi")
def create(gpu: VirtualGpu, flags: int) -> Graph:
    if flags:
        raise Fault(Code.INVALID_VALUE)
    return gpu.add(Graph())


@call("cuGraphDestroy", "g", context=False)
def destroy(gpu: VirtualGpu, graph: Graph) -> None:
    for node in graph.nodes:
        gpu.remove(node)
    gpu.remove(graph)


def _handles(gpu: VirtualGpu, address: int, count: int) -> list[Node]:
    if count and not address:
        raise Fault(Code.INVALID_VALUE)
    words = struct.unpack(f"<{count}Q", gpu.program.read(address, 8 * count))
    return [gpu.find(Node, word) for word in words]


def _add(
    gpu: VirtualGpu,
    graph: Graph,
    after: list[Node],
    kind: int,
    action: Action | None,
    about: object = None,
) -> Node:
    if any(node.graph is not graph for node in after):
        raise Fault(Code.INVALID_VALUE)
    made = Node(kind=kind, action=action, after=after, graph=graph, about=about)
    graph.nodes.append(gpu.add(made))
    return made


@call("cuGraphAddEmptyNode", "Hgan")
def add_empty(gpu: VirtualGpu, graph: Graph, after: int, count: int) -> Node:
    return _add(gpu, graph, _handles(gpu, after, count), _EMPTY, None)


@call("cuGraphAddKernelNode", "Hgana")
def add_kernel(gpu: VirtualGpu, graph: Graph, after: int, count: int, what: int) -> Node:
    kernel, action = _launch(gpu, what)
    return _add(gpu, graph, _handles(gpu, after, count), KERNEL, action, kernel)


def _launch(gpu: VirtualGpu, what: int) -> tuple[Function, Action]:
    if not what:
        raise Fault(Code.INVALID_VALUE)
    words = struct.unpack("<Q7I4xQQ", gpu.program.read(what, 56))
    kernel = gpu.find(Function, words[0])
    grid, block, shared = words[1:4], words[4:7], words[7]
    data = ready(gpu, kernel, grid, block, shared, words[8], words[9])
    return kernel, lambda: gpu.launch(kernel, grid, block, shared, data)


@call("cuGraphAddMemcpyNode", "Hganac?")
def add_copy(
    gpu: VirtualGpu, graph: Graph, after: int, count: int, what: int, _: Context | None
) -> Node:
    return _add(gpu, graph, _handles(gpu, after, count), _COPY, _copy(gpu, what))


def _copy(gpu: VirtualGpu, what: int) -> Action:
    rows = box_3d(gpu, what)
    return lambda: copy_box(gpu, rows)


@call("cuGraphAddMemsetNode", "Hganac?")
def add_fill(
    gpu: VirtualGpu, graph: Graph, after: int, count: int, what: int, _: Context | None
) -> Node:
    return _add(gpu, graph, _handles(gpu, after, count), _FILL, _fill(gpu, what))


def _fill(gpu: VirtualGpu, what: int) -> Action:
    if not what:
        raise Fault(Code.INVALID_VALUE)
    to, pitch, value, size, width, height = struct.unpack("<QQIIQQ", gpu.program.read(what, 40))
    if size not in {1, 2, 4} or to % size:
        raise Fault(Code.INVALID_VALUE)
    value &= (1 << 8 * size) - 1
    return lambda: fill_rows(gpu, to, pitch, value, size, width, height)


@call("cuGraphAddHostNode", "Hgana")
def add_host(gpu: VirtualGpu, graph: Graph, after: int, count: int, what: int) -> Node:
    return _add(gpu, graph, _handles(gpu, after, count), HOST, _host(gpu, what))


def _host(gpu: VirtualGpu, what: int) -> Action:
    if not what:
        raise Fault(Code.INVALID_VALUE)
    function, argument = struct.unpack("<QQ", gpu.program.read(what, 16))
    return lambda: HostCall(function, argument)


@call("cuGraphAddEventRecordNode", "Hgane")
def add_record(gpu: VirtualGpu, graph: Graph, after: int, count: int, event: Event) -> Node:
    nodes = _handles(gpu, after, count)
    return _add(gpu, graph, nodes, RECORD, lambda: note(gpu, event), event)


@call("cuGraphAddEventWaitNode", "Hgane")
def add_wait(gpu: VirtualGpu, graph: Graph, after: int, count: int, event: Event) -> Node:
    return _add(gpu, graph, _handles(gpu, after, count), _WAIT, None, event)


@call("cuGraphAddChildGraphNode", "Hgang")
def add_child(gpu: VirtualGpu, graph: Graph, after: int, count: int, child: Graph) -> Node:
    inner = _ordered(child)
    nodes = _handles(gpu, after, count)
    return _add(gpu, graph, nodes, _CHILD, lambda: gpu.run(inner), child)


@call("cuGraphAddDependencies", "gaan")
@call("cuGraphAddDependencies_v2", "gaaan")
def add_dependencies(gpu: VirtualGpu, graph: Graph, first: int, then: int, *rest: int) -> None:
    earlier, later = (_handles(gpu, place, rest[-1]) for place in (first, then))
    for one, other in zip(earlier, later, strict=True):
        if one.graph is not graph or other.graph is not graph or one in other.after:
            raise Fault(Code.INVALID_VALUE)
        other.after = [*other.after, one]


@call("cuGraphGetNodes", "gaa")
def nodes(gpu: VirtualGpu, graph: Graph, to: int, count: int) -> None:
    _tell(gpu, graph.nodes, to, count)


@call("cuGraphGetRootNodes", "gaa")
def roots(gpu: VirtualGpu, graph: Graph, to: int, count: int) -> None:
    _tell(gpu, [node for node in graph.nodes if not node.after], to, count)


def _tell(gpu: VirtualGpu, found: list[Node], to: int, count: int) -> None:
    """Write nodes to an array; without one, say how many there are."""
    if not count:
        raise Fault(Code.INVALID_VALUE)
    if to:
        room = int.from_bytes(gpu.program.read(count, 8), "little")
        handles = [node.handle for node in found[:room]]
        handles += [0] * (room - len(handles))
        gpu.program.write(to, struct.pack(f"<{room}Q", *handles))
    gpu.program.write(count, struct.pack("<Q", len(found)))


@call("cuGraphNodeGetType", "vI")
def kind_of(_: VirtualGpu, node: Node) -> int:
    return node.kind


@call("cuGraphInstantiate", "Hgaan")
def instantiate(gpu: VirtualGpu, graph: Graph, *_: int) -> GraphExec:
    return gpu.add(GraphExec(nodes=_ordered(graph)))


@call("cuGraphInstantiateWithFlags", "Hgn")
def instantiate_2(gpu: VirtualGpu, graph: Graph, _: int) -> GraphExec:
    return instantiate(gpu, graph)


def _ordered(graph: Graph) -> list[Node]:
    """Copies of the nodes of a graph, each after all that it depends on."""
    found = [
        Node(kind=one.kind, action=one.action, about=one.about, origin=one) for one in graph.nodes
    ]
    place = {node: number for number, node in enumerate(graph.nodes)}
    order = TopologicalSorter(
        {number: [place[one] for one in node.after] for node, number in place.items()}
    )
    try:
        return [found[number] for number in order.static_order()]
    except CycleError:
        raise Fault(Code.INVALID_VALUE) from None


@call("cuGraphExecDestroy", "x", context=False)
def destroy_exec(gpu: VirtualGpu, graph: GraphExec) -> None:
    gpu.remove(graph)


@call("cuGraphUpload", "xs")
def upload(_: VirtualGpu, __: GraphExec, ___: Stream) -> None:
    """There is nowhere to send it."""


@call("cuGraphLaunch", "xs")
def launch(gpu: VirtualGpu, graph: GraphExec, stream: Stream) -> None:
    gpu.submit(stream, _CHILD, lambda: gpu.run(graph.nodes), graph)


# --- other work in the same nodes ----------------------------------------------------------------


@call("cuGraphKernelNodeSetParams", "va")
def set_kernel(gpu: VirtualGpu, node: Node, what: int) -> None:
    kernel, action = _launch(gpu, what)
    _change(node, KERNEL, action, kernel)


@call("cuGraphExecKernelNodeSetParams", "xva")
def set_kernel_of(gpu: VirtualGpu, graph: GraphExec, node: Node, what: int) -> None:
    set_kernel(gpu, _copied(graph, node), what)


@call("cuGraphMemcpyNodeSetParams", "va")
def set_copy(gpu: VirtualGpu, node: Node, what: int) -> None:
    _change(node, _COPY, _copy(gpu, what))


@call("cuGraphExecMemcpyNodeSetParams", "xvac?")
def set_copy_of(
    gpu: VirtualGpu, graph: GraphExec, node: Node, what: int, _: Context | None
) -> None:
    set_copy(gpu, _copied(graph, node), what)


@call("cuGraphMemsetNodeSetParams", "va")
def set_fill(gpu: VirtualGpu, node: Node, what: int) -> None:
    _change(node, _FILL, _fill(gpu, what))


@call("cuGraphExecMemsetNodeSetParams", "xvac?")
def set_fill_of(
    gpu: VirtualGpu, graph: GraphExec, node: Node, what: int, _: Context | None
) -> None:
    set_fill(gpu, _copied(graph, node), what)


@call("cuGraphHostNodeSetParams", "va")
def set_host(gpu: VirtualGpu, node: Node, what: int) -> None:
    _change(node, HOST, _host(gpu, what))


@call("cuGraphExecHostNodeSetParams", "xva")
def set_host_of(gpu: VirtualGpu, graph: GraphExec, node: Node, what: int) -> None:
    set_host(gpu, _copied(graph, node), what)


def _change(node: Node, kind: int, action: Action, about: object = None) -> None:
    if node.kind != kind:
        raise Fault(Code.INVALID_VALUE)
    node.action, node.about = action, about


def _copied(graph: GraphExec, node: Node) -> Node:
    """The copy of a node that a graph has which was made ready to launch."""
    for one in graph.nodes:
        if one.origin is node:
            return one
    raise Fault(Code.INVALID_VALUE)


@call("cuGraphExecUpdate_v2", "xga")
def update(gpu: VirtualGpu, ready_one: GraphExec, graph: Graph, result: int) -> None:
    """Give a graph that was made ready the work of another of the same shape."""
    if not result:
        raise Fault(Code.INVALID_VALUE)
    places = {node.origin: number for number, node in enumerate(ready_one.nodes)}
    before = [[places.get(one) for one in _origin(node).after] for node in ready_one.nodes]
    new = _ordered(graph)
    places = {node.origin: number for number, node in enumerate(new)}
    shape = [[places.get(one) for one in _origin(node).after] for node in new]
    same = shape == before and all(a.kind == b.kind for a, b in zip(new, ready_one.nodes, strict=True))  # fmt: skip
    gpu.program.write(result, struct.pack("<i4xQQ", 0 if same else _TOPOLOGY_CHANGED, 0, 0))
    if not same:
        raise Fault(Code.GRAPH_EXEC_UPDATE_FAILURE)
    for old, other in zip(ready_one.nodes, new, strict=True):
        old.action, old.about = other.action, other.about


def _origin(node: Node) -> Node:
    assert node.origin is not None
    return node.origin
