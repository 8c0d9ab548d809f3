"""Runs programs on ``iree:a100`` in a process of its own, which JAX runs in."""

import json
import sys
from pathlib import Path

import jax
import numpy as np

from gevolve.device.base import Limits, Poisoned, Stopped
from gevolve.device.iree import times
from gevolve.device.iree.messages import Compile, Work
from gevolve.device.iree.work import work_of
from gevolve.device.registry import open_device
from gevolve.errors import SourceError
from gevolve.export.made import Source
from gevolve.export.models import vmfb
from gevolve.ir.llvm import LlvmProgram
from gevolve.ir.stablehlo import restore
from gevolve.patch import Patch
from tests.ir.stablehlo.test_pieces import network

LAYER = """
module @layer {
  func.func public @main(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> (tensor<8x4xf32>, tensor<f32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %zeros = stablehlo.constant dense<0.0> : tensor<8x4xf32>
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    %z = stablehlo.maximum %y, %zeros : tensor<8x4xf32>
    %s = stablehlo.reduce(%z init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
    return %z, %s : tensor<8x4xf32>, tensor<f32>
  }
}
"""
LOOP = """
module @loop {
  func.func public @main(%x: tensor<64xf32>) -> tensor<64xf32> {
    %first = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %last = stablehlo.constant dense<STEPS> : tensor<i32>
    %r:2 = stablehlo.while(%i = %first, %v = %x) : tensor<i32>, tensor<64xf32>
    cond {
      %c = stablehlo.compare LT, %i, %last : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %n = stablehlo.add %i, %one : tensor<i32>
      %s = stablehlo.sine %v : tensor<64xf32>
      stablehlo.return %n, %s : tensor<i32>, tensor<64xf32>
    }
    return %r#1 : tensor<64xf32>
  }
}
"""
CONSTANT = """
module @constant {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %n = stablehlo.iota dim = 0 : tensor<4xf32>
    %s = stablehlo.sine %n : tensor<4xf32>
    %nan = stablehlo.constant dense<0x7FC00000> : tensor<4xf32>
    %zero = stablehlo.constant dense<-2.0> : tensor<4xf32>
    %p = stablehlo.compare GT, %s, %zero : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %y = stablehlo.select %p, %x, %nan : tensor<4xi1>, tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
"""
WHILE = """
module @until {
  func.func public @main(%x: tensor<f32>) -> tensor<f32> {
    %limit = stablehlo.constant dense<100.0> : tensor<f32>
    %r = stablehlo.while(%v = %x) : tensor<f32>
    cond {
      %c = stablehlo.compare LT, %v, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %s = stablehlo.add %v, %v : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }
    return %r : tensor<f32>
  }
}
"""


UNTIL = """
module @until {
  func.func public @main(%x: tensor<f32>, %a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> (tensor<f32>, tensor<4x4xf32>) {
    %limit = stablehlo.constant dense<100.0> : tensor<f32>
    %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %r = stablehlo.while(%v = %x) : tensor<f32>
    cond {
      %c = stablehlo.compare LT, %v, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %s = stablehlo.add %v, %v : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }
    return %r, %p : tensor<f32>, tensor<4x4xf32>
  }
}
"""


def levels(device, arguments, folder):
    """What becomes of edits of kernels, on a device that has compiled the layer before."""
    program = restore(LAYER)
    kernels = device.kernels(
        device.build(program.text), lambda handle: handle(*arguments), Limits()
    )
    name = next(one for one in kernels if "matmul" in one)
    code = LlvmProgram(kernels[name].llvm)._index.instr
    place = next(id_ for id_, one in code.items() if one.opcode == "store")
    found = {"kernels": {one: code.cycles for one, code in kernels.items()}, "name": name}
    for what, edit in {
        "recompile": f"kernel-recompile {name} #1",
        "nothing": f"kernel-align {name} a0 #1",
        "store": f"kernel-delete {name} {place} #1",
        "elsewhere": f"kernel-delete matmul_of_another {place} #1",
        "gone": f"delete o2 #1; kernel-delete {name} {place} #1",
    }.items():
        variant = program.apply(Patch.parse(edit)).text
        assert program.verify(variant) is None
        artefact = device.build(variant)
        try:
            device.prepare(artefact, ())
            z, _ = device.open(artefact)(*arguments)
            found[what] = str(float(abs(z).max())), sorted(device._works.edited(artefact))
        except Stopped as stopped:
            found[what] = str(stopped)
    variant = program.apply(Patch.parse(f"kernel-delete {name} {place} #1"))
    made = vmfb(Source(variant.patch, variant.text, program.text, "sm_80", None))
    Path(folder, "levels.vmfb").write_bytes(made.data)
    found["notes"] = made.notes
    return found


def work_of_variants(device):
    """How much of each variant nobody had before: kernels that IREE compiles, and launches that are timed."""
    text = network(3)
    variants = (text, text.replace("maximum %p2", "minimum %p2"), text.replace("maximum %p3", "minimum %p3"))  # fmt: skip
    arguments = [np.ones((4, 4), np.float32)] * 4
    found = []
    for variant in (*variants, text):
        artefact = device.build(variant)
        compiled = device.compiled(artefact)
        found.append(
            (len(compiled.kernels), compiled.fresh, device.time(artefact, arguments).fresh)
        )
    return found


def in_pieces():
    """Times of programs as pieces and as a whole, on a device that hastens; and how many pieces IREE was given for each."""
    device, text = open_device("iree:a100"), network(3)
    arguments = [np.ones((4, 4), np.float32)] * 4
    unedited = device.build(text)
    device.keep(unedited)
    device.hasten()
    asked, time = [], device._iree().time
    device._iree().time = lambda request: asked.append(request) or time(request)
    kernel = next(name for name in device.compiled(unedited).kernels if "matmul" in name)
    skipped = text.replace("dot_general %x2", "dot_general %x1")
    others = {
        "unedited": unedited,
        "edited": device.build(text.replace("maximum %p2", "minimum %p2")),
        "skipped": device.build(skipped),
        "kernel": device.build(restore(text).apply(Patch.parse(f"kernel-recompile {kernel} #1")).text),
        "one": device.build(network(1)),
        "until": device.build(UNTIL),
    }  # fmt: skip
    found = {}
    for name, artefact in others.items():
        given = [np.float32(1), *arguments[:2]] if name == "until" else arguments
        given = arguments[:2] if name == "one" else given
        found[name] = device.time(artefact, given).time, device._times.whole(artefact, given).time
    new = [{one.name for one in request.pieces} for request in asked]
    found["pieces"] = [len(one) for one in new]
    found["new"] = len(new[-1] - set[str]().union(*new[:-1]))
    # Where pieces do not take the time of the whole, programs are timed whole.
    device._times._known.clear()
    device._times.divisible, times._AS_WHOLE = None, -1.0
    found["indivisible"] = device.time(unedited, arguments).time, device._times.divisible
    device._iree().end()
    return found


def main(folder):
    device = open_device("iree:a100")
    rng = np.random.default_rng(1)
    x, w = (rng.normal(size=shape).astype(np.float32) for shape in ((8, 16), (16, 4)))
    layer = device.build(LAYER)
    device.keep(layer)  # so that the virtual GPU computes it, too
    handle = device.open(layer)
    z, s = handle(x, w)
    want = np.maximum(x @ w, 0)
    found = {
        "sees_empty": [open_device(f"iree:{gpu}").sees_empty for gpu in ("a100", "cuda:0")],
        "error": float(max(abs(z - want).max(), abs(s - want.sum()))),
        "agree": device.remark(layer),
        "own": float(abs(device.run(layer, [x, w])[0][0] - want).max()),
        "time": handle.usage().time,
    }
    device._times._known.clear()
    found["repeated"] = device.time(layer, [x * 0, w]).time
    cost = device.cost(layer, lambda opened: opened(x, w), Limits())
    found["kernels"] = {name: one.launches for name, one in cost.kernels.items()}
    found["cycles"] = sum(one.cycles for one in cost.kernels.values())
    loops = []
    for steps in ("3", "9"):
        program = device.build(LOOP.replace("STEPS", steps))
        handle = device.open(program)
        handle(np.ones(64, np.float32))
        loops.append((handle.usage().time, device.time(program, []).launches))
    found["loops"] = loops
    found["work"] = work_of_variants(device)
    program = restore(network(3))
    found["layers"] = device.layers(program.text + "// net.py:5 = o1\n")
    found["layer_kernels"] = list(device.compiled(device.build(program.text)).kernels)
    found["program"] = program.text
    # It computes a constant when it is loaded, and that is computed though the run before was only timed.
    constant = device.build(CONSTANT)
    found["constant"] = device.run(constant, [np.ones(4, np.float32)])[0][0].tolist()
    # IREE has a kernel of its own for this, in which threads insert into one row without a barrier.
    rows = np.array([[3, 1, 3, 2, 0, 3, 2], [5, 5, 5, 9, 1, 9, 0]], np.int32)
    largest = device.build(
        str(jax.jit(lambda x: jax.lax.top_k(x, 4)).lower(rows).compiler_ir("stablehlo"))
    )
    found["largest"] = [one.tolist() for one in device.run(largest, [rows])[0]]
    # Sums in bfloat16 are products with 1 there, which stands in the code.
    lowered = jax.jit(lambda x, y: ((x + y) * y).astype(np.float32)).lower(
        *(jax.numpy.zeros((64, 32), jax.numpy.bfloat16) for _ in range(2))
    )
    brain = device.build(str(lowered.compiler_ir("stablehlo")))
    given = [rng.normal(size=(64, 32)).astype(jax.numpy.bfloat16) for _ in range(2)]
    theirs = device.open(brain)(*given)[0]
    off = abs(device.run(brain, given)[0][0] - theirs).max() / abs(theirs).max()
    found["bfloat16"] = float(off)
    until = device.build(WHILE)
    handle = device.open(until)
    found["until"] = float(handle(np.float32(1))[0])
    found["until_time"] = handle.usage().time
    # To time it ends a device of IREE's that others were loaded for, which are forgotten after it.
    lowered = jax.jit(lambda x: x.var(0)).lower(x)
    variance = device.build(str(lowered.compiler_ir("stablehlo")))
    found["variance_time"] = device.time(variance, [x]).time
    more = [CONSTANT.replace("module @", f"module @m{n}_") for n in range(7)]
    found["more"] = [
        device.run(device.build(one), [np.ones(4, np.float32)])[0][0][0] for one in more
    ]
    found["more"] = [float(one) for one in found["more"]]
    try:
        device._iree().compile(Compile(Work(LAYER.replace("maximum %y", "maximum %x").encode())))
    except SourceError as error:
        found["refused"] = str(error)
    served = Path(f"/proc/{device._iree()._process.pid}/maps").read_text()
    found["beside"] = [name for name in ("llvmlite", "jaxlib", "nvJitLink") if name in served]
    found["here"] = [
        name for name in ("libIREE", "libcuda") if name in Path("/proc/self/maps").read_text()
    ]
    found["there"] = "libIREECompiler" in served
    Path(folder, "layer.vmfb").write_bytes(vmfb(Source(Patch(), LAYER, LAYER, "sm_80", None)).data)
    work = work_of(layer)
    compiled = device._iree().compile(Compile(work))
    (name, kernel) = next(iter(compiled.kernels.items()))
    edited = kernel.ptx.replace(b"max.NaN.f32", b"min.NaN.f32")
    found["edited"] = edited != kernel.ptx and kernel.llvm.count("define ")
    evolved = device._iree().compile(Compile(Work(work.program, {name: edited})))
    Path(folder, "evolved.vmfb").write_bytes(evolved.module)
    found["levels"] = levels(device, [x, w], folder)
    found["in_pieces"] = in_pieces()
    process = device._iree()._process
    process.kill()
    process.wait()
    try:
        device.run(layer, [x, w])
    except Poisoned as error:
        found["lost"] = str(error)
    device._iree().start()
    found["again"] = float(abs(device.run(layer, [x, w])[0][0] - want).max())
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
