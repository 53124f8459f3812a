"""Correlation: correlation of patches of two images, for displacements of the second image.

References:
    A. Dosovitskiy, P. Fischer, E. Ilg et al., FlowNet: Learning Optical Flow with Convolutional
        Networks, 2015.
"""

import functools
import itertools
import operator
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer
from gluonish.core.spec import Shape, Spec
from gluonish.ops.elementwise.unary import ABS
from gluonish.ops.facts import Execution
from gluonish.ops.indexing.slice import slice_
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.shape.concat import concat
from gluonish.ops.shape.pad import PAD
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.precision import widen
from gluonish.ops.support.shape_rules import limited
from gluonish.ops.vision.regions import check_floating, check_rank


class _Plan(NamedTuple):
    """The geometry of the patches.

    Attributes:
        pad: Zeros around both images.
        kernel: Extent of a patch.
        stride: Distance between patches.
        start: Row and column of the first patch in the padded images.
        counts: Number of patches along rows and columns.
        shifts: Displacements along each axis.
    """

    pad: int
    kernel: int
    stride: int
    start: int
    counts: Shape
    shifts: tuple[int, ...]

    def spans(self) -> Shape:
        """Return the extents from the first patch to the end of the last."""
        return tuple((count - 1) * self.stride + self.kernel for count in self.counts)

    def displacements(self) -> Iterator[tuple[int, int]]:
        """Yield displacements along rows and columns, in the order of the output's channels."""
        return itertools.product(self.shifts, self.shifts)

    def elements(self) -> Iterator[tuple[slice, slice]]:
        """Yield, for each element of a patch, slices of the span: this element of all patches."""
        for i, j in itertools.product(range(self.kernel), repeat=2):
            yield (
                slice(i, i + (self.counts[0] - 1) * self.stride + 1, self.stride),
                slice(j, j + (self.counts[1] - 1) * self.stride + 1, self.stride),
            )


def _plan(data: Shape, **attrs: Any) -> _Plan:
    kernel, max_shift, pad_size = attrs["kernel_size"], attrs["max_displacement"], attrs["pad_size"]
    if kernel % 2 == 0:
        raise OperatorError(f"Correlation: expected an odd kernel_size, got {kernel}")
    border = max_shift + kernel // 2
    counts = tuple(
        -(-(extent + 2 * pad_size - 2 * border) // attrs["stride1"]) for extent in data[2:]
    )
    if min(counts) < 1:
        raise OperatorError(
            f"Correlation: expected padded images of more than {2 * border} rows and columns, got "
            f"data1 {data} and pad_size {pad_size}"
        )
    radius = max_shift // attrs["stride2"]
    limited("Correlation", ((2 * radius + 1) ** 2, *counts))
    shifts = tuple(step * attrs["stride2"] for step in range(-radius, radius + 1))
    return _Plan(pad_size, kernel, attrs["stride1"], max_shift, counts, shifts)


def _infer(data1: Spec, data2: Spec, **attrs: Any) -> tuple[Spec, ...]:
    check_floating("Correlation", data1, data2)
    check_rank("Correlation", "data1", data1, "N C H W")
    if data2.shape != data1.shape:
        raise OperatorError(
            f"Correlation: expected data2 of shape {data1.shape}, got {data2.shape}"
        )
    if not data1.shape[1]:
        raise OperatorError(f"Correlation: expected at least 1 channel, got data1 {data1.shape}")
    plan = _plan(data1.shape, **attrs)
    limited("Correlation", (*data1.shape[:2], *(n + 2 * plan.pad for n in data1.shape[2:])))
    out = limited("Correlation", (data1.shape[0], len(plan.shifts) ** 2, *plan.counts))
    unused = Spec((0,), data1.dtype)
    return Spec(out, data1.dtype), unused, unused


def _padded(xp: ModuleType, data: Any, margin: int) -> Any:
    widths = ((0, 0), (0, 0), (margin, margin), (margin, margin))
    return xp.pad(widen(data), widths)


def _span(plan: _Plan, shift: tuple[int, int] = (0, 0)) -> tuple[Any, ...]:
    """Return the index of the region of a padded image that is covered by patches."""
    return (
        ...,
        *(
            slice(plan.start + s, plan.start + s + extent)
            for s, extent in zip(shift, plan.spans(), strict=True)
        ),
    )


def _scale(data: Shape, kernel: int) -> float:
    return 1 / (kernel * kernel * data[1])


def _kernel(
    xp: ModuleType, out: Any, data1: Any, data2: Any, *, is_multiply: bool, **attrs: Any
) -> None:
    plan = _plan(data1.shape, **attrs)
    first, second = _padded(xp, data1, plan.pad), _padded(xp, data2, plan.pad)
    fixed = first[_span(plan)]
    for channel, shift in enumerate(plan.displacements()):
        shifted = second[_span(plan, shift)]
        found = fixed * shifted if is_multiply else xp.abs(fixed - shifted)
        pixels = xp.add.reduce(found, axis=1)
        total = xp.zeros((len(pixels), *plan.counts), pixels.dtype)
        for rows, columns in plan.elements():
            total += pixels[:, rows, columns]
        out[0][:, channel] = total * _scale(data1.shape, plan.kernel)


def _backward_kernel(
    xp: ModuleType,
    out: Any,
    grad: Any,
    data1: Any,
    data2: Any,
    *,
    is_multiply: bool,
    **attrs: Any,
) -> None:
    plan = _plan(data1.shape, **attrs)
    first, second = _padded(xp, data1, plan.pad), _padded(xp, data2, plan.pad)
    d_first, d_second = xp.zeros_like(first), xp.zeros_like(second)
    grad = widen(grad) * _scale(data1.shape, plan.kernel)
    fixed, d_fixed = first[_span(plan)], d_first[_span(plan)]
    for channel, shift in enumerate(plan.displacements()):
        spread = xp.zeros((len(grad), 1, *plan.spans()), first.dtype)
        for rows, columns in plan.elements():
            spread[:, 0, rows, columns] += grad[:, channel]
        shifted, d_shifted = second[_span(plan, shift)], d_second[_span(plan, shift)]
        if is_multiply:
            d_fixed += spread * shifted
            d_shifted += spread * fixed
        else:
            slope = xp.where(fixed >= shifted, spread, -spread)
            d_fixed += slope
            d_shifted -= slope
    inner = (..., *(slice(plan.pad, plan.pad + extent) for extent in data1.shape[2:]))
    out[0][...] = d_first[inner]
    out[1][...] = d_second[inner]


def _composite(data1: Any, data2: Any, *, is_multiply: bool, **attrs: Any) -> Any:
    """Compute `_kernel` with operators."""
    plan = _plan(data1.shape, **attrs)
    batch, channels = data1.shape[:2]
    first, second = (_pad_image(data, plan.pad) for data in (data1, data2))

    def span(image: Any, shift: tuple[int, int]) -> Any:
        begin = [plan.start + s for s in shift]
        end = [b + extent for b, extent in zip(begin, plan.spans(), strict=True)]
        return slice_(image, (0, 0, *begin), (batch, channels, *end))

    fixed, found = span(first, (0, 0)), []
    for shift in plan.displacements():
        shifted = span(second, shift)
        pixels = fixed * shifted if is_multiply else ABS(fixed - shifted)
        summed = sum_(pixels, axis=(1,), keepdims=True)
        terms = []
        for rows, columns in plan.elements():
            begin, end = (0, 0, rows.start, columns.start), (batch, 1, rows.stop, columns.stop)
            terms.append(slice_(summed, begin, end, (1, 1, rows.step, columns.step)))
        found.append(functools.reduce(operator.add, terms) * _scale(data1.shape, plan.kernel))
    return concat(found, 1)


def _pad_image(data: Any, margin: int) -> Any:
    widths = (0, 0, 0, 0, *(margin,) * 4)
    return apply(PAD, (data,), {"mode": "constant", "pad_width": widths, "constant_value": 0.0})


def _gradient(g: tuple[V | None, ...], data1: V, data2: V, **attrs: Any) -> tuple[Any, Any]:
    if g[0] is None:
        return None, None
    found = apply(CORRELATION_BACKWARD, (g[0], data1, data2), attrs)
    return found[0], found[1]


def _composite_backward(grad: Any, data1: Any, data2: Any, **attrs: Any) -> tuple[Any, ...]:
    """Compute `_backward_kernel` with operators."""
    return composite_gradient(_composite)(grad, data1, data2, **attrs)


_SCHEMA = Schema(
    kernel_size=integer(1, low=1),
    max_displacement=integer(1, low=0),
    stride1=integer(1, low=1),
    stride2=integer(1, low=1),
    pad_size=integer(0, low=0),
    is_multiply=boolean(True),
)

CORRELATION = register(
    Operator(
        "Correlation",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Correlate patches of two images, for displacements of the second image.\n\n"
            "Images are padded by pad_size. There is an output channel for each displacement,\n"
            "along rows, then columns, in steps of stride2. Patches are kernel_size x\n"
            "kernel_size pixels (odd) and stride1 apart. Values are means of products, or of\n"
            "absolute differences if is_multiply is false.\n\n"
            "Shapes: data1 and data2 (N, C, H, W), output (N, D * D, H', W') with D = 2 *\n"
            "(max_displacement // stride2) + 1."
        ),
        inputs=("data1", "data2"),
        schema=_SCHEMA,
        outputs=3,
        visible=1,
        output_names=("output", "tmp1", "tmp2"),
        execution=Execution(heavy=True),
    )
)

CORRELATION_BACKWARD = register(
    Operator(
        "_correlation_backward",
        lambda grad, data1, data2, **_: (data1, data2),
        _backward_kernel,
        composite_gradient(_composite_backward),
        doc="Compute the gradients of the images in Correlation.",
        inputs=("grad", "data1", "data2"),
        schema=_SCHEMA,
        outputs=2,
        output_names=("data1", "data2"),
        execution=Execution(heavy=True),
    )
)
