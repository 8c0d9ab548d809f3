"""Serves the virtual GPU to programs: a process for each, which is the GPU and ends with it."""

import os
import socket
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path

import msgspec

from gevolve.device.sim.timing import Gpu, by_kernel
from gevolve.device.virtual.calls import perform
from gevolve.device.virtual.codes import Code, Fault
from gevolve.device.virtual.functions import CALLS, symbols
from gevolve.device.virtual.gpu import VirtualGpu
from gevolve.device.virtual.memory import DeviceMemory
from gevolve.device.virtual.names import base_of
from gevolve.device.virtual.session import Finding, Session
from gevolve.device.virtual.timer import LaunchTimer
from gevolve.device.virtual.wire import GoneError, Program, Request
from gevolve.ir.llvm import names


def serve(connection: socket.socket, table: Gpu, timer: LaunchTimer | None = None) -> Session:
    """Be the GPU of one program until that ends; returns what it did."""
    memory = DeviceMemory(int(table.dram.size * (1 << 30)), watched=timer is None)
    program = Program(connection, memory.file, memory.slot.base)
    gpu = VirtualGpu(table, memory, program, timer)
    missing: dict[str, None] = {}
    try:
        while True:
            request = program.request()
            gpu.then = None
            code = _answer(gpu, request, missing)
            if request.later:
                gpu.late = gpu.late or code
                continue
            program.done(code or gpu.late, gpu.then)
            gpu.late = Code.SUCCESS
    except GoneError:
        return _session(gpu, missing)
    finally:
        memory.close()


def _answer(gpu: VirtualGpu, request: Request, missing: dict[str, None]) -> Code:
    name = base_of(symbols()[request.function])
    one = CALLS.get(name)
    gpu.thread = request.thread
    if one is None:
        missing[name] = None
        gpu.say(f"{name} is not there; the program is told that it is not supported")
        return Code.NOT_SUPPORTED
    try:
        if one.started and not gpu.started:
            return Code.NOT_INITIALIZED
        if one.context or (one.context is None and gpu.stack):
            _ = gpu.context
        perform(gpu, one, request.arguments)
    except Fault as fault:
        return fault.code
    except GoneError:
        raise
    except MemoryError:
        return Code.OUT_OF_MEMORY
    except Exception:  # noqa: BLE001  (whatever it is, the program must get an answer)
        gpu.say(f"{name} failed: {traceback.format_exc()}")
        return Code.UNKNOWN
    return Code.SUCCESS


def _session(gpu: VirtualGpu, missing: Iterable[str]) -> Session:
    """What was done on a GPU."""
    found = {
        (one.kind, one.kernel, one.detail): None for one in gpu.hazards if one.kind != "unsure"
    }
    return Session(
        gpu=gpu.table.title,
        clock=gpu.table.clock,
        launches=gpu.launches,
        kernels={names.demangle(name): cost for name, cost in by_kernel(gpu.timings).items()},
        findings=[Finding(*one) for one in found],
        missing=list(missing),
    )


def serve_apart(listener: socket.socket, table: Gpu, reports: Path) -> int:
    """Take one program and serve it in a new process, whose id is returned; its report is a file."""
    connection, _ = listener.accept()
    child = os.fork()
    if child:
        connection.close()
        return child
    status = 1
    try:
        listener.close()
        session = serve(connection, table)
        (reports / f"{os.getpid()}.json").write_bytes(msgspec.json.encode(session))
        status = 0
    except BaseException:  # noqa: BLE001  (nothing of the parent's may run here)
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(status)
