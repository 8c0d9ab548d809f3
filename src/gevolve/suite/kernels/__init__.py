"""CUDA kernels of common kinds, each with its host code and a NumPy reference."""
