"""Advice on names of MXNet that are missing here or behave differently."""

import difflib
from functools import cache
from types import ModuleType
from typing import Any

from gluonish.core.errors import GluonishError
from gluonish.core.loading import load
from gluonish.mxnet_names import numpy1
from gluonish.mxnet_names.imported_modules import imported_modules
from gluonish.ops.registry import absent_names

# Names that behave differently from MXNet 1.9.1, with advice; docs/differences.md has the rest.
DIFFERENT = {
    "gluon.nn.BatchNorm": "updates its running statistics in the training forward pass, not in the "
    "backward pass; read them after the step",
    "random.seed": "makes runs repeatable, with other numbers than MXNet's: compare distributions",
    "optimizer.Nadam": "keeps several devices equal, where MXNet's drift apart",
    "optimizer.LARS": "corrects the momentum of all weights when the rate changes, not of the "
    "first four of a step",
    "optimizer.LBSGD": "adds up the gradients of a large batch, where MXNet keeps the last",
    "optimizer.DCASGD": "takes momentum, where MXNet fails",
    "io.ImageRecordIter": "has its batches in host memory for any ctx, and other random "
    "crops of the same distribution",
    "library.load": "loads Python modules; libraries compiled for MXNet do not fit: port them to "
    "mx.operator.CustomOp",
    "rtc.CudaModule": "needs a GPU and CuPy",
    "profiler.dump": "writes times of launches on a GPU's stream, not of the device's end",
}


def advice_on(name: str) -> tuple[str, str] | None:
    """Return ``missing`` or ``differs`` and the advice on a dotted name; None if there is none.

    Modules of gluonish are imported to find out; the program is not.

    Args:
        name: A name of MXNet, such as ``mxnet.nd.array``, or of NumPy.
    """
    package, _, rest = name.partition(".")
    if package == "numpy":
        return _on_numpy(rest)
    found: Any = load("gluonish")
    path = "gluonish"
    for part in rest.split(".") if rest else ():
        inner = _member(found, part)
        if inner is None:
            return "missing", _instead(found, path, part)
        found, path = inner[0], f"{path}.{part}"
        if not isinstance(found, ModuleType | type):
            break
    reason = absent_names().get(_registered(path))
    if reason is not None and callable(found):
        return "missing", reason
    return _different().get(id(found))


def _member(owner: Any, name: str) -> tuple[Any] | None:
    """Return an attribute, or a submodule that was not imported yet; None if there is none."""
    try:
        return (getattr(owner, name),)
    except (AttributeError, GluonishError):
        pass
    if not isinstance(owner, ModuleType):
        return None
    shown = imported_modules().get(owner.__name__, {})
    try:
        return (load(shown.get(name, f"{owner.__name__}.{name}")),)
    except ImportError:
        return None


def _instead(owner: Any, path: str, name: str) -> str:
    shown = path.replace("gluonish", "mxnet", 1)
    near = difflib.get_close_matches(name, dir(owner), 1)
    hint = f"; did you mean {shown}.{near[0]}?" if near else ""
    return f"{shown} has no {name}{hint}"


def _registered(path: str) -> str:
    """Return the registry's name of a function of ``nd`` or ``sym``, and the like."""
    parts = path.split(".")[1:]
    if not parts or parts[0] not in ("nd", "ndarray", "sym", "symbol"):
        return ""
    inner = parts[1] if len(parts) > 2 else ""
    return f"_{inner}_{parts[-1]}" if inner in ("contrib", "image", "linalg") else parts[-1]


@cache
def _different() -> dict[int, tuple[str, str]]:
    """Return the advice of `DIFFERENT` by the identity of its object, for aliases."""
    found = {}
    for name, text in DIFFERENT.items():
        value: Any = load("gluonish")
        for part in name.split("."):
            inner = _member(value, part)
            value = None if inner is None else inner[0]
        if value is not None:
            found[id(value)] = ("differs", text)
    return found


def _on_numpy(rest: str) -> tuple[str, str] | None:
    if rest.partition(".")[0] not in numpy1.removed_names():
        return None
    return "missing", "NumPy 2 removed it: `gluonish run --numpy1` restores it"
