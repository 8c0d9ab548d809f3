"""Whether a run was begun by this user: only then may its workload be imported without asking.

A store names the file of its workload, and to import that file is to run it. So a run carries a seal:
a code over its configuration and program that can only be made with the user's own key, which lies in
the user's folder for state and never leaves it. A store from anyone else has none that fits.
"""

import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

SEAL = "seal"
"""The entry of a configuration that holds it."""
_LENGTH = 32


def sealed(config: Mapping[str, Any], program: str) -> dict[str, Any]:
    """A configuration with the user's seal on it and on the program's text; without, if no key can be kept."""
    key = _key(make=True)
    return {**config, SEAL: _code(key, config, program) if key else ""}


def is_own(config: Mapping[str, Any], program: str) -> bool:
    """Whether this user has sealed it."""
    key = _key(make=False)
    return key is not None and hmac.compare_digest(
        _code(key, config, program), str(config.get(SEAL, ""))
    )


def _code(key: bytes, config: Mapping[str, Any], program: str) -> str:
    content = {name: value for name, value in config.items() if name != SEAL}
    said = msgspec.json.encode(
        [content, hashlib.sha256(program.encode()).hexdigest()], order="sorted"
    )
    return hmac.new(key, said, hashlib.sha256).hexdigest()


def _key(*, make: bool) -> bytes | None:
    """The user's key; None if there is none, or no place for one."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    file = Path(base) / "gevolve" / "key"
    try:
        if make and not file.exists():
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            part = file.with_name(f"key.{secrets.token_hex(8)}")
            part.touch(mode=0o600)
            part.write_bytes(secrets.token_bytes(_LENGTH))
            try:
                os.link(part, file)  # which fails if another process was faster
            except FileExistsError:
                pass
            finally:
                part.unlink()
        key = file.read_bytes()
    except (OSError, RuntimeError):  # no such folder, no such user
        return None
    return key if len(key) == _LENGTH else None
