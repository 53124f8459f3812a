"""Winograd's convolution: outputs from data and filters, and the gradient of the data.

Also Winograd's gradient of filters, from data and the gradient of the outputs.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from gluonish.kernels.generated.sums import add_rows
from gluonish.kernels.generated.winograd_code import (
    FILTER_PARAMS,
    FILTER_ROWS,
    GAP,
    GRADIENT_PARAMS,
    OUTPUT_PARAMS,
    POINTS,
    SUMS_PARAMS,
    filter_kernel,
    gradient_kernel,
    output_kernel,
    sums_kernel,
)
from gluonish.kernels.generated.winograd_tiles import (
    Arrays,
    Call,
    Params,
    Tiles,
    TilesPlan,
    scratch,
)
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import aligned_bytes, element_strides
from gluonish.kernels.onednn.native_calls import Row
from gluonish.kernels.onednn.plane_products import (
    PlaneCalls,
    PlaneProduct,
    Stack,
    packing,
    plane_product,
)
from gluonish.ops.kernel import Array, address

_FEWEST = 64  # minimum tiles per pass, for efficient products
_LEAST = 16  # minimum tiles for each thread, which reads all filters


class Epilogue(NamedTuple):
    """The operations on outputs before they are stored, in this order.

    Attributes:
        with_bias: Whether to add a bias.
        addend: ``"in_place"`` to accumulate into the outputs, ``"separate"`` to add another array
            of the same layout, None to add nothing.
        relu: Whether to apply a ReLU.
    """

    with_bias: bool = False
    addend: str | None = None
    relu: bool = False


class OutputPlan(TilesPlan):
    """A plan for outputs, or for the gradient of data from gradients and rotated filters.

    Operands: out (N, O, H', W'), data (N, C, H, W), filters; then bias (O,) and an addend like
    out, if there are any. Images are channels last in memory.

    Args:
        pad: Rows and columns of zeros around the data.
        rotated: Whether the filters are (C, O, 3, 3), to be rotated by 180 degrees; else they are
            (O, C, 3, 3).

    Raises:
        RefusedError: oneDNN does not support the products.
        KernelError: A kernel cannot be compiled.
    """

    __slots__ = (
        "_pad",
        "_rotated",
        "data",
        "engine",
        "epilogue",
        "filters",
        "out",
        "planes",
        "tiles",
        "zeros",
    )

    def __init__(
        self, engine: Engine, arrays: Arrays, pad: int, epilogue: Epilogue, *, rotated: bool
    ) -> None:
        super().__init__()
        out, data, filters = arrays[:3]
        inner, outer = data.shape[1], out.shape[1]
        self.engine = engine
        self.out, self.data = out.shape, data.shape
        self.filters = element_strides(filters)
        self._pad = pad
        self._rotated = rotated
        self.epilogue = epilogue
        threads = engine.api.max_threads()
        self.tiles = Tiles(out.shape, inner + outer, threads, fewest=_FEWEST, least=_LEAST)
        self.zeros = np.zeros(inner, np.float32)
        self.planes = Stack(POINTS, inner, outer, GAP)
        self._idle.append(self.call())

    def product(self, *, packed: bool) -> PlaneProduct:
        """Plan the matrix products of a pass."""
        left = Stack(POINTS, self.tiles.chunk, self.planes.rows, GAP)
        return plane_product(self.engine, left, self.planes, packed=packed)

    def params(self) -> Params:
        """Return the params of the kernel, without addresses."""
        tiles, (_, channels, height, width) = self.tiles, self.data
        with_bias, addend, relu = self.epilogue
        kernel = output_kernel(with_bias=with_bias, with_addend=addend is not None, relu=relu)
        return Params(
            kernel,
            OUTPUT_PARAMS,
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
        """Transform filters to the planes at an address."""
        outer, inner, down, right = self.filters
        start = address(filters)
        if self._rotated:  # swap inputs and outputs, and reverse both axes
            start += 4 * (2 * down + 2 * right)
            outer, inner, down, right = inner, outer, -down, -right
        params = Params(
            filter_kernel(),
            FILTER_PARAMS,
            filters_at=start,
            planes_at=planes,
            rows=self.planes.rows,
            columns=self.planes.columns,
            row_step=inner,
            column_step=outer,
            y_step=down,
            x_step=right,
        )
        params.run(-(-self.planes.rows // FILTER_ROWS))

    def packing(self, constant: Collection[int]) -> Array | None:
        """Return memory for the transformed filters if these are constant."""
        if 2 not in constant:
            return None
        return aligned_bytes(self.product(packed=True).right.layout.nbytes)

    def call(self, packed: Array | None = None) -> "_OutputCall":
        """Return a new call, for filters packed in ``packed``."""
        return _OutputCall(self, packed)


class _OutputCall(Call):
    """The state of one run of an `OutputPlan`."""

    __slots__ = (
        *("_base", "_calls", "_packed", "_params", "_plan", "_product"),
        *("engine", "is_native", "nbytes"),
    )

    def __init__(self, plan: OutputPlan, packed: Array | None) -> None:
        self._plan = plan
        self._base = 0  # of the scratch memory
        self._packed = packed
        self._product = product = plan.product(packed=packed is not None)
        self._calls = PlaneCalls(product, plan.tiles.threads, product.plan.scratch_nbytes)
        self._params = plan.params()
        self._params.set(
            left=product.left.offset, product=product.out.offset, **self._calls.params()
        )
        self.is_native = packed is not None
        self.engine = plan.engine
        self.nbytes = self._calls.nbytes + (plan.planes.nbytes if packed is None else 0)

    def run(self, arrays: Arrays) -> None:
        """Run on the operands."""
        plan = self._plan
        self.set_arrays(arrays)
        with scratch(plan.engine, self.nbytes) as base:
            self.set_base(base)
            if self._packed is None:
                plan.transform_filters(arrays[2], base + self._calls.nbytes)
            self._params.run(plan.tiles.threads)
        self.check()

    def set_arrays(self, arrays: Arrays) -> None:
        """Set the addresses of the operands."""
        epilogue = self._plan.epilogue
        out, data, _, *rest = map(address, arrays)
        self._params.set(
            data_at=data,
            out_at=out,
            bias_at=rest[0] if epilogue.with_bias else 0,
            addend_at=rest[-1] if epilogue.addend == "separate" else out,
        )

    def set_base(self, base: int) -> None:
        """Set the address of the scratch memory."""
        if base == self._base:
            return
        packed, calls = self._packed, self._calls
        calls.set_addresses(base, base + calls.nbytes if packed is None else address(packed))
        self._params.set(scratch_at=base)
        self._base = base

    def rows(self, threads: int) -> list[Row] | None:
        """Return the launch."""
        return self._params.rows(self._plan.tiles.threads, threads)

    def check(self) -> None:
        """Raise an error if a product of the last run failed."""
        self._calls.check(self._params.get("status"))

    def pack(self, arrays: Arrays) -> None:
        """Transform the filters and pack them for the products."""
        if self._packed is not None:
            planes = aligned_bytes(self._plan.planes.nbytes)
            self._plan.transform_filters(arrays[2], address(planes))
            packing(self._plan.engine, self._plan.planes, self._product).run(planes, self._packed)


# Minimum tiles per pass. Reading and writing the sums costs as much as two tiles in 512 channels.
_WINOGRAD_GRADIENT_FEWEST = 96
_WINOGRAD_GRADIENT_LEAST = 32  # minimum tiles for each thread, which has separate sums


class GradientPlan(TilesPlan):
    """A plan for the gradient of filters and, if requested, of a bias.

    Operands: gradient of the filters (O, C, 3, 3); gradient of the bias (O,), if requested;
    gradient of the outputs (N, O, H', W') and data (N, C, H, W), both channels last in memory.

    Args:
        pad: Rows and columns of zeros around the data.

    Raises:
        RefusedError: oneDNN does not support the products.
        KernelError: A kernel cannot be compiled.
    """

    __slots__ = ("data", "engine", "grad", "out", "pad", "tiles", "zeros")

    def __init__(self, engine: Engine, arrays: Arrays, pad: int) -> None:
        super().__init__()
        out, *_, grad, data = arrays
        self.engine = engine
        self.out = element_strides(out)
        self.grad, self.data = grad.shape, data.shape
        self.pad = pad
        channels = grad.shape[1], data.shape[1]
        threads = engine.api.max_threads()
        self.tiles = Tiles(
            grad.shape,
            sum(channels),
            threads,
            fewest=_WINOGRAD_GRADIENT_FEWEST,
            least=_WINOGRAD_GRADIENT_LEAST,
        )
        self.zeros = np.zeros(max(channels), np.float32)
        self._idle.append(self.call())

    def call(self, packed: Array | None = None) -> "_GradientCall":
        """Return a new call."""
        return _GradientCall(self)


class _GradientCall(Call):
    """The state of one run of a `GradientPlan`."""

    __slots__ = ("_calls", "_params", "_plan", "_sums")

    def __init__(self, plan: GradientPlan) -> None:
        self._plan = plan
        tiles = plan.tiles
        _, grad_channels, grad_height, grad_width = plan.grad
        _, channels, height, width = plan.data
        grad, data = (Stack(POINTS, tiles.chunk, n, GAP) for n in (grad_channels, channels))
        product = plane_product(plan.engine, grad, data, transposed=True, accumulate=True)
        right = product.plan.scratch_nbytes
        self._calls = PlaneCalls(product, plan.tiles.threads, right + data.nbytes, right)
        self._params = Params(
            gradient_kernel(),
            GRADIENT_PARAMS,
            total=tiles.total,
            share=tiles.share,
            chunk=tiles.chunk,
            rows=tiles.rows,
            columns=tiles.columns,
            left=product.left.offset,
            right=right,
            product=product.out.offset,
            zeros_at=address(plan.zeros),
            height=height,
            width=width,
            channels=channels,
            pad=plan.pad,
            grad_height=grad_height,
            grad_width=grad_width,
            grad_channels=grad_channels,
            **self._calls.params(),
        )
        row_step, column_step, y_step, x_step = plan.out
        self._sums = Params(
            sums_kernel(),
            SUMS_PARAMS,
            space=self._calls.space,
            product=product.out.offset,
            shares=plan.tiles.threads,
            rows=grad_channels,
            columns=channels,
            row_step=row_step,
            column_step=column_step,
            y_step=y_step,
            x_step=x_step,
        )

    def run(self, arrays: Arrays) -> None:
        """Run on the operands."""
        plan, calls = self._plan, self._calls
        out, *biases, grad, data = arrays
        with scratch(plan.engine, calls.nbytes) as base:
            calls.set_addresses(base)
            self._params.set(scratch_at=base, grad_at=address(grad), data_at=address(data))
            self._params.run(plan.tiles.threads)
            self._sums.set(scratch_at=base, out_at=address(out))
            self._sums.run(plan.grad[1])
        calls.check(self._params.get("status"))
        for bias in biases:
            add_rows(bias, np.moveaxis(grad, 1, -1).reshape(-1, bias.size))
