"""Devices by name: ``FAMILY`` or ``FAMILY:MODEL``, such as ``sim``, ``sim:p100`` or ``cuda:0``.

A family is a subclass of `Device`. Other packages add families by an entry point, in their own
``pyproject.toml``:

    [project.entry-points."gevolve.devices"]
    abacus = "my_package:Abacus"

Then ``--device abacus`` creates ``Abacus("")`` and ``--device abacus:large`` ``Abacus("large")``.
"""

from importlib.metadata import EntryPoint, entry_points

from gevolve.device.base import Device
from gevolve.errors import DeviceError, GevolveError, one_line

GROUP = "gevolve.devices"
"""The entry-point group of device families."""
_BUILT_IN = {
    "sim": "gevolve.device.sim:Sim",
    "cuda": "gevolve.device.cuda:Cuda",
    "xla": "gevolve.device.xla:Xla",
}


def open_device(name: str) -> Device:
    """The device of this name, such as ``sim:p100``."""
    family, _, model = name.partition(":")
    return _family(family)(model)


def worker_devices(name: str) -> list[str]:
    """The device of each worker, if the device limits their number; [] if it does not.

    ``cuda:all`` is a worker for each GPU, ``cuda:0`` is one worker.
    """
    family, _, model = name.partition(":")
    if not _is_family(family):  # a workload may bring a device of its own
        return []
    return [_join(family, one) for one in _family(family).workers(model)]


def devices() -> list[tuple[str, str]]:
    """Every device that can be opened, with one line about it, or how to install what is missing."""
    rows: list[tuple[str, str]] = []
    for family in (*_BUILT_IN, *_plugged_in()):
        try:
            models = _family(family).models()
        except GevolveError as error:  # a broken plug-in must not hide the other devices
            models = [("", str(error))]
        rows += [(_join(family, model), line) for model, line in models]
    return rows


def _join(family: str, model: str) -> str:
    return f"{family}:{model}" if model else family


def _is_family(name: str) -> bool:
    return name in _BUILT_IN or name in _plugged_in()


def _plugged_in() -> dict[str, EntryPoint]:
    """The families of other packages; they cannot replace gevolve's own."""
    found = {entry.name: entry for entry in entry_points(group=GROUP)}
    return {name: found[name] for name in sorted(found.keys() - _BUILT_IN.keys())}


def _family(name: str) -> type[Device]:
    if name in _BUILT_IN:
        entry = EntryPoint(name, _BUILT_IN[name], GROUP)
    elif (entry := _plugged_in().get(name)) is None:
        raise DeviceError(f"no device {name!r}; `gevolve devices` lists what there is")
    try:
        loaded = entry.load()
    except GevolveError:
        raise
    except Exception as error:
        raise DeviceError(
            f"device {name}: cannot load {entry.value} ({one_line(error)}); mend or remove its package"
        ) from error
    if not (isinstance(loaded, type) and issubclass(loaded, Device)):
        raise DeviceError(
            f"device {name}: {entry.value} is no subclass of gevolve.Device; make it one"
        )
    return loaded
