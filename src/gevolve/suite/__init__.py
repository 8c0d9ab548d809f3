"""The workloads that the project measures itself on; `gevolve.workload.catalog` has their names."""

from gevolve.workload.catalog import MODELS, PAPERS, SUITE, TUNED, module_of, name_of, suite

__all__ = ["MODELS", "PAPERS", "SUITE", "TUNED", "module_of", "name_of", "suite"]
