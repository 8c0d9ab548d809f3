"""How much work XLA puts into machine code; what its own optimizer makes of a program is the same at every level."""

from typing import Any

Level = dict[str, Any]
"""Options of XLA, by name."""

FULL: Level = {}
"""For what is timed by a clock, and for what is reported."""
SOON: Level = {
    "xla_backend_optimization_level": 1,
    "xla_cpu_parallel_codegen_split_count": 1,
    "xla_cpu_use_fusion_emitters": False,
}
"""Takes half as long to compile; the code is about as fast, and gives the same."""
SKETCH: Level = {**SOON, "xla_backend_optimization_level": 0}
"""Takes a tenth as long; the code is several times slower, and may round otherwise."""
