"""Products of stacked matrices that generated code has the library compute, in its own thread."""

from ctypes import addressof, c_int64
from typing import NamedTuple

from gluonish.kernels.onednn.api import Argument, DataType
from gluonish.kernels.onednn.binding import few_threads
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import Descriptor
from gluonish.kernels.onednn.plan import Builder, Call, Plan, Slot
from gluonish.kernels.onednn.primitive import Attributes, Finish, PrimitiveDescriptor

_PAGE = 4096  # bytes


class Stack(NamedTuple):
    """Float32 matrices that lie one behind the other, with gaps.

    Attributes:
        planes: How many.
        rows: Of each.
        columns: Of each.
        gap: Elements between two matrices.
    """

    planes: int
    rows: int
    columns: int
    gap: int

    @property
    def step(self) -> int:
        """Elements from matrix to matrix."""
        return self.rows * self.columns + self.gap

    @property
    def nbytes(self) -> int:
        """Bytes of all matrices."""
        return 4 * self.planes * self.step

    def layout(self, engine: Engine, *, transposed: bool = False) -> Descriptor:
        """The layout of the matrices, or of their transposes."""
        shape, strides = (self.rows, self.columns), (self.columns, 1)
        if transposed:
            shape, strides = shape[::-1], strides[::-1]
        return Descriptor.strided(
            engine.api, (self.planes, *shape), (self.step, *strides), DataType.F32
        )


class PlaneProduct(NamedTuple):
    """``out = left right``, or that added to what is in ``out``, for each pair of matrices.

    Attributes:
        plan: One primitive for one thread; its only operand is ``right``.
        left: Where in the scratch memory the left matrices lie.
        right: The right ones.
        out: Where in the scratch memory the products lie.
    """

    plan: Plan
    left: Slot
    right: Slot
    out: Slot


class PlaneCalls:
    """A product on memory of several threads, for ``invoke`` in the source of a kernel.

    Args:
        product: The product.
        parts: How many threads.
        nbytes: Scratch memory of each; that of the product comes first.
        right: Where in it the right matrices lie; None where all threads share them.

    Attributes:
        space: Bytes from one thread's memory to the next one's.
        nbytes: Bytes of all.
    """

    __slots__ = ("__weakref__", "_arguments", "_calls", "_product", "_right", "nbytes", "space")

    def __init__(
        self, product: PlaneProduct, parts: int, nbytes: int, right: int | None = None
    ) -> None:
        self._product = product  # the primitive lives as long as this
        self._right = right
        self.space = -(-nbytes // _PAGE) * _PAGE
        self.nbytes = parts * self.space
        engine = product.plan.engine
        self._calls = [Call(product.plan) for _ in range(parts)]
        self._arguments = (c_int64 * (2 * parts))()
        for i, call in enumerate(self._calls):
            self._arguments[2 * i] = engine.api.create_stream(self, engine.handle)
            self._arguments[2 * i + 1] = addressof(call.steps[0][2])

    def words(self) -> dict[str, int]:
        """Return words for the source: what to execute, and on what."""
        ((primitive, count, _, _),) = self._calls[0].steps
        return {
            "space": self.space,
            "execute_at": self._product.plan.engine.api.execute_address,
            "primitive": primitive,
            "count": count,
            "calls_at": addressof(self._arguments),
        }

    def move(self, scratch: int, right: int = 0) -> None:
        """Run on scratch memory, and right matrices that are shared, at these addresses."""
        set_data_handle = self._product.plan.engine.api.set_data_handle
        for i, call in enumerate(self._calls):
            own = scratch + i * self.space
            if own != call.base:
                call.move(own)
            set_data_handle(call.operands[0], right if self._right is None else own + self._right)

    def check(self, status: int) -> None:
        """Raise if the library did not succeed in some thread.

        Raises:
            OneDNNError: It failed.
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
        left: (rows, inner), or (inner, rows) if ``transposed``.
        right: (inner, columns).
        transposed: Whether the left matrices are transposed first.
        packed: Whether the right ones lie as `packing` leaves them.
        accumulate: Whether to add to ``out``.

    Raises:
        RefusedError: The library refuses.
    """
    result = Stack(left.planes, left.columns if transposed else left.rows, right.columns, left.gap)
    source, target = left.layout(engine, transposed=transposed), result.layout(engine)
    weights = right.layout(engine)
    if packed:
        shape = (right.planes, right.rows, right.columns)
        weights = Descriptor.undecided(engine.api, shape, DataType.F32)
    attributes = Attributes(engine.api, Finish("out" if accumulate else None))
    with few_threads(engine):
        descriptor = PrimitiveDescriptor(
            engine.api,
            "dnnl_matmul_primitive_desc_create",
            *(engine.handle, source.handle, weights.handle, None, target.handle),
            attributes.handle,
        )
        builder = Builder(engine)
        lhs = builder.room(source)
        rhs = builder.operand(descriptor.wanted(Argument.WEIGHTS))
        out = builder.room(target)
        builder.step(descriptor, {Argument.SRC: lhs, Argument.WEIGHTS: rhs}, {Argument.DST: out})
        return PlaneProduct(builder.build(), lhs, rhs, out)


def packing(engine: Engine, stack: Stack, product: PlaneProduct) -> Plan:
    """Plan the copy of matrices, the first operand, to the right ones of a packed product."""
    builder = Builder(engine)
    source = builder.operand(stack.layout(engine))
    builder.reorder(source, builder.operand(product.right.layout))
    return builder.build()
