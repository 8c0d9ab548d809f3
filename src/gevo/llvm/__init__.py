"""GEVO: GPU kernels in LLVM-IR. source → module → edits → repair → codegen."""
