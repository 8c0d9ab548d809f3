"""The papers' kinds of GPU program, as a scientist who has read the CUDA guide writes them."""
