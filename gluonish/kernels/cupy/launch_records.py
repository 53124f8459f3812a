"""Launch records: what repeated eager calls of an operator need to launch one kernel.

A record belongs to an operator, the shapes and dtypes of its inputs, its attributes, and a device;
it is made when a call is repeated. It has the output's spec, the kernel, its grid, and its packed
arguments. A call patches the addresses, and its launch is one call of CUDA's driver or of cuBLAS:
no inference, no choice of a kernel, no look-up of a compiled source, and no current stream.

Only operators whose results are equal, bit for bit, to those of the kernels of the first calls have
a record: arithmetic that is rounded once, comparisons, and matrix products. Inputs must be
contiguous and aligned, and the stream must be the device's ``compute``; other calls, and calls
under other switches, go the longer way.

The array of a small result is used again once nobody has it any more: neither the array nor its
memory has another reference. That is cheaper than to return its block to the pool and to make one
of CuPy's arrays, which takes 2 us. Launches that still use the memory are on the same stream, as
for blocks of the pool; whoever uses it on another stream holds a reference.

Invariants: arguments and outputs are taken by one ``pop`` or ``popleft``, and what is taken has one
owner, so that threads, handlers and destructors may use a record at the same time. There is no
lock. Arguments that an exception loses are made anew.
"""

import os
from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from sys import getrefcount
from typing import Any

from gluonish.core.config import (
    GLUONISH_CUDA_VECTORS,
    MXNET_CUDA_ALLOW_TENSOR_CORE,
    MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION,
    MXNET_USE_FUSION,
)
from gluonish.core.config.flag import changes, encoded, environment
from gluonish.core.spec import Spec
from gluonish.kernels.cupy import gemm
from gluonish.kernels.cupy.cublas import current_handle
from gluonish.kernels.cupy.pointwise import contiguous_kernel, packed_arguments
from gluonish.kernels.cupy.pointwise_source import THREADS, PointwiseKernel
from gluonish.kernels.cupy.pool import Allocator
from gluonish.kernels.cupy.source import VECTOR_NBYTES
from gluonish.kernels.cupy.stream import BoundLaunch, DeviceStream
from gluonish.kernels.generated.expressions import supports
from gluonish.kernels.generated.loops import row_major
from gluonish.ops.fused.pointwise import Instruction, Program
from gluonish.ops.linalg.matmul import BATCH_DOT, DOT
from gluonish.ops.registry import Operator

# Operators that IEEE 754 defines, or that round nothing.
_EXACT = frozenset(
    (
        *("elemwise_add", "elemwise_sub", "elemwise_mul", "elemwise_div"),
        *("broadcast_add", "broadcast_sub", "broadcast_mul", "broadcast_div"),
        *("_plus_scalar", "_minus_scalar", "_rminus_scalar", "_mul_scalar"),
        *("_div_scalar", "_rdiv_scalar", "square", "negative", "abs", "relu"),
        *("broadcast_equal", "broadcast_not_equal", "broadcast_greater", "broadcast_lesser"),
        *("broadcast_greater_equal", "broadcast_lesser_equal", "Cast"),
    )
)
# The kernel of each product, and the function that returns its matrices.
_PRODUCTS: Mapping[Operator, tuple[Callable[..., None], Callable[..., Any]]] = {
    DOT: (gemm.dot, gemm.dot_operands),
    BATCH_DOT: (gemm.batch_dot, gemm.batch_dot_operands),
}
_SWITCHES = tuple(
    encoded(flag.name)
    for flag in (
        GLUONISH_CUDA_VECTORS,
        MXNET_USE_FUSION,
        MXNET_CUDA_ALLOW_TENSOR_CORE,
        MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION,
    )
)

_CALLS = 2  # before a record is made
_MAX_RECORDS = 1024  # of an operator; if exceeded, all are dropped
_MAX_OUTPUTS = 32  # arrays that a record uses in turn
_MAX_NBYTES = 1 << 18  # of such an array
_MAX_KEPT_NBYTES = 1 << 24  # of all of a device

_Arguments = tuple[BoundLaunch, Any, Any]
_Output = tuple[Any, Any, Any]  # an array, its pointer, and its memory


def _lonely() -> _Output:
    """Return something like a new array, its pointer, and its memory."""
    memory = object()
    pointer = [memory]
    return [pointer], pointer, memory


def _references(outputs: deque[_Output]) -> tuple[int, int, int]:
    """Return the reference counts of the objects of an entry that nobody else has."""
    entry = outputs.popleft()
    outputs.append(entry)
    array, pointer, memory = entry
    return getrefcount(array), getrefcount(pointer), getrefcount(memory)


_UNUSED = _references(deque([_lonely()]))


class _Kernel:
    """A compiled kernel of a device, with its arguments behind the addresses of the arrays."""

    __slots__ = ("_arrays", "_blocks", "_function", "_launch", "_numbers", "_stream")

    def __init__(self, table: "LaunchTable", function: Any, plan: PointwiseKernel) -> None:
        self._launch = table.xp.cuda.driver.launchKernel
        self._function = function.kernel
        self._stream = table.stream.raw.ptr
        self._blocks = plan.blocks
        self._arrays = len(plan.used)
        self._numbers = plan.numbers

    def arguments(self) -> _Arguments:
        """Return a launch, the addresses that it reads, and the memory of its arguments."""
        values, places = packed_arguments(self._arrays, self._numbers)
        launch = BoundLaunch(
            self._launch,
            *(self._function.ptr, self._blocks, 1, 1, THREADS, 1, 1, 0, self._stream),
            *(int(places.ctypes.data), 0),
        )
        return launch, values.data, places


class LaunchRecord:
    """See the module.

    Args:
        records: The records that it is one of.
        key: Its key there.
        inputs: The specs of the inputs.
        spec: The output.

    Attributes:
        spec: The output.
        restore: Function that takes the arguments of a launch back.
    """

    __slots__ = (
        *("_arguments", "_changes", "_kernel", "_key", "_nbytes", "_outputs", "_product"),
        *("_records", "_state", "_strides", "_table", "restore", "spec"),
    )

    def __init__(
        self,
        records: "Records",
        key: tuple[Hashable, ...],
        inputs: Sequence[Spec],
        spec: Spec,
    ) -> None:
        # Those of contiguous arrays, but for axes of length 1. The layout's flags take longer.
        self._strides = [
            tuple(step * dtype.itemsize for step in row_major(shape)) for shape, dtype in inputs
        ]
        self._table = records.table
        self._records = records
        self._key = key
        self.spec = spec
        self._nbytes = spec.nbytes
        self._kernel: _Kernel | None = None
        self._product: Callable[..., BoundLaunch] | None = None
        self._arguments: list[_Arguments] = []
        self.restore: Callable[[Any], object] = self._arguments.append
        self._outputs: deque[_Output] = deque()
        self._state = tuple(map(environment.get, _SWITCHES))
        self._changes = changes[0]

    def bind(self, *inputs: Any) -> tuple[Any, _Arguments] | None:
        """Return a new output, and the launch that fills it with its arguments.

        The caller passes the arguments to `restore` when it has launched.

        Returns:
            None if the record does not serve these arrays, or not now.
        """
        table = self._table
        if changes[0] != self._changes or tuple(map(environment.get, _SWITCHES)) != self._state:
            self._records.forget(self._key)
            return None
        # Another allocator is the program's, or that of a capture.
        if table.get_allocator() is not table.allocator or os.getpid() != table.pid:
            return None
        every = VECTOR_NBYTES
        addresses = []
        for x, strides in zip(inputs, self._strides, strict=True):
            if x.strides != strides and not x.flags.c_contiguous:
                return None
            address = x.data.ptr
            every |= address
            addresses.append(address)
        if every & (VECTOR_NBYTES - 1):
            return None
        out = self._output()
        if out is None:
            return None
        if not (self._kernel or self._product) and not self._complete(out, inputs):
            return None
        if self._product is not None:
            addresses.reverse()  # cuBLAS is column-major
            return out, (self._product(*addresses, out.data.ptr), None, None)
        try:
            arguments = self._arguments.pop()
        except IndexError:
            assert self._kernel is not None
            arguments = self._kernel.arguments()
        places = arguments[1]
        places[0] = out.data.ptr
        for i, address in enumerate(addresses, 1):
            places[i] = address
        return out, arguments

    def _output(self) -> Any:
        """Return an output: one that nobody has any more, or a new one; None without memory."""
        outputs = self._outputs
        try:
            entry = outputs.popleft()
        except IndexError:
            pass
        else:
            outputs.append(entry)
            array, pointer, memory = entry
            if (getrefcount(array), getrefcount(pointer), getrefcount(memory)) == _UNUSED:
                return array
        table, (shape, dtype), nbytes = self._table, self.spec, self._nbytes
        try:
            pointer = table.allocator.allocate(table.number, nbytes, table.address)
        except MemoryError:
            return None
        array = table.xp.ndarray(shape, dtype, pointer)
        if nbytes <= table.reuses:
            if len(outputs) == _MAX_OUTPUTS:
                outputs.pop()  # the one that is in use
            elif table.kept + nbytes > _MAX_KEPT_NBYTES:
                return array
            else:
                table.kept += nbytes
            outputs.append((array, pointer, pointer.mem))
        return array

    def _complete(self, out: Any, inputs: Sequence[Any]) -> bool:
        """Find kernel or product for arrays of the record's layout; return whether there is one."""
        try:
            kernel, product = self._records.make(self._key, out, inputs)
        except Exception:  # the operator's own kernel will raise it, in its place
            kernel = product = None
        if product is not None:
            self.restore = deque[Any](maxlen=0).append  # its launches have no memory
        self._kernel, self._product = kernel, product
        if not (kernel or product):
            self._records.forget(self._key, served=False)
            return False
        return True

    def kept(self) -> int:
        """Return the size in bytes of the outputs that are used again."""
        return self._nbytes * len(self._outputs)


class Records(dict[tuple[Hashable, ...], LaunchRecord | None]):
    """Launch records of one operator on one device, by specs of the inputs and attributes."""

    def __init__(self, table: "LaunchTable", op: Operator) -> None:
        super().__init__()
        self.table = table
        self._op = op
        self._calls: dict[tuple[Hashable, ...], int] = {}

    def __missing__(self, key: tuple[Hashable, ...]) -> LaunchRecord | None:
        """Count a call, and return its record if it is time to have one."""
        calls = self._calls[key] = self._calls.get(key, 0) + 1
        if calls <= _CALLS:
            if len(self._calls) > _MAX_RECORDS:
                self._calls.clear()
            return None
        if len(self) >= _MAX_RECORDS:
            self.table.drop()
        specs, attrs = self._split(key)
        found = None
        if self._is_served(specs, attrs):
            (spec,) = self._op.infer(*specs, **attrs)
            found = LaunchRecord(self, key, specs, spec)
        return self.setdefault(key, found)

    def _split(self, key: tuple[Any, ...]) -> tuple[list[Spec], dict[str, Any]]:
        specs = [item for item in key if isinstance(item, Spec)]
        return specs, dict(key[len(specs) :])

    def _is_served(self, specs: Sequence[Spec], attrs: Mapping[str, Any]) -> bool:
        """Whether calls with these specs and attributes may have a record."""
        op = self._op
        if op.name.startswith("elemwise_") and specs[0] != specs[1]:
            return False  # whether shapes broadcast depends on the name of the package
        # 0.0 and -0.0 are equal, as keys.
        if any(0 in spec.shape for spec in specs) or any(_is_zero(x) for x in attrs.values()):
            return False
        fast = op.select_fast("gpu", specs, attrs)
        if op in _PRODUCTS:
            return fast is not None and fast.run is _PRODUCTS[op][0]
        usual = fast is None or fast.name == "cupy.cast"
        return MXNET_USE_FUSION.value and usual and supports(op, attrs, specs)

    def make(
        self, key: tuple[Hashable, ...], out: Any, inputs: Sequence[Any]
    ) -> tuple[_Kernel | None, Callable[..., BoundLaunch] | None]:
        """Return the kernel of a record, or the function that makes launches of its product."""
        _, attrs = self._split(key)
        table = self.table
        with table.raw, table.stream.raw:
            if self._op in _PRODUCTS:
                operands = _PRODUCTS[self._op][1](out, *inputs, **attrs)
                product = gemm.bound_product(current_handle(table.xp), *operands)
                return None, None if product is None else partial(BoundLaunch, product.run)
            numbers = tuple(range(len(inputs)))
            program = Program(len(inputs), [Instruction(self._op, numbers, attrs)], [len(inputs)])
            plan, function = contiguous_kernel(table.xp, out, inputs, program)
            if list(plan.used) != list(range(1 + len(inputs))):
                return None, None
            return _Kernel(table, function, plan), None

    def forget(self, key: tuple[Hashable, ...], *, served: bool = True) -> None:
        """Drop a record; its calls are counted again, unless they are not served at all."""
        record = self.pop(key, None)
        self._calls.pop(key, None)
        if record is not None:
            self.table.kept -= record.kept()
        if not served:
            self[key] = None


class LaunchTable(dict[Operator, Records | None]):
    """The launch records of a device, by operator; None for operators that have none.

    Args:
        cupy: The CuPy module.
        device: CuPy's Device.
        stream: The stream that all records launch on.
        allocator: The allocator that CuPy uses unless the program sets another.
        pooled: Whether freed memory is cached.

    Attributes:
        reuses: Bytes up to which outputs are used again.
        kept: Bytes of outputs that records use again.
    """

    def __init__(
        self, cupy: Any, device: Any, stream: DeviceStream, allocator: Allocator, *, pooled: bool
    ) -> None:
        super().__init__()
        self.xp = cupy
        self.raw = device
        self.number: int = device.id
        self.stream = stream
        self.address: int = stream.raw.ptr
        self.allocator = allocator
        self.get_allocator = cupy.cuda.get_allocator
        self.pid = os.getpid()
        self.reuses = _MAX_NBYTES if pooled else -1
        self.kept = 0

    def __missing__(self, op: Operator) -> Records | None:
        """Return the new records of an operator."""
        served = op.single and not op.mutates and (op.name in _EXACT or op in _PRODUCTS)
        return self.setdefault(op, Records(self, op) if served else None)

    def drop(self) -> None:
        """Drop all records, with the outputs that they keep."""
        dropped = tuple(self.values())
        self.clear()
        for records in dropped:
            if records is not None:
                records.clear()  # each record refers to its records
        self.kept = 0


def _is_zero(value: Any) -> bool:
    return isinstance(value, float) and value == 0
