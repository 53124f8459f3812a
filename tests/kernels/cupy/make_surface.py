"""Write surface.json: the names and signatures that CuPy offers, for the double of this folder.

Run by hand where CuPy is installed (no GPU needed), after a new CuPy:
``python tests/kernels/cupy/make_surface.py``.
"""

import inspect
import json
import re
from pathlib import Path
from typing import Any

import cupy
import numpy as np

HERE = Path(__file__).resolve().parent


def signature(function: Any) -> str | None:
    """The signature as text, without defaults' values; None where there is none to be had."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return from_doc(function)
    words = []
    star = False
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            words.append(f"*{parameter.name}")
            star = True
        elif parameter.kind is parameter.VAR_KEYWORD:
            words.append(f"**{parameter.name}")
        else:
            if parameter.kind is parameter.KEYWORD_ONLY and not star:
                words.append("*")
                star = True
            default = "" if parameter.default is parameter.empty else "=None"
            words.append(parameter.name + default)
    return ", ".join(words)


def from_doc(function: Any) -> str | None:
    """The signature in the first line of a compiled method's docstring."""
    found = re.match(r"[\w.]+\((.*?)\)(?: ->.*)?$", (function.__doc__ or "").split("\n")[0])
    if found is None:
        return None
    return re.sub(r"=[^,]+", "=None", re.sub(r"\b\w+ (\w+)", r"\1", found.group(1)))


def signatures(module: Any) -> dict[str, str | None]:
    """The functions of a submodule."""
    found = {name: getattr(module, name) for name in sorted(dir(module)) if name[0] != "_"}
    return {n: signature(f) for n, f in found.items() if callable(f) and not isinstance(f, type)}


def surface() -> dict[str, Any]:
    """Everything public of the module and of its arrays."""
    ufuncs, functions, values = {}, {}, []
    for name in sorted(dir(cupy)):
        value = getattr(cupy, name, None)
        if name.startswith("_") or (value is None and name != "newaxis") or inspect.ismodule(value):
            continue
        if isinstance(value, cupy.ufunc):
            at = value._scatter_op is not None
            ufuncs[name] = {"nin": value.nin, "nout": value.nout, "at": at, "types": value.types}
        elif (isinstance(value, type) and issubclass(value, np.generic)) or (
            isinstance(value, type) and value is getattr(np, name, None)
        ):
            values.append(name)
        elif callable(value) and not isinstance(value, type):
            functions[name] = signature(value)
        elif isinstance(value, float) or value is None:
            values.append(name)
    methods, attributes = {}, []
    for name in sorted(dir(cupy.ndarray)):
        if name.startswith("_"):
            continue
        value = getattr(cupy.ndarray, name)
        if callable(value):
            methods[name] = signature(value)
        else:
            attributes.append(name)
    return {
        "cupy": cupy.__version__,
        "ufuncs": ufuncs,
        "functions": functions,
        "values": values,
        "stride_tricks": {
            name: signature(getattr(cupy.lib.stride_tricks, name)) for name in ("as_strided",)
        },
        "linalg": signatures(cupy.linalg),
        "fft": signatures(cupy.fft),
        "methods": methods,
        "attributes": attributes,
    }


if __name__ == "__main__":
    (HERE / "surface.json").write_text(
        json.dumps(surface(), indent=1, sort_keys=True) + "\n", encoding="utf-8"
    )
