"""Every error that gevolve raises on purpose.

::

    GevolveError
    ├── SourceError          a kernel source could not be turned into a program
    │   ├── CompileError     clang rejected it (its own words are in the message)
    │   └── UnsupportedError it uses something that gevolve cannot run; the message names it
    ├── PatchError           text that is not a patch, or an edit that no edit kind can read
    ├── PluginError          what another package adds cannot be loaded, or does not fit
    ├── WorkloadError        the user's workload file is missing something or misbehaves
    ├── OptionError          a command-line option or argument is out of range
    ├── DeviceError          a device name is unknown, or the device is not there
    │   ├── MissingPackageError  something optional is not installed; the message says what to install
    │   └── LaunchError      a launch was refused before it began (grid of zero, wrong arguments)
    ├── EvaluationError      the evaluator itself cannot go on (workers die at once, fork fails)
    │   └── MachineError     the machine has no memory, disk or process left for it
    └── StoreError           the run's folder or file cannot be read or written
        └── TrustError       to go on would run code of someone else; the message says whose

Each message is one line that names the thing at fault and says what to do about it; only compiler
output runs over more lines. The command line prints the message and exits with 2.
"""

import errno


class GevolveError(Exception):
    """Base of all errors that gevolve raises on purpose."""


class SourceError(GevolveError):
    """A kernel source could not be turned into a program."""


class CompileError(SourceError):
    """Clang rejected the source; its own words are in the message."""


class UnsupportedError(SourceError):
    """The program uses something that gevolve cannot run; the message names it."""


class PatchError(GevolveError, ValueError):
    """Text that is not a patch, or an edit that no edit kind of the program can read."""


class PluginError(GevolveError):
    """What another package adds cannot be loaded, or does not fit."""


class WorkloadError(GevolveError):
    """The user's workload is missing something or misbehaves."""


class OptionError(GevolveError, ValueError):
    """An option is out of range."""


class DeviceError(GevolveError):
    """A device name is unknown, or the device is not there."""


class LaunchError(DeviceError):
    """A launch was refused before it began: grid of zero, wrong arguments, no such kernel."""


class MissingPackageError(DeviceError):
    """Something optional is not installed."""

    def __init__(self, need: str, extra: str) -> None:
        """Say what needs what, as in ``models need JAX``, and which extra of gevolve brings it."""
        super().__init__(f"{need}; {install(extra)}")


class EvaluationError(GevolveError):
    """The evaluator itself cannot go on."""


class MachineError(EvaluationError):
    """The machine has no memory, disk or process left; that says nothing about any program."""


class StoreError(GevolveError):
    """The run's folder or file cannot be read or written."""


_SHORTAGES = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.EIO})


def shortage_of(error: BaseException) -> MachineError | None:
    """What the machine lacks, if that is why this error was raised; None if it is not."""
    if not isinstance(error, OSError) or error.errno not in _SHORTAGES:
        return None
    where = f"{error.filename}: " if error.filename else ""
    return MachineError(f"{where}{error.strerror}; make room, then go on with `gevolve resume`")


def install(extra: str) -> str:
    """How to install an extra of gevolve, in a few words."""
    return f"in a checkout of gevolve: pip install './[{extra}]'"


class TrustError(StoreError):
    """To go on would run code that someone else named."""


def one_line(error: BaseException) -> str:
    """Any exception in one line: its type and the first line of its message."""
    message = str(error).strip().splitlines()
    return f"{type(error).__name__}: {message[0]}" if message else type(error).__name__
