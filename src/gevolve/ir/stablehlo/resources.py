"""StableHLO as torch-mlir prints it: constants of another dialect, and their values at the end of the text."""

import re

_BLOB = re.compile(r'\b([\w.$-]+): "0x[0-9A-Fa-f]{8}([0-9A-Fa-f]*)"')
_USE = re.compile(r"dense_resource<([\w.$-]+)>")
_CONSTANT = re.compile(r"\barith\.constant (?=dense)")


def without_resources(text: str) -> str:
    """The same program with its values where they are used, as StableHLO's own constants."""
    if "arith.constant" not in text and "dense_resource<" not in text:
        return text
    body, found, appendix = text.partition("{-#")
    values = dict(_BLOB.findall(appendix)) if found else {}  # after four bytes for the alignment

    def value(use: re.Match[str]) -> str:
        known = values.get(use[1])
        return use[0] if known is None else f'dense<"0x{known}">'

    return (
        _CONSTANT.sub("stablehlo.constant ", _USE.sub(value, body))
        if found
        else _CONSTANT.sub("stablehlo.constant ", text)
    )
