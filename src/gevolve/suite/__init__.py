"""The workloads that the project measures itself on; `gevolve.workload.catalog` has their names."""

from gevolve.workload.catalog import KERNELS, MODELS, PAPERS, SUITE, module_of, name_of, suite

__all__ = ["KERNELS", "MODELS", "PAPERS", "SUITE", "module_of", "name_of", "suite"]
