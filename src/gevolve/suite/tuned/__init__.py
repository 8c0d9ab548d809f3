"""CUDA kernels of common kinds, tuned by hand, each with its host code and a NumPy reference."""
