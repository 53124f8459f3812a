"""Write surface.json: names, signatures and dtypes of CuPy, for the double of this folder.

Run by hand where CuPy is installed (no GPU needed), after a new CuPy:
``python -m tests.kernels.cupy.make_surface``.
"""

import inspect
import json
from pathlib import Path
from typing import Any

import cupy
import numpy as np

from tests.kernels.cupy.make_cuda_surface import cuda_surface, signature
from tests.kernels.cupy.make_loops import loops, reductions

HERE = Path(__file__).resolve().parent


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
        "names": sorted(name for name in dir(cupy) if name[0] != "_"),
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
        "loops": loops(),
        "reductions": reductions(),
        "cuda": cuda_surface(),
    }


def _write() -> None:
    """Write the file; what is not seen here for want of a library stays as it is in it."""
    path = HERE / "surface.json"
    found = surface()
    if path.exists():
        found["cuda"] = json.loads(path.read_text(encoding="utf-8")).get("cuda", {}) | found["cuda"]
    path.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    _write()
