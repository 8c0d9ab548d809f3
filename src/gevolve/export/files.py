"""Files that are written whole or not at all."""

from pathlib import Path

from gevolve.errors import StoreError


def write_text(path: Path, text: str, *, private: bool = False) -> None:
    """Write a file, whole or not at all; what is no plain file (a link, a pipe) directly.

    One that is `private` can be read by its owner only.
    """
    write_bytes(path, text.encode(), private=private)


def write_bytes(path: Path, data: bytes, *, private: bool = False) -> None:
    """The same for what is no text."""
    special = _special(path)
    part = path if special else path.with_name(f"{path.name}.part")
    try:
        if private and not special:
            part.touch(mode=0o600)
        part.write_bytes(data)
        if not special:
            part.replace(path)
    except OSError as error:
        if not special:
            part.unlink(missing_ok=True)
        raise StoreError(
            f"{path}: cannot be written ({error.strerror}); choose another --output"
        ) from None


def _special(path: Path) -> bool:
    return path.is_symlink() or (path.exists() and not path.is_file())
