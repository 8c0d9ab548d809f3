"""Every error that gevo raises on purpose.

::

    GevoError
    ├── SourceError          a kernel source could not be turned into a program
    │   ├── CompileError     clang rejected it (its own words are in the message)
    │   └── UnsupportedError it uses something that gevo cannot run; the message names it
    ├── PatchError           text that is not a patch
    ├── WorkloadError        the user's workload file is missing something or misbehaves
    ├── OptionError          a command-line option or argument is out of range
    ├── DeviceError          a device name is unknown, or the device is not there
    │   └── LaunchError      a launch was refused before it began (grid of zero, wrong arguments)
    ├── EvaluationError      the evaluator itself cannot go on (workers die at once, fork fails)
    └── StoreError           the run's folder or file cannot be read or written

Each message is one line that names the thing at fault and says what to do about it; only compiler
output runs over more lines. The command line prints the message and exits with 2.
"""


class GevoError(Exception):
    """Base of all errors that gevo raises on purpose."""


class SourceError(GevoError):
    """A kernel source could not be turned into a program."""


class CompileError(SourceError):
    """Clang rejected the source; its own words are in the message."""


class UnsupportedError(SourceError):
    """The program uses something that gevo cannot run; the message names it."""


class PatchError(GevoError, ValueError):
    """Text that is not a patch."""


class WorkloadError(GevoError):
    """The user's workload is missing something or misbehaves."""


class OptionError(GevoError, ValueError):
    """An option is out of range."""


class DeviceError(GevoError):
    """A device name is unknown, or the device is not there."""


class LaunchError(DeviceError):
    """A launch was refused before it began: grid of zero, wrong arguments, no such kernel."""


class EvaluationError(GevoError):
    """The evaluator itself cannot go on."""


class StoreError(GevoError):
    """The run's folder or file cannot be read or written."""


def one_line(error: BaseException) -> str:
    """Any exception in one line: its type and the first line of its message."""
    message = str(error).strip().splitlines()
    return f"{type(error).__name__}: {message[0]}" if message else type(error).__name__
