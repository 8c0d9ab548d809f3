"""The environment of workers: variables by name, and none of the user's secrets.

``GEVOLVE_KEEP=NAME,OTHER`` hands more of them on.
"""

import re
from collections.abc import Mapping

KEEP = "GEVOLVE_KEEP"
"""The variable that names further ones, with commas between them."""

_NAMES = frozenset(
    (
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR"),
        *("VIRTUAL_ENV", "CONDA_PREFIX", "XDG_CACHE_HOME", "XDG_STATE_HOME"),
        *("LD_LIBRARY_PATH", "LD_PRELOAD", "TF_CPP_MIN_LOG_LEVEL", "TF_XLA_FLAGS", "NVCC"),
    )
)
_FAMILIES = re.compile(
    r"PYTHON[A-Z]+|(LC|GEVOLVE|CUDA|CUBLAS|CUDNN|NVIDIA|NCCL|XLA|JAX|PJRT|TPU|LIBTPU|ROCM|HIP|HSA|IREE"
    r"|OMP|GOMP|KMP|OPENBLAS|MKL|BLIS|NUMEXPR|MALLOC|LLVM|ZIG)_[A-Z0-9_]+"
)
_SECRET = re.compile(r"SECRET|TOKEN|PASSW|CREDENTIAL|API_?KEY|PRIVATE|COOKIE|AUTH")


def named(variables: Mapping[str, str]) -> dict[str, str]:
    """Those variables that a worker needs to compute as the main process would."""
    more = {name.strip() for name in variables.get(KEEP, "").split(",")}
    return {name: value for name, value in variables.items() if name in more or _is_known(name)}


def _is_known(name: str) -> bool:
    if name in _NAMES:
        return True
    return bool(_FAMILIES.fullmatch(name)) and not _SECRET.search(name)
