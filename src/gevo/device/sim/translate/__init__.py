"""PTX to host LLVM-IR: one table entry an instruction, one host function a kernel."""
