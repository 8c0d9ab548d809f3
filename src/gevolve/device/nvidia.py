"""Where NVIDIA's packages of this environment put their files.

Wheels of CUDA 12 have a folder for each package (``nvidia/cuda_nvcc/bin``), those of CUDA 13 share
one (``nvidia/cu13/bin``); nothing outside this module needs to know.
"""

import importlib.util
from pathlib import Path


def files(pattern: str) -> list[Path]:
    """Files such as ``bin/ptxas`` or ``lib/libnvJitLink.so.*`` of every installed package."""
    spec = importlib.util.find_spec("nvidia")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return [path for folder in folders for path in sorted(Path(folder).glob(f"*/{pattern}"))]
