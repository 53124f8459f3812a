"""Products of stacked matrices: library calls from generated code, each in the caller's thread."""

from ctypes import addressof, c_int64
from typing import NamedTuple

from gluonish.kernels.onednn.api import Argument, DataType
from gluonish.kernels.onednn.binding import single_thread
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import Descriptor
from gluonish.kernels.onednn.plan import Builder, Call, Plan, Slot
from gluonish.kernels.onednn.primitive import Attributes, PostOps, PrimitiveDescriptor

_PAGE = 4096  # bytes


class Stack(NamedTuple):
    """A stack of float32 matrices in memory, with gaps between them.

    Attributes:
        planes: Number of matrices.
        rows: Rows of each matrix.
        columns: Columns of each matrix.
        gap: Elements between two matrices.
    """

    planes: int
    rows: int
    columns: int
    gap: int

    @property
    def step(self) -> int:
        """Number of elements from one matrix to the next."""
        return self.rows * self.columns + self.gap

    @property
    def nbytes(self) -> int:
        """Size of all matrices in bytes."""
        return 4 * self.planes * self.step

    def layout(self, engine: Engine, *, transposed: bool = False) -> Descriptor:
        """Return the layout of the matrices, or of their transposes."""
        shape, strides = (self.rows, self.columns), (self.columns, 1)
        if transposed:
            shape, strides = shape[::-1], strides[::-1]
        return Descriptor.strided(
            engine.api, (self.planes, *shape), (self.step, *strides), DataType.F32
        )


class PlaneProduct(NamedTuple):
    """The planned product ``out = left right``, or ``out += left right``, of two stacks.

    Attributes:
        plan: A plan of one primitive for one thread; its only operand is ``right``.
        left: The left matrices, in scratch memory.
        right: The right matrices.
        out: The products, in scratch memory.
    """

    plan: Plan
    left: Slot
    right: Slot
    out: Slot


class PlaneCalls:
    """Calls of a product, one for each thread's scratch memory, to ``invoke`` in a kernel's source.

    Args:
        nbytes: Scratch memory of each thread in bytes; the product's own comes first.
        right: Offset of the right matrices in the scratch memory; None if all threads share them.

    Attributes:
        space: Bytes from one thread's scratch memory to the next thread's.
        nbytes: Size of the scratch memory of all threads in bytes.
    """

    __slots__ = ("__weakref__", "_arguments", "_calls", "_product", "_right", "nbytes", "space")

    def __init__(
        self, product: PlaneProduct, threads: int, nbytes: int, right: int | None = None
    ) -> None:
        self._product = product  # keeps the primitive alive
        self._right = right
        self.space = -(-nbytes // _PAGE) * _PAGE
        self.nbytes = threads * self.space
        engine = product.plan.engine
        self._calls = [Call(product.plan) for _ in range(threads)]
        self._arguments = (c_int64 * (2 * threads))()
        for i, call in enumerate(self._calls):
            self._arguments[2 * i] = engine.api.create_stream(self, engine.handle)
            self._arguments[2 * i + 1] = addressof(call.steps[0][2])

    def params(self) -> dict[str, int]:
        """Return params for the kernel: the primitive, and the arguments of its calls."""
        ((primitive, count, _, _),) = self._calls[0].steps
        return {
            "space": self.space,
            "execute_at": self._product.plan.engine.api.execute_address,
            "primitive": primitive,
            "count": count,
            "calls_at": addressof(self._arguments),
        }

    def set_addresses(self, scratch: int, right: int = 0) -> None:
        """Set the addresses of the scratch memory and of shared right matrices."""
        set_data_handle = self._product.plan.engine.api.set_data_handle
        for i, call in enumerate(self._calls):
            base = scratch + i * self.space
            if base != call.base:
                call.set_base(base)
            set_data_handle(call.operands[0], right if self._right is None else base + self._right)

    def check(self, status: int) -> None:
        """Raise an error if the library failed in any thread.

        Raises:
            OneDNNError: A primitive failed.
        """
        self._product.plan.engine.api.check(status, "dnnl_primitive_execute")


def plane_product(
    engine: Engine,
    left: Stack,
    right: Stack,
    *,
    transposed: bool = False,
    packed: bool = False,
    accumulate: bool = False,
) -> PlaneProduct:
    """Plan the products of two stacks of matrices.

    Args:
        left: Matrices (rows, inner), or (inner, rows) if ``transposed``.
        right: Matrices (inner, columns).
        transposed: Whether the left matrices are transposed first.
        packed: Whether the right matrices have the layout that `packing` produces.
        accumulate: Whether to add to ``out``.

    Raises:
        RefusedError: The library does not support the product.
    """
    result = Stack(left.planes, left.columns if transposed else left.rows, right.columns, left.gap)
    source, target = left.layout(engine, transposed=transposed), result.layout(engine)
    weights = right.layout(engine)
    if packed:
        shape = (right.planes, right.rows, right.columns)
        weights = Descriptor.undecided(engine.api, shape, DataType.F32)
    attributes = Attributes(engine.api, PostOps("in_place" if accumulate else None))
    with single_thread(engine):
        descriptor = PrimitiveDescriptor(
            engine.api,
            "dnnl_matmul_primitive_desc_create",
            *(engine.handle, source.handle, weights.handle, None, target.handle),
            attributes.handle,
        )
        builder = Builder(engine)
        lhs = builder.temporary_of(source)
        rhs = builder.operand(descriptor.layout_of(Argument.WEIGHTS))
        out = builder.temporary_of(target)
        builder.step(descriptor, {Argument.SRC: lhs, Argument.WEIGHTS: rhs}, {Argument.DST: out})
        return PlaneProduct(builder.build(), lhs, rhs, out)


def packing(engine: Engine, stack: Stack, product: PlaneProduct) -> Plan:
    """Plan the copy of matrices (the first operand) to the layout of a packed product."""
    builder = Builder(engine)
    source = builder.operand(stack.layout(engine))
    builder.reorder(source, builder.operand(product.right.layout))
    return builder.build()
