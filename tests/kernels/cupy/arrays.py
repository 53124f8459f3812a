"""Arrays and functions of the double of CuPy: NumPy's results, CuPy's arguments and refusals.

surface.json says what CuPy has. Beyond that the double refuses what CuPy refuses at run time:
NumPy arrays among the operands, conversions to the host without asking, indices that are no whole
numbers, loops and atomic additions in dtypes that have none, and what refusals.py lists.
"""

import inspect
import json
import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.kernels.cupy.machine import Block, Machine
from tests.kernels.cupy.refusals import ATOMIC, check_loop, refuse

__all__ = ["SURFACE", "Array", "add_functions", "allocate", "check_call", "run"]

SURFACE: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parent / "surface.json").read_text(encoding="utf-8")
)
_REDUCIBLE = ("add", "multiply")
# CuPy's names for what NumPy has under another, or with another signature.
_OTHERWISE: dict[str, Callable[..., Any]] = {
    "asarray": lambda a, dtype=None, order=None, **_: np.asarray(a, dtype, order),
    "array": lambda a, dtype=None, copy=True, order=None, subok=None, ndmin=0, **_: np.array(
        a, dtype, copy=copy, order=order or "K", ndmin=ndmin
    ),
}
_UNKNOWN = "not known to this double; check what CuPy does with it and add it"


def _parameters(text: str) -> inspect.Signature:
    """Return the signature that surface.json spells."""
    scope: dict[str, Any] = {}
    exec(f"def function({text}): pass", scope)
    return inspect.signature(scope["function"])


def check_call(name: str, text: str | None, args: tuple[Any, ...], kwargs: Any) -> None:
    """Refuse arguments that CuPy's function does not have."""
    assert text is not None, f"{name}: {_UNKNOWN}"
    try:
        _parameters(text).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"cupy.{name}({text}): {error}") from None


def _flatten(value: Any, found: list["Array"]) -> Any:
    """Replace arrays of the double by their NumPy arrays, and collect them."""
    if isinstance(value, Array):
        found.append(value)
        return value.raw
    if isinstance(value, list | tuple):
        return type(value)(_flatten(x, found) for x in value)
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    return value


def allocate(machine: Machine, shape: Any, dtype: Any) -> "Array":
    """Return an array of undefined values in the current stream's pool."""
    dtype = np.dtype(dtype)
    extents = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    nbytes = int(np.prod(extents, dtype=np.int64)) * dtype.itemsize
    block = machine.allocate(nbytes)
    return Array(machine, block.memory.raw[:nbytes].view(dtype).reshape(extents), block)


def _wrap(machine: Machine, result: Any, sources: list["Array"], what: str) -> Any:
    """Return a NumPy result as a view of a source, or as a new array that a kernel fills."""
    if isinstance(result, list | tuple):
        return type(result)(_wrap(machine, x, sources, what) for x in result)
    if not isinstance(result, np.ndarray | np.generic):
        return result
    result = np.asarray(result)
    for source in sources:
        if result.base is not None and np.may_share_memory(result, source.block.memory.raw):
            return Array(machine, result, source.block)
    out = allocate(machine, result.shape, result.dtype)
    machine.access([*((s.block, False) for s in sources), (out.block, True)], what)
    out.raw[...] = result
    return out


def run(
    machine: Machine, what: str, function: Callable[..., Any], args: Any, kwargs: Any, out: Any
) -> Any:
    """Call NumPy; with ``out`` as a kernel that fills it."""
    sources: list[Array] = []
    plain = [_flatten(x, sources) for x in args]
    named = {k: _flatten(v, sources) for k, v in kwargs.items()}
    with np.errstate(all="ignore"):
        if out is None:
            return _wrap(machine, function(*plain, **named), sources, what)
        if not isinstance(out, Array):
            raise TypeError(f"{what}: expected a cupy.ndarray as out, got {type(out)}")
        machine.access([*((s.block, False) for s in sources), (out.block, True)], what)
        function(*plain, **named, out=out.raw)
    return out


class _Ufunc:
    """A universal function with CuPy's arguments."""

    def __init__(self, machine: Machine, name: str, facts: dict[str, Any]) -> None:
        self._machine = machine
        self._name = name
        self._facts = facts
        self._function = getattr(np, name, None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        assert self._function is not None, f"cupy.{self._name}: {_UNKNOWN}"
        unknown = set(kwargs) - {"out", "dtype", "casting"}
        if unknown:
            raise TypeError(f"cupy.{self._name}: Wrong arguments {unknown}")
        nin = self._facts["nin"]
        out = kwargs.pop("out", None)
        if len(args) > nin:
            out, args = args[nin], args[:nin]
        check_loop(
            self._name,
            self._facts["types"],
            [x.dtype if isinstance(x, Array) else None for x in args],
        )
        return run(self._machine, self._name, self._function, args, kwargs, out)

    def at(self, a: "Array", indices: Any, b: Any = None) -> None:
        """Add (or the like) at positions that may repeat."""
        if not self._facts["at"]:
            raise NotImplementedError(f"`cupy_{self._name}.at` is not supported yet")
        if a.dtype not in ATOMIC[self._name]:
            raise TypeError(f"cupy.{self._name}.at does not support {a.dtype} as data type")
        sources: list[Array] = []
        index, values = _flatten(indices, sources), _flatten(b, sources)
        self._machine.access(
            [*((s.block, False) for s in sources), (a.block, True)], f"{self._name}.at"
        )
        assert self._function is not None
        self._function.at(a.raw, index, np.asarray(values).astype(a.dtype))

    def reduce(self, array: "Array", **kwargs: Any) -> Any:
        """Reduce along an axis; CuPy has it for sums and products."""
        if self._name not in _REDUCIBLE:
            raise NotImplementedError(f"`cupy_{self._name}.reduce` is not supported yet")
        return array.sum(**kwargs) if self._name == "add" else array.prod(**kwargs)


class _Data:
    """The pointer of an array."""

    def __init__(self, ptr: int) -> None:
        self.ptr = ptr


class _Device:
    def __init__(self, number: int) -> None:
        self.id = number


class Array:
    """An array of the double; ``raw`` holds the values."""

    __array_ufunc__ = None  # NumPy leaves its operators to ours
    base = None  # CuPy has that of a view; here the block is what keeps the memory

    def __init__(self, machine: Machine, raw: Any, block: Block) -> None:
        self._machine = machine
        self.raw = raw
        self.block = block

    def __getattr__(self, name: str) -> Any:
        if name in SURFACE["methods"]:
            return _Method(self, name)
        raise AttributeError(f"cupy.ndarray has no attribute {name!r}, or the double does not")

    shape = property(lambda self: self.raw.shape)
    dtype = property(lambda self: self.raw.dtype)
    size = property(lambda self: self.raw.size)
    ndim = property(lambda self: self.raw.ndim)
    nbytes = property(lambda self: self.raw.nbytes)
    itemsize = property(lambda self: self.raw.itemsize)
    strides = property(lambda self: self.raw.strides)
    flags = property(lambda self: self.raw.flags)
    T = property(lambda self: self._view(self.raw.T))
    real = property(lambda self: self._view(self.raw.real))
    imag = property(lambda self: self._view(self.raw.imag))
    data = property(lambda self: _Data(self.raw.ctypes.data))
    device = property(lambda self: _Device(self.block.device))

    def _view(self, raw: Any) -> "Array":
        return Array(self._machine, raw, self.block)

    def view(self, dtype: Any = None) -> "Array":
        """Return the same memory as another dtype."""
        return self._view(self.raw if dtype is None else self.raw.view(dtype))

    def fill(self, value: Any) -> None:
        """Set every element to a scalar."""
        self[...] = value

    def astype(self, dtype: Any, order: str = "K", casting: Any = None, copy: bool = True) -> Any:
        """Convert; without ``copy`` the array itself if nothing is to do."""
        if not copy and self.dtype == dtype:
            return self
        return run(self._machine, "astype", lambda a: a.astype(dtype), (self,), {}, None)

    def reshape(self, *shape: Any, order: str = "C") -> "Array":
        """Return another shape, a view where that is possible."""
        return run(
            self._machine, "reshape", lambda a: a.reshape(*shape, order=order), (self,), {}, None
        )

    def __len__(self) -> int:
        return len(self.raw)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def _index(self, key: Any) -> tuple[Any, list["Array"]]:
        """Return the key for NumPy, with the arrays in it; CuPy takes NumPy's in indices."""
        found: list[Array] = []

        def plain(part: Any) -> Any:
            kind = part.dtype.kind if isinstance(part, Array | np.ndarray) else "i"
            if kind not in "biu":
                raise IndexError("arrays used as indices must be of integer or boolean type")
            return part if isinstance(part, np.ndarray) else _flatten(part, found)

        return (tuple(map(plain, key)) if isinstance(key, tuple) else plain(key)), found

    def __getitem__(self, key: Any) -> "Array":
        index, found = self._index(key)
        result = self.raw[index]
        if not isinstance(result, np.ndarray):  # one element is an array of no axes
            result = self.raw[(*index, ...) if isinstance(index, tuple) else (index, ...)]
        result = _wrap(self._machine, result, [self, *found], "getitem")
        assert isinstance(result, Array)
        return result

    def __setitem__(self, key: Any, value: Any) -> None:
        index, found = self._index(key)
        source = _flatten(value, found)
        self._machine.access([*((s.block, False) for s in found), (self.block, True)], "setitem")
        with np.errstate(all="ignore"):
            self.raw[index] = source

    def _fetch(self) -> Any:
        """Copy to the host, which blocks."""
        self._machine.access([(self.block, False)], "fetch")
        self._machine.current().synchronize()
        return self.raw.copy()

    def get(self, stream: Any = None, order: str = "C", out: Any = None) -> Any:
        """Return a copy on the host."""
        return self._fetch()

    def item(self) -> Any:
        """Return the only element."""
        return self._fetch().item()

    def __int__(self) -> int:
        return int(self._fetch())

    def __float__(self) -> float:
        return float(self._fetch())

    def __bool__(self) -> bool:
        return bool(self._fetch())

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed")

    __hash__ = None  # type: ignore[assignment]  # as CuPy's


class _Method:
    """A method that NumPy's array has, with CuPy's arguments."""

    def __init__(self, array: Array, name: str) -> None:
        self._array = array
        self._name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        array, name = self._array, self._name
        check_call(f"ndarray.{name}", SURFACE["methods"][name], (array, *args), kwargs)
        refuse(name, (array, *args), kwargs)
        out = kwargs.pop("out", None)

        def function(a: Any, *rest: Any, **named: Any) -> Any:
            return getattr(a, name)(*rest, **named)

        return run(array._machine, name, function, (array, *args), kwargs, out)


def _binary(name: str, reverse: bool, in_place: bool) -> Callable[[Array, Any], Any]:
    function = getattr(operator, name)

    def method(self: Array, other: Any) -> Any:
        pair = (other, self) if reverse else (self, other)
        if not in_place:
            return run(self._machine, name, function, pair, {}, None)
        result = run(self._machine, name, function, pair, {}, None)
        self[...] = result
        return self

    return method


def _add_operators() -> None:
    for word in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
        *("and_", "or_", "xor", "lshift", "rshift"),
    ):
        dunder = word.rstrip("_")
        setattr(Array, f"__{dunder}__", _binary(word, False, False))
        setattr(Array, f"__r{dunder}__", _binary(word, True, False))
        setattr(Array, f"__i{dunder}__", _binary(word, False, True))
    for word in ("eq", "ne", "lt", "le", "gt", "ge"):
        setattr(Array, f"__{word}__", _binary(word, False, False))
    for word in ("neg", "invert", "abs", "pos"):
        function = getattr(operator, word)
        setattr(
            Array,
            f"__{word}__",
            lambda self, f=function, w=word: run(self._machine, w, f, (self,), {}, None),
        )


_add_operators()


def _function(machine: Machine, name: str, text: str | None) -> Callable[..., Any]:
    known = _OTHERWISE.get(name) or getattr(np, name, None)

    def call(*args: Any, **kwargs: Any) -> Any:
        assert known is not None, f"cupy.{name}: {_UNKNOWN}"
        check_call(name, text, args, kwargs)
        refuse(name, args, kwargs)
        out = kwargs.pop("out", None)
        if name in ("asarray", "ascontiguousarray") and isinstance(args[0], Array):
            array = args[0]
            dtype = kwargs.get("dtype", args[1] if len(args) > 1 else None)
            if dtype is not None and array.dtype != dtype:
                return array.astype(dtype)
            if name == "asarray" or array.flags.c_contiguous:
                return array
        if name in ("array", "asarray", "ascontiguousarray"):
            return _upload(machine, known(*args, **kwargs))
        return run(machine, name, known, args, kwargs, out)

    return call


def _upload(machine: Machine, values: Any) -> Array:
    """Return host values as an array, as CuPy stages them: the host need not wait."""
    array = allocate(machine, values.shape, values.dtype)
    machine.access([(array.block, True)], "upload")
    array.raw[...] = values
    return array


def add_functions(module: Any, machine: Machine) -> None:
    """Give a module every name that CuPy has."""
    for name in SURFACE["values"]:
        if hasattr(np, name):
            setattr(module, name, getattr(np, name))
    for name, facts in SURFACE["ufuncs"].items():
        setattr(module, name, _Ufunc(machine, name, facts))
    for name, text in SURFACE["functions"].items():
        setattr(module, name, _function(machine, name, text))
    module.ndarray = Array
    module.asnumpy = lambda a, *args, **kwargs: a.get(*args, **kwargs)
    module.empty = lambda shape, dtype=float, order="C": allocate(machine, shape, dtype)
    module.result_type = lambda *given: np.result_type(
        *[x.dtype if isinstance(x, Array) else x for x in given]
    )

    def copyto(dst: Array, src: Any, casting: str = "same_kind", where: Any = None) -> None:
        found: list[Array] = []
        source, mask = _flatten(src, found), _flatten(where, found)
        machine.access([*((s.block, False) for s in found), (dst.block, True)], "copyto")
        np.copyto(dst.raw, source, casting=casting, where=True if mask is None else mask)  # type: ignore[arg-type]

    module.copyto = copyto

    def as_strided(x: Array, shape: Any = None, strides: Any = None) -> Array:
        raw = np.lib.stride_tricks.as_strided(x.raw, shape, strides)
        return Array(machine, raw, x.block)

    module.lib.stride_tricks.as_strided = as_strided
