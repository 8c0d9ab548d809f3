"""What the functions of the driver do; to import a module is to add its functions to the table."""

from gevolve.device.virtual.calls import CALLS
from gevolve.device.virtual.functions import (
    account,
    code,
    copies,
    device,
    graphs,
    link,
    storage,
    work,
)
from gevolve.device.virtual.names import symbols

__all__ = [
    "CALLS",
    "account",
    "code",
    "copies",
    "device",
    "graphs",
    "link",
    "storage",
    "symbols",
    "work",
]
