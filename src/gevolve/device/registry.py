"""Devices by name: ``FAMILY`` or ``FAMILY:MODEL``, such as ``sim``, ``sim:a100`` or ``cuda:0``.

A family is a subclass of `Device`. Other packages add families by an entry point, in their own
``pyproject.toml``:

    [project.entry-points."gevolve.devices"]
    abacus = "my_package:Abacus"

Then ``--device abacus`` creates ``Abacus("")`` and ``--device abacus:large`` ``Abacus("large")``.
"""

from importlib.metadata import EntryPoint

from gevolve.device.base import Device, Placement
from gevolve.errors import DeviceError, GevolveError
from gevolve.plugins import find_plugins, load_plugin

GROUP = "gevolve.devices"
"""The entry-point group of device families."""
_BUILT_IN = {
    "sim": "gevolve.device.sim:Sim",
    "ptx": "gevolve.device.sim:PtxModel",
    "cuda": "gevolve.device.cuda:Cuda",
    "xla": "gevolve.device.xla:Xla",
    "iree": "gevolve.device.iree:Iree",
}


def open_device(name: str) -> Device:
    """The device of this name, such as ``sim:a100``."""
    known, _, model = name.partition(":")
    return _family(known)(model)


def family(name: str) -> type[Device]:
    """The class of a device, which is not opened; `Device` itself for one that a workload brings along."""
    known, _, _ = name.partition(":")
    return _family(known) if _is_family(known) else Device


def itemizes(name: str) -> bool:
    """Whether a device tells the cost of a program by kernel and line."""
    return family(name).itemizes(name.partition(":")[2])


def shows_kernels(name: str) -> bool:
    """Whether a device has kernels of a model that can be edited."""
    return family(name).shows_kernels(name.partition(":")[2])


def worker_devices(name: str) -> list[str]:
    """The device of each worker, if the device limits their number; [] if it does not.

    ``cuda:all`` is a worker for each GPU, ``cuda:0`` is one worker.
    """
    known, _, model = name.partition(":")
    return [_join(known, one) for one in family(name).workers(model)]


def placement(name: str) -> Placement:
    """What a worker on a cluster needs, and the whole name of the device that it opens there."""
    known, _, model = name.partition(":")
    found = family(name).placement(model)
    return found._replace(model=_join(known, found.model))


def devices() -> list[tuple[str, str]]:
    """Every device that can be opened, with one line about it, or how to install what is missing."""
    rows: list[tuple[str, str]] = []
    for known in (*_BUILT_IN, *_plugged_in()):
        try:
            models = _family(known).models()
        except GevolveError as error:  # a broken plug-in must not hide the other devices
            models = [("", str(error))]
        rows += [(_join(known, model), line) for model, line in models]
    return rows


def _join(known: str, model: str) -> str:
    return f"{known}:{model}" if model else known


def _is_family(name: str) -> bool:
    return name in _BUILT_IN or name in _plugged_in()


def _plugged_in() -> dict[str, EntryPoint]:
    """The families of other packages; they cannot replace gevolve's own."""
    return {name: entry for name, entry in find_plugins(GROUP).items() if name not in _BUILT_IN}


def _family(name: str) -> type[Device]:
    if name in _BUILT_IN:
        return EntryPoint(name, _BUILT_IN[name], GROUP).load()
    plugins = _plugged_in()
    if name not in plugins:
        raise DeviceError(f"no device {name!r}; `gevolve devices` lists what there is")
    return load_plugin(plugins[name], Device)
