"""Functions and methods of the double: CuPy's arguments and dtypes, NumPy's values."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.kernels.cupy.arrays import Array, allocate, array_at, flatten, note_orders, run, upload
from tests.kernels.cupy.captures import PRODUCTS, refuse_call
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.refusals import refuse
from tests.kernels.cupy.surface import SURFACE, UNKNOWN, check_call
from tests.kernels.cupy.ufuncs import BFLOAT16, LETTERS, Ufunc, converted, find_loop

# CuPy's names for what NumPy has under another, or with another signature.
_OTHERWISE: dict[str, Callable[..., Any]] = {
    "asarray": lambda a, dtype=None, order=None, **_: np.asarray(a, dtype, order),
    "array": lambda a, dtype=None, copy=True, order=None, subok=None, ndmin=0, **_: np.array(
        a, dtype, copy=copy, order=order or "K", ndmin=ndmin
    ),
}
_CREATORS = ("array", "asarray", "ascontiguousarray")
_MEANS = {"mean", "var", "std", "nanmean", "nanvar", "nanstd", "average"}
_PLACES = {"argmax", "argmin", "nanargmax", "nanargmin", "argsort"}
# Sums that CuPy keeps in float32 for 16-bit floats.
_WIDE = {"sum", "prod", "cumsum", "cumprod", "nansum", "nanprod", *_MEANS, *PRODUCTS}
_NARROW = (np.dtype(np.float16), BFLOAT16)
# Kernels of functions that need several, as far as they are known.
_LAUNCHES = {"var": 2, "std": 3, "sort": 2, "argsort": 2}
_JOINS = ("concatenate", "stack", "vstack", "hstack")


def _alias(name: str) -> str:
    return {"amax": "max", "amin": "min", "nanmax": "max", "nanmin": "min"}.get(name, name)


def _result_dtype(name: str, args: tuple[Any, ...], kwargs: Any) -> np.dtype[Any] | None:
    """Return the dtype that CuPy gives; None where NumPy gives the same."""
    name = _alias(name)
    arrays = [x for x in args if isinstance(x, Array)]
    if kwargs.get("dtype") is not None or not arrays:
        return None
    first = arrays[0].dtype
    if name in SURFACE["reductions"]:
        letter = SURFACE["reductions"][name][list(LETTERS).index(first)]
        return next(dtype for dtype, c in LETTERS.items() if c == letter)
    if name in _MEANS:
        return first if first.kind in "fcV" else np.dtype(np.float64)
    if name in _PLACES:
        return np.dtype(np.int64)
    if name in PRODUCTS:
        return np.result_type(*(x.dtype for x in arrays))
    if name == "where" and len(args) == 3:
        return find_loop("where", args[1:])[1][0]
    return None


def _clip(machine: Machine, a: Array, low: Any, high: Any, out: Any) -> Any:
    """Return ``a`` within bounds, in the loop that its dtype and those of the bounds have."""
    bounds = [x for x in (low, high) if x is not None]
    kind = bounds[0] if len({type(x) for x in bounds}) == 1 else next(
        x for x in bounds if not isinstance(x, int)
    )  # fmt: skip
    taken, (given,) = find_loop("clip", [a, kind])
    sources: list[Array] = []
    raw, *plain = [flatten(x, sources) for x in (a, low, high)]
    ends = [None if x is None else converted(x, taken[0]) for x in plain]
    return run(
        machine,
        "clip",
        lambda: np.clip(converted(raw, taken[0]), *ends).astype(given, copy=False),
        sources,
        out,
    )


def _count_copies(machine: Machine, name: str, args: tuple[Any, ...]) -> None:
    """Count the copies that CuPy's products make of operands that cuBLAS does not take."""
    matrices = [x for x in args if isinstance(x, Array) and x.ndim >= 2]
    if name == "matmul" and any(x.ndim > 2 for x in matrices):
        machine.counts.launches += sum(not x._raw.flags.c_contiguous for x in matrices)
        if len({x.shape[:-2] for x in matrices}) > 1:
            machine.counts.launches += 6  # of the pointers to each matrix
        if any(x.dtype == np.float16 for x in matrices):
            machine.counts.launches += 3  # there and back
    elif name in PRODUCTS:
        flags = [x._raw.flags for x in matrices]
        machine.counts.launches += sum(not (f.c_contiguous or f.f_contiguous) for f in flags)


def _call(
    machine: Machine,
    name: str,
    known: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Run a function of NumPy's as CuPy's of that name."""
    refuse(name, args, kwargs)
    refuse_call(machine, name, args)
    _count_copies(machine, name, args)
    out = kwargs.pop("out", None)
    if name == "clip":
        bounds = [*args[1:], *(kwargs[k] for k in ("a_min", "a_max", "min", "max") if k in kwargs)]
        return _clip(machine, args[0], *bounds, *[None] * (2 - len(bounds)), out)  # type: ignore[call-arg]
    wanted = _result_dtype(name, args, kwargs)
    sources: list[Array] = []
    plain = [flatten(x, sources) for x in args]
    named = {k: flatten(v, sources) for k, v in kwargs.items()}
    wide = name in _WIDE and kwargs.get("dtype") is None

    def compute() -> Any:
        given = [_widened(x) if wide else x for x in plain]
        result = known(*given, **named)
        if wanted is None or not isinstance(result, np.ndarray | np.generic):
            return result
        return result if result.dtype == wanted else np.asarray(result).astype(wanted)

    launches = _LAUNCHES.get(name, 1)
    if name in _JOINS:
        launches = max(len(sources), 1)
    return run(machine, name, compute, sources, out, launches)


def _widened(value: Any) -> Any:
    """Return 16-bit floats as float32."""
    narrow = isinstance(value, np.ndarray) and value.dtype in _NARROW
    return value.astype(np.float32) if narrow else value


class _Method:
    """A method that NumPy's array has, with CuPy's arguments."""

    def __init__(self, array: Array, name: str) -> None:
        self._array = array
        self._name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        array, name = self._array, self._name
        check_call(f"ndarray.{name}", SURFACE["methods"][name], (array, *args), kwargs)

        def function(a: Any, *rest: Any, **named: Any) -> Any:
            return getattr(a, name)(*rest, **named)

        return _call(array._machine, name, function, (array, *args), kwargs)


def _function(machine: Machine, name: str, text: str | None) -> Callable[..., Any]:
    known = _OTHERWISE.get(name) or getattr(np, name, None)

    def call(*args: Any, **kwargs: Any) -> Any:
        assert known is not None, f"cupy.{name}: {UNKNOWN}"
        check_call(name, text, args, kwargs)
        if name in ("asarray", "ascontiguousarray") and isinstance(args[0], Array):
            array = args[0]
            dtype = kwargs.get("dtype", args[1] if len(args) > 1 else None)
            if dtype is not None and array.dtype != dtype:
                return array.astype(dtype)
            if name == "asarray" or array.flags.c_contiguous:
                return array
        elif name in _CREATORS and not isinstance(args[0], Array):
            return upload(machine, known(*args, **kwargs))
        return _call(machine, name, known, args, kwargs)

    return call


def _give_products() -> None:
    """Give arrays the operator of matrix products."""

    def product(self: Array, other: Any) -> Any:
        return _call(self._machine, "matmul", np.matmul, (self, other), {})

    def reverse(self: Array, other: Any) -> Any:
        return _call(self._machine, "matmul", np.matmul, (other, self), {})

    Array.__matmul__ = product  # type: ignore[attr-defined, operator]
    Array.__rmatmul__ = reverse  # type: ignore[attr-defined]
    Array._method = lambda self, name: _Method(self, name)  # type: ignore[method-assign]


def _copyto(machine: Machine) -> Callable[..., None]:
    def copyto(dst: Array, src: Any, casting: str = "same_kind", where: Any = None) -> None:
        found: list[Array] = []
        source, mask = flatten(src, found), flatten(where, found)
        raw, chosen = dst._raw, True if mask is None else mask
        note_orders(machine, "copyto", found, dst)
        machine.access(
            [*((s._block, False) for s in found), (dst._block, True)],
            "copyto",
            lambda: np.copyto(raw, source, casting=casting, where=chosen),  # type: ignore[arg-type]
            cost=machine.cost("cupy", [s._raw for s in found], [raw]),
        )

    return copyto


def _as_strided(x: Array, shape: Any = None, strides: Any = None) -> Array:
    return x._view(np.lib.stride_tricks.as_strided(x._raw, shape, strides))


def _result_type(*given: Any) -> Any:
    return np.result_type(*[x.dtype if isinstance(x, Array) else x for x in given])


def _asnumpy(a: Any, *args: Any, **kwargs: Any) -> Any:
    return a.get(*args, **kwargs)


def _array_class(machine: Machine) -> type:
    """Return ``cupy.ndarray``: every array of the double is one, and it makes arrays in memory."""

    class Kind(type):
        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, Array)

        def __call__(cls, shape: Any, dtype: Any, memptr: Any) -> Array:
            return array_at(machine, shape, dtype, memptr)

    return Kind("ndarray", (), {})


def made_name(machine: Machine, name: str) -> Any:
    """Return what a name of CuPy's stands for, unless `add_functions` gives it.

    Raises:
        LookupError: CuPy has no such value or function.
    """
    if name in SURFACE["functions"]:
        return _function(machine, name, SURFACE["functions"][name])
    if name in SURFACE["ufuncs"]:
        return Ufunc(machine, name, getattr(np, name, None), SURFACE["ufuncs"][name]["at"])
    if name in SURFACE["values"] and hasattr(np, name):
        return getattr(np, name)
    raise LookupError(name)


def add_functions(module: Any, machine: Machine) -> None:
    """Give a module what is neither a value nor a function in surface.json."""
    module.ndarray = _array_class(machine)
    module.asnumpy = _asnumpy
    module.empty = lambda shape, dtype=float, order="C": allocate(machine, shape, dtype)
    module.result_type = _result_type
    module.copyto = _copyto(machine)
    module.lib = SimpleNamespace(stride_tricks=SimpleNamespace(as_strided=_as_strided))


_give_products()
