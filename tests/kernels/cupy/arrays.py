"""Arrays of the double of CuPy: NumPy's values, CuPy's attributes, methods and refusals.

surface.json says what CuPy has. Beyond that the double refuses what CuPy refuses at run time:
NumPy arrays among the operands, conversions to the host without asking, indices that are no whole
numbers, and what refusals.py and captures.py list.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.kernels.cupy.captures import refuse_mask, refuse_transfer
from tests.kernels.cupy.cost_model.cupy_kernels import cupy_cost
from tests.kernels.cupy.cost_model.records import Cost
from tests.kernels.cupy.device_memory import Device, MemoryPointer, UnownedMemory
from tests.kernels.cupy.machine import Block, Machine
from tests.kernels.cupy.surface import SURFACE, UNKNOWN


def flatten(value: Any, found: list["Array"]) -> Any:
    """Replace arrays of the double by their NumPy arrays, and collect them."""
    if isinstance(value, Array):
        found.append(value)
        return value._raw
    if isinstance(value, list | tuple):
        return type(value)(flatten(x, found) for x in value)
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    return value


def allocate(machine: Machine, shape: Any, dtype: Any) -> "Array":
    """Return an array of undefined values in the current stream's pool."""
    extents, dtype, nbytes = _layout(shape, dtype)
    block = machine.allocate(nbytes)
    if machine.recorder is not None:
        machine.recorder.made += 1
    raw = block.memory.raw[block.offset : block.offset + nbytes]
    return Array(machine, raw.view(dtype).reshape(extents), block)


def array_at(machine: Machine, shape: Any, dtype: Any, memptr: Any) -> "Array":
    """Return an array at an address: CuPy's ``ndarray(shape, dtype, memptr)``."""
    extents, dtype, nbytes = _layout(shape, dtype)
    block = machine.block_at(memptr, nbytes, memptr.device_id)
    if machine.recorder is not None:
        machine.recorder.made += 1
    start = memptr.ptr - block.memory.start
    raw = block.memory.raw[start : start + nbytes]
    assert raw.size == nbytes, "an array beyond the end of its memory"
    return Array(machine, raw.view(dtype).reshape(extents), block)


def _layout(shape: Any, dtype: Any) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    """Return shape and dtype of an array, and its size in bytes."""
    dtype = np.dtype(dtype)
    extents = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    return extents, dtype, int(np.prod(extents, dtype=np.int64)) * dtype.itemsize


def _like(array: "Array", dtype: Any) -> "Array":
    """Return a new array whose axes have the order in memory that those of a dense one have."""
    raw = array._raw
    order = sorted(range(raw.ndim), key=lambda axis: -raw.strides[axis])
    if not raw.transpose(order).flags.c_contiguous:
        return allocate(array._machine, raw.shape, dtype)
    made = allocate(array._machine, [raw.shape[axis] for axis in order], dtype)
    return made._view(made._raw.transpose(np.argsort(order)))


def _same(a: Any, b: Any) -> bool:
    """Whether two NumPy arrays are one array."""
    return (a.ctypes.data, a.shape, a.strides) == (b.ctypes.data, b.shape, b.strides)


def _kind(value: Any, written: Any) -> str:
    """Return the kind of an assignment's cost: CuPy copies memory between contiguous arrays."""
    if not isinstance(value, Array) or value.dtype != written.dtype:
        return "cupy"
    same = value.shape == written.shape and value._raw.flags.c_contiguous
    return "copy" if same and written.flags.c_contiguous else "cupy"


def _count_copies(machine: Machine, sources: list["Array"], out: "Array") -> None:
    """Count the inputs that CuPy copies first, as a kernel may not write what it has yet to read.

    It does so for those that may share memory with the output and are not that very object.
    """
    for source in sources:
        if source is not out and np.may_share_memory(source._raw, out._raw):
            machine.counts.launches += 1


def _orders(raw: Any) -> set[str]:
    """Return the memory orders in which an array of channels is dense: first, last, or both."""
    last = raw.transpose(0, *range(2, raw.ndim), 1)
    found = (("first", raw.flags.c_contiguous), ("last", last.flags.c_contiguous))
    return {name for name, dense in found if dense}


def note_orders(machine: Machine, what: str, sources: list["Array"], out: "Array") -> None:
    """Note a kernel that reads arrays in one memory order and writes them in another."""
    if not 3 <= out.ndim <= 5:
        return
    to = _orders(out._raw)
    if to == {"last"}:
        machine.strided.append(what)
    for source in sources:
        if source.shape == out.shape and to and to.isdisjoint(_orders(source._raw) or to):
            machine.relayouts.append((what, out.shape))


def as_result(machine: Machine, result: Any, sources: list["Array"]) -> "Array | None":
    """Return a NumPy result that is a view as an array of the source that it is a view of."""
    if result.base is None:
        return None
    for source in sources:
        inside = np.may_share_memory(result, source._block.memory.raw)
        if inside or (not result.size and result.base is source._raw.base):
            return source._view(result)
    return None


def run(
    machine: Machine,
    what: str,
    compute: Callable[[], Any],
    sources: list["Array"],
    out: "Array | None" = None,
    launches: int = 1,
) -> Any:
    """Run what NumPy computes as a kernel.

    Args:
        machine: Where.
        what: The name in messages.
        compute: Returns NumPy's result.
        sources: Arrays that it reads.
        out: What the result goes to; None for a view of a source, or a new array.
        launches: How many kernels CuPy needs.
    """
    results: list[Any] = []
    if out is None or machine.executes:
        with np.errstate(all="ignore"):
            results = [compute()]
    if out is None:
        if isinstance(results[0], list | tuple):
            return _several(machine, what, compute, results[0], sources, launches)
        if not isinstance(results[0], np.ndarray | np.generic):
            return results[0]
        view = as_result(machine, np.asarray(results[0]), sources)
        if view is not None:
            return view
        out = allocate(machine, results[0].shape, results[0].dtype)
    elif not isinstance(out, Array):
        raise TypeError(f"{what}: expected a cupy.ndarray as out, got {type(out)}")
    else:
        _count_copies(machine, sources, out)
    note_orders(machine, what, sources, out)
    raw = out._raw

    def work() -> None:
        with np.errstate(all="ignore"):
            raw[...] = results.pop() if results else compute()

    machine.counts.launches += launches - 1
    cost = None
    if machine.recorder is not None:
        cost = cupy_cost(what, [s._raw for s in sources], raw, launches)
    used = [*((s._block, False) for s in sources), (out._block, True)]
    machine.access(used, what, work, cost=cost)
    if not machine.executes:
        results.clear()
    return out


def _several(
    machine: Machine, what: str, compute: Any, results: Any, sources: list["Array"], launches: int
) -> Any:
    """Return each of several results, computed anew for each in a graph."""
    parts = []
    for i in range(len(results)):

        def one(i: int = i, given: list[Any] = [results[i]]) -> Any:  # noqa: B006 (one list a part)
            return given.pop() if given else compute()[i]

        parts.append(run(machine, what, one, sources, launches=launches if i == 0 else 1))
    return type(results)(parts)


class _Flags:
    """Layout of an array; CuPy knows no more of it."""

    def __init__(self, flags: Any, owndata: bool) -> None:
        self.c_contiguous = bool(flags.c_contiguous)
        self.f_contiguous = bool(flags.f_contiguous)
        self.owndata = owndata


class Array:
    """An array of the double; ``_raw`` holds the values."""

    __array_ufunc__ = None  # NumPy leaves its operators to ours

    def __init__(
        self, machine: Machine, raw: Any, block: Block, base: "Array | None" = None
    ) -> None:
        self._machine = machine
        self._raw = raw
        self._block = block
        self.base = base

    def __getattr__(self, name: str) -> Any:
        if name in SURFACE["methods"]:
            return self._method(name)
        if name in SURFACE["attributes"]:
            raise AssertionError(f"cupy.ndarray.{name}: {UNKNOWN}")
        raise AttributeError(f"'ndarray' object of CuPy has no attribute {name!r}")

    def _method(self, name: str) -> Callable[..., Any]:
        raise NotImplementedError  # in functions.py, which needs this class

    shape = property(lambda self: self._raw.shape)
    dtype = property(lambda self: self._raw.dtype)
    size = property(lambda self: self._raw.size)
    ndim = property(lambda self: self._raw.ndim)
    nbytes = property(lambda self: self._raw.nbytes)
    itemsize = property(lambda self: self._raw.itemsize)
    strides = property(lambda self: self._raw.strides)
    flags = property(lambda self: _Flags(self._raw.flags, self.base is None))
    T = property(lambda self: self._view(self._raw.T))
    real = property(lambda self: self._view(self._raw.real))
    imag = property(lambda self: self._view(self._raw.imag))
    device = property(lambda self: self._machine.bound(Device)(self._block.device))

    @property
    def data(self) -> Any:
        """Where the values are."""
        machine, memory = self._machine, self._block.memory
        start = int(memory.raw.ctypes.data)
        if self._block.pointer is None:
            kind = machine.bound(UnownedMemory)
            owner = kind(start, memory.raw.size, self._block, self._block.device)
        else:
            owner = self._block.pointer.mem
        return machine.bound(MemoryPointer)(owner, int(self._raw.ctypes.data) - owner.ptr)

    def _view(self, raw: Any) -> "Array":
        if self._machine.recorder is not None:
            self._machine.recorder.made += 1
        return Array(self._machine, raw, self._block, self if self.base is None else self.base)

    def view(self, dtype: Any = None, *_: Any) -> "Array":
        """Return the same memory as another dtype."""
        return self._view(self._raw if dtype is None else self._raw.view(dtype))

    def fill(self, value: Any) -> None:
        """Set every element to a scalar."""
        self[...] = value

    def astype(
        self, dtype: Any, order: str = "K", casting: Any = None, subok: Any = None, copy: Any = True
    ) -> Any:
        """Convert; without ``copy`` the array itself if nothing is to do."""
        if not copy and self.dtype == dtype:
            return self
        raw = self._raw
        out = allocate(self._machine, raw.shape, dtype) if order != "K" else _like(self, dtype)
        return run(self._machine, "astype", lambda: raw.astype(dtype), [self], out)

    def reshape(self, *shape: Any, order: str = "C") -> "Array":
        """Return another shape, a view where that is possible."""
        raw = self._raw
        made = run(self._machine, "reshape", lambda: raw.reshape(*shape, order=order), [self])
        assert isinstance(made, Array)
        return made

    def __len__(self) -> int:
        return len(self._raw)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def _index(self, key: Any, *, read: bool) -> tuple[Any, list["Array"]]:
        """Return the key for NumPy, with the arrays in it; CuPy takes NumPy's in indices."""
        found: list[Array] = []

        def plain(part: Any) -> Any:
            kind = part.dtype.kind if isinstance(part, Array | np.ndarray) else "i"
            if kind not in "biu":
                raise IndexError("arrays used as indices must be of integer or boolean type")
            if kind == "b" and part.ndim:
                refuse_mask(self._machine, read=read)
            if isinstance(part, np.ndarray | list):
                refuse_transfer(self._machine)
                self._machine.counts.uploads += 1
            return part if isinstance(part, np.ndarray) else flatten(part, found)

        return (tuple(map(plain, key)) if isinstance(key, tuple) else plain(key)), found

    def __getitem__(self, key: Any) -> "Array":
        index, found = self._index(key, read=True)
        raw = self._raw

        def compute() -> Any:
            result = raw[index]
            if not isinstance(result, np.ndarray):  # one element is an array of no axes
                result = raw[(*index, ...) if isinstance(index, tuple) else (index, ...)]
            return result

        result = run(self._machine, "getitem", compute, [self, *found])
        assert isinstance(result, Array)
        return result

    def __setitem__(self, key: Any, value: Any) -> None:
        index, found = self._index(key, read=False)
        raw, machine = self._raw, self._machine
        source = flatten(value, found)
        if isinstance(value, Array):
            target = raw[index]
            if isinstance(target, np.ndarray) and target.base is not None:
                if _same(target, value._raw):
                    return
                _count_copies(machine, [value], self._view(target))
                note_orders(machine, "setitem", [value], self._view(target))

        def work() -> None:
            with np.errstate(all="ignore"):
                raw[index] = source

        written = raw[index] if machine.recorder is not None else raw
        if not isinstance(written, np.ndarray):
            written = np.empty(1, raw.dtype)
        machine.access(
            [*((s._block, False) for s in found), (self._block, True)],
            "setitem",
            work,
            cost=machine.cost(_kind(value, written), [s._raw for s in found], [written]),
        )

    def _fetch(self) -> Any:
        """Copy to the host, which blocks."""
        machine = self._machine
        refuse_transfer(machine)
        cost = Cost("copy", self.nbytes, self.nbytes)
        machine.access([(self._block, False)], "d2h", counted=False, cost=cost)
        machine.counts.downloads += 1
        machine.current().synchronize()
        return self._raw.copy()

    def get(self, stream: Any = None, order: str = "C", out: Any = None, blocking: Any = 1) -> Any:
        """Return a copy on the host."""
        return self._fetch()

    def item(self, *_: Any) -> Any:
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


def upload(machine: Machine, values: Any) -> Array:
    """Return host values as an array, as CuPy stages them: the host need not wait."""
    refuse_transfer(machine)
    array = allocate(machine, values.shape, values.dtype)
    machine.counts.uploads += 1
    cost = Cost("copy", array.nbytes, array.nbytes)
    machine.access([(array._block, True)], "h2d", counted=False, cost=cost)
    if machine.executes:
        array._raw[...] = values
    return array
