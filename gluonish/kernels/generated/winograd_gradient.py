"""Winograd's gradient of filters, from data and the gradient of the outputs."""

import numpy as np

from gluonish.kernels.generated.sums import add_rows
from gluonish.kernels.generated.winograd_code import (
    GAP,
    GRADIENT_PARAMS,
    POINTS,
    SUMS_PARAMS,
    gradient_kernel,
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
from gluonish.kernels.onednn.memory import element_strides
from gluonish.kernels.onednn.plane_products import PlaneCalls, Stack, plane_product
from gluonish.ops.kernel import Array, address

# Minimum tiles of a pass. Reading and writing the sums costs as much as two tiles in 512 channels.
_FEWEST = 96
_LEAST = 32  # minimum tiles for each thread, which has separate sums


class GradientPlan(TilesPlan):
    """The gradient of filters and, if requested, of a bias.

    Operands: gradient of the filters (O, C, 3, 3); that of the bias (O,), if requested; gradient of
    the outputs (N, O, H', W') and data (N, C, H, W), both channels last in memory.

    Args:
        pad: Rows and columns of zeros around the data.

    Raises:
        RefusedError: The library refuses the products.
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
        self.tiles = Tiles(grad.shape, sum(channels), threads, fewest=_FEWEST, least=_LEAST)
        self.zeros = np.zeros(max(channels), np.float32)
        self._idle.append(self.call())

    def call(self, packed: Array | None = None) -> "_GradientCall":
        """Return a new call."""
        return _GradientCall(self)


class _GradientCall(Call):
    """The mutable state of a run of a `GradientPlan`."""

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
