"""A virtual GPU: a ``libcuda.so.1`` whose functions end in the simulator.

A program loads the library (`library`, `libcuda.c`), which sends each call to a process that is the GPU
(`serve`). `calls` is the table of functions, those in `functions` are what they do, `gpu` is the state that
they work on. `command` runs a program on it.
"""
