"""How a configuration of a tuner is compiled and launched: the user's file says it, or a T1 file.

The user's file holds one class:

    class Pnpoly(gevolve.calibrate.Host):
        def run(self, gpu, config):
            points = gpu.array(rng.standard_normal((n, 2), np.float32))
            ...
            gpu.launch("cn_pnpoly", grid=-(-n // (config["block_size_x"] * config["tile_size"])), ...)
"""

from collections.abc import Mapping

from gevolve.calibrate.measured import Configuration
from gevolve.device.base import Gpu

__all__ = ["Configuration", "Host"]


class Host:
    """The host code around a tuned kernel. Subclass it; `run` is needed."""

    kernels: tuple[str, ...] = ()
    """The kernels that are launched; all of the source are compiled if empty."""

    def defines(self, config: Configuration) -> Mapping[str, object]:
        """The macros that the source is compiled with: all parameters, as tuners do it."""
        return config

    def options(self, config: Configuration) -> tuple[str, ...]:  # noqa: ARG002  (for those who override it)
        """More options for clang."""
        return ()

    def run(self, gpu: Gpu, config: Configuration) -> None:
        """Upload, launch. Outputs need not be read: blocks that are not timed may not have run."""
        raise NotImplementedError
