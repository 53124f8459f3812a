"""Winograd's convolution: outputs from data and filters, and the gradient of the data."""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from gluonish.kernels.generated.winograd_code import (
    FILTER_ROWS,
    FILTER_WORDS,
    GAP,
    OUTPUT_WORDS,
    POINTS,
    filter_kernel,
    output_kernel,
)
from gluonish.kernels.generated.winograd_tiles import Arrays, Call, Tiles, TilesPlan, Words, scratch
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import aligned_bytes, element_strides
from gluonish.kernels.onednn.plane_products import (
    PlaneCalls,
    PlaneProduct,
    Stack,
    packing,
    plane_product,
)
from gluonish.ops.kernel import Array, address

_FEWEST = 64  # tiles of a pass that keep the multiplication busy
_LEAST = 16  # tiles that are worth a thread, which reads all filters


class Finish(NamedTuple):
    """What is done to outputs before they are written, in this order.

    Attributes:
        with_bias: Whether a bias is added.
        addend: ``"out"`` to add what is in their memory, ``"beside"`` to add another array that
            lies as they do, None for neither.
        relu: Whether those below zero become zero.
    """

    with_bias: bool = False
    addend: str | None = None
    relu: bool = False


class OutputPlan(TilesPlan):
    """Outputs from data and filters; or the gradient of data, from gradients and turned filters.

    Operands: out (N, O, H', W'), data (N, C, H, W), filters; then bias (O,) and an addend like
    out, if there are any. Images have their channels last in memory.

    Args:
        engine: What multiplies.
        arrays: The operands.
        pad: Rows and columns of zeros around the data.
        finish: What is done to the outputs.
        turned: Whether the filters are (C, O, 3, 3), to be turned by half a circle; else they are
            (O, C, 3, 3).

    Raises:
        RefusedError: The library refuses the products.
        KernelError: A kernel cannot be compiled.
    """

    __slots__ = (
        "_pad",
        "_turned",
        "data",
        "engine",
        "filters",
        "finish",
        "out",
        "planes",
        "tiles",
        "zeros",
    )

    def __init__(
        self, engine: Engine, arrays: Arrays, pad: int, finish: Finish, *, turned: bool
    ) -> None:
        super().__init__()
        out, data, filters = arrays[:3]
        inner, outer = data.shape[1], out.shape[1]
        self.engine = engine
        self.out, self.data = out.shape, data.shape
        self.filters = element_strides(filters)
        self._pad = pad
        self._turned = turned
        self.finish = finish
        threads = engine.api.max_threads()
        self.tiles = Tiles(out.shape, inner + outer, threads, fewest=_FEWEST, least=_LEAST)
        self.zeros = np.zeros(inner, np.float32)
        self.planes = Stack(POINTS, inner, outer, GAP)
        self._idle.append(self.call())

    def product(self, *, packed: bool) -> PlaneProduct:
        """Plan the products of a pass."""
        left = Stack(POINTS, self.tiles.chunk, self.planes.rows, GAP)
        return plane_product(self.engine, left, self.planes, packed=packed)

    def words(self) -> Words:
        """Return the words of the kernel, without addresses."""
        tiles, (_, channels, height, width) = self.tiles, self.data
        with_bias, addend, relu = self.finish
        kernel = output_kernel(with_bias=with_bias, with_addend=addend is not None, relu=relu)
        return Words(
            kernel,
            OUTPUT_WORDS,
            total=tiles.total,
            share=tiles.share,
            chunk=tiles.chunk,
            rows=tiles.rows,
            columns=tiles.columns,
            height=height,
            width=width,
            channels=channels,
            pad=self._pad,
            out_height=self.out[2],
            out_width=self.out[3],
            out_channels=self.out[1],
            zeros_at=address(self.zeros),
        )

    def transform_filters(self, filters: Array, planes: int) -> None:
        """Fill the planes at an address."""
        outer, inner, down, right = self.filters
        start = address(filters)
        if self._turned:  # rows are the filters, and both axes run backwards
            start += 4 * (2 * down + 2 * right)
            outer, inner, down, right = inner, outer, -down, -right
        words = Words(
            filter_kernel(),
            FILTER_WORDS,
            filters_at=start,
            planes_at=planes,
            rows=self.planes.rows,
            columns=self.planes.columns,
            row_step=inner,
            column_step=outer,
            y_step=down,
            x_step=right,
        )
        words.run(-(-self.planes.rows // FILTER_ROWS))

    def packing(self, stable: Collection[int]) -> Array | None:
        """Return memory for the transformed filters, where they rarely change."""
        if 2 not in stable:
            return None
        return aligned_bytes(self.product(packed=True).right.layout.nbytes)

    def call(self, packed: Array | None = None) -> "_OutputCall":
        """Return a new call, for filters packed in ``packed``."""
        return _OutputCall(self, packed)


class _OutputCall(Call):
    """What a run of an `OutputPlan` writes into."""

    __slots__ = ("_calls", "_packed", "_plan", "_product", "_words")

    def __init__(self, plan: OutputPlan, packed: Array | None) -> None:
        self._plan = plan
        self._packed = packed
        self._product = product = plan.product(packed=packed is not None)
        self._calls = PlaneCalls(product, plan.tiles.parts, product.plan.scratch_nbytes)
        self._words = plan.words()
        self._words.set(left=product.left.offset, product=product.out.offset, **self._calls.words())

    def run(self, arrays: Arrays) -> None:
        """Run on the operands."""
        plan, calls, words = self._plan, self._calls, self._words
        out, data, _, *rest = map(address, arrays)
        with scratch(plan.engine, calls.nbytes + plan.planes.nbytes) as base:
            planes = base + calls.nbytes
            if self._packed is None:
                plan.transform_filters(arrays[2], planes)
            else:
                planes = address(self._packed)
            calls.move(base, planes)
            words.set(
                scratch_at=base,
                data_at=data,
                out_at=out,
                bias_at=rest[0] if plan.finish.with_bias else 0,
                addend_at=rest[-1] if plan.finish.addend == "beside" else out,
            )
            words.run(plan.tiles.parts)
        calls.check(words.get("status"))

    def pack(self, arrays: Arrays) -> None:
        """Transform the filters into the layout that the products like best."""
        if self._packed is not None:
            plain = aligned_bytes(self._plan.planes.nbytes)
            self._plan.transform_filters(arrays[2], address(plain))
            packing(self._plan.engine, self._plan.planes, self._product).run(plain, self._packed)
