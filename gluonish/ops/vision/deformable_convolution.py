"""Deformable convolution, unmodulated and modulated: convolution at learned offsets.

Every element of a window at every position has its own offset, in pixels; the modulated form also
has a weight for each. Data is interpolated bilinearly.

References:
    J. Dai, H. Qi, Y. Xiong, Y. Li, G. Zhang, H. Hu, Y. Wei, Deformable Convolutional Networks,
        2017.
    X. Zhu, H. Hu, S. Lin, J. Dai, Deformable ConvNets v2: More Deformable, Better Results, 2018.
"""

import math
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, choice, integer, shape
from gluonish.core.spec import UNKNOWN, PartialSpec, Shape, Spec, merge_dtypes, merge_shapes
from gluonish.ops.facts import Execution, ShapeFacts, zero_gradient
from gluonish.ops.indexing.slice import slice_axis
from gluonish.ops.linalg.matmul import batch_dot
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.concat import concat
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.shape.transpose import transpose
from gluonish.ops.support.precision import product, widen
from gluonish.ops.support.shape_rules import limited
from gluonish.ops.support.windows import Geometry, normalize_geometry, sample_chunks, window_count
from gluonish.ops.vision.bilinear_points import (
    Read,
    bilinear_points,
    bilinear_points_gradients,
    read_bilinear,
)
from gluonish.ops.vision.regions import check_floating, check_rank

_PER_SAMPLE = ("data", "offset", "mask")
_GEOMETRY = {"kernel": shape(), "stride": shape(()), "dilate": shape(()), "pad": shape(())}


def _geometry(name: str, attrs: Attrs) -> Geometry:
    if len(attrs["kernel"]) != 2 or attrs["layout"] not in (None, "NCHW"):
        raise OperatorError(
            f"{name}: expected a kernel of 2 axes and layout 'NCHW', got {attrs['kernel']} and "
            f"{attrs['layout']!r}"
        )
    return normalize_geometry(name, *(attrs[key] for key in _GEOMETRY))


def _shapes(name: str, data: Shape, names: tuple[str, ...], attrs: Attrs) -> dict[str, Shape]:
    """Return the shapes of all inputs and the output, inferred from the shape of data."""
    geometry = _geometry(name, attrs)
    window, groups = math.prod(geometry.kernel), attrs["num_deformable_group"]
    counts = tuple(
        UNKNOWN if extent == UNKNOWN else window_count(extent, *along)
        for extent, *along in zip(data[2:], *geometry, strict=True)
    )
    channels = UNKNOWN if data[1] == UNKNOWN else data[1] // attrs["num_group"]
    found = {
        "data": data,
        "offset": (data[0], 2 * groups * window, *counts),
        "mask": (data[0], groups * window, *counts),
        "weight": (attrs["num_filter"], channels, *geometry.kernel),
        "bias": (attrs["num_filter"],),
    }
    output = (data[0], attrs["num_filter"], *counts)
    return {**{key: found[key] for key in names}, "output": output}


def _check_groups(name: str, data: Shape, attrs: Attrs) -> None:
    groups, offset_groups = attrs["num_group"], attrs["num_deformable_group"]
    if data[1] % groups or attrs["num_filter"] % groups or data[1] % offset_groups:
        raise OperatorError(
            f"{name}: expected channels divisible by num_group={groups} and "
            f"num_deformable_group={offset_groups}, and num_filter divisible by "
            f"num_group={groups}, got {data[1]} and {attrs['num_filter']}"
        )


def _base(xp: ModuleType, geometry: Geometry, counts: Shape, dtype: Any) -> Any:
    """Return the rows and columns (2, window, positions) of windows without offsets."""
    along = [
        xp.arange(k)[:, None] * d + xp.arange(n) * s - p
        for k, s, d, p, n in zip(*geometry, counts, strict=True)
    ]
    (tall, wide), (high, across) = geometry.kernel, counts
    grid = xp.empty((2, tall, wide, high, across), dtype)
    grid[0] = along[0][:, None, :, None]
    grid[1] = along[1][None, :, None, :]
    return grid.reshape(2, tall * wide, high * across)


def _columns(
    xp: ModuleType,
    named: Mapping[str, Any],
    geometry: Geometry,
    offset_groups: int,
    border: str,
    read: Read,
) -> Any:
    """Return the windows' elements, (N, C * window, positions)."""
    data, offset, mask = named["data"], named["offset"], named.get("mask")
    counts = offset.shape[2:]
    batch, channels = data.shape[:2]
    offset = widen(offset)
    shifted = offset.reshape(batch * offset_groups, -1, 2, math.prod(counts))
    base = _base(xp, geometry, counts, offset.dtype)
    rows, columns = ((shifted[:, :, i] + base[i]).reshape(len(shifted), -1) for i in range(2))
    images = data.reshape(batch * offset_groups, channels // offset_groups, *data.shape[2:])
    values = read(xp, images, rows, columns, border)
    if mask is not None:
        values *= widen(mask).reshape(batch * offset_groups, 1, -1)
    return values.reshape(batch, -1, math.prod(counts))


def _base_kernel(
    xp: ModuleType, out: Any, offset: Any, *, offset_groups: int, counts: Shape, **attrs: Shape
) -> None:
    base = _base(xp, Geometry(**attrs), counts, widen(out[0]).dtype)
    out[0][...] = base[0].reshape(1, -1)
    out[1][...] = base[1].reshape(1, -1)


def _base_infer(
    offset: Spec, *, offset_groups: int, counts: Shape, kernel: Shape, **_: Shape
) -> tuple[Spec, Spec]:
    points = Spec(
        (offset.shape[0] * offset_groups, math.prod(kernel) * math.prod(counts)), offset.dtype
    )
    return points, points


_BASE = register(
    Operator(
        "_deformable_base",
        _base_infer,
        _base_kernel,
        zero_gradient,
        doc="Return the rows and columns of the windows of a convolution without offsets.",
        inputs=("offset",),
        schema=Schema(offset_groups=integer(), counts=shape(), **_GEOMETRY),
        outputs=2,
        output_names=("rows", "columns"),
    )
)


def _sample_points(offset: Any, geometry: Geometry, offset_groups: int) -> tuple[Any, Any]:
    """Compute the rows and columns of the windows' elements with operators."""
    batch, _, *counts = offset.shape
    window, count = math.prod(geometry.kernel), math.prod(counts)
    attrs = {"offset_groups": offset_groups, "counts": tuple(counts), **geometry._asdict()}
    base = apply(_BASE, (offset,), attrs)
    shifted = reshape(offset, (batch * offset_groups, window, 2, count))
    points = (batch * offset_groups, window * count)
    rows, columns = (reshape(slice_axis(shifted, 2, i, i + 1), points) + base[i] for i in range(2))
    return rows, columns


def _offset_gradient(d_rows: Any, d_columns: Any, offset_shape: Shape, offset_groups: int) -> Any:
    """Return the gradient of the offsets; rows and columns alternate along the window."""
    batch, channels, *counts = offset_shape
    split = (batch * offset_groups, channels // (2 * offset_groups), 1, math.prod(counts))
    from_rows, from_columns = reshape(d_rows, split), reshape(d_columns, split)
    return reshape(concat([from_rows, from_columns], 2), offset_shape)


class _Rule:
    """The gradients of one call, computed with operators."""

    def __init__(
        self, g: Any, named: Mapping[str, Any], border: str, geometry: Geometry, attrs: Attrs
    ) -> None:
        self.data, self.offset, self.weight = named["data"], named["offset"], named["weight"]
        self.mask = named.get("mask")
        self.offset_groups, self.border = attrs["num_deformable_group"], border
        batch, filters, *counts = g.shape
        self.batch, self.count = batch, math.prod(counts)
        self.groups = attrs["num_group"]
        grouped = (batch, self.groups, filters // self.groups, self.count)
        self.grad = self._by_group(reshape(g, grouped))
        self.geometry = geometry
        self.num_samples = math.prod(geometry.kernel) * self.count
        self._found: tuple[Any, ...] | None = None

    def _by_group(self, x: Any) -> Any:
        """Return (N, G, rows, positions) as (G, rows, N * positions)."""
        rows = x.shape[2]
        return reshape(transpose(x, (1, 2, 0, 3)), (self.groups, rows, self.batch * self.count))

    def _points(self) -> tuple[Any, Any, Any]:
        batch, channels, *extents = self.data.shape
        images = (batch * self.offset_groups, channels // self.offset_groups, *extents)
        rows, columns = _sample_points(self.offset, self.geometry, self.offset_groups)
        return reshape(self.data, images), rows, columns

    def _mask(self) -> Any:
        """Return the mask, broadcastable to (N * groups, C / groups, window * positions)."""
        return reshape(self.mask, (self.batch * self.offset_groups, 1, self.num_samples))

    def of_weight(self) -> Any:
        """Return the gradient of the weight."""
        values = bilinear_points(*self._points(), self.border)
        if self.mask is not None:
            values = values * self._mask()
        rows = math.prod(self.weight.shape[1:])
        columns = reshape(values, (self.batch, self.groups, rows, self.count))
        product = batch_dot(self.grad, self._by_group(columns), transpose_b=True)
        return reshape(product, self.weight.shape)

    def _of_values(self) -> Any:
        """Return the gradient of the windows' elements after the mask."""
        filters, *window = self.weight.shape
        rows = math.prod(window)
        matrices = reshape(self.weight, (self.groups, filters // self.groups, rows))
        product = batch_dot(matrices, self.grad, transpose_a=True)
        split = reshape(product, (self.groups, rows, self.batch, self.count))
        back = transpose(split, (2, 0, 1, 3))
        channels = self.data.shape[1] // self.offset_groups
        return reshape(back, (self.batch * self.offset_groups, channels, self.num_samples))

    def found(self) -> tuple[Any, Any, Any]:
        """Return the gradients of data, offset and mask."""
        if self._found is None:
            images, rows, columns = self._points()
            of_values = of_read = self._of_values()
            of_mask = None
            if self.mask is not None:
                read = bilinear_points(images, rows, columns, self.border)
                of_mask = reshape(sum_(of_values * read, axis=(1,)), self.mask.shape)
                of_read = of_values * self._mask()
            d_images, d_rows, d_columns = bilinear_points_gradients(
                of_read, images, rows, columns, self.border
            )
            of_data = reshape(d_images, self.data.shape)
            of_offset = _offset_gradient(d_rows, d_columns, self.offset.shape, self.offset_groups)
            self._found = of_data, of_offset, of_mask
        return self._found


class Form:
    """One of the two forms of the operator: its inference, kernel and gradient.

    Args:
        name: Name of the operator.
        names: Names of the inputs, the bias last.
        border: Values beyond the image, as in `bilinear_points`.
    """

    operator: Operator

    def __init__(self, name: str, names: tuple[str, ...], border: str) -> None:
        self.name = name
        self.names = names
        self.border = border

    def active_inputs(self, attrs: Attrs) -> tuple[str, ...]:
        """Return the names of the inputs in use."""
        return self.names[:-1] if attrs["no_bias"] else self.names

    def _by_name(self, inputs: Sequence[Any], attrs: Attrs) -> dict[str, Any]:
        return dict(zip(self.active_inputs(attrs), inputs, strict=True))

    def infer(self, *inputs: Spec, **attrs: Any) -> tuple[Spec]:
        """Return the output's spec."""
        name, data = self.name, inputs[0]
        check_floating(name, *inputs)
        check_rank(name, "data", data, "N C H W")
        expected = _shapes(name, data.shape, self.active_inputs(attrs), attrs)
        _check_groups(name, data.shape, attrs)
        out = expected["output"]
        if min(out[2:]) < 1:
            raise OperatorError(
                f"{name}: expected data at least as large as the kernel {attrs['kernel']}, got "
                f"{data.shape}"
            )
        for key, spec in self._by_name(inputs, attrs).items():
            if spec.shape != expected[key]:
                raise OperatorError(f"{name}: expected {key} {expected[key]}, got {spec.shape}")
        return (Spec(limited(name, out), data.dtype),)

    def kernel(
        self, xp: ModuleType, out: Any, *inputs: Any, read: Read = read_bilinear, **attrs: Any
    ) -> None:
        """Fill the output in chunks of samples; ``read`` samples the images."""
        named = self._by_name(inputs, attrs)
        data, weight, groups = named["data"], named["weight"], attrs["num_group"]
        geometry, offset_groups = _geometry(self.name, attrs), attrs["num_deformable_group"]
        matrices = widen(weight).reshape(groups, weight.shape[0] // groups, -1)
        elements = data.shape[1] * math.prod(weight.shape[2:]) * math.prod(out.shape[2:])
        for chunk in sample_chunks(len(data), elements):
            sliced = {key: x[chunk] for key, x in named.items() if key in _PER_SAMPLE}
            columns = _columns(xp, sliced, geometry, offset_groups, self.border, read)
            rows = data.shape[1] * math.prod(geometry.kernel) // groups
            grouped = columns.reshape(len(columns), groups, rows, columns.shape[2])
            values = product(xp, matrices, grouped).reshape(out[chunk].shape)
            if "bias" in named:
                values += widen(named["bias"])[:, None, None]
            out[chunk] = values

    def gradient(self, g: V, *inputs: V, **attrs: Any) -> tuple[Any, ...]:
        """Return a gradient entry for every input."""
        named = self._by_name(inputs, attrs)
        rule = _Rule(g, named, self.border, _geometry(self.name, attrs), attrs)
        entries = {
            "data": lambda: rule.found()[0],
            "offset": lambda: rule.found()[1],
            "mask": lambda: rule.found()[2],
            "weight": rule.of_weight,
            "bias": lambda: sum_(g, axis=(0, 2, 3)),
        }
        return tuple(entries[key] for key in named)

    def complete(self, inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
        """Complete partial specs from the shape of data."""
        dtype = None
        for spec in (*inputs, *outputs):
            dtype = merge_dtypes(dtype, spec.dtype, self.name)
        data = inputs[0].shape
        names = self.active_inputs(attrs)
        known: dict[str, Shape] = {}
        if data is not None and len(data) == 4:
            known = _shapes(self.name, data, names, attrs)
        for i, key in enumerate(names):
            found = merge_shapes(known.get(key), inputs[i].shape, f"{self.name} {key}")
            inputs[i] = PartialSpec(found, dtype)
        out = merge_shapes(known.get("output"), outputs[0].shape, f"{self.name} output")
        outputs[0] = PartialSpec(out, dtype)

    def register(self, schema: Schema, doc: str) -> Operator:
        """Register the operator."""
        self.operator = register(
            Operator(
                self.name,
                self.infer,
                self.kernel,
                self.gradient,
                doc=doc,
                inputs=self.names,
                active_inputs=self.active_inputs,
                schema=schema,
                shapes=ShapeFacts(complete=self.complete),
                execution=Execution(heavy=True),
            )
        )
        return self.operator


_SCHEMA = {
    **_GEOMETRY,
    "num_filter": integer(low=1),
    "num_group": integer(1, low=1),
    "num_deformable_group": integer(1, low=1),
    "workspace": integer(1024, low=0),
    "no_bias": boolean(False),
}
_LAYOUT = choice(None, "NCDHW", "NCHW", "NCW", default=None)
_SHAPES = (
    "Shapes: data (N, C, H, W), weight (num_filter, C / num_group, *kernel), bias\n"
    "(num_filter,), offset (N, 2 * num_deformable_group * window, H', W') with rows and\n"
    "columns alternating, "
)

_UNMODULATED = Form(
    "_contrib_DeformableConvolution", ("data", "offset", "weight", "bias"), "inside"
)
_MODULATED = Form(
    "_contrib_ModulatedDeformableConvolution", ("data", "offset", "mask", "weight", "bias"), "zeros"
)
FORMS = (_UNMODULATED, _MODULATED)

DEFORMABLE_CONVOLUTION = _UNMODULATED.register(
    Schema(**_SCHEMA, layout=_LAYOUT),
    "Apply deformable convolution: sample the elements of each window at offsets, with\n"
    "bilinear interpolation.\n\n"
    "Each of num_deformable_group equal groups of channels has its own offsets. Positions\n"
    "outside the image give 0; positions past the last pixel but within the image give the\n"
    f"last pixel. workspace is accepted and ignored.\n\n{_SHAPES}output (N, num_filter, H', W').",
)

MODULATED_DEFORMABLE_CONVOLUTION = _MODULATED.register(
    Schema(**_SCHEMA, im2col_step=integer(64, low=0), layout=_LAYOUT),
    "Apply modulated deformable convolution: sample the elements of each window at offsets,\n"
    "with bilinear interpolation, and multiply each element by mask.\n\n"
    "Each of num_deformable_group equal groups of channels has its own offsets and mask.\n"
    "Pixels outside the image are 0. workspace and im2col_step are accepted and ignored.\n\n"
    f"{_SHAPES}mask (N, num_deformable_group * window, H', W'), output (N, num_filter, H', W').",
)
