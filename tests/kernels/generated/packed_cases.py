"""Cases of kernels of convolutions that pack their filters."""

from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Spec
from gluonish.ops.fused.operator import FUSED_CONVOLUTION
from gluonish.ops.kernel import FastKernel


def last(array: Any) -> Any:
    """A copy whose channels are last in memory."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 1, -1)), -1, 1)


class PackedCase:
    """A convolution of random numbers, and its output.

    Args:
        data: (N, C, H, W).
        filters: Number of filters.
        taps: Height and width of a window.
        strides: Strides along both.
        pads: Padding along both.

    Attributes:
        module: The kernel's module.
        name: The kernel's name.
        tolerance: Largest error, of the largest magnitude of the result.
    """

    module: ClassVar[ModuleType]
    name: ClassVar[str]
    tolerance: ClassVar[float]

    def __init__(
        self,
        data: tuple[int, ...],
        filters: int,
        taps: tuple[int, int],
        strides: tuple[int, int],
        pads: tuple[int, int],
        **attrs: Any,
    ) -> None:
        random = np.random.default_rng(1)
        sizes = {"kernel": taps, "stride": strides, "pad": pads, "num_filter": filters}
        self.attrs = FUSED_CONVOLUTION.schema.parse("_fused_convolution", {**sizes, **attrs})
        channels = data[1] // self.attrs["num_group"]
        shapes = [data, (filters, channels, *taps), (filters,)][: 3 - self.attrs["no_bias"]]
        self.inputs = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
        extents = [
            (n + 2 * pad - k) // step + 1
            for n, k, step, pad in zip(data[2:], taps, strides, pads, strict=True)
        ]
        self.out = last(np.full((data[0], filters, *extents), np.nan, np.float32))

    @classmethod
    def kernel(cls) -> FastKernel:
        """The kernel, as it is registered."""
        return next(fast for fast in FUSED_CONVOLUTION.fast_kernels if fast.name == cls.name)

    def supported(self) -> bool:
        """Whether the kernel supports the case."""
        specs = [Spec(x.shape, FLOAT32) for x in self.inputs]
        return self.kernel().supports(*specs, **self.attrs)

    def run(self) -> Any:
        """Run with filters packed in advance; return the output."""
        arrays = [self.out, *self.inputs]
        plan = self.module.convolution([self.out], self.inputs, self.attrs).plan
        attached = plan.attach(range(len(arrays)), arrays, (), plan.packing([2]))
        attached.pack(arrays)
        attached.run(arrays)
        return self.out

    def expected(self) -> Any:
        """The output in float64."""
        out = np.zeros(self.out.shape)
        wide = [x.astype(np.float64) for x in self.inputs]
        FUSED_CONVOLUTION.kernel(np, out, *wide, **self.attrs)
        return out

    def check(self) -> None:
        """Compare the output with that in float64."""
        expected = self.expected()
        assert np.abs(self.run() - expected).max() <= self.tolerance * np.abs(expected).max()
