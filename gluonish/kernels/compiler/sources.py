"""The code of modules, by which machine code on disk is told from that of other versions.

A program may contain this package without its source files: frozen, in a zip file, or compiled.
"""

import hashlib
import pkgutil
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any


def code_of(name: str) -> bytes:
    """Return the content of a module's file or, if there is no such file, its compiled code."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        return b""
    try:
        return Path(spec.origin).read_bytes()
    except OSError:
        code = getattr(spec.loader, "get_code", lambda name: None)(name)
        return repr(_in_order(code)).encode()


def _in_order(constant: Any) -> Any:
    """Return what a code object or a constant in it holds, in an order that runs share."""
    match constant:
        case CodeType():
            rest = (constant.co_code, constant.co_names, constant.co_varnames, constant.co_flags)
            return (*rest, _in_order(constant.co_consts))
        case tuple():
            return tuple(map(_in_order, constant))
        case frozenset():
            return sorted(map(repr, constant))
    return constant


@cache
def digest_of(*names: str) -> str:
    """Return a digest of some modules."""
    return hashlib.sha256(b"\0".join(map(code_of, names))).hexdigest()


def digests_of(package: ModuleType) -> list[str]:
    """Return digests of the modules of a package, without its subpackages, sorted by name."""
    files = sorted(path for folder in package.__path__ for path in Path(folder).glob("*.py"))
    contents = [path.read_bytes() for path in files]
    if not contents:
        modules = pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
        contents = [code_of(name) for name in sorted(module.name for module in modules)]
    return [hashlib.sha256(content).hexdigest() for content in contents]
