"""NDArray: a multi-dimensional array on a device, computed asynchronously by the engine.

An NDArray is a handle of a raw array, its Spec, its device, and the engine variable that orders
reads and writes of the memory. The raw array need not be C-contiguous: a convolution may store its
output channels last. `_make_contiguous` converts it to row-major order. Views share memory and
variable. `gluonish.ndarray.eager` runs operators, `gluonish.ndarray.indexing` implements indexing;
`gluonish.ndarray.methods` attaches both to the class.
"""

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gluonish.core.context import Context, current_context
from gluonish.core.device import Device, Lane, device_of
from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentError, ArgumentTypeError, AutogradError
from gluonish.core.loading import load
from gluonish.core.memory_owners import MemoryOwner, Rank, register_memory_owner
from gluonish.core.out_of_memory import empty_or_raise
from gluonish.core.spec import Shape, Spec
from gluonish.engine import current_engine
from gluonish.ndarray import dlpack_capsule, recording
from gluonish.ndarray.recording import RECORDING, Leaf, MarkedNode, Node, leaf_of
from gluonish.ops.fluent import Fluent
from gluonish_engine import Var

__all__ = [
    "LIGHT_INLINE_SIZE",
    "NDArray",
    "assign",
    "empty_for_copy",
    "empty_like_spec",
    "from_host",
]

# An operator that reads and writes at most this many elements runs in the calling thread: a
# hand-off to a worker costs tens of microseconds.
LIGHT_INLINE_SIZE = 1 << 16

GradientEdge = tuple[Node | Leaf, int]

_var_of = attrgetter("_var")

# Pickles made by MXNet call the class with None alone; `__setstate__` restores the array.
_IN_STATE: Any = None

if TYPE_CHECKING:
    from gluonish.ndarray.attached import AttachedMethods  # a stub: `python -m tests.stubs`
else:
    AttachedMethods = Fluent


class NDArray(AttachedMethods):
    """A multi-dimensional array on a device.

    Create arrays with `nd.array`, `nd.zeros` and the like, not by calling the class. Operations
    return at once and run asynchronously; reading the values (`asnumpy`, `wait_to_read`) waits.

    Attributes:
        shape: The shape, a tuple of ints.
        dtype: NumPy type of the elements.
        context: The device.
        grad: Gradient buffer that `backward` writes; None without `attach_grad`.
        stype: Storage type: ``"default"`` for dense arrays; ``"row_sparse"`` and ``"csr"`` for the
            sparse arrays of `gluonish.ndarray.sparse`.

    Example:
        >>> import gluonish as mx
        >>> x = mx.nd.array([[1, 2], [3, 4]])
        >>> x.shape, x.dtype.__name__, x.context
        ((2, 2), 'float32', cpu(0))
        >>> (2 * x + 1).sum(axis=0).asnumpy().tolist()
        [10.0, 14.0]
    """

    # _truth: whether this is the result of a comparison, used as a mask when indexing with it; see
    # `ndarray.truth`.
    __slots__ = ("__weakref__", "_data", "_device", "_edge", "_spec", "_truth", "_var")
    _stays_connected: ClassVar[bool] = False  # by `attach_grad`, see `recording.marked`
    stype: ClassVar[str] = "default"  # read on hot paths: no property
    # Whether this is a placeholder for a graph's value, without data; see `graph.traced_array`.
    is_traced: ClassVar[bool] = False

    def __init__(
        self,
        data: Any,
        spec: Spec = _IN_STATE,
        device: Device = _IN_STATE,
        var: Var = _IN_STATE,
        link: GradientEdge | None = None,
    ) -> None:
        self._data = data
        self._spec = spec
        self._device = device
        self._var = var
        self._edge = link
        self._truth = False

    if TYPE_CHECKING:  # attached by gluonish.ndarray.methods

        def __getitem__(self, key: Any) -> "NDArray": ...
        def __setitem__(self, key: Any, value: Any) -> None: ...

    def connected(self, link: GradientEdge | None) -> "NDArray":
        """Return an array on the same memory with this producer on the tape.

        The result is an NDArray even for ``np`` arrays: gradient rules use ``nd`` arithmetic.
        """
        if self._edge == link:
            return self
        return NDArray(self._data, self._spec, self._device, self._var, link)

    @property
    def shape(self) -> Shape:
        """The size of each axis, as a tuple."""
        return self._spec.shape

    @property
    def dtype(self) -> Any:
        """NumPy type of the elements, such as ``numpy.float32``."""
        return self._spec.dtype.type

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._spec.size

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._spec.shape)

    @property
    def context(self) -> Context:
        """The device that holds the values."""
        return self._device.context

    ctx = device = context

    @property
    def T(self) -> "NDArray":
        """The array with its axes reversed."""
        transposed: NDArray = self.transpose()
        return transposed

    @property
    def handle(self) -> Any:
        """The raw NumPy or CuPy array, for debugging; operations may still be pending on it."""
        return self._make_contiguous()

    @property
    def writable(self) -> bool:
        """Whether the array may be assigned to; always True."""
        return True

    @property
    def grad(self) -> "NDArray | Any":  # Any for None, which few programs check
        """The gradient that `backward` writes; None without `attach_grad`."""
        leaf = leaf_of(self._edge)
        return None if leaf is None else leaf.grad

    @property
    def _fresh_grad(self) -> bool:
        leaf = leaf_of(self._edge)
        return leaf is not None and leaf.updated

    @_fresh_grad.setter
    def _fresh_grad(self, fresh: bool) -> None:
        leaf = leaf_of(self._edge)
        if leaf is not None:
            leaf.updated = fresh

    def drop_grad(self) -> None:
        """Release the gradient that `attach_grad` attached; `backward` no longer computes it."""
        if self._edge is None:
            return
        node = self._edge[0]
        if isinstance(node, Leaf):
            self._edge = None
        elif isinstance(node, MarkedNode):
            self._edge = node.parents[0] if node.parents else None

    def detach(self) -> "NDArray":
        """Return an array that shares the memory but is not part of the recorded graph."""
        detached = type(self)(self._data, self._spec, self._device, self._var)
        detached._truth = self._truth
        return detached

    def wait_to_read(self) -> None:
        """Block until the values are computed.

        Raises:
            OperatorError: Computing them failed; its cause is the original error.
        """
        current_engine().wait(self._var)

    def wait_to_write(self) -> None:
        """Block until no pending operation reads or writes the array."""
        current_engine().wait_to_write(self._var)

    def asnumpy(self) -> np.ndarray[Any, Any]:
        """Return a copy of the values as a NumPy array, after waiting until they are computed."""
        current_engine().wait(self._var)
        return self._device.to_host(self._data)

    def asscalar(self) -> Any:
        """Return the value of an array of one element as a NumPy scalar.

        Raises:
            ArgumentError: The array does not have exactly one element.
        """
        if self.size != 1:
            raise ArgumentError(f"asscalar: expected an array of size 1, got shape {self.shape}")
        return self.asnumpy().reshape(())[()]

    def item(self) -> Any:
        """Return the value of an array of one element as a Python number."""
        return self.asscalar().item()

    def tolist(self) -> Any:
        """Return the values as nested lists."""
        return self.asnumpy().tolist()

    def _scalar(self, operator: str) -> Any:
        if self.size != 1:
            raise ArgumentTypeError(
                f"{operator}: expected an array of size 1, got shape {self.shape}"
            )
        return self.asscalar()

    def __float__(self) -> float:
        return float(self._scalar("float"))

    def __int__(self) -> int:
        return int(self._scalar("int"))

    def __round__(self, ndigits: int | None = None) -> Any:
        if self.size != 1:
            each = "x.round()" if ndigits is None else f"x.as_np_ndarray().round({ndigits})"
            raise ArgumentTypeError(
                f"round: expected an array of size 1, got shape {self.shape}; {each} rounds each "
                "element"
            )
        return round(self.item(), ndigits)

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        if self.size != 1:
            raise ArgumentTypeError(
                f"format: expected an array of size 1 for {spec!r}, got shape {self.shape}; reduce "
                f'it first, as in f"{{x.mean():{spec}}}", or print all elements by f"{{x}}"'
            )
        return format(self.item(), spec)

    def __index__(self) -> int:
        if self._spec.dtype.kind not in "iu":
            raise ArgumentTypeError(f"index: expected an integer array, got {self._spec}")
        return int(self.asscalar())

    def __bool__(self) -> bool:
        if self.size == 0:
            return False
        if self.size > 1:
            raise ArgumentError(
                f"truth value: expected an array of size 1, got shape {self.shape}; "
                "reduce it first, as in (x != 0).sum()"
            )
        return bool(self.asscalar())

    def __len__(self) -> int:
        if not self.shape:
            raise ArgumentTypeError("len: expected an array with axes, got a scalar array")
        return self.shape[0]

    def __iter__(self) -> Iterator["NDArray"]:
        return (self[i] for i in range(len(self)))

    def __array__(
        self, dtype: np.dtype[Any] | None = None, copy: bool | None = None
    ) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ArgumentError("__array__: expected copy=True or None, got False; use asnumpy")
        values = self.asnumpy()
        return values if dtype is None else values.astype(dtype)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """What `PIL.Image.fromarray` asks for before it calls `tobytes`; NumPy calls `__array__`.

        NumPy prefers this attribute where there is one, is slower with it, and would return a
        copy in spite of ``copy=False``. It asks from C, so the caller is its user, never PIL.
        """
        if sys._getframe(1).f_globals.get("__name__") != "PIL.Image":
            raise AttributeError("__array_interface__")
        dtype = self._spec.dtype
        strides = np.empty(self.shape, dtype).strides
        return {"version": 3, "shape": self.shape, "typestr": dtype.str, "strides": strides}

    def tobytes(self) -> bytes:
        """Return a copy of the values as bytes, in row-major order."""
        return self.asnumpy().tobytes()

    def __dlpack__(self, **options: Any) -> Any:
        raw = self._make_contiguous()
        self.wait_to_write()
        return dlpack_capsule.export(self._device, raw, **options)

    def __dlpack_device__(self) -> Any:
        return self._data.__dlpack_device__()

    def _write(self, fill: Any, reads: Sequence["NDArray"] = (), name: str = "_write") -> None:
        """Push ``fill(raw)``, which writes to the raw array, as one engine operation."""
        engine, raw, device = current_engine(), self._data, self._device
        variables, writes = list(map(_var_of, reads)), [self._var]
        small = raw.size <= LIGHT_INLINE_SIZE
        if not (
            small
            and device.is_host
            and engine.run_inline(fill, variables, writes, name, (raw,), True)
        ):
            engine.push(partial(fill, raw), variables, writes, device.lane, 0, name, small)

    def _make_contiguous(self) -> Any:
        """Return the raw array, first copied to C-contiguous memory if it is not contiguous.

        Other handles of the array still refer to the old memory, so make an array contiguous before
        creating a view that may be written to.
        """
        raw = self._data
        if not raw.flags.c_contiguous:
            contiguous = empty_or_raise(self._device, *self._spec, "_make_contiguous")
            self._write(partial(_copy_raw, contiguous), name="_make_contiguous")
            self._data = contiguous
        return self._data

    def _check_writable(self, what: str) -> None:
        if self._edge is not None and recording.mode.get() & RECORDING:
            raise AutogradError(
                f"{what}: expected an array outside the recorded graph, got one inside it; "
                "a write would change values that the backward pass needs: make a new array. "
                f"{_MXNET_MESSAGE}"
            )


# MXNet's two messages for this error, which programs match.
_MXNET_MESSAGE = (
    "Inplace operations (+=, -=, x[:]=, etc) are not supported when recording with autograd. "
    "Assigning to NDArrays that are already in a computational graph will cause undefined behavior "
    "when evaluating gradients."
)


def _copy_raw(target: Any, source: Any) -> None:
    target[...] = source


def assign(source: "NDArray", out: Any) -> None:
    """Copy an array's values into raw memory of the same device, converting the dtype."""
    out[...] = source._data


def empty_like_spec(
    spec: Spec, device: Device, kind: type[NDArray] = NDArray, owner: str = ""
) -> NDArray:
    """Return a new, uninitialized array of class ``kind``.

    Args:
        spec: Shape and dtype.
        device: Device to allocate on.
        kind: Class of the array.
        owner: Operator or Block that allocates, for messages and allocation observers.

    Raises:
        OutOfMemoryError: There is no memory for it.
    """
    try:
        raw = device.empty(spec.shape, spec.dtype)
    except (MemoryError, ValueError):
        raw = empty_or_raise(device, spec.shape, spec.dtype, owner or "NDArray")
    return kind(raw, spec, device, Var())


def empty_for_copy(
    spec: Spec, device: Device, kind: type[NDArray] = NDArray
) -> tuple[NDArray, Lane]:
    """Return a new array as the target of a copy from another device, and the engine lane to use.

    Raises:
        OutOfMemoryError: There is no memory for it.
    """
    try:
        raw = device.empty_prefetch(spec.shape, spec.dtype)
    except MemoryError:
        raw = None
    if raw is None:
        return empty_like_spec(spec, device, kind), device.copy_lane
    return kind(raw, spec, device, Var()), device.prefetch_lane


def _holder(array: NDArray) -> list[MemoryOwner]:
    return [MemoryOwner(array._device.context, f"arrays {array._spec}", [array._data])]


register_memory_owner(NDArray, _holder, Rank.ARRAY)


def from_host(
    values: Any, context: Context | None, dtype: Any, kind: type[NDArray] = NDArray
) -> NDArray:
    """Return an NDArray with a copy of host values.

    Args:
        values: NumPy array of any dtype and memory order.
        context: Device; None for the current context.
        dtype: Element type; None for the dtype of the values.
        kind: Class of the array.
    """
    spec = Spec(values.shape, normalize_dtype(values.dtype if dtype is None else dtype))
    device = device_of(context or current_context())
    if not device.streams:
        result = empty_like_spec(spec, device, kind)
        device.from_host(values, result._data)
        return result
    # The engine orders the copy among the launches. A small copy runs on the kernels' lane, which
    # needs no event.
    result, lane = empty_for_copy(spec, device, kind)
    lane = device.lane if lane == device.copy_lane else lane
    fill = partial(device.from_host, values, result._data)
    current_engine().push(fill, (), (result._var,), lane, 0, "_from_host")
    return result


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Return a name, such as `array`, that MXNet has in this module and gluonish elsewhere."""
        if name.startswith("__"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(load("gluonish.ndarray"), name)
